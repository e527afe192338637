--- The blocks of a conversation in a buffer. Each is found by an extmark at its first line, so that one can be shown anew,
--- or grow, without touching the others.
local render = require("agent.render")

local M = {}

local BLOCKS = vim.api.nvim_create_namespace("agent.chat.blocks") -- where each block begins
local LOOKS = vim.api.nvim_create_namespace("agent.chat.looks")
local QUEUE = vim.api.nvim_create_namespace("agent.chat.queue")
---@type table<agent.How, string>
local WAITS = { queue = "waits for its turn", steer = "heard at the next step", redirect = "heard at once" }

---@class agent.Page
---@field buf integer
---@field marks integer[] by block: the extmark at its first line
---@field indices table<integer, integer> block by extmark
---@field folds table<integer, integer> by block: the row of it that all rows after it are folded into

---@param buf integer empty
---@return agent.Page
function M.new(buf)
  return { buf = buf, marks = {}, indices = {}, folds = {} }
end

--- Remove all blocks.
---@param page agent.Page
function M.clear(page)
  vim.bo[page.buf].modifiable = true
  vim.api.nvim_buf_set_lines(page.buf, 0, -1, true, {})
  vim.bo[page.buf].modifiable = false
  vim.api.nvim_buf_clear_namespace(page.buf, -1, 0, -1)
  page.marks, page.indices, page.folds = {}, {}, {}
end

--- Change blocks; windows that look at the end of the conversation stay there, all others stay where they are.
---@param page agent.Page
---@param change fun()
function M.change(page, change)
  local followers = M._followers(page.buf)
  vim.bo[page.buf].modifiable = true
  change()
  vim.bo[page.buf].modifiable = false
  M._follow(page.buf, followers)
end

--- First row of a block; nil when it is not shown.
---@param page agent.Page
---@param index integer
---@return integer?
function M.row(page, index)
  return page.marks[index] and (M._range(page, index))
end

--- The block at a row.
---@param page agent.Page
---@param row integer
---@return integer? index
function M.block_at(page, row)
  local mark = vim.api.nvim_buf_get_extmarks(page.buf, BLOCKS, { row, -1 }, 0, { limit = 1 })[1]
  return mark and page.indices[mark[1]]
end

--- Add text to the end of a block.
---@param page agent.Page
---@param index integer
---@param block agent.Block
---@param text string
function M.grow(page, index, block, text)
  local opened, _, stop = M._opened(page, index), M._range(page, index)
  local row = stop - 1
  local line = vim.api.nvim_buf_get_lines(page.buf, row, row + 1, true)[1]
  local lines = render.growth(block.kind, text)
  vim.api.nvim_buf_set_text(page.buf, row, #line, row, #line, lines)
  if block.kind == "thought" then
    local last = row + #lines
    vim.hl.range(page.buf, LOOKS, "AgentThought", { row, 0 }, { last, 0 })
  end
  if page.folds[index] then
    M._fold(page, index, vim.fn.win_findbuf(page.buf), opened)
  end
end

--- Show a block as it is now.
---@param page agent.Page
---@param index integer
---@param block agent.Block
function M.show(page, index, block)
  local shown, opened = render.block(block), M._opened(page, index)
  local first
  if page.marks[index] then
    local stop
    first, stop = M._range(page, index)
    vim.api.nvim_buf_clear_namespace(page.buf, LOOKS, first, stop)
    M._replace(page.buf, first, stop, shown.lines)
    vim.api.nvim_buf_set_extmark(page.buf, BLOCKS, first, 0, { id = page.marks[index] })
  else
    local is_empty = index == 1
    first = is_empty and 0 or vim.api.nvim_buf_line_count(page.buf)
    vim.api.nvim_buf_set_lines(page.buf, first, is_empty and -1 or first, true, shown.lines)
    page.marks[index] = vim.api.nvim_buf_set_extmark(page.buf, BLOCKS, first, 0, {})
    page.indices[page.marks[index]] = index
  end
  M._decorate(page.buf, first, shown, block)
  if page.folds[index] or shown.fold then
    page.folds[index] = shown.fold
    M._fold(page, index, vim.fn.win_findbuf(page.buf), opened)
  end
end

--- Fold the blocks in a window that did not show them: folds are a window's own.
---@param page agent.Page
---@param win integer
function M.fold(page, win)
  vim.api.nvim_win_call(win, function()
    vim.cmd("normal! zE")
  end)
  for index in pairs(page.folds) do
    M._fold(page, index, { win }, {})
  end
end

--- The fold of one block, made anew. They are made by hand, because an expression that looks at the line below is not
--- asked again by Neovim wherever it should be.
---@private
---@param page agent.Page
---@param index integer
---@param windows integer[]
---@param opened integer[] windows in which it is to be open
function M._fold(page, index, windows, opened)
  local first, stop = M._range(page, index)
  local head = page.folds[index] and first + page.folds[index] + 1
  for _, win in ipairs(windows) do
    vim.api.nvim_win_call(win, function()
      local view = vim.fn.winsaveview()
      M._unfold(first + 1, stop)
      if head and head < stop then
        vim.cmd(("%d,%dfold"):format(head, stop))
        if vim.list_contains(opened, win) then
          vim.cmd(("%dfoldopen"):format(head))
        end
      end
      vim.fn.winrestview(view)
    end)
  end
end

--- Delete the folds of these lines.
---@private
---@param first integer line from 1
---@param last integer
function M._unfold(first, last)
  for line = first, last do
    while vim.fn.foldlevel(line) > 0 do
      vim.api.nvim_win_set_cursor(0, { line, 0 })
      vim.cmd("normal! zd")
    end
  end
end

--- The windows in which the person opened the fold of a block.
---@private
---@param page agent.Page
---@param index integer
---@return integer[]
function M._opened(page, index)
  local offset = page.folds[index]
  if not offset then
    return {}
  end
  local head = M._range(page, index) + offset + 1
  return vim.tbl_filter(function(win)
    return vim.api.nvim_win_call(win, function()
      return vim.fn.foldlevel(head) > 0 and vim.fn.foldclosed(head) == -1
    end)
  end, vim.fn.win_findbuf(page.buf))
end

--- What is not heard yet, below the end.
---@param page agent.Page
---@param queued agent.Said[]
function M.show_queue(page, queued)
  vim.api.nvim_buf_clear_namespace(page.buf, QUEUE, 0, -1)
  if #queued == 0 then
    return
  end
  local lines = vim.tbl_map(function(item)
    return { { ("%s: %s"):format(WAITS[item.how], (item.text:gsub("\n", " "))), "AgentMeta" } }
  end, queued)
  local last = vim.api.nvim_buf_line_count(page.buf) - 1
  vim.api.nvim_buf_set_extmark(page.buf, QUEUE, last, 0, { virt_lines = lines })
end

--- First row of a block, and the row after its last one.
---@private
---@param page agent.Page
---@param index integer
---@return integer first, integer stop
function M._range(page, index)
  local first = vim.api.nvim_buf_get_extmark_by_id(page.buf, BLOCKS, page.marks[index], {})[1]
  local after = page.marks[index + 1]
  local last = after and vim.api.nvim_buf_get_extmark_by_id(page.buf, BLOCKS, after, {})[1]
  return first, last or vim.api.nvim_buf_line_count(page.buf)
end

--- Only the lines that differ, so that folds and the cursor stay where they are.
---@private
---@param buf integer
---@param first integer
---@param stop integer the row after the last one
---@param lines string[]
function M._replace(buf, first, stop, lines)
  local old = vim.api.nvim_buf_get_lines(buf, first, stop, true)
  local same = 0
  while same < #old and same < #lines and old[same + 1] == lines[same + 1] do
    same = same + 1
  end
  local tail = 0
  while tail < #old - same and tail < #lines - same and old[#old - tail] == lines[#lines - tail] do
    tail = tail + 1
  end
  if same + tail < #old or same + tail < #lines then
    local changed = vim.list_slice(lines, same + 1, #lines - tail)
    vim.api.nvim_buf_set_lines(buf, first + same, stop - tail, true, changed)
  end
end

---@private
---@param buf integer
---@param first integer its first row
---@param shown agent.Rendered
---@param block agent.Block
function M._decorate(buf, first, shown, block)
  for _, one in ipairs(shown.highlights) do
    local row = first + one.row
    local place = one.first and { end_col = one.last, hl_group = one.group, priority = 150 }
    vim.api.nvim_buf_set_extmark(buf, LOOKS, row, one.first or 0, place or { line_hl_group = one.group })
  end
  if shown.sign then
    local sign = { sign_text = shown.sign[1], sign_hl_group = shown.sign[2] }
    vim.api.nvim_buf_set_extmark(buf, LOOKS, first + (block.gap and 1 or 0), 0, sign)
  end
end

--- From now on its windows show what is new.
---@param page agent.Page
function M.follow(page)
  M._follow(page.buf, vim.fn.win_findbuf(page.buf))
end

---@private
---@param buf integer
---@return integer[] windows
function M._followers(buf)
  local last = vim.api.nvim_buf_line_count(buf)
  return vim.tbl_filter(function(win)
    return vim.api.nvim_win_get_cursor(win)[1] == last
  end, vim.fn.win_findbuf(buf))
end

--- Show the end in windows: also of a last line that is taller than a window.
---@private
---@param buf integer
---@param windows integer[]
function M._follow(buf, windows)
  local last = vim.api.nvim_buf_line_count(buf)
  local column = #vim.api.nvim_buf_get_lines(buf, last - 1, last, true)[1]
  for _, win in ipairs(windows) do
    if vim.api.nvim_win_is_valid(win) then
      vim.api.nvim_win_set_cursor(win, { last, column })
      M._show_end(win, last)
    end
  end
end

--- As much as there is room for, also after something was folded away, and of a line that is taller than the window
--- its last rows: Vim would show its first.
---@private
---@param win integer
---@param last integer line from 1
function M._show_end(win, last)
  local info = vim.fn.getwininfo(win)[1]
  local row, rows = last, 0
  while row > 1 and rows < info.height do
    row = row - 1
    rows = vim.api.nvim_win_text_height(win, { start_row = row, end_row = last - 1 }).all
  end
  if row == 1 and rows < info.height then
    row, rows = 0, vim.api.nvim_win_text_height(win, { start_row = 0, end_row = last - 1 }).all
  end
  local over = math.max(0, rows - info.height)
  vim.api.nvim_win_call(win, function()
    if vim.api.nvim_win_text_height(win, { start_row = row, end_row = row }).all <= 1 or over == 0 then
      return vim.cmd("normal! zb")
    end
    vim.fn.winrestview({ topline = row + 1, skipcol = over * (info.width - info.textoff) })
  end)
end

return M
