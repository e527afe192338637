--- Text whose control and direction characters are named, so that what is asked about is what is read. Pure.
local M = {}

--- Beside control characters: what turns the direction of a text, joins or parts invisibly, and blanks nobody sees.
local HIDDEN = {
  { 0x00AD, 0x00AD },
  { 0x061C, 0x061C },
  { 0x115F, 0x1160 },
  { 0x180E, 0x180E },
  { 0x200B, 0x200F },
  { 0x2028, 0x202E },
  { 0x2060, 0x2069 },
  { 0xFE00, 0xFE0F },
  { 0xFEFF, 0xFEFF },
  { 0xE0000, 0xE007F },
}

--- The text with each of them as `\\u{202E}`; line ends and tabs stay.
---@param text string
---@return string
function M.text(text)
  return (
    text:gsub("[%z\1-\8\11-\31\127]", M._name):gsub("[\194-\244][\128-\191]+", function(char)
      return M._is_hidden(vim.fn.char2nr(char)) and M._name(char) or char
    end)
  )
end

---@private
---@param code integer
---@return boolean
function M._is_hidden(code)
  if code >= 0x80 and code <= 0x9F then
    return true
  end
  return vim.iter(HIDDEN):any(function(range)
    return code >= range[1] and code <= range[2]
  end)
end

---@private
---@param char string
---@return string
function M._name(char)
  return ("\\u{%04X}"):format(vim.fn.char2nr(char))
end

return M
