--- Files that are created, deleted and renamed while their buffers are open, as the server asks for it: compared first,
--- done through the buffer, and put back when only half of it works.
local change = require("agent.change")

local M = {}

---@alias agent.FileDone fun(): boolean, string?

--- Put a text into the empty buffer of a file that is not there, and save it.
---@param buf integer
---@param put fun(): boolean, string? puts the text
---@return boolean done, string? reason
function M.create(buf, put)
  local path = vim.api.nvim_buf_get_name(buf)
  if vim.uv.fs_lstat(path) then
    return false, "the file exists by now"
  end
  local done, reason = put()
  if not done then
    return false, reason
  end
  local ok, problem = pcall(function()
    vim.fn.mkdir(vim.fs.dirname(path), "p")
    M._write(buf)
  end)
  if ok and vim.uv.fs_lstat(path) then
    return true
  end
  change.make(buf, { "" })
  return false, ("it could not be saved: %s"):format(tostring(problem))
end

--- Remove the file and close its buffer, though it has unsaved changes; windows go on with another buffer.
---@param buf integer
---@return boolean done, string? reason
function M.delete(buf)
  local path = vim.api.nvim_buf_get_name(buf)
  local ok, problem = vim.uv.fs_unlink(path)
  if not ok and vim.uv.fs_lstat(path) then
    return false, ("it could not be removed: %s"):format(tostring(problem))
  end
  M._close(buf)
  return true
end

--- Move the file; the buffer carries on under the new name, with its text, its undo history and its unsaved changes.
---@param buf integer
---@param target string
---@return boolean done, string? reason
function M.rename(buf, target)
  local path, taken = vim.api.nvim_buf_get_name(buf), M._taken(target)
  if vim.uv.fs_lstat(target) or taken == "text" then
    return false, ("%s exists by now"):format(target)
  elseif type(taken) == "number" then
    M._close(taken)
  end
  vim.fn.mkdir(vim.fs.dirname(target), "p")
  local ok, problem = vim.uv.fs_rename(path, target)
  if not ok then
    return false, ("it could not be moved: %s"):format(tostring(problem))
  end
  M._name(buf, target)
  return true
end

--- What has a name already: an empty buffer, which may go, or a text.
---@private
---@param path string
---@return integer|"text"|nil
function M._taken(path)
  local buf = vim.fn.bufnr(("^%s$"):format(vim.fn.escape(path, "\\*?[]{}^$")))
  if buf < 0 then
    return nil
  end
  local is_empty = not vim.api.nvim_buf_is_loaded(buf)
    or vim.deep_equal(vim.api.nvim_buf_get_lines(buf, 0, -1, true), { "" })
  return is_empty and buf or "text"
end

--- What the user has set to happen at a save may change the text: it is the user's save like any other.
---@private
---@param buf integer
function M._write(buf)
  vim.api.nvim_buf_call(buf, function()
    vim.cmd("silent lockmarks write")
  end)
end

---@private
---@param buf integer
function M._close(buf)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    vim.api.nvim_win_call(win, function()
      local other = vim.fn.bufnr("#")
      if other > 0 and other ~= buf and vim.fn.buflisted(other) == 1 then
        vim.api.nvim_win_set_buf(win, other)
      else
        vim.cmd("enew")
      end
    end)
  end
  pcall(vim.api.nvim_buf_delete, buf, { force = true })
end

--- Language servers follow a buffer by its name when they attach, so they do that anew.
---@private
---@param buf integer
---@param path string
function M._name(buf, path)
  local clients = vim.lsp.get_clients({ bufnr = buf })
  for _, client in ipairs(clients) do
    vim.lsp.buf_detach_client(buf, client.id)
  end
  local old = vim.api.nvim_buf_get_name(buf)
  vim.api.nvim_buf_set_name(buf, path)
  local left = vim.fn.bufnr(("^%s$"):format(vim.fn.escape(old, "\\*?[]{}^$")))
  if left > 0 and left ~= buf then
    pcall(vim.api.nvim_buf_delete, left, { force = true })
  end
  M._own(buf)
  for _, client in ipairs(clients) do
    vim.lsp.buf_attach_client(buf, client.id)
  end
end

--- Vim takes a renamed buffer for one that was never written there, and refuses to: it has to believe once that it was.
---@private
---@param buf integer
function M._own(buf)
  local is_modified = vim.bo[buf].modified
  local group = vim.api.nvim_create_augroup("agent.files", {})
  vim.api.nvim_create_autocmd("BufWriteCmd", { group = group, buffer = buf, callback = function() end })
  vim.bo[buf].modified = false
  vim.api.nvim_buf_call(buf, function()
    pcall(vim.cmd, "silent lockmarks write!")
  end)
  vim.api.nvim_del_augroup_by_id(group)
  vim.bo[buf].modified = is_modified
end

return M
