-- Checks the LuaCATS annotations of the plugin, with Neovim's own parser: nvim --clean -l annotations.lua [FOLDER]
--
-- Every function says what it takes and gives, every type that is named is defined, every field of a class is used.
-- FOLDER has the Lua to check; without it: the plugin's. Prints each problem, exits with their number.
package.path = vim.fs.dirname(debug.getinfo(1, "S").source:sub(2)) .. "/?.lua;" .. package.path
local check = require("check")
local types = require("types")

---@class agent.test.Source
---@field path string
---@field text string
---@field lines string[]
---@field root TSNode

---@class agent.test.Doc what stands above a function
---@field params table<string, boolean>
---@field returns boolean

---@type string[]
local problems = {}

---@param source agent.test.Source
---@param row integer 0-based
---@param words string
local function complain(source, row, words)
  table.insert(problems, ("%s:%d: %s"):format(source.path, row + 1, words))
end

---@param path string
---@return string
local function read(path)
  local file = assert(io.open(path))
  local text = file:read("*a")
  file:close()
  return text
end

---@param folder string
---@return agent.test.Source[]
local function sources(folder)
  local found = {}
  for name in vim.fs.dir(folder, { depth = 9 }) do
    if vim.endswith(name, ".lua") then
      local text = read(vim.fs.joinpath(folder, name))
      local root = vim.treesitter.get_string_parser(text, "lua"):parse()[1]:root()
      table.insert(found, { path = name, text = text, lines = vim.split(text, "\n"), root = root })
    end
  end
  return found
end

---@param source agent.test.Source
---@param row integer of what is documented
---@return agent.test.Doc
local function doc_above(source, row)
  local doc = { params = {}, returns = false }
  while row > 0 and vim.startswith(source.lines[row], "---") do
    local param = source.lines[row]:match("^%-%-%-@param%s+([%w_.]+)")
    if param then
      doc.params[param] = true
    end
    doc.returns = doc.returns or source.lines[row]:match("^%-%-%-@return%s") ~= nil
    row = row - 1
  end
  return doc
end

---@class agent.test.Function
---@field name string
---@field row integer
---@field node TSNode with parameters and a body
---@field source agent.test.Source
---@field doc agent.test.Doc

--- Functions that a file declares at its top: with a name, or as a field.
---@param source agent.test.Source
---@return agent.test.Function[]
local function functions(source)
  local found = {}
  for node in source.root:iter_children() do
    local name, made = node:field("name")[1], node ---@type TSNode?, TSNode?
    if node:type() == "assignment_statement" then
      name, made = node:named_child(0), assert(node:named_child(1)):named_child(0)
    end
    if name and made and made:type():match("^function_de") then
      local row = node:start()
      local text = vim.treesitter.get_node_text(name, source.text)
      table.insert(found, { name = text, row = row, node = made, source = source, doc = doc_above(source, row) })
    end
  end
  return found
end

--- The expressions that a function gives back, without those of functions inside it.
---@param node TSNode
---@param found TSNode[]
---@return TSNode[]
local function returned(node, found)
  for child in node:iter_children() do
    if child:type() == "return_statement" then
      table.insert(found, child:named_child(0))
    elseif not child:type():match("^function_de") then
      returned(child, found)
    end
  end
  return found
end

--- Whether giving that back gives a value: `return say(…)` is how a function that gives nothing is left early.
---@param one agent.test.Function
---@param expressions TSNode
---@param known table<string, agent.test.Function>
---@return boolean
local function is_value(one, expressions, known)
  local only = expressions:named_child(0)
  if expressions:named_child_count() > 1 or not only or only:type() ~= "function_call" then
    return true
  end
  local callee = vim.treesitter.get_node_text(only:field("name")[1], one.source.text)
  local called = known[one.source.path .. ":" .. callee]
  if called then
    return called.doc.returns
  end
  local body = one.node:field("body")[1]
  local last = body:named_child(body:named_child_count() - 1)
  return vim.startswith(callee, "vim.") and last ~= nil and last:equal(assert(expressions:parent()))
end

---@param one agent.test.Function
local function check_params(one)
  local names = {}
  for node in one.node:field("parameters")[1]:iter_children() do
    if node:named() then
      local name = vim.treesitter.get_node_text(node, one.source.text)
      names[name] = true
      if not one.doc.params[name] and not vim.startswith(name, "_") then
        complain(one.source, one.row, ("%s has no @param %s"):format(one.name, name))
      end
    end
  end
  for name in pairs(one.doc.params) do
    if not names[name] then
      complain(one.source, one.row, ("%s takes no %s"):format(one.name, name))
    end
  end
end

---@param one agent.test.Function
---@param known table<string, agent.test.Function>
local function check_returns(one, known)
  local body = one.node:field("body")[1]
  local gives, ends = false, body and returned(body, {}) or {}
  for _, expressions in ipairs(ends) do
    gives = gives or is_value(one, expressions, known)
  end
  if gives and not one.doc.returns then
    complain(one.source, one.row, ("%s has no @return"):format(one.name))
  elseif one.doc.returns and #ends == 0 then
    complain(one.source, one.row, ("%s returns nothing"):format(one.name))
  end
end

---@param found agent.test.Source[]
local function check_functions(found)
  local known, all = {}, {}
  for _, source in ipairs(found) do
    for _, one in ipairs(functions(source)) do
      known[source.path .. ":" .. one.name] = one
      table.insert(all, one)
    end
  end
  for _, one in ipairs(all) do
    check_params(one)
    check_returns(one, known)
  end
end

---@param found agent.test.Source[]
---@param defined table<string, boolean>
local function check_types(found, defined)
  for _, source in ipairs(found) do
    for number, line in ipairs(source.lines) do
      for _, name in ipairs(types.named(line)) do
        if not defined[name] then
          complain(source, number - 1, ("the type %s is not defined"):format(name))
        end
      end
    end
  end
end

--- A field that no code names is a leftover; one that is there twice says two things.
---@param found agent.test.Source[]
local function check_fields(found)
  local code = {}
  for _, source in ipairs(found) do
    for _, line in ipairs(source.lines) do
      table.insert(code, (line:gsub("%-%-.*$", "")))
    end
  end
  local all = table.concat(code, "\n")
  for _, source in ipairs(found) do
    local seen = {}
    for number, line in ipairs(source.lines) do
      local name = line:match("^%-%-%-@field%s+([%w_]+)")
      seen = vim.startswith(line, "---@class") and {} or seen
      if name and seen[name] then
        complain(source, number - 1, ("the field %s is there twice"):format(name))
      elseif name and not all:find("%f[%w_]" .. name .. "%f[^%w_]") then
        complain(source, number - 1, ("no code names the field %s"):format(name))
      end
      seen[name or ""] = name ~= nil
    end
  end
end

local found = sources(_G.arg[1] or vim.fs.joinpath(check.plugin, "lua"))
local repository = vim.fs.dirname(vim.fs.dirname(check.plugin))
local libraries = { vim.fs.joinpath(repository, "protocol", "generated"), vim.fs.joinpath(vim.env.VIMRUNTIME, "lua") }
local defined = types.builtin()
for _, source in ipairs(found) do
  types.define(source.text, defined)
end
for _, library in ipairs(libraries) do
  for name in vim.fs.dir(library, { depth = 9 }) do
    if vim.endswith(name, ".lua") then
      types.define(read(vim.fs.joinpath(library, name)), defined)
    end
  end
end
check_functions(found)
check_types(found, defined)
check_fields(found)
table.sort(problems)
io.stdout:write(table.concat(problems, "\n"), "\n", ("%d files, %d problems\n"):format(#found, #problems))
os.exit(math.min(#problems, 255))
