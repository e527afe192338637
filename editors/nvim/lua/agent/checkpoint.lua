--- Taking files back to where they were before a turn. What would change is shown first; taking back can be taken back.
local client = require("agent.client")
local log = require("agent.log")
local session = require("agent.session")

local M = {}

--- Choose a checkpoint of the session, see what would change, and restore it.
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
    vim.ui.select(latest_first, { prompt = "Take files back to before:", format_item = M._summary }, function(choice)
      if choice then
        M._preview(current.id, choice)
      end
    end)
  end)
end

---@private
---@param checkpoint agent.protocol.CheckpointShown
function M._preview(id, checkpoint)
  M._restore(id, checkpoint, true, function(result)
    if #result.would == 0 then
      return log.say("INFO", "the files are as they were then")
    end
    local names = vim.tbl_map(M._file, result.would)
    local prompt = ("This changes:\n  %s\nTake back?"):format(table.concat(names, "\n  "))
    vim.ui.select({ "Take back", "Leave" }, { prompt = prompt }, function(_, index)
      if index == 1 then
        M._restore(id, checkpoint, false, function()
          log.say("INFO", ("taken back: %s"):format(table.concat(names, ", ")))
          vim.cmd.checktime()
        end)
      end
    end)
  end)
end

---@private
function M._restore(id, checkpoint, dry_run, done)
  local params = { sessionId = id, id = checkpoint.id, files = true, chat = false, dryRun = dry_run }
  client.request("agent/checkpoint/restore", params, function(err, result)
    if err then
      return log.say("ERROR", ("nothing was taken back: %s"):format(err.message))
    end
    done(result)
  end)
end

---@private
---@param checkpoint agent.protocol.CheckpointShown
function M._summary(checkpoint)
  local names = table.concat(vim.tbl_map(M._file, checkpoint.files), ", ")
  return ("%s  %s  (%s)"):format(checkpoint.at:sub(12, 16), checkpoint.title, names)
end

---@private
function M._file(touched)
  return ("%s %s"):format(touched.change, vim.fn.fnamemodify(vim.uri_to_fname(touched.uri), ":."))
end

return M
