--- Messages for the person, and where the server writes its log.
local M = {}

--- Shown once the editor is ready to show it, on one line: a longer message would ask for a key.
---@param level "INFO"|"WARN"|"ERROR"
---@param message string
function M.say(level, message)
  vim.schedule(function()
    local line = ("agent: " .. message):gsub("%s*\n%s*", " ")
    vim.notify(line, vim.log.levels[level])
  end)
end

--- The server's log; its folder exists.
---@return string
function M.path()
  local folder = vim.fn.stdpath("log") --[[@as string]]
  vim.fn.mkdir(folder, "p")
  return vim.fs.joinpath(folder, "agent-server.log")
end

--- Open the server's log, else Neovim's own of its language servers, at its end.
function M.open()
  local path = M.path()
  vim.cmd.split(vim.fn.fnameescape(vim.uv.fs_stat(path) and path or vim.lsp.log.get_filename()))
  vim.bo.modifiable = false
  vim.cmd("normal! G")
end

return M
