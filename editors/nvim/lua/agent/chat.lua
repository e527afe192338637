--- The buffer of a conversation. What streams in is gathered and shown once a frame; a frame touches only the blocks
--- that changed, found by extmarks, so that a long conversation costs what is new in it.
local render = require("agent.render")
local session = require("agent.session")
local transcript = require("agent.transcript")

local M = {}

local FRAME_MS, LONGEST_FRAME_MS = 16, 250
local BLOCKS = vim.api.nvim_create_namespace("agent.chat.blocks") -- where each block begins
local LOOKS = vim.api.nvim_create_namespace("agent.chat.looks")
---@type table<agent.How, string>
local WAITS = { queue = "waits for its turn", steer = "heard at the next step", redirect = "heard at once" }
local QUEUE = vim.api.nvim_create_namespace("agent.chat.queue")

---@class agent.Chat
---@field session string
---@field buf integer
---@field marks integer[] by block: the extmark at its first line
---@field indices table<integer, integer> block by extmark
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
  if chat and vim.api.nvim_buf_is_valid(chat.buf) then
    return chat.buf
  end
  chat = {
    session = shown.id,
    buf = M._make(),
    marks = {},
    indices = {},
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
  return chat.buf
end

--- The block at a line of a chat.
---@param buf integer
---@param row integer 0-based
---@return agent.Block?
function M.block_at(buf, row)
  local chat, shown = M._of(buf)
  local mark = vim.api.nvim_buf_get_extmarks(buf, BLOCKS, { row, -1 }, 0, { limit = 1 })[1]
  return chat and shown and mark and shown.transcript.blocks[chat.indices[mark[1]]]
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
    if block.kind == "user" and chat.marks[index] then
      local first = vim.api.nvim_buf_get_extmark_by_id(buf, BLOCKS, chat.marks[index], {})[1]
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

--- 'foldexpr': what stands behind the bar is folded into the line above it.
---@return string
function M.foldexpr()
  local line = vim.v.lnum
  if vim.startswith(vim.fn.getline(line), render.FOLDED) then
    return "1"
  end
  return vim.startswith(vim.fn.getline(line + 1), render.FOLDED) and ">1" or "0"
end

---@private
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
---@return agent.Chat?, agent.Session?
function M._of(buf)
  for _, chat in pairs(chats) do
    if chat.buf == buf then
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
  if not shown or not vim.api.nvim_buf_is_valid(chat.buf) then
    chats[chat.session] = nil
    return
  end
  local grown, stale = chat.grown, vim.tbl_keys(chat.stale)
  chat.grown, chat.stale = {}, {}
  table.sort(stale)
  local followers = M._followers(chat.buf)
  vim.bo[chat.buf].modifiable = true
  for index, pieces in pairs(grown) do
    M._grow(chat, index, shown.transcript.blocks[index], table.concat(pieces))
  end
  for _, index in ipairs(stale) do
    M._show(chat, index, shown.transcript.blocks[index])
  end
  vim.bo[chat.buf].modifiable = false
  M._show_queue(chat, shown)
  M._follow(chat.buf, followers)
end

--- First row of a block, and the row after its last one.
---@private
function M._range(chat, index)
  local first = vim.api.nvim_buf_get_extmark_by_id(chat.buf, BLOCKS, chat.marks[index], {})[1]
  local after = chat.marks[index + 1]
  local last = after and vim.api.nvim_buf_get_extmark_by_id(chat.buf, BLOCKS, after, {})[1]
  return first, last or vim.api.nvim_buf_line_count(chat.buf)
end

---@private
function M._grow(chat, index, block, text)
  local _, stop = M._range(chat, index)
  local row = stop - 1
  local line = vim.api.nvim_buf_get_lines(chat.buf, row, row + 1, true)[1]
  local lines = render.growth(block.kind, text)
  vim.api.nvim_buf_set_text(chat.buf, row, #line, row, #line, lines)
  if block.kind == "thought" then
    local last = row + #lines
    vim.hl.range(chat.buf, LOOKS, "AgentThought", { row, 0 }, { last, 0 })
  end
end

---@private
function M._show(chat, index, block)
  local shown = render.block(block)
  local first
  if chat.marks[index] then
    local stop
    first, stop = M._range(chat, index)
    vim.api.nvim_buf_clear_namespace(chat.buf, LOOKS, first, stop)
    M._replace(chat.buf, first, stop, shown.lines)
    vim.api.nvim_buf_set_extmark(chat.buf, BLOCKS, first, 0, { id = chat.marks[index] })
  else
    local is_empty = index == 1
    first = is_empty and 0 or vim.api.nvim_buf_line_count(chat.buf)
    vim.api.nvim_buf_set_lines(chat.buf, first, is_empty and -1 or first, true, shown.lines)
    chat.marks[index] = vim.api.nvim_buf_set_extmark(chat.buf, BLOCKS, first, 0, {})
    chat.indices[chat.marks[index]] = index
  end
  M._decorate(chat.buf, first, shown, block)
end

--- Only the lines that differ, so that folds and the cursor stay where they are.
---@private
function M._replace(buf, first, stop, lines)
  local old = vim.api.nvim_buf_get_lines(buf, first, stop, true)
  local same = 0
  while same < #old and same < #lines and old[same + 1] == lines[same + 1] do
    same = same + 1
  end
  local tail = 0
  while tail < #old - same and tail < #lines - same and old[#old - tail] == lines[#lines - tail] do
    tail = tail + 1
  end
  if same + tail < #old or same + tail < #lines then
    local changed = vim.list_slice(lines, same + 1, #lines - tail)
    vim.api.nvim_buf_set_lines(buf, first + same, stop - tail, true, changed)
  end
end

---@private
function M._decorate(buf, first, shown, block)
  for _, one in ipairs(shown.highlights) do
    local row = first + one.row
    local place = one.first and { end_col = one.last, hl_group = one.group, priority = 150 }
    vim.api.nvim_buf_set_extmark(buf, LOOKS, row, one.first or 0, place or { line_hl_group = one.group })
  end
  if shown.sign then
    local sign = { sign_text = shown.sign[1], sign_hl_group = shown.sign[2] }
    vim.api.nvim_buf_set_extmark(buf, LOOKS, first + (block.gap and 1 or 0), 0, sign)
  end
end

--- What is not heard yet, below the end.
---@private
function M._show_queue(chat, shown)
  vim.api.nvim_buf_clear_namespace(chat.buf, QUEUE, 0, -1)
  if #shown.queued == 0 then
    return
  end
  local lines = vim.tbl_map(function(item)
    return { { ("%s: %s"):format(WAITS[item.how], (item.text:gsub("\n", " "))), "AgentMeta" } }
  end, shown.queued)
  local last = vim.api.nvim_buf_line_count(chat.buf) - 1
  vim.api.nvim_buf_set_extmark(chat.buf, QUEUE, last, 0, { virt_lines = lines })
end

--- Windows that look at the end of the conversation stay there; all others stay where they are.
---@private
function M._followers(buf)
  local last = vim.api.nvim_buf_line_count(buf)
  return vim.tbl_filter(function(win)
    return vim.api.nvim_win_get_cursor(win)[1] == last
  end, vim.fn.win_findbuf(buf))
end

---@private
function M._follow(buf, windows)
  local last = vim.api.nvim_buf_line_count(buf)
  for _, win in ipairs(windows) do
    if vim.api.nvim_win_is_valid(win) then
      vim.api.nvim_win_set_cursor(win, { last, 0 })
    end
  end
end

--- Its past is told again.
---@private
---@param shown agent.Session
function M._reset(shown)
  local chat = chats[shown.id]
  if not chat or not vim.api.nvim_buf_is_valid(chat.buf) then
    return
  end
  vim.bo[chat.buf].modifiable = true
  vim.api.nvim_buf_set_lines(chat.buf, 0, -1, true, {})
  vim.bo[chat.buf].modifiable = false
  vim.api.nvim_buf_clear_namespace(chat.buf, -1, 0, -1)
  chat.marks, chat.indices, chat.grown, chat.stale = {}, {}, {}, {}
  M._take(shown, M._everything(shown))
end

---@private
function M._everything(shown)
  local changes = {}
  for index in ipairs(shown.transcript.blocks) do
    changes[index] = { index = index }
  end
  return changes
end

return M
