--- What a prompt takes along: `@file`, `@buffer`, `@selection`, `@diagnostics`.
local M = {}

---@class agent.About the file a prompt is about
---@field buf integer
---@field range? { [1]: integer, [2]: integer } lines from 1, both included

--- The words that name something other than a file.
M.WORDS = { "buffer", "selection", "diagnostics" }
local SEVERITIES = { "error", "warning", "info", "hint" }

--- ACP's content blocks for a prompt; what is named but is not there stays in the text alone.
---@param text string
---@param about agent.About
---@param root string relative paths start here
---@return table[]
function M.content(text, about, root)
  local content, seen = { { type = "text", text = text } }, {}
  for _, name in ipairs(M.mentions(text)) do
    local block = not seen[name] and M._block(name, about, root)
    seen[name] = true
    if block then
      table.insert(content, block)
    end
  end
  return content
end

--- The names after `@`, in their order: `@src/a.lua`, `@"with blanks.txt"`.
---@param text string
---@return string[]
function M.mentions(text)
  local found = {}
  for before, name in (" " .. text):gmatch('([^%w@"])@([%w_./~\128-\255-]+)') do
    found[#found + 1] = before and (name:gsub("[.]+$", ""))
  end
  for name in text:gmatch('@"([^"\n]+)"') do
    found[#found + 1] = name
  end
  return found
end

---@private
---@param name string
---@param about agent.About
---@param root string
---@return table? ACP's content block
function M._block(name, about, root)
  if vim.list_contains(M.WORDS, name) then
    return M["_" .. name](about)
  end
  local path = vim.fs.normalize(name)
  path = vim.startswith(path, "/") and path or vim.fs.joinpath(root, path)
  return vim.uv.fs_stat(path) and M._link(vim.uri_from_fname(path), name) or nil
end

---@private
---@param uri string
---@param name string
---@return table
function M._link(uri, name)
  return { type = "resource_link", uri = uri, name = name }
end

---@private
---@param about agent.About
---@return table?
function M._buffer(about)
  local name = vim.api.nvim_buf_get_name(about.buf)
  return name ~= "" and M._link(vim.uri_from_bufnr(about.buf), vim.fs.basename(name)) or nil
end

---@private
---@param about agent.About
---@return table?
function M._selection(about)
  local range = about.range
  if not range then
    return M._buffer(about)
  end
  local lines = vim.api.nvim_buf_get_lines(about.buf, range[1] - 1, range[2], false)
  local uri = ("%s#L%d-L%d"):format(vim.uri_from_bufnr(about.buf), range[1], range[2])
  return { type = "resource", resource = { uri = uri, text = table.concat(lines, "\n") } }
end

---@private
---@param about agent.About
---@return table?
function M._diagnostics(about)
  local found = vim.diagnostic.get(about.buf)
  if about.range then
    found = vim.tbl_filter(function(one)
      return one.lnum + 1 <= about.range[2] and (one.end_lnum or one.lnum) + 1 >= about.range[1]
    end, found)
  end
  if #found == 0 then
    return nil
  end
  local uri = vim.uri_from_bufnr(about.buf)
  return { type = "resource", resource = { uri = uri .. "#diagnostics", text = M._told(about.buf, found) } }
end

--- One line for each, and the line it is about.
---@private
---@param buf integer
---@param found vim.Diagnostic[]
function M._told(buf, found)
  local words = vim.tbl_map(function(one)
    local line = vim.api.nvim_buf_get_lines(buf, one.lnum, one.lnum + 1, false)[1] or ""
    local source = one.source and (" (%s)"):format(one.source) or ""
    local severity = SEVERITIES[one.severity] or "error"
    return ("line %d: %s: %s%s\n    %s"):format(one.lnum + 1, severity, one.message, source, vim.trim(line))
  end, found)
  return table.concat(words, "\n")
end

--- Whether a line has something to fix.
---@param about agent.About
---@return boolean
function M.has_diagnostics(about)
  return M._diagnostics(about) ~= nil
end

return M
