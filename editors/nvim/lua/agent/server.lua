--- Where the server's program is, and what to do when it is nowhere: named by the setting, else on $PATH, else the one
--- that `:Agent install` installed.
local config = require("agent.config")
local install = require("agent.install")
local log = require("agent.log")

local M = {}

local MISSING = "the program agent-server is not on $PATH. "
local OFFER = "`:Agent install` installs the one that this plugin carries"
local ADVICE = "Install it (in a clone of it: uv tool install .), "
  .. 'or name it: require("agent").setup({ cmd = { "/path/to/agent-server", "lsp" } })'

---@alias agent.Origin "setting"|"path"|"installed"

--- The command line; nil and a sentence that says what to do when there is none.
---@return string[]? cmd, string? problem, agent.Origin? origin
function M.command()
  if config.get().cmd then
    return M._named(config.get().cmd)
  end
  if vim.fn.executable("agent-server") == 1 then
    return M._line(vim.fn.exepath("agent-server")), nil, "path"
  end
  local installed = install.installed()
  if installed then
    return M._line(installed), nil, "installed"
  end
  return nil, MISSING .. (install.wheel() and OFFER or ADVICE)
end

--- A setting that leads nowhere is said, not passed over.
---@private
---@param cmd any
---@return string[]? cmd, string? problem, agent.Origin? origin
function M._named(cmd)
  if type(cmd) ~= "table" or type(cmd[1]) ~= "string" then
    return nil, 'cmd must be a list of strings, such as { "agent-server", "lsp" }'
  end
  if vim.fn.executable(cmd[1]) == 0 then
    return nil, ("%s, which cmd names, cannot be run. Check the setting, or remove it to use $PATH"):format(cmd[1])
  end
  return cmd, nil, "setting"
end

---@private
---@param program string
---@return string[]
function M._line(program)
  return { program, "lsp", "--log-file", log.path() }
end

--- The version the program says it has; nil when it does not answer. Waits up to 5 s.
---@param cmd string[]
---@return string?
function M.version(cmd)
  local ok, process = pcall(vim.system, { cmd[1], "--version" }, { text = true, timeout = 5000 })
  local done = ok and process:wait()
  return done and done.code == 0 and vim.trim(done.stdout) or nil
end

--- The project that a file, or the current directory, belongs to.
---@param buf? integer
---@return string
function M.root(buf)
  local is_file = buf and vim.bo[buf].buftype == "" and vim.api.nvim_buf_get_name(buf) ~= ""
  return buf and is_file and vim.fs.root(buf, config.get().root_markers) or vim.fn.getcwd()
end

return M
