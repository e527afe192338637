--- The editor's diagnostics, of all language servers and linters, as the server asks for them.
local apply = require("agent.apply")

local M = {}

--- Answer `agent/editor/diagnostics`. A file is watched when it is open; of others we know nothing.
---@param params { uris?: string[] }
---@return { items: table[] }
function M.on_request(params)
  local items = {}
  for _, uri in ipairs(params.uris or M._known()) do
    local buf = apply.buffer(uri)
    if buf then
      table.insert(items, M._report(uri, buf))
    end
  end
  return { items = items }
end

--- Every open file that something is said about.
---@private
---@return string[]
function M._known()
  local uris = {}
  for _, one in ipairs(vim.diagnostic.get()) do
    uris[vim.uri_from_bufnr(one.bufnr)] = true
  end
  return vim.tbl_keys(uris)
end

--- Neovim does not say which version a diagnostic is about, so whether they are settled cannot be told.
---@private
function M._report(uri, buf)
  local diagnostics = vim.tbl_map(function(one)
    return {
      range = {
        start = M._position(buf, one.lnum, one.col),
        ["end"] = M._position(buf, one.end_lnum or one.lnum, one.end_col or one.col),
      },
      severity = one.severity,
      code = one.code,
      source = one.source,
      message = one.message,
    }
  end, vim.diagnostic.get(buf))
  return { uri = uri, version = vim.lsp.util.buf_versions[buf], diagnostics = diagnostics }
end

--- In the encoding that was negotiated with the server.
---@private
function M._position(buf, row, byte)
  local line = vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ""
  local client = require("agent.client").client()
  local character = vim.str_utfindex(line, client and client.offset_encoding or "utf-16", math.min(byte, #line), false)
  return { line = row, character = character }
end

return M
