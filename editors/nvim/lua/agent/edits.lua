--- What the server tells of edits, and who keeps which: `review` those that wait for the person, `staged` those that will,
--- `applied` those that a mode said yes to. Each tells here when something about a file is different.
local client = require("agent.client")
local log = require("agent.log")
local proposal = require("agent.proposal")

local M = {}

---@class agent.Place a hunk, or a file that is taken as a whole
---@field proposal agent.Proposal
---@field file agent.ProposedFile
---@field hunk? agent.Hunk

---@class agent.Keeper
---@field files fun(): fun(): agent.Proposal?, agent.ProposedFile?
---@field take fun(one: agent.Proposal)
---@field on_state fun(params: agent.protocol.EditStateChanged)
---@field forget fun() the server is gone

--- By the review of what each keeps.
local KEEPERS = { ask = "agent.review", staged = "agent.staged", applied = "agent.applied" }

---@type table<string, boolean> by txn: edits that this server has told of
local known = {}

---@type fun(uri: string)[] something about that file's hunks is different
M.on_change = {}

--- Called once, before anything else.
function M.listen()
  table.insert(client.on_lost, function()
    for _, keeper in ipairs(M._keepers()) do
      keeper.forget()
    end
    known = {}
  end)
  require("agent.inline").listen()
end

--- Every edit that is kept, with its files, whichever its review.
---@return fun(): agent.Proposal?, agent.ProposedFile?
function M.files()
  return coroutine.wrap(function()
    for _, keeper in ipairs(M._keepers()) do
      for one, file in keeper.files() do
        coroutine.yield(one, file)
      end
    end
  end)
end

---@param params agent.protocol.EditProposed
---@param decided? agent.protocol.FileNow[] what an earlier server was told of it
function M.on_proposed(params, decided)
  local one = proposal.read(params)
  proposal.take_decided(one, decided or {})
  known[one.txn] = true
  M._fetch(one, function()
    if one.review == "ask" then
      require("agent.staged").hand_over(one)
    end
    require(KEEPERS[one.review]).take(one)
  end)
end

---@param params agent.protocol.EditStateChanged
function M.on_state(params)
  for _, keeper in ipairs(M._keepers()) do
    keeper.on_state(params)
  end
  if params.state == "abandoned" and not known[params.txn] then
    M._take_up(params)
  end
  local failed = params.state == "conflict" or params.state == "failed"
  for _, file in ipairs(params.files) do
    if failed and file.message then
      local name = vim.fs.basename(vim.uri_to_fname(file.uri))
      log.say("WARN", ("the edit of %s was not applied: %s"):format(name, file.message))
    elseif params.state == "applied" then
      M._reread(file.uri)
    end
  end
end

--- Answer `agent/editor/openDiff`.
---@param params agent.protocol.OpenDiff
---@return agent.protocol.DiffOpened
function M.on_open_diff(params)
  for one, file in M.files() do
    if one.txn == params.txn and params.files[1] and file.uri == params.files[1].uri then
      vim.schedule(function()
        require("agent.sidebyside").open({ proposal = one, file = file })
      end)
      return { shown = true }
    end
  end
  return { shown = false }
end

--- Tell that something about a file is different.
---@param uri string
function M.changed(uri)
  for _, listener in ipairs(M.on_change) do
    listener(uri)
  end
  vim.api.nvim_exec_autocmds("User", { pattern = "AgentStatus", modeline = false })
  vim.cmd.redrawstatus({ bang = true })
end

--- An edit was open when an earlier server stopped: it can still be decided, and what was decided of it counts.
---@private
---@param params agent.protocol.EditStateChanged
function M._take_up(params)
  client.request("agent/edit/get", { txn = params.txn }, function(err, found)
    if err or #found.files == 0 then
      return
    end
    local name = vim.fs.basename(vim.uri_to_fname(found.files[1].uri))
    local words = ("An edit of %s was open when the server stopped. It can still be judged."):format(name)
    require("agent.session").note(found.sessionId, "warning", words)
    M.on_proposed(found, params.files)
  end)
end

--- Loaded here, because they need this module.
---@private
---@return agent.Keeper[]
function M._keepers()
  return { require(KEEPERS.ask), require(KEEPERS.staged), require(KEEPERS.applied) }
end

--- Texts above 1 MiB are not sent along.
---@private
---@param one agent.Proposal
---@param done fun()
function M._fetch(one, done)
  local left = 1
  local function arrived()
    left = left - 1
    if left == 0 then
      done()
    end
  end
  for _, file in ipairs(one.files) do
    for side, missing in pairs({
      base = file.kind ~= "create" and not file.base,
      new = file.kind ~= "delete" and not file.new,
    }) do
      if missing then
        left = left + 1
        client.request("agent/edit/content", { txn = one.txn, uri = file.uri, side = side }, function(_, result)
          file[side] = result and result.text
          arrived()
        end)
      end
    end
  end
  arrived()
end

--- A file on disk was changed: buffers that show it and have nothing unsaved read it again.
---@private
---@param uri string
function M._reread(uri)
  local buf = require("agent.apply").buffer(uri)
  if buf and not vim.bo[buf].modified then
    vim.cmd.checktime({ buf })
  end
end

return M
