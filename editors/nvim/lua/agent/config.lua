--- What can be set, and what it is when nobody does. The table below is the documentation.
local M = {}

---@class agent.Config
local defaults = {
  --- The program and its arguments; nil: `agent-server` on $PATH, else the one that `:Agent install` installed.
  ---@type string[]?
  cmd = nil,
  --- The Python (3.11 or newer) that `:Agent install` uses; nil: the first on $PATH.
  ---@type string?
  python = nil,
  --- For the server's process, beside Neovim's own environment.
  ---@type table<string, string>
  env = {},
  --- Settings for the server, such as { model = "openai/gpt-x", mode = "ask" }.
  ---@type table<string, any>
  settings = {},
  --- What marks the root of a project; sessions work there. Without one: the current directory.
  ---@type string[]
  root_markers = { ".git", ".agent", "AGENTS.md" },
  chat = {
    ---@type "right"|"left"|"float"
    layout = "right",
    --- Columns of the chat; at most half of the screen, beside a file.
    width = 80,
    --- Rows of the prompt while it is short; it grows to 8.
    prompt_height = 3,
    --- What sending does while a turn runs: wait for a turn of its own, say it to the running one at its next step or
    --- at once, or choose each time.
    ---@type "queue"|"steer"|"redirect"|"ask"
    while_busy = "queue",
  },
  --- Set in a buffer only while it shows a proposed edit; false sets none. <Plug> maps are always there. None hides a
  --- key of Neovim's but `ga` (the code of a character), which is `:ascii` meanwhile, and none begins another.
  ---@type table<string, string>|false
  review_keys = {
    accept_hunk = "ga",
    reject_hunk = "gl",
    accept_file = "gA",
    reject_file = "gL",
    accept_further = "gy",
    edit_hunk = "gC",
    diff = "gS",
    next_hunk = "]h",
    prev_hunk = "[h",
  },
  --- A server that ended by itself is started again, so many times in a row.
  restarts = 5,
}

--- Settings whose default is nil.
local OPTIONAL = { cmd = true, python = true }

local current = vim.deepcopy(defaults)

--- Change settings. May be called at any time and more than once; each call starts from the defaults.
---@param given? table
function M.set(given)
  vim.validate("agent.setup", given, "table", true)
  M._check(given or {}, defaults, "")
  current = vim.tbl_deep_extend("force", vim.deepcopy(defaults), given or {})
end

---@return agent.Config
function M.get()
  return current
end

--- A word that means nothing is a mistake worth telling, not worth failing for.
---@private
---@param given table
---@param known table
---@param path string
function M._check(given, known, path)
  for key, value in pairs(given) do
    local expected = known[key]
    if expected == nil and not OPTIONAL[key] then
      vim.notify(("agent: setup() does not know %q"):format(path .. key), vim.log.levels.WARN)
    elseif type(expected) == "table" and type(value) == "table" and path == "" and key == "chat" then
      M._check(value, expected, key .. ".")
    end
  end
end

return M
