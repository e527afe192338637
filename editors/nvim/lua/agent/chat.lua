--- The buffer of a conversation. What streams in is gathered and shown once a frame; a frame touches only the blocks
--- that changed, found by extmarks, so that a long conversation costs what is new in it.
local page = require("agent.page")
local render = require("agent.render")
local session = require("agent.session")

local M = {}

local FRAME_MS, LONGEST_FRAME_MS = 16, 250

---@class agent.Chat
---@field session string
---@field page agent.Page
---@field grown table<integer, string[]> by block: text to be added
---@field stale table<integer, boolean> blocks to be shown anew
---@field is_scheduled boolean
---@field due_ms number when the next frame should be
---@field frame_ms number how long to gather for it

---@type table<string, agent.Chat> by session
local chats = {}

--- Called once, before anything else.
function M.listen()
  table.insert(session.on_change, M._take)
  table.insert(session.on_reset, M._reset)
end

--- The buffer that shows a session; made when there is none.
---@param shown agent.Session
---@return integer buf
function M.buffer(shown)
  local chat = chats[shown.id]
  if chat and vim.api.nvim_buf_is_valid(chat.page.buf) then
    return chat.page.buf
  end
  chat = {
    session = shown.id,
    page = page.new(M._make()),
    grown = {},
    stale = {},
    is_scheduled = false,
    due_ms = 0,
    frame_ms = FRAME_MS,
  }
  chats[shown.id] = chat
  for index in ipairs(shown.transcript.blocks) do
    chat.stale[index] = true
  end
  M._flush(chat)
  return chat.page.buf
end

--- Show the end of a conversation, and what comes to it from now on.
---@param shown agent.Session
function M.follow(shown)
  local chat = chats[shown.id]
  if chat and vim.api.nvim_buf_is_valid(chat.page.buf) then
    page.follow(chat.page)
  end
end

--- The block at a line of a chat.
---@param buf integer
---@param row integer 0-based
---@return agent.Block?
function M.block_at(buf, row)
  local chat, shown = M._of(buf)
  local index = chat and page.block_at(chat.page, row)
  return shown and index and shown.transcript.blocks[index]
end

--- Go to where the person spoke, or spoke next.
---@param step 1|-1
function M.turn(step)
  local buf, row = vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0)[1] - 1
  local chat, shown = M._of(buf)
  if not chat or not shown then
    return
  end
  local rows = {}
  for index, block in ipairs(shown.transcript.blocks) do
    local first = block.kind == "user" and page.row(chat.page, index)
    if first then
      rows[#rows + 1] = first + (block.gap and 1 or 0)
    end
  end
  for index = step > 0 and 1 or #rows, step > 0 and #rows or 1, step do
    if (rows[index] - row) * step > 0 then
      return vim.api.nvim_win_set_cursor(0, { rows[index] + 1, 0 })
    end
  end
end

--- The whole output of the tool call at the cursor in a float, or what waits for the person about it.
function M.open_block()
  local block = M.block_at(vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0)[1] - 1)
  if not block or block.kind ~= "tool" then
    return
  end
  local question = block.waiting and require("agent.questions").of_call(block.id)
  if question then
    return require("agent.questions").answer(question)
  end
  local place = block.waiting and require("agent.review").of_call(block.id)
  if place then
    return require("agent.sidebyside").open(place)
  end
  local lines, filetype = render.output(block)
  require("agent.window").float(#lines > 0 and lines or { "No output" }, filetype, render.headline(block))
end

--- Fold what is folded, in a window that has just begun to show a session.
---@param shown agent.Session
---@param win integer
function M.fold(shown, win)
  page.fold(chats[shown.id].page, win)
end

---@private
---@return integer buf
function M._make()
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(buf, ("agent://chat/%d"):format(buf))
  local options = { buftype = "nofile", bufhidden = "hide", swapfile = false, undolevels = -1, modifiable = false }
  for name, value in pairs(options) do
    vim.api.nvim_set_option_value(name, value, { buf = buf })
  end
  vim.bo[buf].filetype = "agent-chat"
  vim.treesitter.language.register("markdown", "agent-chat")
  pcall(vim.treesitter.start, buf, "markdown")
  M._map(buf)
  return buf
end

---@private
---@param buf integer
function M._map(buf)
  local function map(key, action, words)
    vim.keymap.set("n", key, action, { buffer = buf, desc = "Agent: " .. words, nowait = true })
  end
  map("[[", function()
    M.turn(-1)
  end, "previous turn")
  map("]]", function()
    M.turn(1)
  end, "next turn")
  map("<CR>", M.open_block, "open output, answer a question")
  for _, key in ipairs({ "i", "a", "o", "A", "I" }) do
    map(key, function()
      require("agent.window").focus_prompt(true)
    end, "write a prompt")
  end
  map("<C-c>", "<Cmd>Agent cancel<CR>", "stop the turn")
  map("q", "<Cmd>Agent close<CR>", "close the chat")
  map("g?", "<Cmd>help agent-chat<CR>", "help")
end

---@private
---@param buf integer
---@return agent.Chat?, agent.Session?
function M._of(buf)
  for _, chat in pairs(chats) do
    if chat.page.buf == buf then
      return chat, session.get(chat.session)
    end
  end
end

---@private
---@param shown agent.Session
---@param changes agent.Change[]
function M._take(shown, changes)
  local chat = chats[shown.id]
  if not chat then
    return
  end
  for _, change in ipairs(changes) do
    if not change.text then
      chat.stale[change.index], chat.grown[change.index] = true, nil
    elseif not chat.stale[change.index] then
      chat.grown[change.index] = chat.grown[change.index] or {}
      table.insert(chat.grown[change.index], change.text)
    end
  end
  if not chat.is_scheduled then
    chat.is_scheduled, chat.due_ms = true, vim.uv.now() + chat.frame_ms
    vim.defer_fn(function()
      M._pace(chat)
      M._flush(chat)
    end, chat.frame_ms)
  end
end

--- A frame that comes late means that the editor is busy, with drawing what came before: leave it twice that time.
---@private
---@param chat agent.Chat
function M._pace(chat)
  vim.uv.update_time()
  local late = vim.uv.now() - chat.due_ms
  chat.frame_ms = math.min(math.max(FRAME_MS, 2 * late), LONGEST_FRAME_MS)
end

---@private
---@param chat agent.Chat
function M._flush(chat)
  chat.is_scheduled = false
  local shown = session.get(chat.session)
  if not shown or not vim.api.nvim_buf_is_valid(chat.page.buf) then
    chats[chat.session] = nil
    return
  end
  local grown, stale = chat.grown, vim.tbl_keys(chat.stale)
  chat.grown, chat.stale = {}, {}
  table.sort(stale)
  page.change(chat.page, function()
    for index, pieces in pairs(grown) do
      page.grow(chat.page, index, shown.transcript.blocks[index], table.concat(pieces))
    end
    for _, index in ipairs(stale) do
      page.show(chat.page, index, shown.transcript.blocks[index])
    end
    page.show_queue(chat.page, shown.queued)
  end)
end

--- Its past is told again.
---@private
---@param shown agent.Session
function M._reset(shown)
  local chat = chats[shown.id]
  if not chat or not vim.api.nvim_buf_is_valid(chat.page.buf) then
    return
  end
  page.clear(chat.page)
  chat.grown, chat.stale = {}, {}
  M._take(shown, M._everything(shown))
end

---@private
---@param shown agent.Session
---@return agent.Change[]
function M._everything(shown)
  local changes = {}
  for index in ipairs(shown.transcript.blocks) do
    changes[index] = { index = index }
  end
  return changes
end

return M
