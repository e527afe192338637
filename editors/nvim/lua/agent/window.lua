--- Where the chat stands on the screen: the conversation, the prompt below it, and floats for what is looked at once.
local chat = require("agent.chat")
local config = require("agent.config")
local session = require("agent.session")

local M = {}

local TALLEST_PROMPT = 8
local state = { chat = -1, prompt = -1, source = -1 }

local CHAT_OPTIONS = {
  number = false,
  relativenumber = false,
  signcolumn = "yes:1",
  foldcolumn = "0",
  spell = false,
  list = false,
  wrap = true,
  linebreak = true,
  breakindent = true,
  smoothscroll = true, -- a paragraph may be taller than the window
  conceallevel = 2,
  concealcursor = "nc",
  cursorline = false,
  foldmethod = "manual",
  foldtext = "",
  foldlevel = 0,
  foldenable = true,
  fillchars = "fold: ,eob: ",
  winfixwidth = true,
  winhighlight = "Folded:AgentText",
  winbar = "%{%v:lua.require'agent.status'.winbar()%}",
}
local PROMPT_OPTIONS = {
  number = false,
  relativenumber = false,
  signcolumn = "yes:1",
  foldcolumn = "0",
  list = false,
  wrap = true,
  linebreak = true,
  cursorline = false,
  winfixheight = true,
  winfixwidth = true,
  fillchars = "eob: ",
  winbar = "",
}

--- Called once, before anything else.
function M.listen()
  table.insert(session.on_reset, function(shown)
    if M.is_open() then
      M.open(shown)
    end
  end)
  vim.api.nvim_create_autocmd("WinClosed", {
    group = vim.api.nvim_create_augroup("agent.window", {}),
    callback = function(event)
      local closed = tonumber(event.match)
      if closed == state.chat or closed == state.prompt then
        vim.schedule(M.close)
      end
    end,
  })
end

--- The buffer that a prompt is about: the file the person was in last.
---@return integer
function M.source_buffer()
  local current = vim.api.nvim_get_current_buf()
  if M._is_file(current) then
    return current
  end
  return vim.api.nvim_win_is_valid(state.source) and vim.api.nvim_win_get_buf(state.source) or current
end

--- The window of that buffer.
---@return integer
function M.source_window()
  local current = vim.api.nvim_get_current_win()
  if M._is_file(vim.api.nvim_win_get_buf(current)) then
    return current
  end
  return vim.api.nvim_win_is_valid(state.source) and state.source or current
end

---@return boolean
function M.is_open()
  return vim.api.nvim_win_is_valid(state.chat)
end

--- Show the conversation. The focus stays where it is.
---@param shown agent.Session
function M.open(shown)
  if M.is_open() then
    return M._switch(shown)
  end
  state.source = M.source_window()
  local buf = chat.buffer(shown)
  local prompt = require("agent.prompt").buffer()
  if config.get().chat.layout == "float" then
    M._open_floats(buf, prompt)
  else
    M._open_splits(buf, prompt)
  end
  M._set(state.chat, CHAT_OPTIONS)
  M._set(state.prompt, PROMPT_OPTIONS)
  chat.fold(shown, state.chat)
  vim.api.nvim_win_set_cursor(state.chat, { vim.api.nvim_buf_line_count(buf), 0 })
end

function M.close()
  local had_focus = vim.list_contains({ state.chat, state.prompt }, vim.api.nvim_get_current_win())
  for _, win in ipairs({ state.prompt, state.chat }) do
    if vim.api.nvim_win_is_valid(win) then
      pcall(vim.api.nvim_win_close, win, true)
    end
  end
  if had_focus and vim.api.nvim_win_is_valid(state.source) then
    vim.api.nvim_set_current_win(state.source)
  end
end

--- Go to the prompt.
---@param insert boolean to type at its end
function M.focus_prompt(insert)
  if not vim.api.nvim_win_is_valid(state.prompt) then
    return
  end
  state.source = M.source_window()
  vim.api.nvim_set_current_win(state.prompt)
  if insert then
    vim.cmd("startinsert!")
  end
end

--- As tall as what is written, within bounds.
function M.fit_prompt()
  if not vim.api.nvim_win_is_valid(state.prompt) then
    return
  end
  local rows = vim.api.nvim_win_text_height(state.prompt, {}).all
  local least = config.get().chat.prompt_height
  vim.api.nvim_win_set_height(state.prompt, math.min(math.max(rows, least), math.max(TALLEST_PROMPT, least)))
end

--- Show lines to be looked at and closed, with `q` or `<Esc>`.
---@param lines string[]
---@param filetype string
---@param title string
---@return integer buf, integer win
function M.float(lines, filetype, title)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buf, 0, -1, true, lines)
  vim.bo[buf].bufhidden, vim.bo[buf].modifiable = "wipe", false
  local width = math.min(100, vim.o.columns - 6)
  local height = math.max(1, math.min(#lines, vim.o.lines - 8))
  local win = vim.api.nvim_open_win(buf, true, {
    relative = "editor",
    width = width,
    height = height,
    row = math.max(0, math.floor((vim.o.lines - height) / 2) - 1),
    col = math.floor((vim.o.columns - width) / 2),
    style = "minimal",
    border = "rounded",
    title = (" %s "):format(vim.fn.strcharpart(title, 0, width - 4)),
  })
  vim.bo[buf].filetype = filetype
  vim.wo[win].wrap, vim.wo[win].conceallevel = true, 2
  for _, key in ipairs({ "q", "<Esc>" }) do
    vim.keymap.set("n", key, "<Cmd>close<CR>", { buffer = buf, nowait = true })
  end
  return buf, win
end

--- Another conversation in the window that is there.
---@private
---@param shown agent.Session
function M._switch(shown)
  local buf = chat.buffer(shown)
  if vim.api.nvim_win_get_buf(state.chat) ~= buf then
    vim.api.nvim_win_set_buf(state.chat, buf)
    M._set(state.chat, CHAT_OPTIONS)
    chat.fold(shown, state.chat)
  end
end

---@private
---@param buf integer
---@param prompt integer
function M._open_splits(buf, prompt)
  local wanted = config.get().chat
  local width = math.min(wanted.width, math.floor(vim.o.columns / 2))
  local place = { split = wanted.layout == "left" and "left" or "right", win = -1, width = width }
  state.chat = vim.api.nvim_open_win(buf, false, place)
  local below = { split = "below", win = state.chat, height = wanted.prompt_height }
  state.prompt = vim.api.nvim_open_win(prompt, false, below)
end

---@private
---@param buf integer
---@param prompt integer
function M._open_floats(buf, prompt)
  local wanted = config.get().chat
  local width = math.min(wanted.width + 4, vim.o.columns - 4)
  local height = math.max(4, vim.o.lines - wanted.prompt_height - 8)
  local place =
    { relative = "editor", width = width, col = math.floor((vim.o.columns - width) / 2), border = "rounded" }
  local above = vim.tbl_extend("error", place, { row = 1, height = height })
  local below = vim.tbl_extend("error", place, { row = height + 3, height = wanted.prompt_height })
  state.chat = vim.api.nvim_open_win(buf, false, above)
  state.prompt = vim.api.nvim_open_win(prompt, false, below)
end

---@private
---@param win integer
---@param options table<string, any>
function M._set(win, options)
  for name, value in pairs(options) do
    vim.api.nvim_set_option_value(name, value, { win = win, scope = "local" })
  end
end

---@private
---@param buf integer
---@return boolean
function M._is_file(buf)
  return vim.bo[buf].buftype == "" and vim.api.nvim_buf_get_name(buf) ~= ""
end

return M
