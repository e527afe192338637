-- Commands and <Plug> maps; everything behind them is loaded when one is used.
if vim.g.loaded_agent or vim.fn.has("nvim-0.11") == 0 then
  return
end
vim.g.loaded_agent = true

vim.api.nvim_create_user_command("Agent", function(given)
  require("agent.command").run(given)
end, {
  nargs = "*",
  range = true,
  bang = true,
  desc = "Talk to the coding agent",
  complete = function(lead, line)
    return require("agent.complete").command_line(lead, line)
  end,
})

for name, command in pairs({
  ["accept-hunk"] = "accept hunk",
  ["reject-hunk"] = "reject hunk",
  ["accept-file"] = "accept file",
  ["reject-file"] = "reject file",
  ["accept-all"] = "accept all",
  ["reject-all"] = "reject all",
  ["accept-further"] = "further",
  ["refuse"] = "refuse",
  ["keep-hunk"] = "keep",
  ["revert-hunk"] = "revert",
  ["edit-hunk"] = "edit",
  ["diff"] = "review",
  ["next-hunk"] = "next",
  ["prev-hunk"] = "prev",
  ["open"] = "open",
  ["toggle"] = "toggle",
  ["cancel"] = "cancel",
  ["answer"] = "answer",
  ["steer"] = "steer",
  ["redirect"] = "redirect",
  ["stop"] = "stop",
}) do
  vim.keymap.set("n", ("<Plug>(agent-%s)"):format(name), ("<Cmd>Agent %s<CR>"):format(command))
end
vim.keymap.set("x", "<Plug>(agent-ask)", ":Agent ask<CR>", { silent = true })
