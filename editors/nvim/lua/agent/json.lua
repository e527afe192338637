--- JSON's null, which Neovim 0.11 leaves out of what a server sends and 0.12 keeps as `vim.NIL`. Pure.
local M = {}

--- The value without nulls, at any depth: a field that is null is absent. Changes the tables that it is given.
---@param value any
---@return any
function M.without_null(value)
  if value == vim.NIL then
    return nil
  end
  if type(value) == "table" then
    for key, inner in pairs(value) do
      if inner == vim.NIL then
        value[key] = nil
      elseif type(inner) == "table" then
        M.without_null(inner)
      end
    end
  end
  return value
end

return M
