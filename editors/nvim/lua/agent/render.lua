--- A block of the conversation as lines, with what to highlight in them. Pure.
local diff = require("agent.diff")
local transcript = require("agent.transcript")
local visible = require("agent.visible")

local M = {}

--- Begins every line that is folded below its head. Markdown sees no markup behind it.
M.FOLDED = "│ "

---@class agent.Rendered
---@field lines string[]
---@field sign? { [1]: string, [2]: string } in the sign column of the first line that is not empty: text, highlight
---@field fold? integer the row that all rows after it are folded into
---@field highlights { row: integer, first?: integer, last?: integer, group: string }[] rows from 0; without columns: the line

---@alias agent.CallState "pending"|"in_progress"|"completed"|"failed"|"skipped"|"waiting"

---@type table<agent.CallState, { [1]: string, [2]: string }>
local SIGNS = {
  pending = { "○", "AgentPending" },
  in_progress = { "●", "AgentRunning" },
  completed = { "✓", "AgentDone" },
  failed = { "✗", "AgentFailed" },
  skipped = { "–", "AgentPending" },
  waiting = { "?", "AgentWaiting" },
}
--- Codes of calls that never ran: no failure of the tool.
local SKIPPED = { denied = true, duplicate = true, discarded = true, blocked = true, not_run = true }
local PLAN = { pending = "- [ ] ", in_progress = "- [-] ", completed = "- [x] " }
local OUTPUT_LINES = 400
local NOTICES = { info = "AgentMeta", warning = "AgentWaiting", error = "AgentFailed" }

--- The block as it is now.
---@param block agent.Block
---@return agent.Rendered
function M.block(block)
  local shown = M["_" .. block.kind](block)
  if not block.gap then
    return shown
  end
  table.insert(shown.lines, 1, "")
  for _, highlight in ipairs(shown.highlights) do
    highlight.row = highlight.row + 1
  end
  shown.fold = shown.fold and shown.fold + 1
  return shown
end

--- Lines that text adds to a block of its kind: the first goes on where the block ends.
---@param kind agent.BlockKind
---@param text string
---@return string[]
function M.growth(kind, text)
  local lines = vim.split(text, "\n", { plain = true })
  if kind == "thought" then
    for index = 2, #lines do
      lines[index] = M.FOLDED .. lines[index]
    end
  end
  return lines
end

--- Everything that a tool call showed, for a window of its own: lines and their file type.
---@param block agent.Block
---@return string[] lines, string filetype
function M.output(block)
  local lines, filetype = {}, "markdown"
  for _, part in ipairs(block.content or {}) do
    if part.type == "diff" then
      filetype = "diff"
      table.insert(lines, "--- " .. part.path)
      vim.list_extend(lines, diff.unified(part.oldText or "", part.newText))
    elseif part.type == "content" and part.content.type == "text" then
      vim.list_extend(lines, vim.split(part.content.text, "\n", { plain = true }))
    end
  end
  return lines, filetype
end

--- A tool call on one line: what, and what came of it.
---@param block agent.Block
---@return string
function M.headline(block)
  local line = visible.text(((block.title or block.tool or "tool"):gsub("%s*\n%s*", " ")))
  local state = M._state(block)
  local words = M._outcome(block, state, line)
  if words == "" then
    return line
  end
  return (state == "failed" and "%s: %s" or "%s (%s)"):format(line, words)
end

---@private
---@param block agent.Block
---@param state agent.CallState
---@param line string what the call is
---@return string
function M._outcome(block, state, line)
  if state == "waiting" then
    return "waiting for you"
  elseif state == "in_progress" then
    local running = (block.seconds or 0) >= 1 and ("running %d s"):format(block.seconds) or "running"
    local count = #M._printed(block)
    return count > 1 and ("%s, %d lines"):format(running, count) or running
  end
  local said = block.summary or (state == "failed" and M._printed(block)[1]) or ""
  said = said:gsub("%s*\n%s*", " "):gsub("_", " ")
  local words = { not line:find(said, 1, true) and said or nil }
  if state ~= "failed" and (block.seconds or 0) >= 0.1 then
    table.insert(words, ("%.1f s"):format(block.seconds))
  end
  return table.concat(words, ", ")
end

--- The lines that it printed, without fences.
---@private
---@param block agent.Block
---@return string[]
function M._printed(block)
  local lines = {}
  for _, part in ipairs(block.content or {}) do
    if part.type == "content" and part.content.type == "text" then
      vim.list_extend(lines, vim.split(vim.trim(part.content.text), "\n", { plain = true }))
    end
  end
  return vim.tbl_filter(function(line)
    return not vim.startswith(line, "```") and vim.trim(line) ~= ""
  end, lines)
end

---@private
---@param block agent.Block
---@return agent.CallState
function M._state(block)
  if block.waiting then
    return "waiting"
  elseif block.status == "failed" and SKIPPED[block.code] then
    return "skipped"
  elseif block.status == "completed" and (block.summary or ""):match("^exit [1-9]") then
    return "failed" -- the tool worked, and the command did not
  end
  return block.status or "pending"
end

---@private
---@param block agent.Block
---@return agent.Rendered
function M._user(block)
  local lines = M._closed(vim.split(transcript.text(block), "\n", { plain = true }))
  local highlights = {}
  for row = 0, #lines - 1 do
    highlights[#highlights + 1] = { row = row, group = "AgentUser" }
  end
  return { lines = lines, sign = { "›", "AgentUserSign" }, highlights = highlights }
end

---@private
---@param block agent.Block
---@return agent.Rendered
function M._text(block)
  if block.discarded then
    local line = "The answer broke off here and starts again below."
    return { lines = { line }, highlights = { { row = 0, first = 0, last = #line, group = "AgentMeta" } } }
  end
  local lines = vim.split(transcript.text(block), "\n", { plain = true })
  return { lines = block.open and lines or M._closed(lines), highlights = {} }
end

---@private
---@param block agent.Block
---@return agent.Rendered
function M._thought(block)
  local seconds = block.seconds or 0
  local head = block.open and "Thinking" or (seconds < 1 and "Thought" or ("Thought for %.0f s"):format(seconds))
  local lines = { head }
  for _, line in ipairs(vim.split(transcript.text(block), "\n", { plain = true })) do
    lines[#lines + 1] = M.FOLDED .. line
  end
  return { lines = lines, sign = { "▸", "AgentThought" }, highlights = M._dim(lines, "AgentThought"), fold = 0 }
end

---@private
---@param block agent.Block
---@return agent.Rendered
function M._tool(block)
  local lines = { M._code(M.headline(block)) }
  for _, words in ipairs(block.waiting or {}) do
    lines[#lines + 1] = M._code("  " .. words)
  end
  local output, head = M.output(block), #lines - 1
  for index = 1, math.min(#output, OUTPUT_LINES) do
    lines[#lines + 1] = M.FOLDED .. output[index]
  end
  if #output > OUTPUT_LINES then
    lines[#lines + 1] = M.FOLDED .. ("… %d more lines: press <CR> to see all"):format(#output - OUTPUT_LINES)
  end
  local sign = SIGNS[M._state(block)]
  local highlights = M._dim(lines, "AgentOutput")
  highlights[1] = { row = 0, first = 0, last = #lines[1], group = block.waiting and "AgentWaiting" or "AgentTool" }
  return { lines = lines, sign = sign, highlights = highlights, fold = #output > 0 and head or nil }
end

---@private
---@param block agent.Block
---@return agent.Rendered
function M._plan(block)
  local lines = vim.tbl_map(function(entry)
    return (PLAN[entry.status] or PLAN.pending) .. entry.content:gsub("\n", " ")
  end, block.entries or {})
  return { lines = #lines > 0 and lines or { "No plan" }, sign = { "≡", "AgentMeta" }, highlights = {} }
end

---@private
---@param block agent.Block
---@return agent.Rendered
function M._notice(block)
  local lines = vim.split(transcript.text(block), "\n", { plain = true })
  local group = NOTICES[block.severity] or NOTICES.info
  return { lines = lines, sign = { "!", group }, highlights = M._dim(lines, group) }
end

---@private
---@param block agent.Block
---@return agent.Rendered
M["_end"] = function(block)
  local line = transcript.text(block):gsub("\n", " ")
  return { lines = { line }, highlights = M._dim({ line }, "AgentMeta") }
end

--- A code block that was left open would swallow everything after it.
---@private
---@param lines string[]
---@return string[]
function M._closed(lines)
  local fence
  for _, line in ipairs(lines) do
    local mark = line:match("^ ? ? ?(```+)") or line:match("^ ? ? ?(~~~+)")
    if mark and not fence then
      fence = mark
    elseif mark and mark:sub(1, 1) == fence:sub(1, 1) and #mark >= #fence and line:match("^%s*[`~]+%s*$") then
      fence = nil
    end
  end
  if fence then
    lines[#lines + 1] = fence
  end
  return lines
end

--- As code, so that no letter of it is taken for markup.
---@private
---@param line string
---@return string
function M._code(line)
  local ticks = "`"
  while line:find(ticks, 1, true) do
    ticks = ticks .. "`"
  end
  local pad = ticks == "`" and "" or " "
  return ticks .. pad .. line .. pad .. ticks
end

---@private
---@param lines string[]
---@param group string
---@return { row: integer, first: integer, last: integer, group: string }[]
function M._dim(lines, group)
  local highlights = {}
  for row, line in ipairs(lines) do
    highlights[row] = { row = row - 1, first = 0, last = #line, group = group }
  end
  return highlights
end

return M
