--- The last line of a turn: why it ended when that is not normal, and what it took. Pure.
local M = {}

--- By detail, else by reason; a normal end needs no words.
---@type table<string, string>
local WHY = {
  soft_stop = "stopped",
  shutdown = "the server stopped",
  truncated = "the answer was cut: it reached the model's limit",
  refusal = "the model refused",
  user_abort = "cancelled",
  max_turns = "stopped: it took as many steps as a turn may",
  tokens = "stopped: the tokens that a session may use are used up",
  cost = "stopped: the money that a session may cost is used up",
  wall_time = "stopped: the time that a session may take is used up",
  budget_exceeded = "stopped: a limit of the session is reached",
  loop_detected = "stopped: it went in circles",
  error = "stopped by an error",
}

---@class agent.Ended
---@field reason? string
---@field detail? string
---@field usage? agent.protocol.TurnUsage

---@param ended agent.Ended what our server says beside ACP's stop reason
---@param seconds? number nil: not known
---@return string
function M.words(ended, seconds)
  local words, usage = { WHY[ended.detail] or WHY[ended.reason] }, ended.usage
  if usage and usage.inputTokens + usage.outputTokens > 0 then
    table.insert(words, ("%d tokens"):format(usage.inputTokens + usage.outputTokens))
  end
  if usage and usage.cost and tonumber(usage.cost.amount) ~= 0 then
    table.insert(words, ("$%s"):format(usage.cost.amount))
  end
  if seconds then
    table.insert(words, ("%.1f s"):format(seconds))
  end
  return table.concat(words, " · ")
end

return M
