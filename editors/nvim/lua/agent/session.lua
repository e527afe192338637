--- What is asked of the server in a conversation, and what it says there. The chat shows it; nothing here draws.
local client = require("agent.client")
local ending = require("agent.ending")
local log = require("agent.log")
local queue = require("agent.queue")
local server = require("agent.server")
local sessions = require("agent.sessions")

local M = {}

M.on_change, M.on_reset = sessions.on_change, sessions.on_reset
M.current, M.get, M.all = sessions.current, sessions.get, sessions.all

--- Called once, before anything else.
function M.listen()
  table.insert(client.on_lost, M._lost)
  table.insert(client.on_back, M._back)
end

---@type fun(session: agent.Session)[]? what waits for the session that is being made; nil: none is
local waiting

--- Call back with the current session; makes one when there is none, and one only for all who want it meanwhile.
---@param ready fun(session: agent.Session)
function M.ensure(ready)
  local session = M.current()
  if waiting then
    return table.insert(waiting, ready)
  elseif session then
    return ready(session)
  end
  M.new(ready)
end

--- Begin a conversation, which is the current one from now on.
---@param ready? fun(session: agent.Session)
function M.new(ready)
  waiting = waiting or {}
  local root = server.root(require("agent.window").source_buffer())
  client.request("agent/session/new", { uri = vim.uri_from_fname(root), mcpServers = {} }, function(err, result)
    local others = waiting or {}
    waiting = nil
    if err then
      return M._complain("no new session", err)
    end
    local session = sessions.add(result.sessionId, root)
    M._take_options(session, result)
    sessions.choose(session)
    if ready then
      ready(session)
    end
    for _, other in ipairs(others) do
      other(session)
    end
  end)
end

--- Show a stored conversation, and go on with it.
---@param id string
---@param root string
---@param ready? fun(session: agent.Session)
function M.load(id, root, ready)
  local session = sessions.add(id, root)
  session.is_loading = true
  sessions.choose(session)
  local params = { sessionId = id, uri = vim.uri_from_fname(root), mcpServers = {} }
  client.request("agent/session/load", params, function(err, result)
    session.is_loading = false
    if err then
      return M._fail(session, ("could not be loaded: %s"):format(err.message))
    end
    M._take_options(session, result)
    sessions.changed(session, session.transcript:settle(vim.uv.now()))
    local holder = vim.tbl_get(result, "_meta", "agent-server", "readOnly")
    if holder then
      sessions.changed(
        session,
        session.transcript:note("warning", ("This session can only be read: %s"):format(holder))
      )
    end
    if ready then
      ready(session)
    end
  end)
end

--- Stored conversations of a project, the latest first.
---@param root string
---@param done fun(found: agent.protocol.SessionListed[])
function M.list(root, done)
  client.request("agent/session/list", { cwd = root }, function(err, result)
    if err then
      return M._complain("the sessions cannot be listed", err)
    end
    done(result.sessions)
  end)
end

--- Ask. While a turn runs the prompt waits for its own, unless a setting of the server's says otherwise.
---@param session agent.Session
---@param text string as the person wrote it
---@param content table[] ACP's content blocks
function M.prompt(session, text, content)
  local item = { text = text, how = "queue" }
  if session.busy then
    queue.add(session, item)
  else
    session.busy, session.label, session.started_ms, session.turn = true, "Sending", vim.uv.now(), nil
    sessions.changed(session, session.transcript:ask(text))
  end
  session.unanswered = session.unanswered + 1
  client.request("agent/session/prompt", { sessionId = session.id, prompt = content }, function(err, result)
    if sessions.get(session.id) == session then
      M._settled(session, item, err, result)
    end
  end)
end

--- Say something to the running turn; when none runs (any more) it is a prompt like others.
---@param session agent.Session
---@param how agent.How
---@param text string as the person wrote it
---@param content table[] ACP's content blocks
function M.steer(session, how, text, content)
  if not session.busy or not session.turn then
    return M.prompt(session, text, content)
  end
  local item = { text = text, how = how }
  queue.add(session, item)
  local params = { sessionId = session.id, mode = how, prompt = content, expectedTurnId = session.turn }
  client.request("agent/session/steer", params, function(err)
    if not err or not queue.remove(session, item) then
      return
    end
    if (err.data or {}).reason == "turn_mismatch" then
      return M.prompt(session, text, content)
    end
    require("agent.prompt").give_back({ text })
    M._complain("the turn was not told", err)
  end)
end

--- End the running turn after the tool calls that run now.
---@param session agent.Session
function M.stop(session)
  if not session.busy or not session.turn then
    return log.say("INFO", "no turn runs")
  end
  local params = { sessionId = session.id, mode = "stop", prompt = {}, expectedTurnId = session.turn }
  client.request("agent/session/steer", params, function(err)
    if err then
      return M._complain("the turn goes on", err)
    end
    log.say("INFO", "the turn ends after what runs now")
  end)
end

--- Stop the running turn.
---@param session agent.Session
function M.cancel(session)
  client.notify("agent/session/cancel", { sessionId = session.id })
end

---@param session agent.Session
---@param mode string
function M.set_mode(session, mode)
  client.request("agent/session/set_mode", { sessionId = session.id, modeId = mode }, function(err)
    if err then
      M._complain(("the mode stays %s"):format(session.transcript.mode), err)
    end
  end)
end

---@param session agent.Session
---@param option string
---@param value string
function M.set_option(session, option, value)
  local params = { sessionId = session.id, configId = option, value = value }
  client.request("agent/session/set_config_option", params, function(err)
    if err then
      M._complain(("%s was not changed"):format(option), err)
    end
  end)
end

--- One of ACP's config options as it is now.
---@param session agent.Session
---@param id string
---@return { currentValue: string, options: { value: string, name: string, description?: string }[] }?
function M.option(session, id)
  return vim.iter(session.transcript.options):find(function(option)
    return option.id == id
  end)
end

---@param params agent.protocol.SessionUpdate
function M.on_update(params)
  local session = sessions.get(params.sessionId) or sessions.add(params.sessionId, server.root())
  local is_taken = queue.take(session, params.update)
  M._follow(session, params.turnId, params.update)
  if is_taken then
    return
  end
  local changes = session.transcript:update(params.update, vim.uv.now())
  local call = params.update.toolCallId
  if call and (params.update.status == "completed" or params.update.status == "failed") then
    require("agent.questions").dismiss(session.id, call)
  end
  sessions.changed(session, changes)
end

---@param params agent.protocol.Status
function M.on_status(params)
  local session = sessions.get(params.sessionId) or sessions.add(params.sessionId, server.root())
  if params.busy then
    M._follow(session, params.turnId)
  end
  -- What is told of an idle session may cross a prompt on its way.
  session.busy = params.busy or session.unanswered > 0
  session.state, session.label = params.state, params.label
  if not params.busy then
    require("agent.questions").dismiss(session.id)
  end
  sessions.changed(session, params.busy and {} or session.transcript:settle(vim.uv.now()))
end

--- A question about a call was put, or is answered.
---@param id string
---@param call string
---@param words? string[] what the person is asked; nil: nothing any more
function M.on_question(id, call, words)
  local session = sessions.get(id)
  if session then
    sessions.changed(session, session.transcript:wait(call, words))
  end
end

--- Say it in the conversation.
---@param id string
---@param severity "info"|"warning"|"error"
---@param words string
function M.note(id, severity, words)
  local session = sessions.get(id)
  if session then
    sessions.changed(session, session.transcript:note(severity, words))
  end
end

---@private
---@param session agent.Session
---@param result table of ACP's `session/new` or `session/load`
function M._take_options(session, result)
  session.transcript.options = result.configOptions or {}
  session.transcript.mode = vim.tbl_get(result, "modes", "currentModeId") or session.transcript.mode
  sessions.changed(session, {})
end

--- A prompt that waited is shown when its turn begins.
---@private
---@param session agent.Session
---@param turn? string
---@param update? table
function M._follow(session, turn, update)
  if not turn or turn == session.turn then
    return
  end
  local follows = session.turn ~= nil
  session.turn = turn
  if follows and not (update and update.sessionUpdate == "user_message_chunk") then
    queue.turn(session)
  end
end

--- The answer to a prompt. A normal end needs few words.
---@private
---@param session agent.Session
---@param item agent.Said
---@param err? { message: string }
---@param result? agent.protocol.PromptResult
function M._settled(session, item, err, result)
  session.unanswered = session.unanswered - 1
  queue.hear(session, item)
  session.busy = session.unanswered > 0
  if not result then
    return M._fail(session, err and err.message or "no answer")
  end
  local own = vim.tbl_get(result, "_meta", "agent-server") or {}
  local words = ending.words(own, (vim.uv.now() - session.started_ms) / 1000)
  sessions.changed(session, session.transcript:finish(words))
  queue.give_back(session, own.unread or {})
end

---@private
---@param session agent.Session
---@param words string
function M._fail(session, words)
  session.busy, session.state, session.label = session.unanswered > 0, "done", "Failed"
  local changes = session.transcript:settle(vim.uv.now())
  sessions.changed(session, vim.list_extend(changes, session.transcript:note("error", words)))
end

---@private
---@param what string
---@param err { message: string }
function M._complain(what, err)
  log.say("ERROR", ("%s: %s"):format(what, err.message))
end

---@private
---@param ending string
function M._lost(ending)
  for _, session in ipairs(sessions.all()) do
    require("agent.questions").dismiss(session.id)
    if session.busy then
      session.unanswered = 0
      queue.give_back(session)
      M._fail(session, ("The server %s before the turn was over."):format(ending))
    end
  end
end

--- Go on where we were, on the new server.
---@private
function M._back()
  local shown = M.current()
  sessions.clear()
  if shown and #shown.transcript.blocks > 0 then
    M.load(shown.id, shown.root)
  end
end

return M
