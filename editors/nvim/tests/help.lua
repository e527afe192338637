-- `:help agent` and the code say the same, both ways: nvim --clean -l help.lua
package.path = vim.fs.dirname(debug.getinfo(1, "S").source:sub(2)) .. "/?.lua;" .. package.path
local check = require("check")

local help = check.read("doc/agent.txt")

--- What is in one list and not in the other, sorted.
---@param these string[]
---@param others string[]
---@return string[]
local function missing(these, others)
  local found = vim.tbl_filter(function(one)
    return not vim.list_contains(others, one)
  end, these)
  table.sort(found)
  return found
end

---@param pattern string
---@param text? string nil: all of the help
---@return string[]
local function named(pattern, text)
  local found = {}
  for one in (text or help):gmatch(pattern) do
    found[one] = true
  end
  return vim.tbl_keys(found)
end

---@param title string
---@return string
local function section(title)
  return assert(help:match("\n%d+%. " .. title .. "(.-)\n====="), title)
end

---@param code string[]
---@param told string[]
local function same(code, told)
  check.equal({ untold = {}, unknown = {} }, { untold = missing(code, told), unknown = missing(told, code) })
end

--- Keys of ours in a buffer of that type.
---@param path string of the module that maps them
---@return string[]
local function keys(path)
  local found = named('map%("([^"]+)",', check.read(path))
  vim.list_extend(found, named('map%("[ni]", "([^"]+)"', check.read(path)))
  return missing(found, { "n", "i" })
end

check.it("every command is told, and no other", function()
  same(require("agent.command").names(), named("\n:[%[%]range]*Agent (%l+)"))
end)

check.it("every <Plug> map is told, and no other", function()
  vim.cmd.runtime("plugin/agent.lua")
  local maps = {}
  for _, mode in ipairs({ "n", "x" }) do
    for _, map in ipairs(vim.api.nvim_get_keymap(mode)) do
      table.insert(maps, map.lhs:match("^<Plug>%(agent%-[%l-]+%)$"))
    end
  end
  same(maps, named("<Plug>%(agent%-[%l-]+%)"))
end)

check.it("the settings that are told are the defaults, all of them", function()
  local config = require("agent.config")
  local defaults = vim.deepcopy(config.get())
  local example = assert(help:match('require%("agent"%)%.setup%((%b{})%)', help:find("7. SETTINGS", 1, true)))
  config.set({})
  check.equal(defaults, assert(loadstring("return " .. example))())
  for _, optional in ipairs({ "cmd", "python" }) do
    assert(example:find(("\n%%s+%s = nil"):format(optional)), optional)
  end
end)

check.it("every key of a review is told", function()
  local told = named("\n  ([%]%[g]%a)%s", section("REVIEW OF EDITS"))
  same(vim.tbl_values(require("agent.config").get().review_keys), told)
end)

check.it("every key of the chat and of the prompt is told", function()
  local pattern = "\n  ([<%[%]g%a%?-][^ ]*)%s%s+"
  check.equal({}, missing(keys("lua/agent/chat.lua"), named(pattern, section("CHAT"))))
  check.equal({}, missing(keys("lua/agent/prompt.lua"), named(pattern, section("PROMPT"))))
end)

check.it("every highlight group is told, and no other", function()
  require("agent.highlight").define()
  same(vim.fn.getcompletion("Agent", "highlight"), named("(Agent%u%a+)", section("HIGHLIGHT GROUPS")))
end)

check.it("every command of the prompt is told", function()
  local ours = vim.tbl_map(function(one)
    return one.name
  end, require("agent.command").slash_commands())
  check.equal({}, missing(missing(ours, { "sessions" }), named("`/(%l+)`", section("PROMPT"))))
end)

check.it("every reference leads somewhere", function()
  vim.cmd.helptags(vim.fn.fnameescape(check.plugin .. "/doc"))
  local tags = named("%*(%S+)%*")
  for _, tag in ipairs(named("|(%S+)|")) do
    local known = vim.list_contains(tags, tag) or #vim.fn.getcompletion(tag, "help") > 0
    assert(known, tag)
  end
  os.remove(check.plugin .. "/doc/tags")
end)

check.done()
