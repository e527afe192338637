--- Questions that wait for the person, whatever they are about. Each is shown at its call in the chat and counted in the
--- status line. None opens by itself: whatever key is typed when one appears was meant for something else.
local log = require("agent.log")

local M = {}

---@class agent.Question
---@field session string
---@field call string the tool call it is shown at
---@field title string on one line
---@field detail string[] the thing itself, and why it is asked
---@field choices string[] what can be answered, for the chat
---@field show fun(answer: fun(result: table)) lets the person answer; does not call back when they did not
---@field withdrawn table the result when nobody needs an answer any more

---@class agent.Waiting
---@field question agent.Question
---@field respond fun(result: table)

---@type agent.Waiting[] the oldest first
local waiting = {}

--- Wait for the person, in the coroutine of an LSP handler.
---@param question agent.Question
---@return table result
function M.put(question)
  local co = assert(coroutine.running())
  local result
  local function respond(given)
    result = given
    assert(coroutine.resume(co))
  end
  table.insert(waiting, { question = question, respond = respond })
  M._changed(question, true)
  vim.schedule(function()
    if M._is_waiting(question) then
      log.say("WARN", ("%s? :Agent answer"):format(M._named(question)))
    end
  end)
  coroutine.yield()
  return result
end

--- How many wait, of one session or of all.
---@param session? string
---@return integer
function M.count(session)
  return #vim.tbl_filter(function(one)
    return session == nil or one.question.session == session
  end, waiting)
end

--- Let the person answer; leaving the list or the line leaves the question open.
---@param question? agent.Question nil: the oldest
function M.answer(question)
  question = question or (waiting[1] and waiting[1].question)
  if not question then
    return log.say("INFO", "nothing waits for an answer")
  end
  question.show(function(result)
    M._settle(question, result)
  end)
end

--- The question about a call.
---@param call string
---@return agent.Question?
function M.of_call(call)
  local found = vim.iter(waiting):find(function(one)
    return one.question.call == call
  end)
  return found and found.question
end

--- Withdraw questions that nobody needs answered any more.
---@param session string
---@param call? string nil: all of the session
function M.dismiss(session, call)
  for _, one in ipairs(vim.list_slice(waiting)) do
    if one.question.session == session and (call == nil or one.question.call == call) then
      M._settle(one.question, one.question.withdrawn)
    end
  end
end

--- The question as a list or a line asks it: what, where, the thing itself.
---@param question agent.Question
---@return string
function M.prompt(question)
  local session = require("agent.sessions").get(question.session)
  local where = session and ("  in %s"):format(vim.fn.fnamemodify(session.root, ":~")) or ""
  return table.concat(vim.list_extend({ M._named(question) .. where }, question.detail), "\n  ") .. "\n"
end

--- The first answer counts.
---@private
---@param question agent.Question
---@param result table
function M._settle(question, result)
  for index, one in ipairs(waiting) do
    if one.question == question then
      table.remove(waiting, index)
      M._changed(question, false)
      return one.respond(result)
    end
  end
end

---@private
---@param question agent.Question
---@return boolean
function M._is_waiting(question)
  return vim.iter(waiting):any(function(one)
    return one.question == question
  end)
end

---@private
---@param question agent.Question
---@param is_waiting boolean
function M._changed(question, is_waiting)
  local words
  if is_waiting then
    words = vim.list_slice(question.detail)
    table.insert(words, ("<CR> answers: %s"):format(table.concat(question.choices, " · ")))
  end
  require("agent.session").on_question(question.session, question.call, words)
end

--- With the title of its session, when that is not the one on the screen.
---@private
---@param question agent.Question
---@return string
function M._named(question)
  local sessions, shown = require("agent.sessions"), require("agent.session").current()
  local session = sessions.get(question.session)
  if not session or session == shown then
    return question.title
  end
  return ("%s (session: %s)"):format(question.title, session.title or "no title")
end

return M
