--- Proposed edits that wait to be judged: kept here, drawn by `agent.inline`, decided by the person, told to the server.
---
--- Answers are sent one after another for each edit, each with the revision of the one before: the server refuses a
--- decision on a revision that is not the last.
local client = require("agent.client")
local config = require("agent.config")
local edits = require("agent.edits")
local log = require("agent.log")
local proposal = require("agent.proposal")

local M = {}

---@class agent.Verdicts what is told to the server at once
---@field decisions agent.Decision[]
---@field remember? agent.Scope how far the yes goes; nil: once
---@field feedback? string why not, for the model

---@type agent.Proposal[] that wait, the oldest first
local open = {}
---@type table<string, agent.Verdicts[]> by txn: what is to be sent, the next first
local outbox = {}

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
  return proposal.files(open)
end

--- Every place that is not decided, in the order of edits, files and lines.
---@return agent.Place[]
function M.pending()
  return proposal.all_places(open)
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
  M._send(place.proposal, { decisions = proposal.decide(place.file, verdict, hunk) })
  edits.changed(place.file.where)
end

--- Decide everything that waits.
---@param verdict agent.Verdict
function M.decide_all(verdict)
  for _, one in ipairs(vim.list_slice(open)) do
    M._decide_rest(one, verdict, {})
  end
end

--- Accept what is pending in an edit, and edits like it from now on.
---@param one agent.Proposal
---@param scope agent.Scope one that the edit allows
function M.accept_further(one, scope)
  M._decide_rest(one, "accept", { remember = scope })
end

--- Reject what is pending in an edit, and tell the model why.
---@param one agent.Proposal
---@param why string
function M.refuse(one, why)
  M._decide_rest(one, "reject", { feedback = why ~= "" and why or nil })
end

--- Accept a file with a text of the person's own.
---@param one agent.Proposal
---@param file agent.ProposedFile
---@param text string
function M.decide_text(one, file, text)
  M._send(one, { decisions = proposal.decide_text(file, text) })
  edits.changed(file.where)
end

--- Another text for a hunk, still to be accepted.
---@param place agent.Place
---@param text string
function M.edit(place, text)
  place.hunk.edited = text ~= place.hunk.new and text or nil
  place.hunk.verdict = nil
  edits.changed(place.file.where)
end

--- One that waits from now on, or another revision of it.
---@param one agent.Proposal
function M.take(one)
  M._drop(one.txn)
  table.insert(open, one)
  outbox[one.txn] = {}
  require("agent.session").on_question(one.session, one.call, M._question(one))
  for _, file in ipairs(one.files) do
    edits.changed(file.where)
  end
  M._tell(one)
end

---@param params agent.protocol.EditStateChanged
function M.on_state(params)
  local one = M._find(params.txn)
  if not one then
    return
  end
  one.revision = params.revision
  if params.state ~= "proposed" then
    M._drop(params.txn)
  end
end

--- Nobody answers for these any more.
function M.forget()
  for _, one in ipairs(vim.list_slice(open)) do
    M._drop(one.txn)
  end
end

---@private
---@param one agent.Proposal
---@param verdict agent.Verdict
---@param terms { remember?: agent.Scope, feedback?: string }
function M._decide_rest(one, verdict, terms)
  local decisions = {}
  for _, file in ipairs(one.files) do
    vim.list_extend(decisions, proposal.decide(file, verdict))
  end
  M._send(one, vim.tbl_extend("error", terms, { decisions = decisions }))
  for _, file in ipairs(one.files) do
    edits.changed(file.where)
  end
end

---@private
---@param txn string
---@return agent.Proposal?
function M._find(txn)
  return vim.iter(open):find(function(one)
    return one.txn == txn
  end)
end

---@private
---@param txn string
function M._drop(txn)
  local gone = M._find(txn)
  open = vim.tbl_filter(function(one)
    return one ~= gone
  end, open)
  outbox[txn] = nil
  if gone then
    require("agent.session").on_question(gone.session, gone.call, nil)
  end
  for _, file in ipairs(gone and gone.files or {}) do
    edits.changed(file.where)
  end
end

--- Whether a decision is on its way: the server has not said yet that it keeps it.
---@return boolean
function M.is_sending()
  return vim.iter(vim.tbl_values(outbox)):any(function(box)
    return #box > 0
  end)
end

---@private
---@param one agent.Proposal
---@param verdicts agent.Verdicts
function M._send(one, verdicts)
  local box = outbox[one.txn]
  if #verdicts.decisions == 0 or not box then
    return
  end
  table.insert(box, verdicts)
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
  local params = { txn = one.txn, revision = one.revision, remember = "once" }
  client.request("agent/edit/resolve", vim.tbl_extend("force", params, box[1]), function(err, result)
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
---@param one agent.Proposal
---@param err { message: string, data?: table }
function M._refused(one, err)
  if (err.data or {}).reason ~= "stale_revision" then
    log.say("WARN", ("the decision was not taken: %s"):format(err.message))
    return M._drop(one.txn)
  end
  outbox[one.txn] = {}
  client.request("agent/edit/get", { txn = one.txn }, function(problem, now)
    if problem then
      log.say("WARN", ("the decision was not taken: %s"):format(problem.message))
      return M._drop(one.txn)
    end
    log.say("WARN", "the proposed edit changed meanwhile: please look at it again")
    edits.on_proposed(now)
  end)
end

--- What is said of it at its call.
---@private
---@param one agent.Proposal
---@return string[]
function M._question(one)
  local keys = config.get().review_keys
  local there = keys and (" · in the file: %s accept, %s reject"):format(keys.accept_hunk, keys.reject_hunk) or ""
  local words = { ("<CR> reviews it%s"):format(there) }
  if one.reason then
    table.insert(words, 1, ("Why you are asked: %s"):format(one.reason))
  end
  return words
end

--- Only when it cannot be seen: nothing is said about what is on the screen.
---@private
---@param one agent.Proposal
function M._tell(one)
  local unseen = vim.tbl_filter(function(place)
    return place.proposal == one
  end, require("agent.inline").unseen())
  local hidden = vim.tbl_filter(function(file)
    return vim.iter(unseen):any(function(place)
      return place.file == file
    end)
  end, one.files)
  if #hidden > 0 then
    local name = vim.fs.basename(vim.uri_to_fname(hidden[1].where))
    local more = #hidden > 1 and (" and %d more"):format(#hidden - 1) or ""
    log.say("INFO", ("an edit of %s%s waits off screen: :Agent next"):format(name, more))
  end
end

return M
