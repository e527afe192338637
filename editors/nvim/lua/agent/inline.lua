--- Proposed hunks in the file itself: what would go is marked, what would come is drawn as virtual lines. The buffer's
--- text is not touched, so undo, formatters and other plugins see nothing until an edit is accepted.
local apply = require("agent.apply")
local config = require("agent.config")
local diff = require("agent.diff")
local drawing = require("agent.drawing")
local proposal = require("agent.proposal")
local review = require("agent.review")
local syntax = require("agent.syntax")

local M = {}

local HUNKS = vim.api.nvim_create_namespace("agent.review.hunks") -- one mark for each hunk, over the lines it replaces

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
  drawing.clear(buf)
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
  if #file.hunks == 0 then
    local spot = { row = 0, stale = false, added = {}, index = 1, of = 1 }
    found[M._draw_hunk(buf, { proposal = one, file = file }, spot)] = { proposal = one, file = file }
    return
  end
  local place_of = diff.follow(file.base or "", apply.text(buf))
  local coloured = file.new and syntax.lines(buf, file.new) or {}
  local shift = 0
  for index, hunk in ipairs(file.hunks) do
    local row = place_of(hunk.start, hunk.count)
    local spot = { row = row or M._near(buf, hunk), stale = row == nil, index = index, of = #file.hunks }
    spot.added = M._added(hunk, coloured, hunk.start + shift)
    shift = shift + #diff.split(hunk.new) - hunk.count
    local place = { proposal = one, file = file, hunk = hunk }
    found[M._draw_hunk(buf, place, spot)] = place
  end
end

---@private
---@param spot agent.Spot
---@return integer mark
function M._draw_hunk(buf, place, spot)
  local last = drawing.hunk(buf, place, spot)
  local top = math.min(spot.row, vim.api.nvim_buf_line_count(buf) - 1)
  return vim.api.nvim_buf_set_extmark(buf, HUNKS, top, 0, { end_row = math.max(last, top), strict = false })
end

--- Where a hunk is shown whose lines are gone.
---@private
function M._near(buf, hunk)
  return math.min(hunk.start, vim.api.nvim_buf_line_count(buf) - 1)
end

--- The lines to come, with the syntax that they have in the new text; what the person wrote has none.
---@private
---@param coloured [string, string][][] the new text
---@param offset integer line of the hunk in it
---@return [string, string][][]
function M._added(hunk, coloured, offset)
  local lines = {}
  for index, row in ipairs(diff.rows(hunk.edited or hunk.new)) do
    lines[index] = not hunk.edited and coloured[offset + index] or { { row, "" } }
  end
  return lines
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
