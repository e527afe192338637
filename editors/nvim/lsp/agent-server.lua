-- What `vim.lsp.config("agent-server", { … })` is laid over. The plugin starts this by itself when it is first used;
-- `vim.lsp.enable("agent-server")` starts it with the first file instead.
return require("agent.client").lsp_config()
