"""What `initialize` advertises of ours. Written down, because the modules that serve it are imported after the answer.

A test compares each with the table that it is taken from.
"""

from typing import Final

METHODS: Final = (
    "agent/session/new",
    "agent/session/load",
    "agent/session/resume",
    "agent/session/fork",
    "agent/session/list",
    "agent/session/close",
    "agent/session/delete",
    "agent/session/set_title",
    "agent/session/prompt",
    "agent/session/set_mode",
    "agent/session/set_config_option",
    "agent/session/steer",
    "agent/edit/resolve",
    "agent/edit/get",
    "agent/edit/content",
    "agent/edit/revert",
    "agent/checkpoint/list",
    "agent/checkpoint/restore",
)
"""Requests."""
NOTIFICATIONS: Final = ("agent/session/cancel",)
SETTLES_CANCEL: Final = frozenset({"agent/session/prompt"})
"""Requests that answer their own cancellation by a result."""
COMMANDS: Final = (
    "agent.prompt",
    "agent.fix",
    "agent.explain",
    "agent.newSession",
    "agent.listSessions",
    "agent.resumeSession",
    "agent.cancel",
    "agent.showChanges",
    "agent.acceptAll",
    "agent.rejectAll",
    "agent.acceptHunk",
    "agent.rejectHunk",
    "agent.undo",
    "agent.setMode",
    "agent.setModel",
)
FEATURES: Final = (
    "textDocument/codeAction",
    "codeAction/resolve",
    "textDocument/codeLens",
    "workspace/textDocumentContent",
    "workspace/didChangeConfiguration",
)
"""LSP's own methods that the agent serves, beside documents and commands."""
