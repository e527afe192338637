--- Type expressions of LuaCATS: which types a line of annotations names, and which it defines.
local M = {}

local BUILTIN = [[any boolean false fun function integer nil number self string table thread true unknown userdata]]

---@return table<string, boolean>
function M.builtin()
  local defined = {}
  for name in BUILTIN:gmatch("%a+") do
    defined[name] = true
  end
  return defined
end

--- Add the types that a file defines.
---@param text string
---@param defined table<string, boolean>
function M.define(text, defined)
  for line in text:gmatch("[^\n]+") do
    local name = line:match("^%s*%-%-%-%s?@class%s+([%w_.%-]+)")
      or line:match("^%s*%-%-%-%s?@class%s+%b()%s+([%w_.%-]+)")
      or line:match("^%s*%-%-%-%s?@alias%s+([%w_.%-]+)")
      or line:match("^%s*%-%-%-%s?@enum%s+([%w_.%-]+)")
    if name then
      defined[name] = true
    end
  end
end

--- The types that a line's annotations name.
---@param line string
---@return string[]
function M.named(line)
  local rest = line:match("^%s*%-%-%-@param%s+[%w_.]+%??%s+(.*)$")
    or line:match("^%s*%-%-%-@field%s+[%w_]+%??%s+(.*)$")
    or line:match("^%s*%-%-%-@field%s+%b[]%??%s+(.*)$")
    or line:match("^%s*%-%-%-@alias%s+[%w_.]+%s+(.*)$")
    or line:match("^%s*%-%-%-@class%s+[%w_.]+%s*:%s*(.*)$")
    or line:match("^%s*%-%-%-@type%s+(.*)$")
    or line:match("%-%-%[%[@as%s+(.*)%]%]")
  if rest then
    return M._names((M._take(rest)))
  end
  local names = {}
  rest = line:match("^%s*%-%-%-@return%s+(.*)$")
  while rest do
    local expression, after = M._take(rest)
    vim.list_extend(names, M._names(expression))
    rest = after:match("^%s*[%w_.]*%s*,%s*(.*)$")
  end
  return names
end

--- The type expression that a text begins with, and what follows it: words for people.
---@private
---@param text string
---@return string expression, string rest
function M._take(text)
  local depth, at = 0, 1
  while at <= #text do
    local char = text:sub(at, at)
    if char == '"' then
      at = text:find('"', at + 1, true) or #text
    elseif char:match("[%(%[{<]") then
      depth = depth + 1
    elseif char:match("[%)%]}>]") then
      depth = depth - 1
    elseif depth == 0 and char == "," then
      return text:sub(1, at - 1), text:sub(at)
    elseif depth == 0 and char == " " and not M._goes_on(text, at) then
      return text:sub(1, at - 1), text:sub(at)
    end
    at = at + 1
  end
  return text, ""
end

--- Whether a blank stands inside a type: around a bar, behind the colon of a result.
---@private
---@param text string
---@param at integer of the blank
---@return boolean
function M._goes_on(text, at)
  return text:sub(1, at - 1):match("[|:]$") ~= nil or text:sub(at + 1):match("^|") ~= nil
end

--- Names of types in an expression: not of parameters or fields, and no literals.
---@private
---@param expression string
---@return string[]
function M._names(expression)
  local names = {}
  local bare = expression:gsub('"[^"]*"', " "):gsub("'[^']*'", " "):gsub("`[^`]*`", " ")
  bare = bare:gsub("([%w_.]+)%s*%??:", " ")
  for name in bare:gmatch("[%a_][%w_.%-]*") do
    table.insert(names, (name:gsub("[.%-]+$", "")))
  end
  return names
end

return M
