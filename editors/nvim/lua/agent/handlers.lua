--- What the server may send, and who takes it. Modules are loaded when the first such message comes.
local json = require("agent.json")

local M = {}

---@type table<string, lsp.Handler>
local HANDLERS = {
  ["agent/session/update"] = function(_, params)
    require("agent.session").on_update(params)
  end,
  ["agent/status"] = function(_, params)
    require("agent.session").on_status(params)
  end,
  ["agent/session/request_permission"] = function(_, params)
    return require("agent.permission").on_request(params)
  end,
  ["agent/ask"] = function(_, params)
    return require("agent.ask").on_request(params)
  end,
  ["agent/edit/proposed"] = function(_, params)
    require("agent.edits").on_proposed(params)
  end,
  ["agent/edit/state"] = function(_, params)
    require("agent.edits").on_state(params)
  end,
  ["agent/edit/apply"] = function(_, params, context)
    return require("agent.apply").on_request(params, assert(vim.lsp.get_client_by_id(context.client_id)))
  end,
  ["agent/editor/save"] = function(_, params)
    return require("agent.apply").on_save(params)
  end,
  ["agent/editor/reload"] = function(_, params)
    return require("agent.reload").on_request(params)
  end,
  ["agent/editor/diagnostics"] = function(_, params)
    return require("agent.editor").on_diagnostics(params)
  end,
  ["agent/editor/selection"] = function()
    return require("agent.editor").on_selection()
  end,
  ["agent/editor/openFiles"] = function()
    return require("agent.editor").on_open_files()
  end,
  ["agent/editor/openDiff"] = function(_, params)
    return require("agent.edits").on_open_diff(params)
  end,
}

---@return table<string, lsp.Handler>
function M.table()
  return vim.tbl_map(function(handler)
    return function(err, params, context)
      return handler(err, json.without_null(params), context)
    end
  end, HANDLERS)
end

return M
