"""What the client can do, resolved once into flat booleans. Absent means false; nothing is tried to find out."""

from dataclasses import replace

from agent_server.front.params import as_object
from agent_server.frozen import frozen
from agent_server.loop.model import JsonObject


@frozen
class Capabilities:
    """Of one client."""

    updates: bool = False
    """Takes `session/update`: every ACP client, and an LSP client that says so."""
    own: bool = False
    """Knows our extensions: gets `status`, and `seq` and `turnId` with every update."""
    permission: bool = False
    """Answers `session/request_permission`."""
    ask: bool = False
    """Answers `ask`: the model's own questions."""
    forms: bool = False
    """ACP: answers `elicitation/create` with a form."""
    notices: bool = False
    updates_per_second: int | None = None
    """How many updates a growing text may have; None: as we think best."""
    read_files: bool = False
    """`fs/read_text_file`: unsaved buffers can be seen."""
    write_files: bool = False
    edit_proposed: bool = False
    """Shows `edit/proposed` and answers with `edit/resolve`."""
    edit_apply: bool = False
    """Answers `edit/apply`."""
    edit_files: bool = False
    """Creates, deletes and renames open documents, when asked by `edit/apply`."""
    save: bool = False
    """Answers `editor/save`."""
    reload: bool = False
    """Answers `editor/reload`."""
    diagnostics: bool = False
    """Answers `editor/diagnostics`."""
    selection: bool = False
    """Answers `editor/selection`."""
    open_files: bool = False
    """Answers `editor/openFiles`."""
    open_diff: bool = False
    """Answers `editor/openDiff`."""
    code_actions: bool = False
    """Wants our code actions beside its own."""


def acp_capabilities(initialize: JsonObject) -> Capabilities:
    """From the params of ACP's `initialize`."""
    declared = as_object(initialize.get("clientCapabilities")) or {}
    files = as_object(declared.get("fs")) or {}
    session = as_object(declared.get("session")) or {}
    elicitation = as_object(declared.get("elicitation")) or {}
    meta = as_object(declared.get("_meta")) or {}
    return replace(
        own_capabilities(meta.get("agent-server")),
        updates=True,
        permission=True,
        forms=as_object(elicitation.get("form")) is not None,
        notices=as_object(session.get("notices")) is not None,
        read_files=files.get("readTextFile") is True,
        write_files=files.get("writeTextFile") is True,
    )


def own_capabilities(declared: object) -> Capabilities:
    """From our capability object: `_meta["agent-server"]` over ACP, `experimental.agent` over LSP (protocol.md)."""
    own = as_object(declared)
    if own is None or own.get("version") != 1:
        return Capabilities()
    edit = as_object(own.get("edit")) or {}
    editor = as_object(own.get("editor")) or {}
    return Capabilities(
        updates=own.get("sessionUpdate") is True,
        own=own.get("sessionUpdate") is True,
        permission=own.get("permission") is True,
        ask=own.get("ask") is True,
        edit_proposed=edit.get("proposed") is True,
        edit_apply=edit.get("apply") is True,
        edit_files=edit.get("apply") is True and edit.get("files") is True,
        save=editor.get("save") is True,
        reload=editor.get("reload") is True,
        diagnostics=editor.get("diagnostics") is True,
        selection=editor.get("selection") is True,
        open_files=editor.get("openFiles") is True,
        open_diff=editor.get("openDiff") is True,
        code_actions=own.get("codeActions") is True,
        updates_per_second=_count(own.get("updatesPerSecond")),
    )


def _count(value: object) -> int | None:
    """A positive integer; anything else says nothing."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
