--- What the subcommands of `:Agent` share: words and places that they are called with.
local M = {}

--- The words of a call, asked for when there are none; nothing happens when the person gives none.
---@param call agent.Call
---@param question string
---@param done fun(words: string)
function M.with_words(call, question, done)
  if call.words ~= "" then
    return done(call.words)
  end
  vim.ui.input({ prompt = question }, function(words)
    if words and vim.trim(words) ~= "" then
      done(words)
    end
  end)
end

--- The words of a call; nil when there are none.
---@param call agent.Call
---@return string?
function M.given(call)
  return call.words ~= "" and call.words or nil
end

--- The file the person was in last, and these lines of it.
---@param range? { [1]: integer, [2]: integer }
---@return agent.About
function M.about(range)
  return { buf = require("agent.window").source_buffer(), range = range }
end

--- The lines of a call; the cursor's when it has none.
---@param call agent.Call
---@return { [1]: integer, [2]: integer }
function M.lines(call)
  local line = vim.api.nvim_win_get_cursor(require("agent.window").source_window())[1]
  return call.range or { line, line }
end

return M
