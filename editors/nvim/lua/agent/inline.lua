--- Proposed hunks in the file itself: what would go is marked, what would come is drawn as virtual lines. The buffer's
--- text is not touched, so undo, formatters and other plugins see nothing until an edit is accepted.
local apply = require("agent.apply")
local config = require("agent.config")
local diff = require("agent.diff")
local proposal = require("agent.proposal")
local review = require("agent.review")
local syntax = require("agent.syntax")

local M = {}

local HUNKS = vim.api.nvim_create_namespace("agent.review.hunks") -- one mark for each hunk, over the lines it replaces
local LOOKS = vim.api.nvim_create_namespace("agent.review.looks")

---@class agent.Shown
---@field places table<integer, agent.Place> by extmark
---@field saved table<string, table> the person's own buffer maps that ours replaced, by key

---@type table<integer, agent.Shown> by buffer
local shown = {}

--- Called once, before anything else.
function M.listen()
  table.insert(review.on_change, function(uri)
    local buf = apply.buffer(uri)
    if buf then
      M.draw(buf)
    end
  end)
  vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile" }, {
    group = vim.api.nvim_create_augroup("agent.inline", {}),
    callback = function(event)
      if review.count() > 0 then
        M.draw(event.buf)
      end
    end,
  })
end

--- Show what is pending in a buffer, or nothing when nothing is.
---@param buf integer
function M.draw(buf)
  vim.api.nvim_buf_clear_namespace(buf, HUNKS, 0, -1)
  vim.api.nvim_buf_clear_namespace(buf, LOOKS, 0, -1)
  local found = {}
  for one, file in review.files() do
    if apply.buffer(file.uri) == buf and (proposal.count(file) > 0 or M._waits(one)) then
      M._draw_file(buf, one, file, found)
    end
  end
  if next(found) then
    shown[buf] = shown[buf] or { places = {}, saved = M._set_keys(buf) }
    shown[buf].places = found
  elseif shown[buf] then
    M._restore_keys(buf, shown[buf].saved)
    shown[buf] = nil
  end
end

--- The hunk at the cursor, else the nearest one above it, else the first of the buffer.
---@return agent.Place?
function M.at_cursor()
  local buf, row = vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0)[1] - 1
  local best
  for _, mark in ipairs(M._marks(buf)) do
    if not best or mark.first <= row then
      best = mark
    end
  end
  return best and best.place
end

--- Go to the next pending hunk, or the previous one, in whatever file it is.
---@param step 1|-1
function M.go(step)
  local buf, row = vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0)[1] - 1
  local here = vim.tbl_filter(function(mark)
    return M._is_pending(mark.place) and (M._landing(buf, mark) - row) * step > 0
  end, M._marks(buf))
  local mark = step > 0 and here[1] or here[#here]
  if mark then
    return M._jump(buf, mark)
  end
  local places = vim.tbl_filter(function(place)
    return apply.buffer(place.file.uri) ~= buf
  end, review.pending())
  local place = step > 0 and places[1] or places[#places]
  if place then
    return M.reveal(place)
  end
  local own = vim.tbl_filter(function(one)
    return M._is_pending(one.place)
  end, M._marks(buf))
  if #own > 0 then
    M._jump(buf, step > 0 and own[1] or own[#own])
  end
end

--- Open a place's file in this window and go there.
---@param place agent.Place
function M.reveal(place)
  vim.cmd("normal! m'")
  local buf = apply.buffer(place.file.uri) or vim.fn.bufadd(vim.uri_to_fname(place.file.uri))
  vim.bo[buf].buflisted = true
  vim.api.nvim_win_set_buf(0, buf)
  M.draw(buf)
  for _, mark in ipairs(M._marks(buf)) do
    if mark.place.hunk == place.hunk and mark.place.file == place.file then
      M._jump(buf, mark)
    end
  end
end

--- Where hunks are now, for lists.
---@param place agent.Place
---@return integer line from 1
function M.line(place)
  local buf = apply.buffer(place.file.uri)
  for _, mark in ipairs(buf and M._marks(buf) or {}) do
    if mark.place.hunk == place.hunk then
      return mark.first + 1
    end
  end
  return place.hunk and place.hunk.start + 1 or 1
end

--- Decided hunks stay in sight until the whole edit is.
---@private
function M._waits(one)
  return vim.iter(one.files):any(function(file)
    return proposal.count(file) > 0
  end)
end

---@private
---@param found table<integer, agent.Place>
function M._draw_file(buf, one, file, found)
  local now = apply.text(buf)
  local base = file.base or ""
  local place_of = diff.follow(base, now)
  local coloured = file.new and syntax.lines(buf, file.new) or {}
  local shift = 0
  for index, hunk in ipairs(file.hunks) do
    local row = place_of(hunk.start, hunk.count)
    local rows = diff.rows(hunk.edited or hunk.new)
    local added = M._added_lines(rows, not hunk.edited and coloured or {}, hunk.start + shift)
    shift = shift + #diff.split(hunk.new) - hunk.count
    local place = { proposal = one, file = file, hunk = hunk }
    local hint = { index = index, of = #file.hunks, stale = row == nil }
    found[M._draw_hunk(buf, place, row or math.min(hunk.start, vim.api.nvim_buf_line_count(buf) - 1), added, hint)] =
      place
  end
  if #file.hunks == 0 then
    local place = { proposal = one, file = file }
    found[M._draw_hunk(buf, place, 0, {}, { index = 1, of = 1, stale = false })] = place
  end
end

--- Rows as chunks of text and groups, syntax where it is known.
---@private
---@param syntax_lines [string, string][][] of the new text
---@param offset integer line of the first row there
function M._added_lines(rows, syntax_lines, offset)
  local lines = {}
  for index, row in ipairs(rows) do
    lines[index] = syntax_lines[offset + index] or { { row, "" } }
  end
  return lines
end

---@private
---@return integer mark
function M._draw_hunk(buf, place, row, added, hint)
  local hunk = place.hunk or { start = 0, count = 0, old = "", new = "" }
  local count = hint.stale and 0 or hunk.count
  local last = math.min(row + count, vim.api.nvim_buf_line_count(buf))
  local verdict = hunk.verdict or place.file.verdict
  if verdict ~= "reject" then
    M._mark_removed(buf, row, last, hunk)
    M._draw_added(buf, row, last, added, hunk)
  end
  M._draw_hint(buf, row, last, M._hint(place, hint, verdict), verdict)
  local top = math.min(row, vim.api.nvim_buf_line_count(buf) - 1)
  return vim.api.nvim_buf_set_extmark(buf, HUNKS, top, 0, { end_row = math.max(last, top), strict = false })
end

---@private
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
function M._draw_added(buf, row, last, added, hunk)
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
  local above = last == 0
  local at = math.max(0, last - 1)
  if row == last and last > 0 then
    at = last - 1
  end
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
---@return string[]
function M._hint(place, hint, verdict)
  local facts = {}
  if place.file.kind ~= "edit" then
    table.insert(facts, place.file.kind .. " file")
  end
  if hint.stale then
    table.insert(facts, "these lines changed since")
  end
  if place.hunk and place.hunk.edited then
    table.insert(facts, "edited")
  end
  if verdict then
    table.insert(facts, verdict == "accept" and "✓ accepted" or "✗ rejected")
  end
  local keys = config.get().review_keys
  local number = ("%d/%d"):format(hint.index, hint.of)
  if verdict or not keys then
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
function M._joined(facts, ...)
  return table.concat(vim.list_extend(vim.list_slice(facts), { ... }), " · ")
end

--- At the right of the hunk's first line, or of the line before an insertion.
---@private
---@param words string[]
function M._draw_hint(buf, row, last, words, verdict)
  local at = math.min(math.max(0, row == last and row - 1 or row), vim.api.nvim_buf_line_count(buf) - 1)
  local group = verdict == "accept" and "AgentDone" or verdict == "reject" and "AgentFailed" or "AgentHint"
  local sign = verdict and (verdict == "accept" and "✓" or "✗") or nil
  vim.api.nvim_buf_set_extmark(buf, LOOKS, at, 0, {
    virt_text = { { M._fitting(buf, at, words) .. " ", group } },
    virt_text_pos = "eol_right_align",
    sign_text = sign or (row == last and "▎" or nil),
    sign_hl_group = sign and group or "AgentAddSign",
    priority = 95,
    hl_mode = "combine",
  })
end

--- The longest words that fit behind a line.
---@private
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
function M._text_width(buf)
  local width = math.huge
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local info = vim.fn.getwininfo(win)[1]
    width = math.min(width, info.width - info.textoff)
  end
  return width
end

---@private
function M._width(buf)
  local width = 0
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    width = math.max(width, vim.api.nvim_win_get_width(win))
  end
  return math.max(width, 80)
end

--- Lines above the first one are out of sight until the window scrolls up to them.
---@private
function M._show_above(buf, count)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    vim.api.nvim_win_call(win, function()
      if vim.fn.winsaveview().topline == 1 then
        vim.fn.winrestview({ topfill = count })
      end
    end)
  end
end

---@private
---@return { first: integer, last: integer, place: agent.Place }[]
function M._marks(buf)
  local marks = {}
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buf, HUNKS, 0, -1, { details = true })) do
    local place = shown[buf] and shown[buf].places[mark[1]]
    if place then
      table.insert(marks, { first = mark[2], last = mark[4].end_row or mark[2], place = place })
    end
  end
  return marks
end

---@private
function M._is_pending(place)
  return not (place.hunk and place.hunk.verdict or place.file.verdict)
end

---@private
function M._landing(buf, mark)
  local is_insertion = mark.first == mark.last
  return math.min(math.max(0, is_insertion and mark.first - 1 or mark.first), vim.api.nvim_buf_line_count(buf) - 1)
end

---@private
function M._jump(buf, mark)
  vim.api.nvim_win_set_cursor(0, { M._landing(buf, mark) + 1, 0 })
  vim.cmd("normal! zvzz")
end

---@private
---@return table<string, table> saved
function M._set_keys(buf)
  local saved = {}
  for action, key in pairs(config.get().review_keys or {}) do
    saved[key] = vim.api.nvim_buf_call(buf, function()
      return vim.fn.maparg(key, "n", false, true)
    end)
    local plug = ("<Plug>(agent-%s)"):format((action:gsub("_", "-")))
    vim.keymap.set(
      "n",
      key,
      plug,
      { buffer = buf, nowait = true, remap = true, desc = "Agent: " .. action:gsub("_", " ") }
    )
  end
  return saved
end

---@private
function M._restore_keys(buf, saved)
  if not vim.api.nvim_buf_is_loaded(buf) then
    return
  end
  for key, map in pairs(saved) do
    pcall(vim.keymap.del, "n", key, { buffer = buf })
    if map.buffer == 1 then
      vim.api.nvim_buf_call(buf, function()
        vim.fn.mapset("n", false, map)
      end)
    end
  end
end

return M
