--- Edits that a mode said yes to (`accept_edits`, `auto`): shown where they were made until the person keeps them, and
--- taken back hunk by hunk when they want. Taking back is the server's: only what is still as it was written goes.
local client = require("agent.client")
local log = require("agent.log")
local proposal = require("agent.proposal")

local M = {}

local MOST = 64 -- edits; older ones count as kept
local GONE = { failed = true, conflict = true, rejected = true, abandoned = true, reverted = true }

---@type agent.Proposal[] the oldest first
local applied = {}
---@type table<string, boolean> by txn: it is in its files
local is_made = {}

---@return agent.Proposal[] those that are in their files
local function made()
  return vim.tbl_filter(function(one)
    return is_made[one.txn] == true
  end, applied)
end

--- Every edit with something left to look at, and its files.
---@return fun(): agent.Proposal?, agent.ProposedFile?
function M.files()
  return proposal.files(made())
end

--- Every place that was not looked at, in the order of edits, files and lines.
---@return agent.Place[]
function M.places()
  return proposal.all_places(made())
end

--- It stays: no more is said of it.
---@param places agent.Place[]
function M.keep(places)
  for _, place in ipairs(places) do
    proposal.decide(place.file, "accept", place.hunk)
    M._tidy(place.proposal)
  end
end

--- Take back what is left of a hunk, or with `whole_file` of all of the edit in its file.
---@param place agent.Place
---@param whole_file boolean
function M.revert(place, whole_file)
  local hunk = not whole_file and proposal.divisible(place.file) and place.hunk or nil
  local params = { txn = place.proposal.txn, revision = place.proposal.revision, uri = place.file.uri }
  params.hunk = hunk and hunk.id
  client.request("agent/edit/revert", params, function(err, result)
    if err then
      return log.say("ERROR", ("nothing was taken back: %s"):format(err.message))
    end
    for _, left in ipairs(result.left or {}) do
      log.say("WARN", ("not taken back: %s"):format(left.why))
    end
    if #(result.left or {}) == 0 then
      proposal.decide(place.file, "reject", hunk)
      M._tidy(place.proposal)
    end
  end)
end

---@param one agent.Proposal
function M.take(one)
  table.insert(applied, one)
  if #applied > MOST then
    M._drop(applied[1])
  end
end

---@param params agent.protocol.EditStateChanged
function M.on_state(params)
  local one = vim.iter(applied):find(function(kept)
    return kept.txn == params.txn
  end)
  if not one then
    return
  end
  one.revision = params.revision
  if GONE[params.state] then
    return M._drop(one)
  end
  if params.state == "applied" then
    is_made[one.txn] = true
  end
  M._changed(one)
end

--- The server is gone: it does not know the edits by these names any more.
function M.forget()
  for _, one in ipairs(vim.list_slice(applied)) do
    M._drop(one)
  end
end

--- An edit of which everything was looked at is not kept.
---@private
---@param one agent.Proposal
function M._tidy(one)
  local is_left = vim.iter(one.files):any(function(file)
    return proposal.count(file) > 0
  end)
  if is_left then
    return M._changed(one)
  end
  M._drop(one)
end

---@private
---@param one agent.Proposal
function M._drop(one)
  applied = vim.tbl_filter(function(kept)
    return kept ~= one
  end, applied)
  is_made[one.txn] = nil
  M._changed(one)
end

---@private
---@param one agent.Proposal
function M._changed(one)
  for _, file in ipairs(one.files) do
    require("agent.edits").changed(file.where)
  end
end

return M
