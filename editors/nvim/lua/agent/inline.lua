--- Proposed hunks in the file itself: what would go is marked, what would come is drawn as virtual lines. The buffer's
--- text is not touched, so undo, formatters and other plugins see nothing until an edit is accepted.
local applied = require("agent.applied")
local apply = require("agent.apply")
local config = require("agent.config")
local diff = require("agent.diff")
local drawing = require("agent.drawing")
local edits = require("agent.edits")
local proposal = require("agent.proposal")
local review = require("agent.review")
local syntax = require("agent.syntax")

local M = {}

local HUNKS = vim.api.nvim_create_namespace("agent.review.hunks") -- one mark for each hunk, over the lines it replaces

---@class agent.Shown
---@field places table<integer, agent.Place> by extmark
---@field saved? table<string, table> the person's own buffer maps that ours replaced, by key; nil: none is set

---@class agent.HunkMark
---@field first integer row
---@field last integer the row after the lines it replaces
---@field place agent.Place

---@type table<integer, agent.Shown> by buffer
local shown = {}

--- Called once, before anything else.
function M.listen()
  table.insert(edits.on_change, function(uri)
    local buf = apply.buffer(uri)
    if buf then
      M.draw(buf)
    end
    require("agent.pick").refresh_hunks()
  end)
  vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile" }, {
    group = vim.api.nvim_create_augroup("agent.inline", {}),
    callback = function(event)
      M.draw(event.buf)
    end,
  })
end

--- Show what is pending in a buffer, or nothing when nothing is.
---@param buf integer
function M.draw(buf)
  vim.api.nvim_buf_clear_namespace(buf, HUNKS, 0, -1)
  drawing.clear(buf)
  local found = {}
  local waits = false
  for one, file in edits.files() do
    if apply.buffer(file.where) == buf and (one.review ~= "ask" or M._waits(one)) then
      M._draw_file(buf, one, file, found)
      waits = waits or one.review == "ask"
    end
  end
  local before = shown[buf] and shown[buf].saved
  shown[buf] = next(found) and { places = found, saved = before or (waits and M._set_keys(buf) or nil) } or nil
  if before and not waits then
    M._restore_keys(buf, before)
    shown[buf] = shown[buf] and { places = found }
  end
end

--- The hunk at the cursor, else the nearest one above it, else the first of the buffer.
---@param kind? "ask"|"applied" of its review; nil: ask
---@return agent.Place?
function M.at_cursor(kind)
  local buf, row = vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0)[1] - 1
  local best
  for _, mark in ipairs(M._marks(buf, kind or "ask")) do
    if not best or mark.first <= row then
      best = mark
    end
  end
  return best and best.place
end

--- Whether the user sees a place in a window: where it begins or where it ends.
---@param place agent.Place
---@param win integer
---@return boolean
function M.is_seen(place, win)
  local buf = vim.api.nvim_win_get_buf(win)
  win = win == 0 and vim.api.nvim_get_current_win() or win
  local top, bottom = vim.fn.line("w0", win) - 1, vim.fn.line("w$", win) - 1
  return vim.iter(M._marks(buf, place.proposal.review)):any(function(mark)
    local first, last = M._landing(buf, mark), math.max(mark.first, mark.last - 1)
    local is_here = mark.place.hunk == place.hunk and mark.place.file == place.file
    return is_here and ((first >= top and first <= bottom) or (last >= top and last <= bottom))
  end)
end

--- What waits and is on no window of this tab page.
---@return agent.Place[]
function M.unseen()
  local wins = vim.api.nvim_tabpage_list_wins(0)
  return vim.tbl_filter(function(place)
    return not vim.iter(wins):any(function(win)
      return M.is_seen(place, win)
    end)
  end, review.pending())
end

--- Go to the next pending hunk, or the previous one, in whatever file it is; when none waits, to those that were
--- applied.
---@param step 1|-1
function M.go(step)
  local buf, row = vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0)[1] - 1
  local places = review.pending()
  local kind = #places > 0 and "ask" or "applied"
  local own = vim.tbl_filter(function(mark)
    return M._is_pending(mark.place)
  end, M._marks(buf, kind))
  local here = vim.tbl_filter(function(mark)
    return (M._landing(buf, mark) - row) * step > 0
  end, own)
  local mark = step > 0 and here[1] or here[#here]
  if mark then
    return M._jump(buf, mark)
  end
  local place = M._beyond(buf, kind == "ask" and places or applied.places(), step)
  if place then
    return M.reveal(place)
  end
  if #own > 0 then
    M._jump(buf, step > 0 and own[1] or own[#own])
  end
end

--- The place to go to in another file: those of the files in their order, and from the last on to the first.
---@private
---@param buf integer
---@param places agent.Place[]
---@param step 1|-1
---@return agent.Place?
function M._beyond(buf, places, step)
  local before, after = {}, {}
  local is_passed = false
  for _, place in ipairs(places) do
    if apply.buffer(place.file.where) == buf then
      is_passed = true
    else
      table.insert(is_passed and after or before, place)
    end
  end
  if step > 0 then
    return after[1] or before[1]
  end
  return before[#before] or after[#after]
end

--- Open a place's file in this window and go there.
---@param place agent.Place
function M.reveal(place)
  vim.cmd("normal! m'")
  local buf = apply.buffer(place.file.where) or vim.fn.bufadd(vim.uri_to_fname(place.file.where))
  vim.bo[buf].buflisted = true
  vim.api.nvim_win_set_buf(0, buf)
  M.draw(buf)
  for _, mark in ipairs(M._marks(buf, place.proposal.review)) do
    if mark.place.hunk == place.hunk and mark.place.file == place.file then
      M._jump(buf, mark)
    end
  end
end

--- Where hunks are now, for lists.
---@param place agent.Place
---@return integer line from 1
function M.line(place)
  local buf = apply.buffer(place.file.where)
  for _, mark in ipairs(buf and M._marks(buf, place.proposal.review) or {}) do
    if mark.place.hunk == place.hunk then
      return mark.first + 1
    end
  end
  return place.hunk and place.hunk.start + 1 or 1
end

--- Decided hunks stay in sight until the whole edit is.
---@private
---@param one agent.Proposal
---@return boolean
function M._waits(one)
  return vim.iter(one.files):any(function(file)
    return proposal.count(file) > 0
  end)
end

---@private
---@param buf integer
---@param one agent.Proposal
---@param file agent.ProposedFile
---@param found table<integer, agent.Place>
function M._draw_file(buf, one, file, found)
  if one.review == "applied" then
    return M._draw_applied(buf, one, file, found)
  end
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

--- What was applied is in the text already; lines that changed since are the person's.
---@private
---@param buf integer
---@param one agent.Proposal
---@param file agent.ProposedFile
---@param found table<integer, agent.Place>
function M._draw_applied(buf, one, file, found)
  local place_of = diff.follow(file.new or "", apply.text(buf))
  local shift = 0
  for index, hunk in ipairs(file.hunks) do
    local size = #diff.split(hunk.new)
    local row = place_of(hunk.start + shift, size)
    shift = shift + size - hunk.count
    if row and not hunk.verdict and not file.verdict then
      local last = drawing.applied(buf, row, size, ("%d/%d"):format(index, #file.hunks))
      local mark = vim.api.nvim_buf_set_extmark(buf, HUNKS, math.min(row, last), 0, { end_row = last, strict = false })
      found[mark] = { proposal = one, file = file, hunk = hunk }
    end
  end
end

---@private
---@param buf integer
---@param place agent.Place
---@param spot agent.Spot
---@return integer mark
function M._draw_hunk(buf, place, spot)
  local last = drawing.hunk(buf, place, spot)
  local top = math.min(spot.row, vim.api.nvim_buf_line_count(buf) - 1)
  return vim.api.nvim_buf_set_extmark(buf, HUNKS, top, 0, { end_row = math.max(last, top), strict = false })
end

--- Where a hunk is shown whose lines are gone.
---@private
---@param buf integer
---@param hunk agent.Hunk
function M._near(buf, hunk)
  return math.min(hunk.start, vim.api.nvim_buf_line_count(buf) - 1)
end

--- The lines to come, with the syntax that they have in the new text; what the person wrote has none.
---@private
---@param hunk agent.Hunk
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
---@param buf integer
---@param kind agent.Review
---@return agent.HunkMark[]
function M._marks(buf, kind)
  local marks = {}
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buf, HUNKS, 0, -1, { details = true })) do
    local place = shown[buf] and shown[buf].places[mark[1]]
    if place and place.proposal.review == kind then
      table.insert(marks, { first = mark[2], last = mark[4].end_row or mark[2], place = place })
    end
  end
  return marks
end

---@private
---@param place agent.Place
---@return boolean
function M._is_pending(place)
  return not (place.hunk and place.hunk.verdict or place.file.verdict)
end

---@private
---@param buf integer
---@param mark agent.HunkMark
function M._landing(buf, mark)
  local is_insertion = mark.first == mark.last
  return math.min(math.max(0, is_insertion and mark.first - 1 or mark.first), vim.api.nvim_buf_line_count(buf) - 1)
end

---@private
---@param buf integer
---@param mark agent.HunkMark
function M._jump(buf, mark)
  vim.api.nvim_win_set_cursor(0, { M._landing(buf, mark) + 1, 0 })
  vim.cmd("normal! zvzz")
end

---@private
---@param buf integer
---@return table<string, table> saved
function M._set_keys(buf)
  local saved = {}
  for action, key in pairs(config.get().review_keys or {}) do
    saved[key] = vim.api.nvim_buf_call(buf, function()
      return vim.fn.maparg(key, "n", false, true)
    end)
    local plug = ("<Plug>(agent-%s)"):format((action:gsub("_", "-")))
    vim.keymap.set("n", key, plug, { buffer = buf, remap = true, desc = "Agent: " .. action:gsub("_", " ") })
  end
  return saved
end

---@private
---@param buf integer
---@param saved table<string, table>
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
