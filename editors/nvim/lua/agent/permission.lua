--- May the agent do this? Commands and other acts that need a yes, with the options that the server offers.
local questions = require("agent.questions")
local visible = require("agent.visible")

local M = {}

local WHY = { name = "No, and say why" }

--- Answer `agent/session/request_permission`, once the person has.
---@param params agent.protocol.RequestPermission
---@return agent.protocol.PermissionAnswer
function M.on_request(params)
  local call = params.toolCall
  local question = {
    session = params.sessionId,
    call = vim.tbl_get(params, "_meta", "agent-server", "within") or call.toolCallId,
    title = visible.text(((call.title or "the agent asks"):gsub("%s*\n%s*", " "))),
    choices = vim.tbl_map(M._name, params.options),
    withdrawn = { outcome = { outcome = "cancelled" } },
  }
  question.detail = M._detail(call, question.title)
  function question.show(answer)
    M._choose(question, params.options, answer)
  end
  return questions.put(question)
end

---@private
---@param question agent.Question
---@param options agent.protocol.PermissionOption[]
---@param answer fun(result: agent.protocol.PermissionAnswer)
function M._choose(question, options, answer)
  local no = vim.iter(options):find(function(option)
    return option.kind == "reject_once"
  end)
  local choices = vim.list_extend(vim.list_slice(options), { no and WHY or nil })
  local shown = { prompt = questions.prompt(question) .. "Allow?", format_item = M._name, kind = "agent-permission" }
  vim.ui.select(choices, shown, function(choice)
    if choice == WHY then
      return M._say_why(no, answer)
    elseif choice then
      answer({ outcome = { outcome = "selected", optionId = choice.optionId } })
    end
  end)
end

---@private
---@param no agent.protocol.PermissionOption
---@param answer fun(result: agent.protocol.PermissionAnswer)
function M._say_why(no, answer)
  vim.ui.input({ prompt = "Why not? " }, function(words)
    if words then
      local meta = words ~= "" and { ["agent-server"] = { feedback = words } } or nil
      answer({ outcome = { outcome = "selected", optionId = no.optionId, _meta = meta } })
    end
  end)
end

---@private
---@param option { name: string }
---@return string
function M._name(option)
  return option.name
end

--- What the title does not say already.
---@private
---@param call table ACP's ToolCallUpdate
---@param title string
---@return string[]
function M._detail(call, title)
  local detail = {}
  for _, part in ipairs(call.content or {}) do
    if part.type == "content" and part.content.type == "text" then
      local text = visible.text(vim.trim((part.content.text:gsub("```+%w*\n?", ""))))
      if not vim.endswith(title, text) then
        vim.list_extend(detail, vim.split(text, "\n", { plain = true }))
      end
    end
  end
  return detail
end

return M
