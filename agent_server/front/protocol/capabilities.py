"""What each side can do, exchanged in `initialize`. Absent means false; nothing is ever tried to find out.

LSP: `capabilities.experimental.agent`, both ways. ACP: `_meta["agent-server"]` of the capabilities, both ways.
"""

from typing import Literal

from pydantic import Field

from agent_server.front.protocol.base import Wire


class EditCapabilities(Wire):
    """How the client takes part in reviewing and applying edits."""

    proposed: bool = False
    """Shows `agent/edit/proposed` and answers with `agent/edit/resolve`."""
    apply: bool = False
    """Applies an edit to an open document when it gets `agent/edit/apply`."""
    files: bool = False
    """Also creates, deletes and renames documents that are open, when it gets `agent/edit/apply` of such a `kind`."""


class EditorCapabilities(Wire):
    """What the server may ask of the editor."""

    save: bool = False
    """Answers `agent/editor/save`."""
    reload: bool = False
    """Answers `agent/editor/reload`."""
    diagnostics: bool = False
    """Answers `agent/editor/diagnostics`."""
    selection: bool = False
    """Answers `agent/editor/selection`."""
    open_files: bool = False
    """Answers `agent/editor/openFiles`."""
    open_diff: bool = False
    """Answers `agent/editor/openDiff`, which comes for the command `agent.showChanges` only."""


class ClientCapabilities(Wire):
    """What a client with our plugin declares."""

    version: Literal[1] = 1
    session_update: bool = False
    """Wants `agent/session/update` and `agent/status`."""
    permission: bool = False
    """Answers `agent/session/request_permission`."""
    ask: bool = False
    """Answers `agent/ask`."""
    code_actions: bool = False
    """LSP: wants the server's code actions; a client with `sessionUpdate` is taken to have its own."""
    updates_per_second: int | None = Field(default=None, ge=1)
    """Wants no more updates than these of texts that grow. Null: each piece at once, and fewer in a flood of them."""
    edit: EditCapabilities = EditCapabilities()
    editor: EditorCapabilities = EditorCapabilities()


class ServerCapabilities(Wire):
    """What this server serves."""

    version: Literal[1] = 1
    methods: tuple[str, ...]
    """Every request and notification that a client may send."""
    commands: tuple[str, ...]
    """For `workspace/executeCommand`; empty over ACP."""
