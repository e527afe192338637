--- Questions about commands and the like. Each is shown at its call in the chat and counted in the status line; the
--- list of answers opens by itself only where the person is looking at the chat and not typing, so that a key meant
--- for something else never answers.
local M = {}

---@class agent.Question
---@field session string
---@field call string the tool call's id
---@field title string
---@field detail string[] the command, and why it is asked
---@field options agent.protocol.PermissionOption[]
---@field respond fun(outcome: agent.protocol.PermissionOutcome)

---@type agent.Question[] that wait, the oldest first
local waiting = {}

--- Answer `agent/session/request_permission`, once the person has.
---@param params agent.protocol.RequestPermission
---@return agent.protocol.PermissionAnswer
function M.on_request(params)
  local co = assert(coroutine.running())
  local answered
  local question = M._read(params)
  function question.respond(outcome)
    answered = { outcome = outcome }
    assert(coroutine.resume(co))
  end
  table.insert(waiting, question)
  M._changed(question, true)
  vim.schedule(function()
    if M._is_looking() then
      M.answer(question)
    else
      require("agent.log").say("WARN", ("%s? :Agent answer"):format(question.title))
    end
  end)
  coroutine.yield()
  return answered
end

--- How many wait, of one session or of all.
---@param session? string
function M.count(session)
  return #vim.tbl_filter(function(question)
    return session == nil or question.session == session
  end, waiting)
end

--- Let the person choose; cancelling the list leaves the question open.
---@param question? agent.Question nil: the oldest
function M.answer(question)
  question = question or waiting[1]
  if not question then
    return require("agent.log").say("INFO", "nothing waits for an answer")
  end
  local shown = {
    prompt = table.concat(vim.list_extend({ question.title }, question.detail), "\n  ") .. "\nAllow?",
    format_item = function(option)
      return option.name
    end,
    kind = "agent-permission",
  }
  vim.ui.select(question.options, shown, function(option)
    if option then
      M._settle(question, { outcome = "selected", optionId = option.optionId })
    end
  end)
end

--- The question about a call.
---@param call string
---@return agent.Question?
function M.of_call(call)
  return vim.iter(waiting):find(function(question)
    return question.call == call
  end)
end

--- Withdraw questions that nobody needs answered any more.
---@param session string
---@param call? string nil: all of the session
function M.dismiss(session, call)
  for _, question in ipairs(vim.list_slice(waiting)) do
    if question.session == session and (call == nil or question.call == call) then
      M._settle(question, { outcome = "cancelled" })
    end
  end
end

---@private
function M._settle(question, outcome)
  for index, one in ipairs(waiting) do
    if one == question then
      table.remove(waiting, index)
      M._changed(question, false)
      return question.respond(outcome)
    end
  end
end

---@private
function M._changed(question, is_waiting)
  require("agent.session").on_question(question.session, question.call, is_waiting)
end

---@private
function M._is_looking()
  local filetype = vim.bo[vim.api.nvim_get_current_buf()].filetype
  local is_ours = filetype == "agent-chat" or filetype == "agent-prompt"
  return is_ours and vim.api.nvim_get_mode().mode == "n"
end

---@private
---@return agent.Question
function M._read(params)
  local call = params.toolCall
  local detail = {}
  for _, part in ipairs(call.content or {}) do
    if part.type == "content" and part.content.type == "text" then
      local text = part.content.text:gsub("```+%w*\n?", "")
      vim.list_extend(detail, vim.split(vim.trim(text), "\n", { plain = true }))
    end
  end
  return {
    session = params.sessionId,
    call = call.toolCallId,
    title = call.title or "the agent asks",
    detail = detail,
    options = params.options,
    respond = function() end,
  }
end

return M
