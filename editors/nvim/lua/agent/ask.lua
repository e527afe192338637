--- What the agent itself wants to know: a choice, or a line of words. Nobody answers for the person.
local questions = require("agent.questions")

local M = {}

local WORDS, NOTHING = "Something else", "No answer"

--- Answer `agent/ask`, once the person has.
---@param params agent.protocol.Ask
---@return agent.protocol.Asked
function M.on_request(params)
  local rows = vim.split(vim.trim(params.question), "\n", { plain = true })
  local question = {
    session = params.sessionId,
    call = params.toolCallId,
    title = rows[1],
    detail = vim.list_slice(rows, 2),
    choices = #params.options > 0 and params.options or { "in words" },
    withdrawn = vim.empty_dict(),
  }
  function question.show(answer)
    if #params.options == 0 then
      return M._in_words(question, answer)
    end
    M._choose(question, params.options, answer)
  end
  return questions.put(question)
end

---@private
---@param question agent.Question
---@param options string[]
---@param answer fun(result: agent.protocol.Asked)
function M._choose(question, options, answer)
  local choices = vim.list_extend(vim.list_slice(options), { WORDS, NOTHING })
  local shown = { prompt = questions.prompt(question), kind = "agent-ask" }
  vim.ui.select(choices, shown, function(choice, index)
    if choice and index <= #options then
      answer({ answer = choice })
    elseif choice == WORDS then
      M._in_words(question, answer)
    elseif choice == NOTHING then
      answer(vim.empty_dict())
    end
  end)
end

--- An empty line is no answer; leaving it leaves the question open.
---@private
---@param question agent.Question
---@param answer fun(result: agent.protocol.Asked)
function M._in_words(question, answer)
  vim.ui.input({ prompt = questions.prompt(question) .. "> " }, function(words)
    if words then
      local said = vim.trim(words)
      answer(said ~= "" and { answer = said } or vim.empty_dict())
    end
  end)
end

return M
