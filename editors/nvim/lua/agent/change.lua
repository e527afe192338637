--- Changes a buffer's text in one piece: one undo step, and one event for whoever follows the buffer. Neovim's LSP client
--- sends the first event of a burst at once and the others later, so that in between the server would see a half.
---
--- Marks, extmarks of others, cursors and what windows show stay with their lines where those stay.
local M = {}

---@class agent.Change
---@field first integer line from 0
---@field last integer the line after the lines that go
---@field lines string[] that come
---@field row fun(row: integer): integer? where a line from 0 is afterwards; nil: it goes

--- What makes `old` into `new`; nil when they are the same.
---@param old string[]
---@param new string[]
---@return agent.Change?
function M.between(old, new)
  local before, after = table.concat(old, "\n") .. "\n", table.concat(new, "\n") .. "\n"
  local hunks = vim.diff(before, after, { result_type = "indices" }) --[[@as integer[][] ]]
  if #hunks == 0 then
    return nil
  end
  local from, count, to = unpack(hunks[1])
  local first, target = count == 0 and from or from - 1, hunks[1][4] == 0 and to or to - 1
  local last_from, last_count, last_to, last_size = unpack(hunks[#hunks])
  local last = last_count == 0 and last_from or last_from - 1 + last_count
  local stop = last_size == 0 and last_to or last_to - 1 + last_size
  return {
    first = first,
    last = last,
    lines = vim.list_slice(new, target + 1, stop),
    row = function(row)
      return M._row(hunks, row)
    end,
  }
end

--- Make the lines of a buffer be `new`.
---@param buf integer
---@param new string[]
function M.make(buf, new)
  local change = M.between(vim.api.nvim_buf_get_lines(buf, 0, -1, true), new)
  if not change then
    return
  end
  local marks, extmarks, views = M._marks(buf, change), M._extmarks(buf, change), M._views(buf)
  vim.api.nvim_buf_call(buf, function()
    M._break_undo()
    vim.api.nvim_buf_set_lines(buf, change.first, change.last, true, change.lines)
    M._break_undo()
  end)
  for _, mark in ipairs(marks) do
    local row = change.row(mark.row)
    if row then
      pcall(vim.api.nvim_buf_set_mark, buf, mark.name, row + 1, mark.column, {})
    end
  end
  M._restore_extmarks(buf, extmarks, change)
  M._restore_views(views, change)
end

--- Where a line is after the changes; nil when it goes.
---@private
---@param hunks integer[][]
---@param row integer from 0
---@return integer?
function M._row(hunks, row)
  local shift = 0
  for _, hunk in ipairs(hunks) do
    local from, count, _, size = unpack(hunk)
    local first = count == 0 and from or from - 1
    if row < first then
      break
    elseif row < first + count then
      return nil
    end
    shift = shift + size - count
  end
  return row + shift
end

--- What is typed before or after is not undone together with the change.
---@private
function M._break_undo()
  vim.cmd("let &l:undolevels = &l:undolevels")
end

--- The person's marks in the lines that are replaced: those beyond move by themselves.
---@private
---@param buf integer
---@param change agent.Change
---@return { name: string, row: integer, column: integer }[]
function M._marks(buf, change)
  local found = {}
  for _, each in ipairs(vim.list_extend(vim.fn.getmarklist(buf), vim.fn.getmarklist())) do
    local row, name = each.pos[2] - 1, each.mark:sub(2)
    local is_here = each.pos[1] == buf and name:match("^%a$") and row >= change.first and row < change.last
    if is_here then
      table.insert(found, { name = name, row = row, column = each.pos[3] - 1 })
    end
  end
  return found
end

---@private
---@param buf integer
---@param change agent.Change
---@return vim.api.keyset.get_extmark_item[]
function M._extmarks(buf, change)
  if change.first >= change.last then
    return {}
  end
  local from, to = { change.first, 0 }, { change.last - 1, -1 }
  return vim.api.nvim_buf_get_extmarks(buf, -1, from, to, { details = true })
end

--- Each in its place again when its line stayed; of some we cannot know how they were made, and those are left alone.
---@private
---@param buf integer
---@param extmarks vim.api.keyset.get_extmark_item[]
---@param change agent.Change
function M._restore_extmarks(buf, extmarks, change)
  for _, mark in ipairs(extmarks) do
    local id, row, column, details = unpack(mark)
    local target, stop = change.row(row), details.end_row and change.row(details.end_row)
    if target and (not details.end_row or stop) then
      local options = vim.tbl_extend("force", details, { id = id, end_row = stop, ns_id = nil, strict = false })
      options.ns_id, options.invalid = nil, nil
      pcall(vim.api.nvim_buf_set_extmark, buf, details.ns_id, target, column, options)
    end
  end
end

---@private
---@param buf integer
---@return table<integer, table> by window
function M._views(buf)
  local views = {}
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    views[win] = vim.api.nvim_win_call(win, vim.fn.winsaveview)
  end
  return views
end

---@private
---@param views table<integer, table>
---@param change agent.Change
function M._restore_views(views, change)
  for win, view in pairs(views) do
    local row = change.row(view.lnum - 1)
    local top = change.row(view.topline - 1)
    view.lnum = row and row + 1 or view.lnum
    view.topline = top and top + 1 or view.topline
    vim.api.nvim_win_call(win, function()
      vim.fn.winrestview(view)
    end)
  end
end

return M
