--- Edits that are not made yet and not asked about yet (`review` is `turn`): what each file has come to so far. There is
--- nothing to decide; all of them are asked about together, before a command runs and at the end of the turn.
local diff = require("agent.diff")
local proposal = require("agent.proposal")

local M = {}

---@type agent.Proposal[] the oldest first
local staged = {}

--- How many edits are staged, of one session or of all.
---@param session? string
---@return integer
function M.count(session)
  return #vim.tbl_filter(function(one)
    return session == nil or one.session == session
  end, staged)
end

--- Each file once, from what it is to what it has come to.
---@return fun(): agent.Proposal?, agent.ProposedFile?
function M.files()
  return coroutine.wrap(function()
    for _, uri in ipairs(M._uris()) do
      local first, last, one = M._ends(uri)
      local file = {
        uri = uri,
        where = last.where,
        kind = first.kind == "create" and last.kind ~= "delete" and "create" or last.kind,
        base = first.base,
        new = last.new,
        hunks = diff.hunks(first.base or "", last.new or ""),
      }
      coroutine.yield(one, file)
    end
  end)
end

---@param one agent.Proposal
function M.take(one)
  table.insert(staged, one)
  M._changed(one)
end

--- They are asked about now, in one edit of their session.
---@param asked agent.Proposal
function M.hand_over(asked)
  M._drop(function(one)
    return one.session == asked.session
      and vim.iter(one.files):all(function(file)
        return proposal.file(asked, file.uri) ~= nil
      end)
  end)
end

---@param params agent.protocol.EditStateChanged
function M.on_state(params)
  if params.state ~= "proposed" then
    M._drop(function(one)
      return one.txn == params.txn
    end)
  end
end

--- The server is gone, and with it what it staged.
function M.forget()
  M._drop(function()
    return true
  end)
end

---@private
---@param is_gone fun(one: agent.Proposal): boolean
function M._drop(is_gone)
  local gone = vim.tbl_filter(is_gone, staged)
  staged = vim.tbl_filter(function(one)
    return not is_gone(one)
  end, staged)
  vim.iter(gone):each(M._changed)
end

---@private
---@return string[]
function M._uris()
  local uris = {}
  for _, one in ipairs(staged) do
    for _, file in ipairs(one.files) do
      if not vim.list_contains(uris, file.uri) then
        table.insert(uris, file.uri)
      end
    end
  end
  return uris
end

--- The first and the last state of a file, and the edit that made the last.
---@private
---@param uri string
---@return agent.ProposedFile first, agent.ProposedFile last, agent.Proposal one
function M._ends(uri)
  local first, last, by
  for _, one in ipairs(staged) do
    for _, file in ipairs(one.files) do
      if file.uri == uri then
        first, last, by = first or file, file, one
      end
    end
  end
  return first, last, by
end

---@private
---@param one agent.Proposal
function M._changed(one)
  for _, file in ipairs(one.files) do
    require("agent.edits").changed(file.where)
  end
end

return M
