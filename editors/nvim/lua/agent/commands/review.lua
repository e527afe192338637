--- Subcommands of `:Agent` about edits: those that wait, those that were applied, and going back; and about questions.
local calls = require("agent.commands.call")
local log = require("agent.log")

local M = {}

---@return string[]
local function parts()
  return { "hunk", "file", "all" }
end

--- The edit at the cursor, else the one that waits longest; says so when there is none.
---@return agent.Place?
local function waiting()
  local place = require("agent.inline").at_cursor() or require("agent.review").pending()[1]
  if not place then
    log.say("INFO", "no edit waits")
  end
  return place
end

---@param verdict agent.Verdict
---@param part string
local function decide(verdict, part)
  local review = require("agent.review")
  if part == "all" then
    return review.decide_all(verdict)
  end
  local inline = require("agent.inline")
  local place = inline.at_cursor()
  if not place then
    return log.say("INFO", "no proposed hunk is here; :Agent next goes to one")
  end
  if not inline.is_seen(place, 0) then
    inline.reveal(place)
    return log.say(
      "INFO",
      ("nothing was decided: the hunk was not on the screen. Here it is; %s again"):format(verdict)
    )
  end
  review.decide(place, verdict, part == "file")
end

--- The applied hunks that are meant.
---@param part string
---@return agent.Place[]
local function applied_places(part)
  local applied = require("agent.applied")
  if part == "all" then
    return applied.places()
  end
  local place = require("agent.inline").at_cursor("applied")
  if not place then
    log.say("INFO", "no applied hunk is here; :Agent next goes to one")
    return {}
  end
  return vim.tbl_filter(function(other)
    return other.file == place.file and (part == "file" or other.hunk == place.hunk)
  end, applied.places())
end

--- What waits, else what will, else what was done.
---@return agent.Place?
local function to_review()
  local inline = require("agent.inline")
  local place = inline.at_cursor() or require("agent.review").pending()[1] or inline.at_cursor("applied")
  if place then
    return place
  end
  for _, keeper in ipairs({ require("agent.staged"), require("agent.applied") }) do
    local one, file = keeper.files()()
    if one and file then
      return { proposal = one, file = file }
    end
  end
end

M.accept = {
  about = "accept the hunk here; `file` or `all`",
  values = parts,
  run = function(call)
    decide("accept", call.words)
  end,
}

M.reject = {
  about = "reject the hunk here; `file` or `all`",
  values = parts,
  run = function(call)
    decide("reject", call.words)
  end,
}

M.further = {
  about = "accept the edit here, and further ones of its files, as far as you choose",
  values = function()
    return { "session", "workspace" }
  end,
  run = function(call)
    local place = waiting()
    if place then
      require("agent.pick").scope(place.proposal, calls.given(call))
    end
  end,
}

M.refuse = {
  about = "reject the edit here, and say why",
  run = function(call)
    local place = waiting()
    if not place then
      return
    end
    calls.with_words(call, "Why not? ", function(words)
      require("agent.review").refuse(place.proposal, words)
    end)
  end,
}

M.keep = {
  about = "keep the applied hunk here; `file` or `all`",
  values = parts,
  run = function(call)
    require("agent.applied").keep(applied_places(call.words))
  end,
}

M.revert = {
  about = "take back the applied hunk here; `file` or `all`",
  values = parts,
  run = function(call)
    local is_whole, seen = call.words == "file" or call.words == "all", {}
    for _, place in ipairs(applied_places(call.words)) do
      if not (is_whole and seen[place.file]) then
        seen[place.file] = true
        require("agent.applied").revert(place, is_whole)
      end
    end
  end,
}

M.edit = {
  about = "change the proposed text of the hunk here",
  run = function()
    local place = require("agent.inline").at_cursor()
    if not place or not place.hunk then
      return log.say("INFO", "no proposed hunk is here")
    end
    require("agent.sidebyside").edit_hunk(place)
  end,
}

M.review = {
  about = "review in two windows",
  in_prompt = true,
  run = function()
    local place = to_review()
    if not place then
      return log.say("INFO", "there is no edit to review")
    end
    require("agent.sidebyside").open(place)
  end,
}

M.hunks = {
  about = "list the hunks that wait, else those that were applied",
  run = function()
    require("agent.pick").hunks()
  end,
}

M.next = {
  about = "go to the next hunk that waits, else that was applied",
  run = function()
    require("agent.inline").go(1)
  end,
}

M.prev = {
  about = "go to the previous one",
  run = function()
    require("agent.inline").go(-1)
  end,
}

M.answer = {
  about = "answer the question that waits",
  run = function()
    require("agent.questions").answer()
  end,
}

M.undo = {
  about = "take files, the conversation or both back to before a turn",
  in_prompt = true,
  run = function()
    require("agent.checkpoint").choose()
  end,
}

M.redo = {
  about = "undo the last `undo`",
  in_prompt = true,
  run = function()
    require("agent.checkpoint").redo()
  end,
}

return M
