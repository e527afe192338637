--- Highlight groups: all linked, so that a colour scheme or the person can say otherwise.
local M = {}

local LINKS = {
  AgentUser = "CursorLine",
  AgentUserSign = "Title",
  AgentText = "Normal",
  AgentThought = "Comment",
  AgentTool = "Identifier",
  AgentOutput = "Comment",
  AgentPending = "Comment",
  AgentRunning = "DiagnosticInfo",
  AgentDone = "DiagnosticOk",
  AgentFailed = "DiagnosticError",
  AgentWaiting = "DiagnosticWarn",
  AgentMeta = "Comment",
  AgentAdd = "DiffAdd",
  AgentAddText = "DiffText",
  AgentAddSign = "Added",
  AgentDeleteSign = "Removed",
  AgentHint = "Comment",
}

--- The colours of a scheme may have changed: define them again.
function M.define()
  for name, target in pairs(LINKS) do
    vim.api.nvim_set_hl(0, name, { link = target, default = true })
  end
  M._deletions()
  vim.api.nvim_create_autocmd("ColorScheme", {
    group = vim.api.nvim_create_augroup("agent.highlight", {}),
    callback = M.define,
  })
end

--- Some schemes show deleted lines by their letters' colour alone, which would hide the syntax: then they get a ground.
---@private
function M._deletions()
  local shown = vim.api.nvim_get_hl(0, { name = "DiffDelete", link = false })
  if shown.bg then
    vim.api.nvim_set_hl(0, "AgentDelete", { link = "DiffDelete", default = true })
    vim.api.nvim_set_hl(0, "AgentDeleteText", { link = "DiffText", default = true })
    return
  end
  local dark = vim.o.background == "dark"
  vim.api.nvim_set_hl(
    0,
    "AgentDelete",
    { bg = dark and "#43242b" or "#ffdde0", ctermbg = dark and 52 or 224, default = true }
  )
  vim.api.nvim_set_hl(
    0,
    "AgentDeleteText",
    { bg = dark and "#7a2e3a" or "#ffb3ba", ctermbg = dark and 88 or 217, default = true }
  )
end

return M
