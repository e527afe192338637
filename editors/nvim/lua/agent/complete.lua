--- Completion: names after `@` and commands after `/` in the prompt, words of `:Agent`.
local context = require("agent.context")
local session = require("agent.session")

local M = {}

local MOST_FILES = 20000
local OFFERED = 200
---@type { root: string, files: string[] }
local known = { root = "", files = {} }

--- Offer names while the word before the cursor begins with `@`, or the prompt with `/`.
function M.offer()
  local start, base = M._word()
  if not start or not base then
    return
  end
  M._refresh(M._root())
  local items = M.items(base)
  if #items > 0 and not (#items == 1 and items[1].word == base) then
    vim.fn.complete(start + 1, items)
  end
end

--- 'omnifunc' of the prompt.
---@param find_start integer
---@param base string
---@return integer|{ word: string, menu: string }[]
function M.omnifunc(find_start, base)
  if find_start == 1 then
    return M._word() or -3
  end
  M._refresh(M._root())
  return M.items(base)
end

--- What a word may become.
---@param base string with its first letter, `@` or `/`
---@return { word: string, menu: string }[]
function M.items(base)
  local wanted = base:sub(2):lower()
  local items = {}
  local function add(word, menu)
    if #items < OFFERED and word:lower():find(wanted, 1, true) then
      table.insert(items, { word = base:sub(1, 1) .. word, menu = menu, dup = 0 })
    end
  end
  if base:sub(1, 1) == "/" then
    for _, command in ipairs(M._commands()) do
      add(command.name, command.description)
    end
    return items
  end
  for _, word in ipairs(context.WORDS) do
    add(word, "")
  end
  for _, path in ipairs(known.files) do
    add(path:find("[^%w_./~\128-\255-]") and ('"%s"'):format(path) or path, "")
  end
  return items
end

--- Of the command line, after `:Agent`.
---@param lead string
---@param line string
---@return string[]
function M.command_line(lead, line)
  local words = vim.split(line:gsub("^.*Agent!?%s*", ""), "%s+")
  local choices
  if #words <= 1 then
    choices = require("agent.command").names()
  else
    choices = require("agent.command").values(words[1])
  end
  return vim.tbl_filter(function(choice)
    return vim.startswith(choice, lead)
  end, choices)
end

--- Where the word before the cursor begins, in bytes from 0, and the word.
---@private
---@return integer? start, string? word
function M._word()
  local column = vim.api.nvim_win_get_cursor(0)[2]
  local before = vim.api.nvim_get_current_line():sub(1, column)
  local word = before:match("@[%w_./~\128-\255-]*$")
  if not word and vim.api.nvim_win_get_cursor(0)[1] == 1 then
    word = before:match("^/[%w_-]*$")
  end
  local start = word and column - #word
  if not start or before:sub(start, start):match("[%w@]") then
    return nil
  end
  return start, word
end

--- Ours and the server's; of two with one name, ours.
---@private
---@return { name: string, description: string }[]
function M._commands()
  local current = session.current()
  local ours = require("agent.command").slash_commands()
  local commands, names = {}, {}
  for _, command in ipairs(vim.list_extend(ours, current and current.transcript.commands or {})) do
    if not names[command.name] then
      names[command.name] = true
      local hint = vim.tbl_get(command, "input", "hint")
      local about = hint and ("%s: %s"):format(hint, command.description) or command.description
      table.insert(commands, { name = command.name, description = about })
    end
  end
  return commands
end

---@private
---@return string
function M._root()
  local current = session.current()
  return current and current.root or vim.fn.getcwd()
end

--- Learn the project's files in the background; what is known already is offered meanwhile.
---@private
---@param root string
function M._refresh(root)
  if known.root == root then
    return
  end
  known = { root = root, files = M._open_files(root) }
  local wanted = known
  local git = { "git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard" }
  local ok = pcall(vim.system, git, { text = true }, function(done)
    local files = done.code == 0 and vim.split(done.stdout, "\n", { trimempty = true }) or M._walk(root)
    wanted.files = vim.list_slice(files, 1, MOST_FILES)
  end)
  if not ok then
    wanted.files = M._walk(root)
  end
end

---@private
---@param root string
---@return string[]
function M._open_files(root)
  local files = {}
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local path = vim.fs.relpath(root, vim.api.nvim_buf_get_name(buf))
    if path and vim.bo[buf].buflisted then
      files[#files + 1] = path
    end
  end
  return files
end

--- Without git: three levels, nothing hidden.
---@private
---@param root string
---@return string[]
function M._walk(root)
  local files = {}
  local function skip(name)
    return not name:match("^%.") and not name:match("/%.")
  end
  for name, kind in vim.fs.dir(root, { depth = 3, skip = skip }) do
    if kind == "file" and skip(name) then
      files[#files + 1] = name
    end
  end
  return files
end

return M
