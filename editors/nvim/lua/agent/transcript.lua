--- A conversation as a list of blocks, made from session updates. Pure: updates in, changes out.
---
--- The chat shows a block by itself, so a change names one block: new, its text grown, or to be shown anew.
local ending = require("agent.ending")

local M = {}

---@alias agent.BlockKind "user"|"text"|"thought"|"tool"|"plan"|"notice"|"end"

---@class agent.Block
---@field kind agent.BlockKind
---@field id? string message or tool call id
---@field pieces string[] of its text, in order
---@field gap? boolean an empty line stands before it
---@field open? boolean more of it may come
---@field started_ms? number
---@field seconds? number how long it took, or runs already
---@field title? string
---@field tool? string the tool's name
---@field status? "pending"|"in_progress"|"completed"|"failed"
---@field waiting? string[] the question about it that is open, in words
---@field summary? string the outcome in a few words
---@field code? string why it failed, one word
---@field content? table[] ACP's ToolCallContent
---@field entries? { content: string, status: string }[] of a plan
---@field severity? "info"|"warning"|"error"
---@field discarded? boolean

---@class agent.Change
---@field index integer of the block
---@field text? string grown by this; nil: new, or to be shown anew

---@class agent.Transcript
---@field blocks agent.Block[]
---@field title? string
---@field mode? string
---@field options table[] ACP's config options
---@field commands table[] ACP's available commands
---@field calls table<string, integer> block by tool call
---@field plan_at? integer the block of the plan
---@field usage? { used: integer, size: integer, cost?: { amount: number, currency: string } }
local Transcript = {}
Transcript.__index = Transcript

---@return agent.Transcript
function M.new()
  return setmetatable({ blocks = {}, options = {}, commands = {}, calls = {} }, Transcript)
end

--- The text of a block so far.
---@param block agent.Block
---@return string
function M.text(block)
  if #block.pieces > 1 then
    block.pieces = { table.concat(block.pieces) }
  end
  return block.pieces[1] or ""
end

--- Take one update.
---@param update table ACP's SessionUpdate
---@param now_ms number
---@return agent.Change[]
function Transcript:update(update, now_ms)
  local take = self["_" .. update.sessionUpdate]
  return take and take(self, update, now_ms) or {}
end

--- What the person asks. An update of the server's may say it too: see `Session`.
---@param text string
---@return agent.Change[]
function Transcript:ask(text)
  return self:_add({ kind = "user", pieces = { text } })
end

--- The last line of a turn.
---@param words string
---@return agent.Change[]
function Transcript:finish(words)
  return self:_add({ kind = "end", pieces = { words } })
end

--- Something the person should know.
---@param severity "info"|"warning"|"error"
---@param words string
---@return agent.Change[]
function Transcript:note(severity, words)
  return self:_add({ kind = "notice", severity = severity, pieces = { words } })
end

--- Mark a call as waiting for the person, or no longer.
---@param call string
---@param words? string[] what they are asked; nil: nothing any more
---@return agent.Change[]
function Transcript:wait(call, words)
  local index = self.calls[call]
  if not index or vim.deep_equal(self.blocks[index].waiting, words) then
    return {}
  end
  self.blocks[index].waiting = words
  self.blocks[index].started_ms = nil -- how long the user took is not how long it runs
  return { { index = index } }
end

--- Time goes on for what runs.
---@param now_ms number
---@return agent.Change[]
function Transcript:tick(now_ms)
  local changes = {}
  for index = #self.blocks, 1, -1 do
    local block = self.blocks[index]
    if block.kind == "user" then
      break
    elseif block.kind == "tool" and block.status == "in_progress" then
      block.started_ms = block.started_ms or now_ms
      block.seconds = math.floor((now_ms - block.started_ms) / 1000)
      changes[#changes + 1] = { index = index }
    end
  end
  return changes
end

--- No more comes of what is open: the turn is over, or the server is gone.
---@param now_ms number
---@return agent.Change[]
function Transcript:settle(now_ms)
  local changes = self:_close(now_ms)
  for index, block in ipairs(self.blocks) do
    if block.kind == "tool" and (block.status == "pending" or block.status == "in_progress") then
      block.status, block.waiting, block.summary = "failed", nil, block.summary or "did not finish"
      changes[#changes + 1] = { index = index }
    end
  end
  return changes
end

---@private
---@param update table ACP's SessionUpdate
---@return agent.Change[]
function Transcript:_user_message_chunk(update)
  local last = self.blocks[#self.blocks]
  local words = M._words(update.content)
  if last and last.kind == "user" and last.id == update.messageId then
    table.insert(last.pieces, "\n" .. words)
    return { { index = #self.blocks } }
  end
  return self:_add({ kind = "user", id = update.messageId, pieces = { words } })
end

---@private
---@param update table ACP's SessionUpdate
---@param now_ms number
function Transcript:_agent_message_chunk(update, now_ms)
  return self:_stream("text", update, now_ms)
end

---@private
---@param update table ACP's SessionUpdate
---@param now_ms number
function Transcript:_agent_thought_chunk(update, now_ms)
  local own = vim.tbl_get(update, "_meta", "agent-server", "discarded")
  if own then
    return self:_discard(own)
  end
  return self:_stream("thought", update, now_ms)
end

---@private
---@param update table ACP's SessionUpdate
---@param now_ms number
---@return agent.Change[]
function Transcript:_tool_call(update, now_ms)
  if self.calls[update.toolCallId] then
    return self:_tool_call_update(update)
  end
  local changes = self:_close(now_ms)
  local block = { kind = "tool", id = update.toolCallId, status = "pending", started_ms = now_ms, pieces = {} }
  vim.list_extend(changes, self:_add(block))
  self.calls[update.toolCallId] = #self.blocks
  M._describe(block, update)
  return changes
end

---@private
---@param update table ACP's SessionUpdate
---@return agent.Change[]
function Transcript:_tool_call_update(update)
  local index = self.calls[update.toolCallId]
  if not index then
    return {}
  end
  M._describe(self.blocks[index], update)
  return { { index = index } }
end

---@private
---@param update table ACP's SessionUpdate
---@return agent.Change[]
function Transcript:_plan(update)
  local last = self.blocks[self.plan_at]
  if last and last.open then
    last.entries = update.entries
    return { { index = self.plan_at } }
  end
  local changes = self:_add({ kind = "plan", entries = update.entries, pieces = {}, open = true })
  self.plan_at = #self.blocks
  return changes
end

---@private
---@param update table ACP's SessionUpdate
function Transcript:_notice(update)
  local words = update.description and ("%s: %s"):format(update.title, update.description) or update.title
  return self:note(update.severity, words)
end

---@private
---@param update table ACP's SessionUpdate
function Transcript:_usage_update(update)
  self.usage = update
end

---@private
---@param update table ACP's SessionUpdate
function Transcript:_current_mode_update(update)
  self.mode = update.currentModeId
end

---@private
---@param update table ACP's SessionUpdate
function Transcript:_config_option_update(update)
  self.options = update.configOptions
end

--- A new title, or in a replay the end of a turn.
---@private
---@param update table ACP's SessionUpdate
---@param now_ms number
---@return agent.Change[]
function Transcript:_session_info_update(update, now_ms)
  self.title = update.title or self.title
  local ended = vim.tbl_get(update, "_meta", "agent-server", "turnEnd")
  if not ended then
    return {}
  end
  return vim.list_extend(self:settle(now_ms), self:finish(ending.words(ended)))
end

---@private
---@param update table ACP's SessionUpdate
function Transcript:_available_commands_update(update)
  self.commands = update.availableCommands
end

---@private
---@param kind "text"|"thought"
---@param update table ACP's SessionUpdate
---@param now_ms number
---@return agent.Change[]
function Transcript:_stream(kind, update, now_ms)
  local words = M._words(update.content)
  local last = self.blocks[#self.blocks]
  if last and last.kind == kind and last.open and last.id == update.messageId then
    table.insert(last.pieces, words)
    return { { index = #self.blocks, text = words } }
  end
  for index = #self.blocks, 1, -1 do
    local block = self.blocks[index]
    if block.kind == kind and block.id and block.id == update.messageId then
      table.insert(block.pieces, words)
      return { { index = index, text = words } }
    end
    if block.kind == "user" then
      break
    end
  end
  local changes = self:_close(now_ms)
  local block = { kind = kind, id = update.messageId, pieces = { words }, open = true, started_ms = now_ms }
  return vim.list_extend(changes, self:_add(block))
end

--- The text streamed under that id is void.
---@private
---@param id string
---@return agent.Change[]
function Transcript:_discard(id)
  for index = #self.blocks, 1, -1 do
    local block = self.blocks[index]
    if block.id == id and (block.kind == "text" or block.kind == "thought") then
      block.discarded, block.open, block.id = true, false, nil
      return { { index = index } }
    end
  end
  return {}
end

--- The block that was streaming is complete.
---@private
---@param now_ms number
---@return agent.Change[]
function Transcript:_close(now_ms)
  local last = self.blocks[#self.blocks]
  if not last or not last.open or last.kind == "plan" then
    return {}
  end
  last.open = false
  last.seconds = (now_ms - (last.started_ms or now_ms)) / 1000
  return { { index = #self.blocks } }
end

---@private
---@param block agent.Block
---@return agent.Change[]
function Transcript:_add(block)
  local before = self.blocks[#self.blocks]
  if block.kind == "user" and self.blocks[self.plan_at] then
    self.blocks[self.plan_at].open = false
  end
  block.open = block.open or false
  block.gap = before ~= nil and not (M._short[before.kind] and M._short[block.kind])
  table.insert(self.blocks, block)
  return { { index = #self.blocks } }
end

--- Kinds that stand close together.
---@private
M._short = { tool = true, thought = true }

---@private
---@param block agent.Block
---@param update table ACP's SessionUpdate
function M._describe(block, update)
  block.title = update.title or block.title
  block.tool = update.name or block.tool
  block.status = update.status or block.status
  block.content = update.content or block.content
  local outcome = vim.tbl_get(update, "_meta", "agent-server")
  if outcome then
    block.summary = outcome.summary or block.summary
    block.code = outcome.code or block.code
    block.seconds = outcome.seconds or block.seconds
  end
  if block.status == "completed" or block.status == "failed" then
    block.waiting = nil
  end
end

--- A content block in words.
---@private
---@param content table ACP's ContentBlock
---@return string
function M._words(content)
  if content.type == "text" then
    return content.text
  elseif content.type == "resource_link" then
    return "@" .. (content.name or content.uri)
  elseif content.type == "resource" then
    return "@" .. content.resource.uri:gsub("^.*/", "")
  end
  return ("[%s]"):format(content.type)
end

return M
