--- A text as highlighted chunks, by the same parser that a buffer's file type has.
local M = {}

local LARGEST = 512 * 1024

--- The lines of a text, each as chunks of text and highlight group ("" for none); empty where nothing can parse it.
---@param buf integer whose file type the text has
---@param text string
---@return [string, string][][]
function M.lines(buf, text)
  local filetype = vim.bo[buf].filetype
  local language = filetype ~= "" and vim.treesitter.language.get_lang(filetype)
  if not language or #text > LARGEST then
    return {}
  end
  local ok, parser = pcall(vim.treesitter.get_string_parser, text, language)
  local query = ok and vim.treesitter.query.get(language, "highlights")
  if not ok or not query then
    return {}
  end
  local rows = vim.split(text, "\r?\n")
  local groups = M._groups(parser:parse()[1]:root(), query, text, language, rows)
  return vim
    .iter(ipairs(rows))
    :map(function(index, row)
      return M._chunks(row, groups[index - 1] or {})
    end)
    :totable()
end

--- For each row, the group of each byte; a later capture stands over an earlier one.
---@private
---@param root TSNode
---@param query vim.treesitter.Query
---@param text string
---@param language string
---@param rows string[]
---@return table<integer, table<integer, string>>
function M._groups(root, query, text, language, rows)
  local groups = {}
  for id, node in query:iter_captures(root, text) do
    local name = query.captures[id]
    if not vim.startswith(name, "_") and name ~= "spell" and name ~= "nospell" then
      M._paint(groups, ("@%s.%s"):format(name, language), { node:range() }, rows)
    end
  end
  return groups
end

---@private
---@param groups table<integer, table<integer, string>>
---@param group string
---@param range integer[] first row and byte, last row and the byte after it
---@param rows string[]
function M._paint(groups, group, range, rows)
  for row = range[1], math.min(range[3], #rows - 1) do
    groups[row] = groups[row] or {}
    local first = row == range[1] and range[2] or 0
    local last = row == range[3] and range[4] or #rows[row + 1]
    for byte = first, last - 1 do
      groups[row][byte] = group
    end
  end
end

---@private
---@param row string
---@param groups table<integer, string> by byte
---@return [string, string][]
function M._chunks(row, groups)
  local chunks, at = {}, 0
  while at < #row do
    local stop, group = at + 1, groups[at]
    while stop < #row and groups[stop] == group do
      stop = stop + 1
    end
    chunks[#chunks + 1] = { row:sub(at + 1, stop), group or "" }
    at = stop
  end
  return #chunks > 0 and chunks or { { "", "" } }
end

return M
