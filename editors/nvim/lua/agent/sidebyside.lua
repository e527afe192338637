--- Review of a file in two windows of a tab page: the text that is to be changed, and the proposed one, which may be changed before
--- it is accepted. Closing the tab decides nothing.
local apply = require("agent.apply")
local diff = require("agent.diff")
local proposal = require("agent.proposal")
local review = require("agent.review")
local window = require("agent.window")

local M = {}

---@type table<agent.Review, string> of the right window, by the edit's review
local WINBARS = {
  ask = " %s (proposed)%%=%%#AgentHint#:w accept · gL reject · q close ",
  staged = " %s (staged, asked about later)%%=%%#AgentHint#q close ",
  applied = " %s (applied)%%=%%#AgentHint#q close ",
}

---@type integer? the tab page of the review
local tab

--- Open the file of a place.
---@param place agent.Place
function M.open(place)
  M.close()
  local file = place.file
  local path = vim.uri_to_fname(file.uri)
  vim.cmd("tabnew")
  tab = vim.api.nvim_get_current_tabpage()
  local blank = vim.api.nvim_get_current_buf()
  vim.bo[blank].bufhidden = "wipe"
  vim.api.nvim_win_set_buf(0, M._scratch(file.base or "", path, "base"))
  vim.bo.modifiable = false
  vim.wo.winbar = (" %s"):format(M._name(path))
  vim.cmd("diffthis")
  vim.cmd("rightbelow vsplit")
  vim.api.nvim_win_set_buf(0, M._proposed(place.proposal, file, path))
  vim.wo.winbar = WINBARS[place.proposal.review]:format(M._name(path))
  vim.cmd("diffthis | normal! gg]c")
end

--- Close the review, if one is open; the person is back where they were.
function M.close()
  if tab and vim.api.nvim_tabpage_is_valid(tab) then
    vim.cmd.tabclose(vim.api.nvim_tabpage_get_number(tab))
  end
  tab = nil
end

--- Write another text for one hunk, in a float; `:w` keeps it, and it is still to be accepted.
---@param place agent.Place
function M.edit_hunk(place)
  local hunk = assert(place.hunk)
  local text = hunk.edited or hunk.new
  local buf = window.float(diff.rows(text), M._filetype(place.file.uri), "Edit the proposal: :w keeps it, q leaves it")
  vim.bo[buf].modifiable, vim.bo[buf].buftype = true, "acwrite"
  vim.api.nvim_buf_set_name(buf, ("agent://hunk/%s/%s"):format(place.proposal.txn, hunk.id))
  vim.bo[buf].modified = false
  vim.api.nvim_create_autocmd("BufWriteCmd", {
    buffer = buf,
    callback = function()
      vim.bo[buf].modified = false
      review.edit(place, M._written(buf, text))
      vim.schedule(function()
        pcall(vim.cmd.bwipeout, { buf, bang = true })
      end)
    end,
  })
end

--- What a buffer holds, with the line ends of the text it was made from.
---@private
---@param buf integer
---@param text string that it was made from
---@return string
function M._written(buf, text)
  local ending = text:match("\r\n") or "\n"
  local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, true)
  if #lines == 1 and lines[1] == "" then
    return ""
  end
  local closed = text == "" or text:match("[\r\n]$") ~= nil
  return table.concat(lines, ending) .. (closed and ending or "")
end

--- The right side; it can be changed where there is something to decide.
---@private
---@param one agent.Proposal
---@param file agent.ProposedFile
---@param path string
---@return integer buf
function M._proposed(one, file, path)
  if one.review ~= "ask" then
    local shown = M._scratch(file.new or "", path, one.review)
    vim.bo[shown].modifiable = false
    return shown
  end
  local text = proposal.divisible(file) and proposal.text(file) or file.new or ""
  local buf = M._scratch(text, path, "proposed")
  M._map(buf, one, file, text)
  return buf
end

---@private
---@param buf integer
---@param one agent.Proposal
---@param file agent.ProposedFile
---@param text string what the buffer was made from
function M._map(buf, one, file, text)
  vim.bo[buf].buftype = "acwrite"
  vim.api.nvim_create_autocmd("BufWriteCmd", {
    buffer = buf,
    callback = function()
      vim.bo[buf].modified = false
      local written = M._written(buf, text)
      if file.kind == "delete" then
        review.decide({ proposal = one, file = file }, "accept", true)
      else
        review.decide_text(one, file, written)
      end
      vim.schedule(M._next)
    end,
  })
  vim.keymap.set("n", "gL", function()
    review.decide({ proposal = one, file = file }, "reject", true)
    M._next()
  end, { buffer = buf, desc = "Agent: reject file" })
end

--- On to the next file that waits, or back to where the person was.
---@private
function M._next()
  local place = review.pending()[1]
  if place then
    return M.open(place)
  end
  M.close()
end

--- Not the file's own buffer: there the hunks are drawn between the lines, which would stand in the way.
---@private
---@param text string
---@param path string
---@param side "base"|"proposed"|agent.Review
---@return integer buf
function M._scratch(text, path, side)
  local name = ("agent://%s/%s"):format(side, vim.fn.fnamemodify(path, ":."))
  for _, old in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_get_name(old) == name then
      vim.api.nvim_buf_delete(old, { force = true })
    end
  end
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buf, 0, -1, true, diff.rows(text))
  vim.api.nvim_buf_set_name(buf, name)
  vim.bo[buf].bufhidden, vim.bo[buf].modified = "wipe", false
  vim.bo[buf].filetype = vim.filetype.match({ filename = path }) or ""
  vim.keymap.set("n", "q", M.close, { buffer = buf, nowait = true, desc = "Agent: close the review" })
  return buf
end

---@private
---@param uri string
---@return string
function M._filetype(uri)
  return vim.filetype.match({ filename = vim.uri_to_fname(uri) }) or ""
end

---@private
---@param path string
---@return string
function M._name(path)
  return (vim.fn.fnamemodify(path, ":~:."):gsub("%%", "%%%%"))
end

return M
