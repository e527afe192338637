-- A real Neovim without any plugin, whose person types just before each edit arrives: it drops the edit and answers
-- `applied: true` all the same. Run: nvim --clean -l nvim_stale.lua SERVER MODEL FILE TIMES LINE; prints the buffer.
local server, model, path, times, line = arg[1], arg[2], arg[3], tonumber(arg[4]), tonumber(arg[5])

local function wait_for(what, condition)
  if not vim.wait(12000, condition, 10) then error("timeout: " .. what) end
end

vim.cmd.edit(path)
vim.api.nvim_buf_set_lines(0, 0, 1, false, { "one, unsaved" })
local edits, answers, said = 0, {}, {}

local id = assert(vim.lsp.start({
  name = "agent-server",
  cmd = { server, "lsp", "--model", model },
  root_dir = vim.fs.dirname(path),
  handlers = {
    ["window/showMessage"] = function(_, params) table.insert(said, params.message) end,
    ["window/showMessageRequest"] = function(_, params) return params.actions[1] end,
    ["workspace/applyEdit"] = function(err, params, context)
      edits = edits + 1
      if edits <= times then vim.api.nvim_buf_set_lines(0, line, line + 1, false, { "typed " .. edits }) end
      local answer = vim.lsp.handlers["workspace/applyEdit"](err, params, context)
      table.insert(answers, answer.applied)
      return answer
    end,
  },
}))
local client = assert(vim.lsp.get_client_by_id(id))
wait_for("initialize", function() return client.initialized end)
vim.api.nvim_buf_set_lines(0, 0, 1, false, { "one, unsaved too" })
client:request_sync("workspace/executeCommand", { command = "agent.prompt", arguments = { "go" } }, 12000)
wait_for("the answer", function() return #said > 0 end)

local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false)
io.stdout:write(vim.json.encode({ lines = lines, answers = answers, said = said }), "\n")
client:stop()
wait_for("the end of the server", function() return client:is_stopped() end)
vim.cmd("qa!")
