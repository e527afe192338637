--- Subcommands of `:Agent` to talk: the chat, what is asked, what is said to a running turn, which session it is.
local calls = require("agent.commands.call")
local log = require("agent.log")

local M = {}

---@param words string
---@param range? { [1]: integer, [2]: integer }
---@param mention? string taken along
local function ask(words, range, mention)
  local text = vim.trim(words)
  if mention and not text:find(mention, 1, true) then
    text = ("%s %s"):format(text, mention)
  end
  require("agent").ask(text, calls.about(range))
end

---@param action "stop"|"cancel"
local function with_session(action)
  local session = require("agent.session")
  local current = session.current()
  if current then
    session[action](current)
  end
end

--- What is written in the prompt, when that is where the person is.
---@param how "steer"|"redirect"
---@param call agent.Call
local function say(how, call)
  local prompt = require("agent.prompt")
  local is_written = vim.api.nvim_get_current_buf() == prompt.buffer() and prompt.text() ~= ""
  if call.words == "" and is_written then
    return prompt.submit(how)
  end
  calls.with_words(call, "Say: ", function(words)
    prompt.send(words, calls.about(call.range), how)
  end)
end

---@param id string of one of the session's options
---@return string[]
local function option_values(id)
  local session = require("agent.session")
  local current = session.current()
  local option = current and session.option(current, id)
  return vim.tbl_map(function(choice)
    return choice.value
  end, option and option.options or {})
end

---@param id string of one of the session's options
---@param about string
---@return agent.Subcommand
local function chosen(id, about)
  return {
    about = about,
    in_prompt = true,
    values = function()
      return option_values(id)
    end,
    run = function(call)
      require("agent.pick").option(id, calls.given(call))
    end,
  }
end

M.open = {
  about = "show the chat and go to its prompt",
  run = function()
    require("agent").open()
  end,
}

M.close = {
  about = "close the chat",
  run = function()
    require("agent.window").close()
  end,
}

M.toggle = {
  about = "show the chat, or close it",
  run = function()
    local window = require("agent.window")
    return window.is_open() and window.close() or require("agent").open()
  end,
}

M.ask = {
  about = "ask, about the selection if there is one",
  run = function(call)
    calls.with_words(call, "Ask: ", function(words)
      ask(words, call.range, call.range and "@selection")
    end)
  end,
}

M.fix = {
  about = "fix the diagnostics here",
  run = function(call)
    local about = calls.about(calls.lines(call))
    if not require("agent.context").has_diagnostics(about) then
      return log.say("INFO", "there is no diagnostic here to fix")
    end
    ask("Fix @diagnostics in @selection. " .. call.words, about.range)
  end,
}

M.explain = {
  about = "explain the selection, or the line",
  run = function(call)
    ask("Explain @selection. " .. call.words, calls.lines(call))
  end,
}

M.steer = {
  about = "say something to the running turn, at its next step",
  in_prompt = true,
  run = function(call)
    say("steer", call)
  end,
}

M.redirect = {
  about = "say something to the running turn at once; what streams is dropped",
  in_prompt = true,
  run = function(call)
    say("redirect", call)
  end,
}

M.stop = {
  about = "end the turn after what runs now",
  in_prompt = true,
  run = function()
    with_session("stop")
  end,
}

M.cancel = {
  about = "stop the running turn at once",
  in_prompt = true,
  run = function()
    with_session("cancel")
  end,
}

M.mode = chosen("mode", "choose what the agent may do without asking")
M.model = chosen("model", "choose the model")

M.new = {
  about = "begin a new session",
  in_prompt = true,
  run = function()
    require("agent.session").new(function(session)
      require("agent.window").open(session)
    end)
  end,
}

M.resume = {
  about = "go on with an earlier session",
  in_prompt = true,
  run = function(call)
    require("agent.pick").session(calls.given(call))
  end,
}

M.sessions = M.resume

return M
