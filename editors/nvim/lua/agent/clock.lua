--- Lets time go on in the chat while a tool runs.
local sessions = require("agent.sessions")

local M = {}

local TICK_MS = 1000
---@type table<string, boolean> by session
local is_ticking = {}

--- Called once, before anything else.
function M.listen()
  table.insert(sessions.on_change, M._watch)
end

---@private
---@param session agent.Session
function M._watch(session)
  if not session.busy or is_ticking[session.id] then
    return
  end
  is_ticking[session.id] = true
  vim.defer_fn(function()
    is_ticking[session.id] = nil
    if session.busy and sessions.get(session.id) == session then
      sessions.changed(session, session.transcript:tick(vim.uv.now()))
    end
  end, TICK_MS)
end

return M
