--- Buffers whose files a command changed: read again where nothing is unsaved, and named where something is. Nothing is
--- asked, nothing is written, and nothing unsaved is thrown away.
local apply = require("agent.apply")
local change = require("agent.change")
local log = require("agent.log")

local M = {}

--- Answer `agent/editor/reload`.
---@param params agent.protocol.ReloadDocuments
---@return agent.protocol.DocumentsReloaded
function M.on_request(params)
  local documents, differing = {}, {}
  for _, uri in ipairs(params.uris) do
    local buf = apply.buffer(uri)
    local outcome = buf and M.reload(buf) or "closed"
    if outcome == "modified" then
      table.insert(differing, vim.fs.basename(vim.uri_to_fname(uri)))
    end
    table.insert(documents, { uri = uri, outcome = outcome, version = buf and vim.lsp.util.buf_versions[buf] })
  end
  if #differing > 0 then
    local names = table.concat(differing, ", ")
    log.say("WARN", ("%s: changed on disk, and here are unsaved changes. :e! takes the file"):format(names))
  end
  return { documents = documents }
end

--- Make a buffer have its file's text, in one change that can be undone.
---@param buf integer
---@return "reloaded"|"modified"|"unchanged"
function M.reload(buf)
  local path = vim.api.nvim_buf_get_name(buf)
  local before = M._text(buf)
  if vim.bo[buf].modified then
    return M._read(path) == before and "unchanged" or "modified"
  elseif not vim.uv.fs_stat(path) then
    return "unchanged"
  end
  local old = vim.api.nvim_buf_get_lines(buf, 0, -1, true)
  local undone = vim.o.undoreload
  local views = vim.tbl_map(function(win)
    return { win = win, view = vim.api.nvim_win_call(win, vim.fn.winsaveview) }
  end, vim.fn.win_findbuf(buf))
  M._quietly(function()
    vim.o.undoreload = -1
    vim.api.nvim_buf_call(buf, function()
      vim.cmd("silent lockmarks edit!")
    end)
  end)
  vim.o.undoreload = undone
  M._restore(views, change.between(old, vim.api.nvim_buf_get_lines(buf, 0, -1, true)))
  return M._text(buf) == before and "unchanged" or "reloaded"
end

--- A swap file, or a message that does not fit, must not ask for a key.
---@private
---@param action fun()
function M._quietly(action)
  local before = vim.o.shortmess
  vim.opt.shortmess:append("AF")
  local ok, problem = pcall(action)
  vim.o.shortmess = before
  if not ok then
    log.say("WARN", ("not read again: %s"):format(tostring(problem)))
  end
end

---@private
---@param views { win: integer, view: table }[]
---@param made? agent.Change
function M._restore(views, made)
  for _, each in ipairs(views) do
    if vim.api.nvim_win_is_valid(each.win) then
      local row = made and made.row(each.view.lnum - 1)
      each.view.lnum = row and row + 1 or each.view.lnum
      vim.api.nvim_win_call(each.win, function()
        vim.fn.winrestview(each.view)
      end)
    end
  end
end

---@private
---@param buf integer
---@return string
function M._text(buf)
  return table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, true), "\n")
end

---@private
---@param path string
---@return string?
function M._read(path)
  local ok, lines = pcall(vim.fn.readfile, path)
  return ok and table.concat(lines, "\n") or nil
end

return M
