--- Text, lines and what changed between them. Pure: strings in, strings and numbers out.
---
--- Lines end at `\n`, `\r\n` or `\r`, as the Language Server Protocol counts them.
local M = {}

---@class agent.TextEdit
---@field range lsp.Range in the text as it was
---@field newText string

---@class agent.Span
---@field first integer first byte that changed, 0-based
---@field last integer the byte after the last one

--- The lines of a text, each with its end; the last one may have none. No lines for an empty text.
---@param text string
---@return string[]
function M.split(text)
  local lines, at = {}, 1
  while at <= #text do
    local stop = text:find("[\r\n]", at)
    if not stop then
      lines[#lines + 1] = text:sub(at)
      break
    end
    if text:sub(stop, stop + 1) == "\r\n" then
      stop = stop + 1
    end
    lines[#lines + 1] = text:sub(at, stop)
    at = stop + 1
  end
  return lines
end

--- The lines of a text without their ends: what a window shows of it.
---@param text string
---@return string[]
function M.rows(text)
  return vim.tbl_map(function(line)
    return (line:gsub("[\r\n]+$", ""))
  end, M.split(text))
end

--- The text after all edits; nil and the reason when one is out of place or two overlap.
---@param text string
---@param edits agent.TextEdit[] in any order, all for the text as it is
---@param encoding "utf-8"|"utf-16"|"utf-32"
---@return string? text, string? reason
function M.apply(text, edits, encoding)
  local places, reason = M._places(text, edits, encoding)
  if not places then
    return nil, reason
  end
  table.sort(places, function(a, b)
    return a.first < b.first or (a.first == b.first and a.order < b.order)
  end)
  local parts, at = {}, 0
  for _, place in ipairs(places) do
    if place.first < at then
      return nil, "two edits overlap"
    end
    parts[#parts + 1] = text:sub(at + 1, place.first)
    parts[#parts + 1] = place.text
    at = place.last
  end
  parts[#parts + 1] = text:sub(at + 1)
  return table.concat(parts)
end

--- The base with some of its hunks replaced.
---@param base string
---@param hunks agent.Hunk[]
---@param replacement fun(hunk: agent.Hunk): string? nil leaves the base's lines
---@return string
function M.compose(base, hunks, replacement)
  local lines = M.split(base)
  local ordered = vim.deepcopy(hunks)
  table.sort(ordered, function(a, b)
    return a.start < b.start
  end)
  local parts, at = {}, 0
  for _, hunk in ipairs(ordered) do
    vim.list_extend(parts, lines, at + 1, hunk.start)
    parts[#parts + 1] = replacement(hunk) or table.concat(lines, "", hunk.start + 1, hunk.start + hunk.count)
    at = hunk.start + hunk.count
  end
  vim.list_extend(parts, lines, at + 1, #lines)
  return table.concat(parts)
end

--- The lines that differ between two texts, as hunks.
---@param base string
---@param new string
---@return agent.Hunk[]
function M.hunks(base, new)
  local before, after, hunks = M.split(base), M.split(new), {}
  local changes = vim.diff(base, new, { result_type = "indices" }) --[[@as integer[][] ]]
  for number, change in ipairs(changes) do
    local from, count, to, size = unpack(change)
    hunks[number] = {
      id = tostring(number),
      start = count == 0 and from or from - 1,
      count = count,
      old = table.concat(before, "", count == 0 and from + 1 or from, count == 0 and from or from + count - 1),
      new = table.concat(after, "", size == 0 and to + 1 or to, size == 0 and to or to + size - 1),
    }
  end
  return hunks
end

--- What changed inside a line: the spans of the old one and of the new one. Nothing when they have little in common.
---@param old string
---@param new string
---@return agent.Span[] old, agent.Span[] new
function M.inside(old, new)
  local before, after = M._tokens(old), M._tokens(new)
  local changes = vim.diff(M._column(before), M._column(after), { result_type = "indices" }) --[[@as integer[][] ]]
  local removed, added, changed = {}, {}, 0
  for _, change in ipairs(changes) do
    changed = changed + M._cover(removed, before, change[1], change[2]) + M._cover(added, after, change[3], change[4])
  end
  if changed * 3 > (#old + #new) * 2 then
    return {}, {}
  end
  return removed, added
end

--- Where lines of the base are now, after the person changed the text.
---@param base string
---@param now string
---@return fun(line: integer, count: integer): integer? place 0-based line now; nil when those lines were changed
function M.follow(base, now)
  local changes = base == now and {} or vim.diff(base, now, { result_type = "indices" }) --[[@as integer[][] ]]
  return function(line, count)
    local shift = 0
    for _, change in ipairs(changes) do
      local first = change[2] == 0 and change[1] or change[1] - 1
      if first + change[2] <= line and (change[2] > 0 or count == 0 or first <= line) then
        shift = shift + change[4] - change[2]
      elseif first < line + count then
        return nil
      end
    end
    return line + shift
  end
end

--- A unified diff without a file header.
---@param old string
---@param new string
---@return string[] lines
function M.unified(old, new)
  local text = vim.diff(old, new, { ctxlen = 3 }) --[[@as string]]
  return vim.split(text:gsub("\n$", ""), "\n", { plain = true })
end

---@private
---@param text string
---@param edits agent.TextEdit[]
---@param encoding "utf-8"|"utf-16"|"utf-32"
---@return { first: integer, last: integer, text: string, order: integer }[]?, string? reason
function M._places(text, edits, encoding)
  local lines, starts, offset = M.split(text), {}, 0
  for index, line in ipairs(lines) do
    starts[index], offset = offset, offset + #line
  end
  local function byte(position)
    local line = lines[position.line + 1]
    if not line then
      return (position.line == #lines and position.character == 0) and #text or nil
    end
    local body = line:gsub("[\r\n]+$", "")
    local ok, index = pcall(vim.str_byteindex, body, encoding, position.character, true)
    return ok and starts[position.line + 1] + index or nil
  end
  local places = {}
  for order, edit in ipairs(edits) do
    local first, last = byte(edit.range.start), byte(edit.range["end"])
    if not first or not last or last < first then
      return nil, "an edit is outside the document"
    end
    places[order] = { first = first, last = last, text = edit.newText, order = order }
  end
  return places
end

--- Words, runs of blanks, and single other characters.
---@private
---@param line string
---@return string[]
function M._tokens(line)
  local tokens, at = {}, 1
  while at <= #line do
    local token = line:match("^[%w_\128-\255]+", at) or line:match("^%s+", at) or line:sub(at, at)
    tokens[#tokens + 1] = token
    at = at + #token
  end
  return tokens
end

---@private
---@param tokens string[]
---@return string
function M._column(tokens)
  return #tokens == 0 and "" or table.concat(tokens, "\n") .. "\n"
end

---@private
---@param spans agent.Span[] what is added to
---@param tokens string[]
---@param from integer
---@param count integer
---@return integer bytes that are covered
function M._cover(spans, tokens, from, count)
  if count == 0 then
    return 0
  end
  local first, size = 0, 0
  for index = 1, from + count - 1 do
    if index < from then
      first = first + #tokens[index]
    else
      size = size + #tokens[index]
    end
  end
  spans[#spans + 1] = { first = first, last = first + size }
  return size
end

return M
