--- How a proposed hunk looks in its file: lines that would go on a ground of their own, lines that would come as virtual
--- lines below them, and at the right what can be done.
local config = require("agent.config")
local diff = require("agent.diff")

local M = {}

local LOOKS = vim.api.nvim_create_namespace("agent.review.looks")

---@class agent.Spot where and how a hunk is drawn
---@field row integer first line it replaces, or the line it is put before
---@field stale boolean its lines are not there any more
---@field added [string, string][][] the lines to come, each as chunks of text and syntax group
---@field index integer which of the file's hunks
---@field of integer how many there are

--- Remove everything from a buffer.
---@param buf integer
function M.clear(buf)
  vim.api.nvim_buf_clear_namespace(buf, LOOKS, 0, -1)
end

--- Draw a hunk.
---@param buf integer
---@param place agent.Place
---@param spot agent.Spot
---@return integer last the row after the lines it replaces
function M.hunk(buf, place, spot)
  local hunk = place.hunk or { start = 0, count = 0, old = "", new = "" }
  local last = math.min(spot.row + (spot.stale and 0 or hunk.count), vim.api.nvim_buf_line_count(buf))
  local verdict = hunk.verdict or place.file.verdict
  if verdict ~= "reject" then
    M._mark_removed(buf, spot.row, last, hunk)
    M._draw_added(buf, last, spot.added, hunk)
  end
  M._draw_hint(buf, spot.row, last, M._hint(place, spot, verdict), verdict)
  return last
end

--- Mark lines that were changed already.
---@param buf integer
---@param row integer the first of them, or the one that stands where lines were
---@param size integer how many; 0: lines were taken out
---@param number string which hunk of how many
---@return integer last the row after them
function M.applied(buf, row, size, number)
  local last = math.min(row + size, vim.api.nvim_buf_line_count(buf))
  for at = row, last - 1 do
    vim.api.nvim_buf_set_extmark(
      buf,
      LOOKS,
      at,
      0,
      { sign_text = "▎", sign_hl_group = "AgentAddSign", priority = 80 }
    )
  end
  local keys = ("applied · :Agent keep · :Agent revert · %s"):format(number)
  M._draw_hint(buf, row, last, { keys, "applied · " .. number, number }, nil, "AgentDeleteSign")
  return last
end

---@private
---@param buf integer
---@param row integer
---@param last integer the row after the last one
---@param hunk agent.Hunk
function M._mark_removed(buf, row, last, hunk)
  local old, new = diff.rows(hunk.old), diff.rows(hunk.edited or hunk.new)
  for at = row, last - 1 do
    local look = { line_hl_group = "AgentDelete", sign_text = "▎", sign_hl_group = "AgentDeleteSign", priority = 90 }
    vim.api.nvim_buf_set_extmark(buf, LOOKS, at, 0, look)
    local before, after = old[at - row + 1], new[at - row + 1]
    for _, span in ipairs(before and after and (diff.inside(before, after)) or {}) do
      local place = { end_col = span.last, hl_group = "AgentDeleteText", priority = 210, strict = false }
      vim.api.nvim_buf_set_extmark(buf, LOOKS, at, span.first, place)
    end
  end
end

---@private
---@param buf integer
---@param last integer
---@param added [string, string][][]
---@param hunk agent.Hunk
function M._draw_added(buf, last, added, hunk)
  if #added == 0 then
    return
  end
  local old, new = diff.rows(hunk.old), diff.rows(hunk.edited or hunk.new)
  local width = M._width(buf)
  local lines = {}
  for index, chunks in ipairs(added) do
    local spans = old[index] and select(2, diff.inside(old[index], new[index])) or {}
    lines[index] = M._added_line(chunks, spans, vim.bo[buf].tabstop, width)
  end
  local above, at = last == 0, math.max(0, last - 1)
  vim.api.nvim_buf_set_extmark(
    buf,
    LOOKS,
    at,
    0,
    { virt_lines = lines, virt_lines_above = above, virt_lines_overflow = "scroll" }
  )
  if above then
    M._show_above(buf, #lines)
  end
end

--- One virtual line on a ground of its own, as wide as the window.
---@private
---@param chunks [string, string][]
---@param spans agent.Span[]
---@param tabstop integer
---@param width integer columns
---@return [string, string|string[]][]
function M._added_line(chunks, spans, tabstop, width)
  local line, byte, column = {}, 0, 0
  for _, chunk in ipairs(chunks) do
    for _, piece in ipairs(M._pieces(chunk[1], byte, spans)) do
      local text = piece.text:gsub("\t", (" "):rep(tabstop))
      local ground = piece.changed and "AgentAddText" or "AgentAdd"
      table.insert(line, { text, chunk[2] ~= "" and { ground, chunk[2] } or ground })
      column = column + vim.api.nvim_strwidth(text)
    end
    byte = byte + #chunk[1]
  end
  if column < width then
    table.insert(line, { (" "):rep(width - column), "AgentAdd" })
  end
  return line
end

--- A chunk cut where the changed spans begin and end.
---@private
---@param text string
---@param offset integer bytes before it in its line
---@param spans agent.Span[]
---@return { text: string, changed: boolean }[]
function M._pieces(text, offset, spans)
  local pieces, at = {}, 0
  local function push(upto, changed)
    if upto > at then
      table.insert(pieces, { text = text:sub(at + 1, upto), changed = changed })
      at = upto
    end
  end
  for _, span in ipairs(spans) do
    local first = math.max(0, math.min(#text, span.first - offset))
    push(first, false)
    push(math.max(first, math.min(#text, span.last - offset)), true)
  end
  push(#text, false)
  return pieces
end

--- What can be done with a hunk and which one it is, from long to short: as much as fits is shown.
---@private
---@param place agent.Place
---@param spot agent.Spot
---@param verdict? agent.Verdict
---@return string[]
function M._hint(place, spot, verdict)
  local facts = {}
  local is_staged = place.proposal.review == "staged"
  if is_staged then
    table.insert(facts, "staged, asked about later")
  end
  if place.file.kind ~= "edit" then
    table.insert(facts, place.file.kind .. " file")
  end
  if spot.stale then
    table.insert(facts, "these lines changed since")
  end
  if place.hunk and place.hunk.edited then
    table.insert(facts, "edited")
  end
  if verdict then
    table.insert(facts, verdict == "accept" and "✓ accepted" or "✗ rejected")
  end
  local keys = config.get().review_keys
  local number = ("%d/%d"):format(spot.index, spot.of)
  if verdict or is_staged or not keys then
    return { M._joined(facts, number), number }
  end
  local all = ("%s accept · %s reject · %s edit · %s diff"):format(
    keys.accept_hunk,
    keys.reject_hunk,
    keys.edit_hunk,
    keys.diff
  )
  local two = ("%s accept · %s reject"):format(keys.accept_hunk, keys.reject_hunk)
  local bare = ("%s · %s"):format(keys.accept_hunk, keys.reject_hunk)
  local choices = vim.tbl_map(function(words)
    return M._joined(facts, words, number)
  end, { all, two, bare })
  return vim.list_extend(choices, { M._joined(facts, number), number })
end

---@private
---@param facts string[]
---@param ... string
function M._joined(facts, ...)
  return table.concat(vim.list_extend(vim.list_slice(facts), { ... }), " · ")
end

--- At the right of the hunk's first line, or of the line before an insertion.
---@private
---@param buf integer
---@param row integer
---@param last integer
---@param words string[] from long to short
---@param verdict? agent.Verdict
---@param sign_group? string of the sign where no line has one; nil: that of lines to come
function M._draw_hint(buf, row, last, words, verdict, sign_group)
  local at = math.min(math.max(0, row == last and row - 1 or row), vim.api.nvim_buf_line_count(buf) - 1)
  local group = verdict == "accept" and "AgentDone" or verdict == "reject" and "AgentFailed" or "AgentHint"
  local sign = verdict and (verdict == "accept" and "✓" or "✗") or nil
  vim.api.nvim_buf_set_extmark(buf, LOOKS, at, 0, {
    virt_text = { { M._fitting(buf, at, words) .. " ", group } },
    virt_text_pos = "eol_right_align",
    sign_text = sign or (row == last and "▎" or nil),
    sign_hl_group = sign and group or sign_group or "AgentAddSign",
    priority = 95,
    hl_mode = "combine",
  })
end

--- The longest words that fit behind a line.
---@private
---@param buf integer
---@param row integer
---@param words string[] from long to short
---@return string
function M._fitting(buf, row, words)
  local line = vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ""
  local room = M._text_width(buf) - vim.fn.strdisplaywidth(line) - 3
  for _, choice in ipairs(words) do
    if vim.api.nvim_strwidth(choice) <= room then
      return choice
    end
  end
  return words[#words]
end

--- Columns for text in the narrowest window that shows the buffer.
---@private
---@param buf integer
---@return integer
function M._text_width(buf)
  local width = math.huge
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local info = vim.fn.getwininfo(win)[1]
    width = math.min(width, info.width - info.textoff)
  end
  return width
end

---@private
---@param buf integer
function M._width(buf)
  local width = 0
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    width = math.max(width, vim.api.nvim_win_get_width(win))
  end
  return math.max(width, 80)
end

--- Lines above the first one are out of sight until the window scrolls up to them.
---@private
---@param buf integer
---@param count integer
function M._show_above(buf, count)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    vim.api.nvim_win_call(win, function()
      if vim.fn.winsaveview().topline == 1 then
        vim.fn.winrestview({ topfill = count })
      end
    end)
  end
end

return M
