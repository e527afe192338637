--- Subcommands of `:Agent` about the server: its log, its process, its installation.
local M = {}

M.log = {
  about = "open the server's log",
  run = function()
    require("agent.log").open()
  end,
}

M.restart = {
  about = "restart the server; the session goes on",
  run = function()
    require("agent.client").restart()
  end,
}

M.install = {
  about = "install the server that the plugin carries",
  run = function()
    require("agent.install").run()
  end,
}

M.health = {
  about = "check that everything is there",
  run = function()
    vim.cmd.checkhealth("agent")
  end,
}

return M
