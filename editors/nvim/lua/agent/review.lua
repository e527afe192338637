--- Proposed edits that wait to be judged: kept here, drawn by `agent.inline`, decided by the person, told to the server.
---
--- Answers are sent one after another for each edit, each with the revision of the one before: the server refuses a
--- decision on a revision that is not the last.
local client = require("agent.client")
local log = require("agent.log")
local proposal = require("agent.proposal")

local M = {}

---@class agent.Place a hunk, or a file that is decided as a whole
---@field proposal agent.Proposal
---@field file agent.ProposedFile
---@field hunk? agent.Hunk

---@type agent.Proposal[] that wait, the oldest first
local open = {}
---@type table<string, agent.Decision[][]> by txn: what is to be sent, the next first
local outbox = {}

---@type fun(uri: string)[] something about that file's hunks is different
M.on_change = {}

--- Called once, before anything else.
function M.listen()
  table.insert(client.on_lost, M._forget)
  require("agent.inline").listen()
end

--- How many edits wait, of one session or of all.
---@param session? string
---@return integer
function M.count(session)
  return #vim.tbl_filter(function(one)
    return session == nil or one.session == session
  end, open)
end

--- The edits that wait, and their files.
---@return fun(): agent.Proposal?, agent.ProposedFile?
function M.files()
  return coroutine.wrap(function()
    for _, one in ipairs(open) do
      for _, file in ipairs(one.files) do
        coroutine.yield(one, file)
      end
    end
  end)
end

--- Every place that is not decided, in the order of edits, files and lines.
---@return agent.Place[]
function M.pending()
  local places = {}
  for one, file in M.files() do
    if not proposal.divisible(file) then
      table.insert(places, not file.verdict and { proposal = one, file = file } or nil)
    else
      for _, hunk in ipairs(file.hunks) do
        table.insert(places, not hunk.verdict and { proposal = one, file = file, hunk = hunk } or nil)
      end
    end
  end
  return places
end

--- Where the edit of a tool call waits.
---@param call string
---@return agent.Place?
function M.of_call(call)
  return vim.iter(M.pending()):find(function(place)
    return place.proposal.call == call
  end)
end

--- Decide a hunk, or all that is pending in its file.
---@param place agent.Place
---@param verdict agent.Verdict
---@param whole_file boolean
function M.decide(place, verdict, whole_file)
  local hunk = not whole_file and place.hunk or nil
  M._send(place.proposal, proposal.decide(place.file, verdict, hunk))
  M._changed(place.file.uri)
end

--- Decide everything that waits.
---@param verdict agent.Verdict
function M.decide_all(verdict)
  for _, one in ipairs(vim.list_slice(open)) do
    local decisions = {}
    for _, file in ipairs(one.files) do
      vim.list_extend(decisions, proposal.decide(file, verdict))
    end
    M._send(one, decisions)
    for _, file in ipairs(one.files) do
      M._changed(file.uri)
    end
  end
end

--- Accept a file with a text of the person's own.
---@param one agent.Proposal
---@param file agent.ProposedFile
---@param text string
function M.decide_text(one, file, text)
  M._send(one, proposal.decide_text(file, text))
  M._changed(file.uri)
end

--- Another text for a hunk, still to be accepted.
---@param place agent.Place
---@param text string
function M.edit(place, text)
  place.hunk.edited = text ~= place.hunk.new and text or nil
  place.hunk.verdict = nil
  M._changed(place.file.uri)
end

---@param params agent.protocol.EditProposed
function M.on_proposed(params)
  local one = proposal.read(params)
  if one.review ~= "ask" then
    return
  end
  M._drop(one.txn)
  table.insert(open, one)
  outbox[one.txn] = {}
  require("agent.session").on_question(one.session, one.call, true)
  M._fetch(one, function()
    for _, file in ipairs(one.files) do
      M._changed(file.uri)
    end
    M._tell(one)
  end)
end

---@param params agent.protocol.EditStateChanged
function M.on_state(params)
  local one = M._find(params.txn)
  if one then
    one.revision = params.revision
    if params.state ~= "proposed" then
      M._drop(params.txn)
    end
  end
  local failed = params.state == "conflict" or params.state == "failed"
  for _, file in ipairs(params.files) do
    if failed and file.message then
      local name = vim.fs.basename(vim.uri_to_fname(file.uri))
      log.say("WARN", ("the edit of %s was not applied: %s"):format(name, file.message))
    elseif params.state == "applied" then
      M._reread(file.uri)
    end
  end
end

--- Answer `agent/editor/openDiff`.
---@param params agent.protocol.OpenDiff
---@return agent.protocol.DiffOpened
function M.on_open_diff(params)
  local one = M._find(params.txn)
  local file = one and params.files[1] and proposal.file(one, params.files[1].uri)
  if not file then
    return { shown = false }
  end
  vim.schedule(function()
    require("agent.sidebyside").open({ proposal = one, file = file })
  end)
  return { shown = true }
end

---@private
function M._find(txn)
  return vim.iter(open):find(function(one)
    return one.txn == txn
  end)
end

---@private
function M._drop(txn)
  local kept, gone = {}, nil
  for _, one in ipairs(open) do
    if one.txn == txn then
      gone = one
    else
      table.insert(kept, one)
    end
  end
  open, outbox[txn] = kept, nil
  if gone then
    require("agent.session").on_question(gone.session, gone.call, false)
  end
  for _, file in ipairs(gone and gone.files or {}) do
    M._changed(file.uri)
  end
end

--- Nobody answers for these any more.
---@private
function M._forget()
  for _, one in ipairs(vim.list_slice(open)) do
    M._drop(one.txn)
  end
end

--- Texts above 1 MiB are not sent along.
---@private
function M._fetch(one, done)
  local left = 1
  local function arrived()
    left = left - 1
    if left == 0 then
      done()
    end
  end
  for _, file in ipairs(one.files) do
    for side, missing in pairs({
      base = file.kind ~= "create" and not file.base,
      new = file.kind ~= "delete" and not file.new,
    }) do
      if missing then
        left = left + 1
        client.request("agent/edit/content", { txn = one.txn, uri = file.uri, side = side }, function(_, result)
          file[side] = result and result.text
          arrived()
        end)
      end
    end
  end
  arrived()
end

---@private
---@param one agent.Proposal
---@param decisions agent.Decision[]
function M._send(one, decisions)
  local box = outbox[one.txn]
  if #decisions == 0 or not box then
    return
  end
  table.insert(box, decisions)
  if #box == 1 then
    M._send_next(one)
  end
end

---@private
---@param one agent.Proposal
function M._send_next(one)
  local box = outbox[one.txn]
  if not box or #box == 0 then
    return
  end
  local params = { txn = one.txn, revision = one.revision, decisions = box[1], remember = "once" }
  client.request("agent/edit/resolve", params, function(err, result)
    if outbox[one.txn] ~= box then
      return
    end
    if err then
      return M._refused(one, err)
    end
    table.remove(box, 1)
    one.revision = result.revision
    if result.state ~= "proposed" then
      return M._drop(one.txn)
    end
    M._send_next(one)
  end)
end

--- The proposal moved on under the person's hands: what they decided counts for nothing, and is to be looked at again.
---@private
function M._refused(one, err)
  local data = err.data or {}
  if data.reason ~= "stale_revision" then
    log.say("WARN", ("the decision was not taken: %s"):format(err.message))
    return M._drop(one.txn)
  end
  one.revision, outbox[one.txn] = data.revision, {}
  for _, file in ipairs(one.files) do
    file.verdict = nil
    for _, hunk in ipairs(file.hunks) do
      hunk.verdict = nil
    end
    M._changed(file.uri)
  end
  log.say("WARN", "the proposed edit changed meanwhile: please look at it again")
end

---@private
function M._changed(uri)
  for _, listener in ipairs(M.on_change) do
    listener(uri)
  end
  vim.api.nvim_exec_autocmds("User", { pattern = "AgentStatus", modeline = false })
  vim.cmd.redrawstatus({ bang = true })
end

--- A file on disk was changed: buffers that show it and have nothing unsaved read it again.
---@private
function M._reread(uri)
  local buf = require("agent.apply").buffer(uri)
  if buf and not vim.bo[buf].modified then
    vim.cmd.checktime({ buf })
  end
end

--- Only when it cannot be seen: nothing is said about what is on the screen.
---@private
function M._tell(one)
  local hidden = vim.tbl_filter(function(file)
    local buf = require("agent.apply").buffer(file.uri)
    return not buf or #vim.fn.win_findbuf(buf) == 0
  end, one.files)
  if #hidden > 0 then
    local name = vim.fs.basename(vim.uri_to_fname(hidden[1].uri))
    local more = #hidden > 1 and (" and %d more"):format(#hidden - 1) or ""
    log.say("INFO", ("an edit of %s%s waits for you: :Agent review"):format(name, more))
  end
end

return M
