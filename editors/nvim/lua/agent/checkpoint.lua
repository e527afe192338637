--- Taking a session back to before a turn: its files, its conversation, or both. What would change is shown first; taking
--- back can be taken back.
local client = require("agent.client")
local diff = require("agent.diff")
local log = require("agent.log")
local session = require("agent.session")

local M = {}

---@class agent.Back what is taken back
---@field files boolean
---@field chat boolean

---@type { [1]: string, [2]: agent.Back }[]
local WAYS = {
  { "files and conversation", { files = true, chat = true } },
  { "files", { files = true, chat = false } },
  { "conversation", { files = false, chat = true } },
}

---@class agent.Undone
---@field session string
---@field id string of the checkpoint that undoes it
---@field back agent.Back

---@type agent.Undone?
local last

--- Choose a checkpoint of the session and what goes back there, see what would change, and do it.
function M.choose()
  local current = session.current()
  if not current or not client.serves("agent/checkpoint/list") then
    return log.say("INFO", "there is nothing to take back")
  end
  client.request("agent/checkpoint/list", { sessionId = current.id }, function(err, result)
    if err or #result.checkpoints == 0 then
      return log.say("INFO", err and err.message or "there is nothing to take back")
    end
    local latest_first = vim.iter(result.checkpoints):rev():totable()
    vim.ui.select(latest_first, { prompt = "Take back to before:", format_item = M._summary }, function(choice)
      if choice then
        M._choose_way(current, choice)
      end
    end)
  end)
end

--- Undo the last taking back.
function M.redo()
  local current = session.current()
  if not last or not current or last.session ~= current.id then
    return log.say("INFO", "nothing was taken back here")
  end
  M._preview(current, last.id, last.back)
end

---@private
---@param current agent.Session
---@param checkpoint agent.protocol.CheckpointShown
function M._choose_way(current, checkpoint)
  local ways = vim.tbl_filter(function(way)
    return checkpoint.chat or not way[2].chat
  end, WAYS)
  if #ways == 1 then
    return M._preview(current, checkpoint.id, ways[1][2])
  end
  local shown = {
    prompt = "Take back:",
    format_item = function(way)
      return way[1]
    end,
  }
  vim.ui.select(ways, shown, function(way)
    if way then
      M._preview(current, checkpoint.id, way[2])
    end
  end)
end

--- Show what would change, and ask.
---@private
---@param current agent.Session
---@param id string
---@param back agent.Back
function M._preview(current, id, back)
  M._restore(current, id, back, true, function(result)
    local lines = M._told(result)
    if #lines == 0 then
      return log.say("INFO", "all is as it was then")
    end
    local choices = { "Take back", "Leave" }
    local has_diff = #(result.diffs or {}) > 0
    if has_diff then
      table.insert(choices, "Show the difference")
    end
    local prompt = ("This changes:\n  %s\nTake back?"):format(table.concat(lines, "\n  "))
    vim.ui.select(choices, { prompt = prompt }, function(choice)
      if choice == choices[1] then
        M._do(current, id, back, M._what(result))
      elseif has_diff and choice == choices[3] then
        M._show(result.diffs)
      end
    end)
  end)
end

---@private
---@param current agent.Session
---@param id string
---@param back agent.Back
---@param what string
function M._do(current, id, back, what)
  M._restore(current, id, back, false, function(result)
    last = result.undo and { session = current.id, id = result.undo, back = back } or nil
    for _, left in ipairs(result.left or {}) do
      log.say("WARN", ("not taken back: %s"):format(left.why))
    end
    if result.chat then
      session.load(current.id, current.root)
    end
    vim.cmd.checktime()
    log.say("INFO", ("taken back: %s%s"):format(what, last and "; :Agent redo undoes that" or ""))
  end)
end

---@private
---@param current agent.Session
---@param id string
---@param back agent.Back
---@param dry_run boolean
---@param done fun(result: agent.protocol.CheckpointRestored)
function M._restore(current, id, back, dry_run, done)
  local params = { sessionId = current.id, id = id, files = back.files, chat = back.chat, dryRun = dry_run }
  client.request("agent/checkpoint/restore", params, function(err, result)
    if err then
      return log.say("ERROR", ("nothing was taken back: %s"):format(err.message))
    end
    done(result)
  end)
end

--- What restoring would do, a line each.
---@private
---@param result agent.protocol.CheckpointRestored
---@return string[]
function M._told(result)
  local lines = vim.tbl_map(M._file, result.would or {})
  for _, prompt in ipairs(result.prompts or {}) do
    table.insert(lines, ("%s: %s"):format(prompt.change, M._line(prompt.text)))
  end
  for _, left in ipairs(result.left or {}) do
    table.insert(lines, ("stays: %s"):format(left.why))
  end
  if #lines > 0 and result.note then
    table.insert(lines, result.note)
  end
  return lines
end

---@private
---@param result agent.protocol.CheckpointRestored
---@return string
function M._what(result)
  local words = vim.tbl_map(M._file, result.would or {})
  if result.chat then
    table.insert(words, "the conversation")
  end
  return table.concat(words, ", ")
end

--- The difference of every file in one float.
---@private
---@param diffs agent.protocol.ProposedFile[]
function M._show(diffs)
  local lines = {}
  for _, file in ipairs(diffs) do
    table.insert(lines, "--- " .. M._name(file.uri))
    vim.list_extend(lines, diff.unified(file.baseText or "", file.newText or ""))
  end
  require("agent.window").float(lines, "diff", "What taking back would change; :Agent undo does it")
end

---@private
---@param checkpoint agent.protocol.CheckpointShown
---@return string
function M._summary(checkpoint)
  local names = table.concat(vim.tbl_map(M._file, checkpoint.files), ", ")
  local what = names ~= "" and ("  (%s)"):format(names) or ""
  return ("%s  %s%s"):format(checkpoint.at:sub(12, 16), M._line(checkpoint.title), what)
end

---@private
---@param touched agent.protocol.TouchedFile
---@return string
function M._file(touched)
  return ("%s %s"):format(touched.change, M._name(touched.uri))
end

---@private
---@param uri string
---@return string
function M._name(uri)
  return vim.fn.fnamemodify(vim.uri_to_fname(uri), ":.")
end

---@private
---@param text string
---@return string
function M._line(text)
  return (vim.fn.strcharpart(text, 0, 60):gsub("%s*\n%s*", " "))
end

return M
