--- What the person said that is not heard yet: it waits for a turn of its own, or for the running one to hear it. The
--- server tells when words enter a running turn; a turn of their own begins without a word about it.
local sessions = require("agent.sessions")

local M = {}

---@alias agent.How "queue"|"steer"|"redirect" in a turn of its own, at the next step of the running one, at once

---@class agent.Said
---@field text string
---@field how agent.How

---@param session agent.Session
---@param item agent.Said
function M.add(session, item)
  table.insert(session.queued, item)
  sessions.changed(session, {})
end

--- It waits no longer.
---@param session agent.Session
---@param item agent.Said
---@return boolean waited
function M.remove(session, item)
  for index, one in ipairs(session.queued) do
    if one == item then
      table.remove(session.queued, index)
      sessions.changed(session, {})
      return true
    end
  end
  return false
end

--- It is heard now: show it where the conversation stands.
---@param session agent.Session
---@param item agent.Said
function M.hear(session, item)
  if M.remove(session, item) then
    sessions.changed(session, session.transcript:ask(item.text))
  end
end

--- Take an update that tells what the person said, if that is what waits here. Files that it took along are told
--- after it, and were named in its words.
---@param session agent.Session
---@param update table ACP's SessionUpdate
---@return boolean taken
function M.take(session, update)
  if update.sessionUpdate ~= "user_message_chunk" then
    return false
  end
  if update.messageId and update.messageId == session.heard then
    return true
  end
  local item = M._find(session, function(one)
    return one.text == update.content.text
  end)
  if not item then
    return M._is_quoted(session)
  end
  session.heard = update.messageId
  M.hear(session, item)
  return true
end

--- Another turn begins. Words for the turn before which that did not hear go first, and are told.
---@param session agent.Session
function M.turn(session)
  local item = session.queued[1]
  local unheard = M._find(session, function(one)
    return one.how ~= "queue"
  end)
  if item and not unheard then
    session.started_ms = vim.uv.now()
    M.hear(session, item)
  end
end

--- What nobody will hear any more is the person's again.
---@param session agent.Session
---@param unread? table[][] content blocks; nil: everything
function M.give_back(session, unread)
  local texts = {}
  for _, item in ipairs(vim.list_slice(session.queued)) do
    if not unread or M._is_among(item, unread) then
      M.remove(session, item)
      table.insert(texts, item.text)
    end
  end
  if #texts > 0 then
    require("agent.prompt").give_back(texts)
  end
end

--- In front of a redirection the model is told again what it was saying: that is not the person's.
---@private
---@param session agent.Session
---@return boolean
function M._is_quoted(session)
  return M._find(session, function(one)
    return one.how == "redirect"
  end) ~= nil
end

---@private
---@param session agent.Session
---@param is_meant fun(item: agent.Said): boolean
---@return agent.Said?
function M._find(session, is_meant)
  return vim.iter(session.queued):find(is_meant)
end

---@private
---@param item agent.Said
---@param unread table[][]
---@return boolean
function M._is_among(item, unread)
  return vim.iter(unread):any(function(blocks)
    return blocks[1] ~= nil and blocks[1].text == item.text
  end)
end

return M
