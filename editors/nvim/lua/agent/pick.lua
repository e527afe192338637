--- Choices by `vim.ui.select`, which the person may have made nicer: sessions, modes, models, hunks in the quickfix list.
local log = require("agent.log")
local session = require("agent.session")

local M = {}

local LIST_TITLE = "Agent: hunks"
---@type table<agent.Scope, string>
local SCOPES = {
  once = "once",
  session = "and further edits of it, in this session",
  workspace = "and further edits of it, in this workspace",
}

--- Choose one of the session's options, such as `model`.
---@param option "mode"|"model"|string
---@param value? string without asking
function M.option(option, value)
  session.ensure(function(current)
    if value then
      return M._set(current, option, value)
    end
    local known = session.option(current, option)
    if not known then
      return log.say("WARN", ("this server has no choice of %s"):format(option))
    end
    local shown = { prompt = ("%s, now %s:"):format(option, known.currentValue), format_item = M._name }
    vim.ui.select(known.options, shown, function(choice)
      if choice then
        M._set(current, option, choice.value)
      end
    end)
  end)
end

--- Accept what is pending in an edit, and choose how far the yes goes: no further than the server allows for it.
---@param one agent.Proposal
---@param scope? string without asking
function M.scope(one, scope)
  local review = require("agent.review")
  if scope and not vim.list_contains(one.scopes, scope) then
    return log.say("WARN", ("a yes to this edit reaches no further than: %s"):format(table.concat(one.scopes, ", ")))
  elseif scope then
    return review.accept_further(one, scope)
  end
  local shown = {
    prompt = ("Accept %s:"):format(M._files(one)),
    format_item = function(choice)
      return SCOPES[choice]
    end,
  }
  vim.ui.select(one.scopes, shown, function(choice)
    if choice then
      review.accept_further(one, choice)
    end
  end)
end

--- Choose a stored conversation of this project and go on with it.
---@param id? string without asking
function M.session(id)
  local root = require("agent.server").root(require("agent.window").source_buffer())
  if id and id ~= "" then
    return M._resume(id, root)
  end
  session.list(root, function(found)
    if #found == 0 then
      return log.say("INFO", "there is no earlier session here")
    end
    vim.ui.select(found, { prompt = "Resume:", format_item = M._summary }, function(choice)
      if choice then
        M._resume(choice.sessionId, choice.cwd)
      end
    end)
  end)
end

--- All pending hunks in the quickfix list, which is opened; when none waits, those that were applied.
function M.hunks()
  local places = M._hunks()
  if #places == 0 then
    return log.say("INFO", "there is no edit to look at")
  end
  M._fill(places)
  vim.cmd("botright copen")
end

--- Keep the list true, if there is one.
function M.refresh_hunks()
  if vim.fn.getqflist({ title = true }).title == LIST_TITLE then
    M._fill(M._hunks(), "r")
  end
end

---@private
---@return agent.Place[]
function M._hunks()
  local pending = require("agent.review").pending()
  return #pending > 0 and pending or require("agent.applied").places()
end

---@private
---@param one agent.Proposal
---@return string
function M._files(one)
  local names = vim.tbl_map(function(file)
    return vim.fn.fnamemodify(vim.uri_to_fname(file.uri), ":.")
  end, one.files)
  return table.concat(names, ", ")
end

---@private
---@param places agent.Place[]
---@param action " "|"r"?
function M._fill(places, action)
  local inline = require("agent.inline")
  local items = vim.tbl_map(function(place)
    local rows = place.hunk and vim.split(place.hunk.new ~= "" and place.hunk.new or place.hunk.old, "\n")
    local words = rows and vim.trim(rows[1]) or place.file.kind
    return { filename = vim.uri_to_fname(place.file.where), lnum = inline.line(place), text = words }
  end, places)
  vim.fn.setqflist({}, action or " ", { title = LIST_TITLE, items = items })
end

---@private
---@param current agent.Session
---@param option string
---@param value string
function M._set(current, option, value)
  if option == "mode" then
    return session.set_mode(current, value)
  end
  session.set_option(current, option, value)
end

---@private
---@param id string
---@param root string
function M._resume(id, root)
  session.load(id, root, function(current)
    require("agent.window").open(current)
  end)
end

---@private
---@param choice { name: string, description?: string }
---@return string
function M._name(choice)
  return choice.description and ("%s: %s"):format(choice.name, choice.description) or choice.name
end

---@private
---@param one agent.protocol.SessionListed
function M._summary(one)
  local at = one.updatedAt:sub(1, 16):gsub("T", " ")
  return ("%s  %s"):format(at, one.title or "no title")
end

return M
