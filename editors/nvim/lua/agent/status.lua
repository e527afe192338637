--- What goes on, in a few words: for a status line, and for the chat's window bar.
local client = require("agent.client")
local questions = require("agent.questions")
local session = require("agent.session")

local M = {}

--- For 'statusline' and its plugins: `agent ● streaming`, `agent ? 1 waiting`, nothing when idle.
---@return string
function M.component()
  local waiting = M.waiting()
  if waiting > 0 then
    local unseen = #require("agent.inline").unseen()
    local where = unseen > 0 and (" · %d off screen: :Agent next"):format(unseen) or ""
    return ("agent ? %d waiting%s"):format(waiting, where)
  end
  if client.phase() == "waiting" then
    return "agent ✗ starting again"
  end
  local busy = vim.iter(session.all()):find(function(one)
    return one.busy
  end)
  return busy and ("agent ● " .. busy.state) or ""
end

--- What waits for the person: questions, and edits to be judged.
---@return integer
function M.waiting()
  return questions.count() + require("agent.review").count()
end

--- 'winbar' of the chat: model · mode · context · cost, and at the right what goes on.
---@return string
function M.winbar()
  local shown = session.current()
  if not shown then
    return ""
  end
  local facts = {}
  local model = session.option(shown, "model")
  table.insert(facts, model and M._model(model.currentValue) or "no model")
  table.insert(facts, shown.transcript.mode or "")
  local usage = shown.transcript.usage
  if usage and usage.size > 0 then
    table.insert(facts, ("context %d %%"):format(math.floor(100 * usage.used / usage.size + 0.5)))
  end
  if usage and usage.cost and usage.cost.amount > 0 then
    table.insert(facts, ("$%.2f"):format(usage.cost.amount))
  end
  local left = table.concat(facts, " · "):gsub("%%", "%%%%")
  return (" %%#AgentMeta#%s%%=%%#%s#%s "):format(left, M._state(shown))
end

--- A scripted model is no real one, and where its script lies says nothing.
---@private
---@param name string
---@return string
function M._model(name)
  return vim.startswith(name, "scripted:") and "scripted" or name
end

---@private
---@param shown agent.Session
---@return string group, string words
function M._state(shown)
  if client.phase() ~= "ready" then
    return "AgentFailed", "✗ " .. (client.phase() == "off" and "not running" or "starting")
  end
  local waiting = questions.count(shown.id) + require("agent.review").count(shown.id)
  if waiting > 0 then
    local unseen = #require("agent.inline").unseen()
    return "AgentWaiting", ("? %d waiting for you%s"):format(waiting, unseen > 0 and ", off screen" or "")
  end
  if shown.busy then
    return "AgentRunning", "● " .. shown.label:gsub("%%", "%%%%")
  end
  return "AgentMeta", ""
end

return M
