--- The buffer that prompts are written in, and how they are sent.
local config = require("agent.config")
local context = require("agent.context")
local session = require("agent.session")
local window = require("agent.window")

local M = {}

local NAME = "agent://prompt"
local HINT = vim.api.nvim_create_namespace("agent.prompt")
local IDLE_HINT = "Ask. <CR> sends · @ names a file · / a command · g? help"
local BUSY_HINT = "<CR> waits · gs at the next step · gS at once · <C-c> stops"
---@type table<agent.How, string>
local HOW = {
  queue = "wait for a turn of its own",
  steer = "say it at the next step",
  redirect = "say it at once, and drop what streams",
}
local state = { buf = -1, history = {}, at = 0 }

--- The buffer; made when there is none.
---@return integer
function M.buffer()
  if vim.api.nvim_buf_is_valid(state.buf) then
    return state.buf
  end
  state.buf = vim.api.nvim_create_buf(false, true)
  local buf = state.buf
  vim.api.nvim_buf_set_name(buf, NAME)
  vim.bo[buf].buftype, vim.bo[buf].bufhidden, vim.bo[buf].swapfile = "nofile", "hide", false
  vim.bo[buf].filetype = "agent-prompt"
  vim.bo[buf].completeopt = "menuone,noinsert,noselect"
  vim.bo[buf].omnifunc = "v:lua.require'agent.complete'.omnifunc"
  M._map(buf)
  M._watch(buf)
  M._hint(buf)
  return buf
end

--- Send what is written.
---@param how? agent.How while a turn runs; nil: as `chat.while_busy` says
function M.submit(how)
  local text = M.text()
  if text == "" then
    return
  end
  M.set("")
  table.insert(state.history, text)
  state.at = #state.history + 1
  vim.cmd.stopinsert()
  if not require("agent.command").slash(text) then
    M.send(text, nil, how)
  end
end

--- Ask in the current session; shows it, and leaves the focus where it is.
---@param text string
---@param about? agent.About
---@param how? agent.How while a turn runs; nil: as `chat.while_busy` says
function M.send(text, about, how)
  about = about or M.about()
  session.ensure(function(current)
    window.open(current)
    require("agent.chat").follow(current)
    local content = context.content(text, about, current.root)
    M._choose(current, how, function(chosen)
      if not chosen then
        return M.give_back({ text })
      elseif chosen == "queue" then
        return session.prompt(current, text, content)
      end
      session.steer(current, chosen, text, content)
    end)
  end)
end

--- What was written and is heard by nobody: it can be sent again.
---@param texts string[]
function M.give_back(texts)
  local text = table.concat(texts, "\n\n")
  table.insert(state.history, text)
  state.at = #state.history + 1
  local buf = M.buffer()
  if vim.api.nvim_buf_line_count(buf) == 1 and vim.api.nvim_buf_get_lines(buf, 0, 1, true)[1] == "" then
    M.set(text)
  end
end

--- The file the person was in last, and the lines they had selected there.
---@return agent.About
function M.about()
  local buf = window.source_buffer()
  local first = vim.api.nvim_buf_get_mark(buf, "<")[1]
  local last = vim.api.nvim_buf_get_mark(buf, ">")[1]
  local rows = vim.api.nvim_buf_line_count(buf)
  return { buf = buf, range = first > 0 and last >= first and last <= rows and { first, last } or nil }
end

--- What is written.
---@return string
function M.text()
  return vim.trim(table.concat(vim.api.nvim_buf_get_lines(M.buffer(), 0, -1, true), "\n"))
end

--- Replace what is written.
---@param text string
function M.set(text)
  vim.api.nvim_buf_set_lines(M.buffer(), 0, -1, true, vim.split(text, "\n", { plain = true }))
end

--- An earlier prompt, or a later one.
---@param step 1|-1
function M.recall(step)
  local wanted = state.at + step
  if wanted >= 1 and wanted <= #state.history + 1 then
    state.at = wanted
    M.set(state.history[wanted] or "")
  end
end

--- How words reach a turn that runs; nil when the person leaves the list.
---@private
---@param current agent.Session
---@param how? agent.How
---@param done fun(how?: agent.How)
function M._choose(current, how, done)
  local wanted = how or config.get().chat.while_busy
  if not current.busy then
    return done("queue")
  elseif wanted ~= "ask" then
    return done(wanted --[[@as agent.How]])
  end
  local shown = {
    prompt = "A turn runs:",
    format_item = function(choice)
      return HOW[choice]
    end,
  }
  vim.ui.select({ "queue", "steer", "redirect" }, shown, done)
end

---@private
---@param buf integer
function M._map(buf)
  local function map(mode, key, action, words)
    vim.keymap.set(mode, key, action, { buffer = buf, desc = "Agent: " .. words })
  end
  local function send(how)
    return function()
      M.submit(how)
    end
  end
  map("n", "<CR>", send(nil), "send")
  map("i", "<C-s>", send(nil), "send")
  map("n", "gs", send("steer"), "say it to the running turn")
  map("n", "gS", send("redirect"), "say it to the running turn at once")
  map("n", "<C-c>", "<Cmd>Agent cancel<CR>", "stop the turn")
  map("n", "q", "<Cmd>Agent close<CR>", "close the chat")
  map("n", "g?", "<Cmd>help agent-prompt<CR>", "help")
  map("n", "<C-p>", function()
    M.recall(-1)
  end, "earlier prompt")
  map("n", "<C-n>", function()
    M.recall(1)
  end, "later prompt")
end

---@private
---@param buf integer
function M._watch(buf)
  vim.api.nvim_create_autocmd({ "TextChanged", "TextChangedI", "TextChangedP" }, {
    buffer = buf,
    callback = function(event)
      M._hint(buf)
      window.fit_prompt()
      if event.event == "TextChangedI" then
        require("agent.complete").offer()
      end
    end,
  })
  vim.api.nvim_create_autocmd("User", {
    pattern = "AgentStatus",
    group = vim.api.nvim_create_augroup("agent.prompt", {}),
    callback = function()
      if vim.api.nvim_buf_is_valid(buf) then
        M._hint(buf)
      end
    end,
  })
end

--- What can be done with an empty prompt.
---@private
---@param buf integer
function M._hint(buf)
  vim.api.nvim_buf_clear_namespace(buf, HINT, 0, -1)
  local lines = vim.api.nvim_buf_get_lines(buf, 0, 2, false)
  if #lines == 1 and lines[1] == "" then
    local current = session.current()
    local words = current and current.busy and BUSY_HINT or IDLE_HINT
    vim.api.nvim_buf_set_extmark(buf, HINT, 0, 0, { virt_text = { { words, "AgentHint" } }, virt_text_pos = "overlay" })
  end
  vim.api.nvim_buf_set_extmark(buf, HINT, 0, 0, { sign_text = "›", sign_hl_group = "AgentUserSign" })
end

return M
