"""A coding agent that lives in the editor, speaking ACP and LSP over stdio."""
