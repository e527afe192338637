--- `:Agent …`: one table of subcommands, which the command line, the prompt's `/commands` and completion share.
local log = require("agent.log")

local M = {}

---@class agent.Call
---@field words string what follows the subcommand
---@field range? { [1]: integer, [2]: integer } lines from 1
---@field bang boolean

---@class agent.Subcommand
---@field run fun(call: agent.Call)
---@field about string for people
---@field in_prompt? boolean also as `/name`
---@field values? fun(): string[]

---@type table<string, agent.Subcommand>
local COMMANDS = {
  open = {
    about = "show the chat and go to its prompt",
    run = function()
      require("agent").open()
    end,
  },
  close = {
    about = "close the chat",
    run = function()
      require("agent.window").close()
    end,
  },
  toggle = {
    about = "show the chat, or close it",
    run = function()
      local window = require("agent.window")
      return window.is_open() and window.close() or require("agent").open()
    end,
  },
  ask = {
    about = "ask, about the selection if there is one",
    run = function(call)
      M._with_words(call, "Ask: ", function(words)
        M._ask(words, call.range, call.range and "@selection")
      end)
    end,
  },
  fix = {
    about = "fix the diagnostics here",
    run = function(call)
      local about = M._about(call.range or M._cursor_line())
      if not require("agent.context").has_diagnostics(about) then
        return log.say("INFO", "there is no diagnostic here to fix")
      end
      M._ask("Fix @diagnostics in @selection. " .. call.words, about.range)
    end,
  },
  explain = {
    about = "explain the selection, or the line",
    run = function(call)
      M._ask("Explain @selection. " .. call.words, call.range or M._cursor_line())
    end,
  },
  cancel = {
    about = "stop the running turn",
    in_prompt = true,
    run = function()
      local session = require("agent.session")
      local current = session.current()
      if current then
        session.cancel(current)
      end
    end,
  },
  accept = {
    about = "accept the hunk here; `file` or `all`",
    values = function()
      return { "hunk", "file", "all" }
    end,
    run = function(call)
      M._decide("accept", call.words)
    end,
  },
  reject = {
    about = "reject the hunk here; `file` or `all`",
    values = function()
      return { "hunk", "file", "all" }
    end,
    run = function(call)
      M._decide("reject", call.words)
    end,
  },
  edit = {
    about = "change the proposed text of the hunk here",
    run = function()
      local place = require("agent.inline").at_cursor()
      if not place or not place.hunk then
        return log.say("INFO", "no proposed hunk is here")
      end
      require("agent.sidebyside").edit_hunk(place)
    end,
  },
  review = {
    about = "review in two windows",
    in_prompt = true,
    run = function()
      local place = require("agent.inline").at_cursor() or require("agent.review").pending()[1]
      if not place then
        return log.say("INFO", "no edit waits")
      end
      require("agent.sidebyside").open(place)
    end,
  },
  hunks = {
    about = "list the pending hunks",
    run = function()
      require("agent.pick").hunks()
    end,
  },
  next = {
    about = "go to the next pending hunk",
    run = function()
      require("agent.inline").go(1)
    end,
  },
  prev = {
    about = "go to the previous pending hunk",
    run = function()
      require("agent.inline").go(-1)
    end,
  },
  answer = {
    about = "answer the question that waits",
    run = function()
      require("agent.permission").answer()
    end,
  },
  mode = {
    about = "choose what the agent may do without asking",
    in_prompt = true,
    values = function()
      return M._option_values("mode")
    end,
    run = function(call)
      require("agent.pick").option("mode", M._given(call))
    end,
  },
  model = {
    about = "choose the model",
    in_prompt = true,
    values = function()
      return M._option_values("model")
    end,
    run = function(call)
      require("agent.pick").option("model", M._given(call))
    end,
  },
  new = {
    about = "begin a new session",
    in_prompt = true,
    run = function()
      require("agent.session").new(function(session)
        require("agent.window").open(session)
      end)
    end,
  },
  resume = {
    about = "go on with an earlier session",
    in_prompt = true,
    run = function(call)
      require("agent.pick").session(M._given(call))
    end,
  },
  undo = {
    about = "take files back to before a turn",
    in_prompt = true,
    run = function()
      require("agent.checkpoint").choose()
    end,
  },
  log = {
    about = "open the server's log",
    run = function()
      log.open()
    end,
  },
  restart = {
    about = "restart the server; the session goes on",
    run = function()
      require("agent.client").restart()
    end,
  },
  install = {
    about = "install the server that the plugin carries",
    run = function()
      require("agent.install").run()
    end,
  },
  health = {
    about = "check that everything is there",
    run = function()
      vim.cmd.checkhealth("agent")
    end,
  },
}
COMMANDS.sessions = COMMANDS.resume

--- Run `:Agent`.
---@param given vim.api.keyset.create_user_command.command_args
function M.run(given)
  local name, words = given.args:match("^(%S*)%s*(.*)$")
  local command = COMMANDS[name == "" and "open" or name]
  if not command then
    return log.say("ERROR", ("there is no :Agent %s. There are: %s"):format(name, table.concat(M.names(), ", ")))
  end
  require("agent").begin()
  command.run({ words = words, bang = given.bang, range = given.range > 0 and { given.line1, given.line2 } or nil })
end

--- Run a `/command` that is ours.
---@param text string the whole prompt
---@return boolean done false: it is for the server
function M.slash(text)
  local name, words = text:match("^/(%S+)%s*(.*)$")
  local command = name and COMMANDS[name]
  if not command or not command.in_prompt then
    return false
  end
  command.run({ words = words, bang = false })
  return true
end

---@return string[]
function M.names()
  local names = vim.tbl_keys(COMMANDS)
  table.sort(names)
  return names
end

--- What may follow a subcommand.
---@param name string
---@return string[]
function M.values(name)
  local command = COMMANDS[name]
  return command and command.values and command.values() or {}
end

--- Ours, as ACP describes commands.
---@return { name: string, description: string }[]
function M.slash_commands()
  local found = {}
  for _, name in ipairs(M.names()) do
    if COMMANDS[name].in_prompt then
      table.insert(found, { name = name, description = COMMANDS[name].about })
    end
  end
  return found
end

---@private
function M._with_words(call, question, done)
  if call.words ~= "" then
    return done(call.words)
  end
  vim.ui.input({ prompt = question }, function(words)
    if words and vim.trim(words) ~= "" then
      done(words)
    end
  end)
end

---@private
function M._ask(words, range, mention)
  local text = vim.trim(words)
  if mention and not text:find(mention, 1, true) then
    text = ("%s %s"):format(text, mention)
  end
  require("agent").ask(text, M._about(range))
end

---@private
---@return agent.About
function M._about(range)
  return { buf = require("agent.window").source_buffer(), range = range }
end

---@private
function M._cursor_line()
  local line = vim.api.nvim_win_get_cursor(require("agent.window").source_window())[1]
  return { line, line }
end

---@private
function M._decide(verdict, what)
  local review = require("agent.review")
  if what == "all" then
    return review.decide_all(verdict)
  end
  local place = require("agent.inline").at_cursor()
  if not place then
    return log.say("INFO", "no proposed hunk is here; :Agent next goes to one")
  end
  review.decide(place, verdict, what == "file")
end

---@private
function M._given(call)
  return call.words ~= "" and call.words or nil
end

---@private
function M._option_values(id)
  local session = require("agent.session")
  local current = session.current()
  local option = current and session.option(current, id)
  return vim.tbl_map(function(choice)
    return choice.value
  end, option and option.options or {})
end

return M
