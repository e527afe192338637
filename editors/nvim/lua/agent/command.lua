--- `:Agent …`: the subcommands, which the command line, the prompt's `/commands` and completion share.
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
local COMMANDS = vim.tbl_extend(
  "error",
  require("agent.commands.asking"),
  require("agent.commands.review"),
  require("agent.commands.server")
)

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

return M
