--- `:checkhealth agent`.
local M = {}

---@type table<agent.Origin, string>
local ORIGINS = { setting = "named by cmd", path = "from $PATH", installed = "installed by :Agent install" }

function M.check()
  vim.health.start("agent")
  M._editor()
  local cmd = M._program()
  if cmd then
    M._connection()
  end
  M._project()
end

---@private
function M._editor()
  if vim.fn.has("nvim-0.11") == 1 then
    vim.health.ok(("Neovim %s"):format(tostring(vim.version())))
  else
    vim.health.error("Neovim 0.11 or newer is needed")
  end
  if pcall(vim.treesitter.language.inspect, "markdown") then
    vim.health.ok("the Markdown parser is there")
  else
    vim.health.warn("no Markdown parser: answers are shown plainly", { "install the treesitter parser markdown" })
  end
end

---@private
---@return string[]?
function M._program()
  local server = require("agent.server")
  local cmd, problem, origin = server.command()
  if not cmd then
    vim.health.error(assert(problem))
    M._carried()
    return nil
  end
  local version = server.version(cmd)
  if version then
    vim.health.ok(("%s (%s, %s)"):format(version, cmd[1], ORIGINS[origin]))
  else
    vim.health.error(("%s does not tell its version"):format(cmd[1]), { "run it in a terminal to see why" })
  end
  M._carried()
  return cmd
end

--- What the plugin carries, beside what was installed of it.
---@private
function M._carried()
  local install = require("agent.install")
  local wheel, installed = install.wheel(), select(2, install.installed())
  if not wheel then
    return vim.health.info("this copy of the plugin carries no server")
  end
  local name = vim.fs.basename(wheel)
  if installed and installed ~= name then
    vim.health.warn(("%s is installed, the plugin carries %s"):format(installed, name), { ":Agent install" })
  else
    vim.health.info(
      ("the plugin carries %s; %s"):format(name, installed and "it is installed" or "it is not installed")
    )
  end
end

---@private
function M._connection()
  local client = require("agent.client")
  local phase = client.phase()
  if phase ~= "ready" then
    return vim.health.info(("the server is not running now (%s); :Agent starts it"):format(phase))
  end
  vim.health.ok("the server runs")
  local session = require("agent.session").current()
  local model = session and require("agent.session").option(session, "model")
  if session and model then
    vim.health.info(("model %s, mode %s"):format(model.currentValue, session.transcript.mode))
  end
end

---@private
function M._project()
  vim.health.info(("sessions begin in %s"):format(require("agent.server").root(0)))
  vim.health.info(("the server's log: %s"):format(require("agent.log").path()))
end

return M
