-- A real Neovim without any plugin prompts, streams and accepts an edit.
-- Run: nvim --clean -l nvim_client.lua SERVER MODEL FILE STOCK|OWN; exits with 0 when all of it went well.
local server, model, path, kind = arg[1], arg[2], arg[3], arg[4]

local function wait_for(what, condition)
  if not vim.wait(12000, condition, 10) then error("timeout: " .. what) end
end

local seen = { text = "", messages = {}, asked = {}, states = {} }

---@param key string
local function keep(key, field)
  return function(_, params) table.insert(seen[key], params[field]) end
end

local own = kind == "OWN"
local capabilities = vim.lsp.protocol.make_client_capabilities()
if own then
  capabilities.experimental = { agent = { version = 1, sessionUpdate = true, edit = { proposed = true } } }
end

vim.cmd.edit(path)
local uri = vim.uri_from_bufnr(0)
vim.api.nvim_buf_set_lines(0, 0, 1, false, { "x = '𐐀'  # unsaved" })

local id = assert(vim.lsp.start({
  name = "agent-server",
  cmd = { server, "lsp", "--model", model },
  root_dir = vim.fs.dirname(path),
  capabilities = capabilities,
  handlers = {
    ["window/showMessage"] = keep("messages", "message"),
    ["window/showMessageRequest"] = function(_, params)
      table.insert(seen.asked, params.message)
      return params.actions[1]
    end,
    ["agent/session/update"] = function(_, params)
      local update = params.update
      if update.sessionUpdate == "agent_message_chunk" then seen.text = seen.text .. update.content.text end
    end,
    ["agent/edit/proposed"] = function(_, params) seen.proposed = params end,
    ["agent/edit/state"] = keep("states", "state"),
  },
}))
local client = assert(vim.lsp.get_client_by_id(id))
wait_for("initialize", function() return client.initialized end)

local function request(method, params)
  local reply = assert(client:request_sync(method, params, 12000))
  assert(not reply.err, vim.inspect(reply.err))
  return reply.result
end

if own then
  local session = request("agent/session/new", { uri = vim.uri_from_fname(vim.fs.dirname(path)), mcpServers = {} })
  local stop
  local prompt = { sessionId = session.sessionId, prompt = { { type = "text", text = "go" } } }
  client:request("agent/session/prompt", prompt, function(_, result) stop = result.stopReason end)
  wait_for("a proposal", function() return seen.proposed end)
  assert(seen.proposed.files[1].uri == uri, seen.proposed.files[1].uri)
  local decisions = { { uri = uri, verdict = "accept" } }
  request("agent/edit/resolve", { txn = seen.proposed.txn, revision = seen.proposed.revision, decisions = decisions })
  wait_for("the end of the turn", function() return stop end)
  assert(stop == "end_turn" and seen.text == "I edit.Done.", seen.text)
  assert(seen.states[#seen.states] == "applied", vim.inspect(seen.states))
else
  request("workspace/executeCommand", { command = "agent.prompt", arguments = { "go" } })
  wait_for("the answer", function() return #seen.messages > 0 end)
  assert(seen.messages[1] == "Done.", vim.inspect(seen.messages))
  assert(#seen.asked == 1, vim.inspect(seen.asked))
end

local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false)
assert(vim.deep_equal(lines, { "x = '𐐀'  # edited", "two" }), vim.inspect(lines))
assert(vim.bo.modified and vim.fn.readfile(path)[1] == "on disk", "the disk was written beneath the buffer")
client:stop()
wait_for("the end of the server", function() return client:is_stopped() end)
vim.cmd("qa!")
