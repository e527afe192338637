--- The plugin's door. Everything behind it is loaded at its first use.
local M = {}

local has_begun = false

--- Optional: settings beside the defaults in `agent.config`. May be called again.
---@param given? table
function M.setup(given)
  require("agent.config").set(given)
end

--- Put the parts together, once. Every command does; only code that uses the modules alone needs it.
function M.begin()
  if has_begun then
    return
  end
  has_begun = true
  require("agent.highlight").define()
  for _, part in ipairs({ "session", "chat", "clock", "window", "edits" }) do
    require("agent." .. part).listen()
  end
end

--- Show the conversation and go to its prompt.
function M.open()
  M.begin()
  local window = require("agent.window")
  require("agent.session").ensure(function(session)
    window.open(session)
    window.focus_prompt(false)
  end)
end

--- Ask, about what is named with `@` in the text.
---@param text string
---@param about? agent.About what `@selection`, `@buffer` and `@diagnostics` mean; nil: the file the person was in last
function M.ask(text, about)
  M.begin()
  require("agent.prompt").send(text, about)
end

return M
