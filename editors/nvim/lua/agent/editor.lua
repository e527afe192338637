--- What the server may see of the editor: where the person is, which files are open, what is wrong with them.
local apply = require("agent.apply")
local window = require("agent.window")

local M = {}

--- Answer `agent/editor/selection`: the cursor in the file the person was in last, or what they are selecting there.
---@return agent.protocol.EditorSelection
function M.on_selection()
  local win, buf = window.source_window(), window.source_buffer()
  if not M._is_file(buf) then
    return vim.empty_dict()
  end
  local first, last = unpack(M._selected(win))
  local lines = vim.api.nvim_buf_get_text(buf, first[1], first[2], last[1], last[2], {})
  return {
    uri = vim.uri_from_bufnr(buf),
    range = { start = M._position(buf, first[1], first[2]), ["end"] = M._position(buf, last[1], last[2]) },
    text = not vim.deep_equal(first, last) and table.concat(lines, "\n") or nil,
  }
end

--- Answer `agent/editor/openFiles`: those in the buffer list, the one used last first.
---@return agent.protocol.EditorFiles
function M.on_open_files()
  local listed = vim.fn.getbufinfo({ buflisted = 1 })
  table.sort(listed, function(a, b)
    return a.lastused > b.lastused
  end)
  local files = {}
  for _, one in ipairs(listed) do
    if M._is_file(one.bufnr) then
      table.insert(files, { uri = vim.uri_from_bufnr(one.bufnr), dirty = one.changed == 1 })
    end
  end
  return { files = files }
end

--- Answer `agent/editor/diagnostics`. A file is watched when it is open and something may diagnose it; of others we know
--- nothing, and nobody need wait for it.
---@param params agent.protocol.DiagnosticsRequest
---@return agent.protocol.DiagnosticsReport
function M.on_diagnostics(params)
  local items = {}
  for _, uri in ipairs(params.uris or M._known()) do
    local buf = apply.buffer(uri)
    if buf and M._is_watched(buf) then
      table.insert(items, M._report(uri, buf))
    end
  end
  return { items = items }
end

---@private
---@param buf integer
---@return boolean
function M._is_watched(buf)
  local others = vim.tbl_filter(function(client)
    return client.name ~= require("agent.client").NAME
  end, vim.lsp.get_clients({ bufnr = buf }))
  return #others > 0 or next(vim.diagnostic.get_namespaces()) ~= nil
end

---@private
---@param buf integer
---@return boolean
function M._is_file(buf)
  return vim.bo[buf].buftype == "" and vim.api.nvim_buf_get_name(buf) ~= ""
end

--- Row and byte from 0 where the selection begins, and where it ends; both are the cursor when nothing is selected.
---@private
---@param win integer
---@return integer[][] first and last
function M._selected(win)
  return vim.api.nvim_win_call(win, function()
    local mode = vim.fn.mode()
    local here, there = vim.fn.getpos("."), vim.fn.getpos("v")
    if here[2] > there[2] or (here[2] == there[2] and here[3] > there[3]) then
      here, there = there, here
    end
    local first, last = { here[2] - 1, here[3] - 1 }, { there[2] - 1, there[3] - 1 }
    if mode ~= "v" and mode ~= "V" then
      return { first, first }
    end
    local line = vim.fn.getline(there[2])
    if mode == "V" then
      return { { first[1], 0 }, { last[1], #line } }
    end
    return { first, { last[1], math.min(#line, last[2] + #vim.fn.strcharpart(line:sub(last[2] + 1), 0, 1)) } }
  end)
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
---@param uri string
---@param buf integer
---@return agent.protocol.DocumentDiagnostics
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
---@param buf integer
---@param row integer
---@param byte integer from 0
---@return agent.protocol.Position
function M._position(buf, row, byte)
  local line = vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ""
  local client = require("agent.client").client()
  local character = vim.str_utfindex(line, client and client.offset_encoding or "utf-16", math.min(byte, #line), false)
  return { line = row, character = character }
end

return M
