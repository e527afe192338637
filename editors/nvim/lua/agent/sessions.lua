--- The conversations that are shown, which of them commands mean, and who is told when one changes.
local transcript = require("agent.transcript")

local M = {}

---@class agent.Session
---@field id string
---@field root string where it works
---@field transcript agent.Transcript
---@field state string thinking, streaming, executing, confirming, compacting, done
---@field label string the state, for people
---@field busy boolean
---@field turn? string the turn that is shown
---@field queued agent.Said[] what is not heard yet, the next one first
---@field heard? string the message that was shown from there
---@field unanswered integer prompts that were sent and not answered
---@field started_ms number when the last prompt was sent
---@field is_loading boolean its past is being replayed

---@type table<string, agent.Session>
local sessions = {}
---@type string?
local current
local is_announcing = false

---@type fun(session: agent.Session, changes: agent.Change[])[]
M.on_change = {}
---@type fun(session: agent.Session)[] the transcript begins anew, or another session is current
M.on_reset = {}

--- The one that commands mean.
---@return agent.Session?
function M.current()
  return current and sessions[current]
end

---@param id string
---@return agent.Session?
function M.get(id)
  return sessions[id]
end

---@return agent.Session[]
function M.all()
  return vim.tbl_values(sessions)
end

--- A conversation that begins, or begins anew.
---@param id string
---@param root string
---@return agent.Session
function M.add(id, root)
  sessions[id] = {
    id = id,
    root = root,
    transcript = transcript.new(),
    state = "done",
    label = "",
    busy = false,
    queued = {},
    unanswered = 0,
    started_ms = 0,
    is_loading = false,
  }
  return sessions[id]
end

--- Make it the one that commands mean.
---@param session agent.Session
function M.choose(session)
  current = session.id
  for _, listener in ipairs(M.on_reset) do
    listener(session)
  end
  M._announce()
end

--- Forget all of them.
function M.clear()
  sessions, current = {}, nil
end

--- Tell that one changed.
---@param session agent.Session
---@param changes agent.Change[]
function M.changed(session, changes)
  for _, listener in ipairs(M.on_change) do
    listener(session, changes)
  end
  if not session.is_loading and not (changes[1] and changes[1].text) then
    M._announce()
  end
end

--- For status lines; at most once per round of the event loop.
---@private
function M._announce()
  if is_announcing then
    return
  end
  is_announcing = true
  vim.schedule(function()
    is_announcing = false
    vim.api.nvim_exec_autocmds("User", { pattern = "AgentStatus", modeline = false })
    vim.cmd.redrawstatus({ bang = true })
  end)
end

return M
