--- A proposed edit while it is judged: which hunks there are, what was decided, and what the server is told. Pure.
local diff = require("agent.diff")

local M = {}

---@alias agent.Review "ask"|"staged"|"applied" it waits for the person, will wait, was made already
---@alias agent.Scope "once"|"session"|"workspace"
---@alias agent.Verdict "accept"|"reject"

---@class agent.Hunk
---@field id string
---@field start integer first line replaced, 0-based, in the base
---@field count integer lines replaced; 0 for an insertion
---@field old string
---@field new string as proposed
---@field edited? string what the person wants instead
---@field verdict? agent.Verdict nil: pending

---@class agent.ProposedFile
---@field uri string
---@field where string uri of the document that it is shown in: of a renaming that waits, the one to be renamed
---@field kind "edit"|"create"|"delete"|"rename"
---@field base? string nil: created, or too large to have been sent
---@field new? string nil: deleted, or too large to have been sent
---@field base_hash? string
---@field hunks agent.Hunk[]
---@field verdict? agent.Verdict of a file that is decided as a whole

---@class agent.Proposal
---@field txn string
---@field session string
---@field call string id of the tool call that it comes from; empty when there is none
---@field revision integer
---@field review agent.Review
---@field reason? string why the person is asked
---@field scopes agent.Scope[] how far a yes may reach
---@field files agent.ProposedFile[]

---@class agent.Decision
---@field uri? string
---@field hunk? string
---@field verdict agent.Verdict
---@field editedText? string

--- From the params of `agent/edit/proposed`.
---@param params agent.protocol.EditProposed
---@return agent.Proposal
function M.read(params)
  return {
    txn = params.txn,
    session = params.sessionId,
    call = params.toolCallId,
    revision = params.revision,
    review = params.review,
    reason = params.reason,
    scopes = params.scopes or { "once" },
    files = vim.tbl_map(function(file)
      return M._file(file, params.review)
    end, params.files),
  }
end

---@param proposal agent.Proposal
---@param uri string
---@return agent.ProposedFile?
function M.file(proposal, uri)
  return vim.iter(proposal.files):find(function(file)
    return file.uri == uri
  end)
end

local VERDICTS = { accepted = "accept", rejected = "reject" } ---@type table<string, agent.Verdict?>

--- Take over what was decided of hunks before, as the server tells it.
---@param one agent.Proposal
---@param files agent.protocol.FileNow[]
function M.take_decided(one, files)
  for _, told in ipairs(files) do
    local file = M.file(one, told.uri)
    for _, hunk in ipairs(file and file.hunks or {}) do
      for _, now in ipairs(told.hunks or {}) do
        if now.id == hunk.id then
          hunk.verdict = VERDICTS[now.state]
        end
      end
    end
  end
end

--- Whether hunks of a file can be decided one by one.
---@param file agent.ProposedFile
---@return boolean
function M.divisible(file)
  return file.kind == "edit" and #file.hunks > 0
end

--- The places of a file that are not decided.
---@param one agent.Proposal
---@param file agent.ProposedFile
---@return agent.Place[]
function M.places(one, file)
  if not M.divisible(file) then
    return file.verdict and {} or { { proposal = one, file = file } }
  end
  local places = {}
  for _, hunk in ipairs(file.hunks) do
    if not hunk.verdict then
      table.insert(places, { proposal = one, file = file, hunk = hunk })
    end
  end
  return places
end

--- Edits with their files, one file after the other.
---@param each agent.Proposal[]
---@return fun(): agent.Proposal?, agent.ProposedFile?
function M.files(each)
  return coroutine.wrap(function()
    for _, one in ipairs(each) do
      for _, file in ipairs(one.files) do
        coroutine.yield(one, file)
      end
    end
  end)
end

--- The places of edits that are not decided, in the order of edits, files and lines.
---@param each agent.Proposal[]
---@return agent.Place[]
function M.all_places(each)
  local places = {}
  for one, file in M.files(each) do
    vim.list_extend(places, M.places(one, file))
  end
  return places
end

--- How many hunks wait, and how many there are.
---@param file agent.ProposedFile
---@return integer pending, integer all
function M.count(file)
  if not M.divisible(file) then
    return file.verdict and 0 or 1, 1
  end
  local pending = vim.tbl_filter(function(hunk)
    return hunk.verdict == nil
  end, file.hunks)
  return #pending, #file.hunks
end

--- Decide one hunk, or with no hunk what is pending in the file. A later decision replaces an earlier one.
---@param file agent.ProposedFile
---@param verdict agent.Verdict
---@param hunk? agent.Hunk
---@return agent.Decision[] decisions to be sent; none while the text of an edited file is not settled yet
function M.decide(file, verdict, hunk)
  if not M.divisible(file) then
    file.verdict = verdict
    return { { uri = file.uri, verdict = verdict } }
  end
  local decided = {}
  for _, one in ipairs(file.hunks) do
    if one == hunk or (not hunk and not one.verdict) then
      one.verdict = verdict
      decided[#decided + 1] = one
    end
  end
  if M.is_edited(file) then
    return M.count(file) == 0 and { M._whole(file) } or {}
  end
  return vim.tbl_map(function(one)
    return { uri = file.uri, hunk = one.id, verdict = verdict }
  end, decided)
end

--- Accept the file with a text of the person's own.
---@param file agent.ProposedFile
---@param text string
---@return agent.Decision[]
function M.decide_text(file, text)
  for _, hunk in ipairs(file.hunks) do
    hunk.verdict = "accept"
  end
  file.verdict = "accept"
  return { { uri = file.uri, verdict = "accept", editedText = text ~= file.new and text or nil } }
end

--- The text that the verdicts so far come to; what is pending counts as accepted.
---@param file agent.ProposedFile
---@return string
function M.text(file)
  return diff.compose(file.base or "", file.hunks, function(hunk)
    return hunk.verdict ~= "reject" and (hunk.edited or hunk.new) or nil
  end)
end

---@param file agent.ProposedFile
---@return boolean
function M.is_edited(file)
  return vim.iter(file.hunks):any(function(hunk)
    return hunk.edited ~= nil
  end)
end

---@private
---@param file agent.ProposedFile
---@return agent.Decision
function M._whole(file)
  local accepted = vim.iter(file.hunks):any(function(hunk)
    return hunk.verdict == "accept"
  end)
  if not accepted then
    return { uri = file.uri, verdict = "reject" }
  end
  return { uri = file.uri, verdict = "accept", editedText = M.text(file) }
end

---@private
---@param given agent.protocol.ProposedFile
---@param review agent.Review
---@return agent.ProposedFile
function M._file(given, review)
  return {
    uri = given.uri,
    where = given.kind == "rename" and review ~= "applied" and given.oldUri or given.uri,
    kind = given.kind,
    base = given.baseText,
    new = given.newText,
    base_hash = given.baseHash,
    hunks = vim.tbl_map(function(hunk)
      return {
        id = hunk.id,
        start = hunk.range.start.line,
        count = hunk.range["end"].line - hunk.range.start.line,
        old = hunk.oldText,
        new = hunk.newText,
      }
    end, given.hunks or {}),
  }
end

return M
