--- Edits in buffers, as the server asks for them: compared first, applied as one undo step, verified after.
---
--- Nothing the server says is taken on trust: the buffer must be what the edit was made for, and the edit must come to
--- what it promises, or nothing is changed.
local change = require("agent.change")
local diff = require("agent.diff")
local files = require("agent.files")

local M = {}

--- The text of a buffer as the server has it: with its line ends, without byte order mark.
---@param buf integer
---@return string
function M.text(buf)
  local ending = M._ending(buf)
  local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, true)
  return table.concat(lines, ending) .. (vim.bo[buf].eol and ending or "")
end

--- The protocol's name of a text.
---@param text string
---@return string
function M.hash(text)
  return "sha256:" .. vim.fn.sha256(text)
end

--- The loaded buffer of a document.
---@param uri string
---@return integer?
function M.buffer(uri)
  local path = vim.uri_to_fname(uri)
  local real = vim.uv.fs_realpath(path)
  return vim.iter(vim.api.nvim_list_bufs()):find(function(buf)
    if not vim.api.nvim_buf_is_loaded(buf) or vim.bo[buf].buftype ~= "" then
      return false
    end
    local name = vim.api.nvim_buf_get_name(buf)
    return name ~= "" and (name == path or (real ~= nil and vim.uv.fs_realpath(name) == real))
  end)
end

--- Answer `agent/edit/apply`.
---@param params agent.protocol.ApplyEdit
---@param client vim.lsp.Client
---@return agent.protocol.EditApplied
function M.on_request(params, client)
  local buf = M.buffer(params.uri) or (params.kind == "rename" and M._load(params.uri) or nil)
  if not buf then
    return { outcome = "failed", reason = "the document is not open" }
  end
  local base = M.text(buf)
  if M.hash(base) ~= params.baseHash then
    return M._answer("stale", buf, "the document has changed since the edit was made")
  end
  if params.kind == "delete" then
    local done, problem = files.delete(buf)
    return done and { outcome = "applied" } or M._answer("declined", buf, problem)
  end
  local wanted, reason = diff.apply(base, params.edits, client.offset_encoding)
  if not wanted then
    return M._answer("failed", buf, reason)
  end
  if M.hash(wanted) ~= params.resultHash then
    return M._answer("failed", buf, "the edits do not come to the text that was announced")
  end
  if not vim.bo[buf].modifiable then
    return M._answer("declined", buf, "the buffer is not modifiable")
  end
  return M._make(params, buf, wanted)
end

---@private
---@param params agent.protocol.ApplyEdit
---@param buf integer
---@param wanted string
---@return agent.protocol.EditApplied
function M._make(params, buf, wanted)
  local hash
  local function put()
    local done, problem = M.replace(buf, wanted)
    hash = M.hash(M.text(buf))
    return done, problem
  end
  local done, problem = true, nil
  if params.kind == "create" then
    done, problem = files.create(buf, put)
  else
    if params.kind == "rename" then
      done, problem = files.rename(buf, vim.uri_to_fname(params.newUri))
    end
    if done then
      done, problem = put()
    end
  end
  local answer = M._answer(done and "applied" or "declined", buf, problem)
  answer.hash = done and hash or answer.hash
  return answer
end

---@private
---@param uri string
---@return integer?
function M._load(uri)
  local path = vim.uri_to_fname(uri)
  if not vim.uv.fs_stat(path) then
    return nil
  end
  local buf = vim.fn.bufadd(path)
  vim.fn.bufload(buf)
  return buf
end

--- Answer `agent/editor/save`.
---@param params agent.protocol.SaveDocument
---@return agent.protocol.DocumentSaved
function M.on_save(params)
  local buf = M.buffer(params.uri)
  if not buf then
    return { saved = false }
  end
  local ok = pcall(vim.api.nvim_buf_call, buf, function()
    vim.cmd("silent lockmarks update")
  end)
  return { saved = ok and not vim.bo[buf].modified }
end

--- Make a buffer's text be `wanted`, in one change.
---@param buf integer
---@param wanted string
---@return boolean changed, string? reason
function M.replace(buf, wanted)
  local ending = M._ending(buf)
  local ends = wanted == "" or vim.endswith(wanted, ending)
  local body = wanted ~= "" and ends and wanted:sub(1, -#ending - 1) or wanted
  local lines = vim.split(body, ending, { plain = true })
  if ending ~= "\n" and vim.iter(lines):any(M._breaks) then
    return false, "the text mixes line ends, which a buffer cannot hold"
  end
  if ends ~= vim.bo[buf].eol and wanted ~= "" then
    vim.bo[buf].fixeol, vim.bo[buf].eol = false, ends
  end
  change.make(buf, lines)
  return true
end

---@private
---@param outcome "applied"|"stale"|"declined"|"failed"
---@param buf integer
---@param reason? string
---@return agent.protocol.EditApplied
function M._answer(outcome, buf, reason)
  local hash = M.hash(M.text(buf))
  return { outcome = outcome, version = vim.lsp.util.buf_versions[buf], hash = hash, reason = reason }
end

---@private
---@param buf integer
---@return string
function M._ending(buf)
  return ({ dos = "\r\n", mac = "\r" })[vim.bo[buf].fileformat] or "\n"
end

---@private
---@param line string
---@return boolean
function M._breaks(line)
  return line:find("\n", 1, true) ~= nil
end

return M
