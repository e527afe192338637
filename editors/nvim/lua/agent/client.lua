--- The one server of this Neovim: started when first needed, told of every file that is open, started again after a
--- crash. Requests that come while it starts wait for it.
local config = require("agent.config")
local json = require("agent.json")
local log = require("agent.log")
local server = require("agent.server")

local M = {}

M.NAME = "agent-server"
---@type agent.protocol.ClientCapabilities
M.CAPABILITIES = {
  version = 1,
  sessionUpdate = true,
  updatesPerSecond = 30, -- the chat draws no faster when much streams
  permission = true,
  ask = true,
  edit = { proposed = true, apply = true, files = true },
  editor = { save = true, diagnostics = true, selection = true, openFiles = true, openDiff = true, reload = true },
}
local FIRST_DELAY_MS, LONGEST_DELAY_MS = 500, 30000
local PATIENCE_MS = 2500 -- the server promises to end within 2 s
local STEADY_MS = 60000 -- a server that lived so long did not die of starting

---@class agent.ClientState
---@field client? vim.lsp.Client
---@field phase "off"|"starting"|"ready"|"waiting" waiting: to be started again
---@field failures integer in a row
---@field started_ms number
---@field generation integer counts the processes
---@field queue fun(client?: vim.lsp.Client)[] what waits for it
---@field methods table<string, boolean> that it serves
---@field is_restarting? boolean it is to be started again as soon as it has ended
---@field is_lost boolean one ended, and none has come back since
local state = { phase = "off", failures = 0, started_ms = 0, generation = 0, queue = {}, methods = {}, is_lost = false }

---@type fun(ending: string)[] called when the server ended by itself
M.on_lost = {}
---@type fun()[] called when it is there again
M.on_back = {}

---@return "off"|"starting"|"ready"|"waiting"
function M.phase()
  return state.phase
end

--- The running client.
---@return vim.lsp.Client?
function M.client()
  return state.phase == "ready" and state.client or nil
end

--- Whether the server serves a method of ours. False while it does not run.
---@param method string
---@return boolean
function M.serves(method)
  return state.phase == "ready" and state.methods[method] == true
end

--- Call back with the running client, or with nil when it cannot be had; starts it.
---@param ready fun(client?: vim.lsp.Client)
function M.ensure(ready)
  if state.phase == "ready" then
    return ready(state.client)
  end
  table.insert(state.queue, ready)
  if state.phase == "off" then
    M.start()
  end
end

--- Send a request. An error and the lack of a server come the same way.
---@param method string
---@param params table
---@param done? fun(err?: { message: string, code?: integer, data?: table }, result?: any)
function M.request(method, params, done)
  M.ensure(function(client)
    local answer = done or function() end
    local function settle(err, result)
      answer(json.without_null(err), json.without_null(result))
    end
    -- Without a buffer: the last changes of all of them are sent first.
    local sent = client and client:request(method, params, settle)
    if not sent then
      answer({ message = "the server is not running" })
    end
  end)
end

--- Send a notification, if there is a server.
---@param method string
---@param params table
function M.notify(method, params)
  if state.phase == "ready" then
    state.client:notify(method, params)
  end
end

--- Start now, with whatever is set now.
function M.start()
  local problem = select(2, server.command())
  if problem then
    log.say("ERROR", problem)
    return M._give_up()
  end
  state.phase = "starting"
  local wanted = vim.lsp.config[M.NAME] or M.lsp_config()
  wanted = vim.tbl_extend("force", wanted, { root_dir = server.root(vim.api.nvim_get_current_buf()) })
  state.client = vim.lsp.get_client_by_id(vim.lsp.start(wanted, { attach = false, reuse_client = M._never }) or -1)
  if not state.client then
    M._give_up()
  end
end

--- Stop it for good, or until it is needed again.
function M.stop()
  local client = state.client
  state.client, state.phase, state.methods = nil, "off", {}
  if client then
    client:stop()
  end
end

--- Stop and start; sessions go on where they were. The old process must be gone first: it holds their locks.
function M.restart()
  local client = state.client
  state.failures = 0
  if not client or state.phase ~= "ready" then
    return M.ensure(function() end)
  end
  state.client, state.methods, state.phase, state.is_restarting = nil, {}, "waiting", true
  M._lose("was restarted")
  client:stop()
  vim.defer_fn(function()
    if not client:is_stopped() then
      client:stop(true)
    end
  end, PATIENCE_MS)
end

--- What Neovim needs to run the server; `vim.lsp.config("agent-server", …)` is laid over it.
---@return vim.lsp.Config
function M.lsp_config()
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  capabilities.experimental = { agent = M.CAPABILITIES }
  return {
    name = M.NAME,
    cmd = M._spawn,
    capabilities = capabilities,
    handlers = require("agent.handlers").table(),
    flags = { debounce_text_changes = 50 }, -- an edit is proved by the change that follows it
    root_markers = config.get().root_markers,
    reuse_client = M._is_current,
    before_init = M._set_options,
    on_init = M._initialized,
  }
end

---@private
---@return boolean
function M._never()
  return false
end

--- One server for everything that is open, also while it starts: `vim.lsp.enable` asks for each file.
---@private
---@param client vim.lsp.Client
---@return boolean
function M._is_current(client)
  return client.name == M.NAME and not client:is_stopped()
end

---@private
---@param params lsp.InitializeParams
function M._set_options(params)
  local settings = config.get().settings
  params.initializationOptions = { agent = next(settings) and settings or vim.empty_dict() }
end

--- Start the process and learn how it ends. Neovim is told of a clean end: the message about the other kind is ours.
---@private
---@param dispatchers vim.lsp.rpc.Dispatchers
---@return vim.lsp.rpc.PublicClient
function M._spawn(dispatchers)
  local cmd, problem = server.command()
  if not cmd then
    error(problem, 0)
  end
  local ended = dispatchers.on_exit
  state.phase, state.started_ms, state.generation = "starting", vim.uv.now(), state.generation + 1
  local generation = state.generation
  dispatchers.on_exit = function(code, signal)
    ended(0, 0)
    vim.schedule(function()
      M._ended(generation, code, signal)
    end)
  end
  return vim.lsp.rpc.start(cmd, dispatchers, { env = config.get().env })
end

---@private
---@param client vim.lsp.Client
function M._initialized(client)
  require("agent").begin()
  local agent = vim.tbl_get(client.server_capabilities, "experimental", "agent")
  if type(agent) ~= "table" or agent.version ~= 1 then
    local name = vim.tbl_get(client, "server_info", "version") or "this version"
    log.say("ERROR", ("agent-server %s does not speak protocol 1, which this plugin needs: update both"):format(name))
    M.stop()
    return M._give_up()
  end
  state.client, state.phase, state.methods = client, "ready", {}
  for _, method in ipairs(agent.methods or {}) do
    state.methods[method] = true
  end
  M._follow_buffers(client)
  if state.is_lost then
    state.is_lost = false
    M._tell(M.on_back)
  end
  M._run_queue(client)
end

---@private
---@param client? vim.lsp.Client
function M._run_queue(client)
  local waiting = state.queue
  state.queue = {}
  for _, ready in ipairs(waiting) do
    ready(client)
  end
end

---@private
function M._give_up()
  state.phase, state.client = "off", nil
  M._run_queue(nil)
end

---@private
---@param generation integer of the process that ended
---@param code integer
---@param signal integer
function M._ended(generation, code, signal)
  if state.phase == "off" or generation ~= state.generation then
    return
  end
  if state.is_restarting then
    state.is_restarting = false
    return M.start()
  end
  local was_ready = state.phase == "ready"
  if vim.uv.now() - state.started_ms > STEADY_MS then
    state.failures = 0
  end
  state.client, state.methods = nil, {}
  local ending = signal ~= 0 and ("was ended by signal %d"):format(signal) or ("ended with code %d"):format(code)
  if was_ready then
    M._lose(ending)
  end
  M._start_again(ending)
end

---@private
---@param ending string
function M._start_again(ending)
  state.failures = state.failures + 1
  if state.failures > config.get().restarts then
    log.say("ERROR", ("the server %s, %d times in a row. :Agent log says why"):format(ending, state.failures))
    return M._give_up()
  end
  local delay = math.min(FIRST_DELAY_MS * 2 ^ (state.failures - 1), LONGEST_DELAY_MS)
  log.say("WARN", ("the server %s; starting it again"):format(ending))
  state.phase = "waiting"
  vim.defer_fn(function()
    if state.phase == "waiting" then
      M.start()
    end
  end, delay)
end

---@private
---@param ending string
function M._lose(ending)
  state.is_lost = true
  M._tell(M.on_lost, ending)
end

---@private
---@param listeners function[]
---@param ... any
function M._tell(listeners, ...)
  for _, listener in ipairs(listeners) do
    listener(...)
  end
end

--- An open buffer is the truth for the server, so it must see all of them, whatever their type.
---@private
---@param client vim.lsp.Client
function M._follow_buffers(client)
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    M._attach(client, buf)
  end
  vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile", "BufFilePost" }, {
    group = vim.api.nvim_create_augroup("agent.client", {}),
    callback = function(event)
      if M.client() == client then
        M._attach(client, event.buf)
      end
    end,
  })
end

---@private
---@param client vim.lsp.Client
---@param buf integer
function M._attach(client, buf)
  local name = vim.api.nvim_buf_get_name(buf)
  local is_file = vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == "" and name ~= ""
  if is_file and not name:match("^%a[%w+.-]+://") then
    vim.lsp.buf_attach_client(buf, client.id)
  end
end

return M
