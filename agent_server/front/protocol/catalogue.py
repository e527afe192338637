"""Every method of the custom protocol: who sends it, and what its params and result are.

Names are LSP's; `acp_name` gives the other. A method whose messages are ACP's own names ACP's types instead of ours.
"""

from typing import Literal

from agent_server.front.protocol.base import Wire
from agent_server.front.protocol.checkpoints import (
    CheckpointList,
    CheckpointRestored,
    EditReverted,
    ListCheckpoints,
    RestoreCheckpoint,
    RevertEdit,
)
from agent_server.front.protocol.commands import (
    AskCommand,
    CommandStarted,
    FixCommand,
    HunkCommand,
    ListSessionsCommand,
    NewSessionCommand,
    PromptCommand,
    ReviewCommand,
    SessionCommand,
    SessionsListed,
    SetModeCommand,
    SetModelCommand,
    UndoCommand,
)
from agent_server.front.protocol.editor import (
    DiagnosticsReport,
    DiagnosticsRequest,
    DiffOpened,
    DocumentSaved,
    DocumentsReloaded,
    EditorFiles,
    EditorSelection,
    LookAtEditor,
    OpenDiff,
    ReloadDocuments,
    SaveDocument,
)
from agent_server.front.protocol.edits import (
    ApplyEdit,
    EditApplied,
    EditContent,
    EditContentRequest,
    EditProposed,
    EditResolved,
    EditStateChanged,
    GetEdit,
    ResolveEdit,
)
from agent_server.front.protocol.session import (
    Ask,
    Asked,
    PermissionAnswer,
    PromptResult,
    RequestPermission,
    SessionUpdate,
    Status,
    SteerTurn,
    TurnSteered,
)
from agent_server.frozen import frozen


@frozen
class Acp:
    """A message type of ACP v1, by its name in ACP's schema; of its unstable one where the stable has none."""

    type: str


Shape = type[Wire] | Acp


@frozen
class Method:
    """A method; without `result` it is a notification."""

    name: str
    sender: Literal["client", "server"]
    params: Shape
    result: Shape | None = None
    capability: str | None = None
    """What the client must have declared before the server sends it."""
    acp: bool = True
    """Whether it exists over ACP too."""
    ours: bool = False
    """A method on sessions that ACP itself does not have."""

    @property
    def kind(self) -> Literal["request", "notification"]:
        """Whether it is answered."""
        return "notification" if self.result is None else "request"

    @property
    def acp_name(self) -> str | None:
        """The name over ACP: without `agent/`, and with `_agent-server/` when ACP itself does not have it."""
        if not self.acp:
            return None
        bare = self.name.removeprefix("agent/")
        known = bare.startswith("session/") and not self.ours
        return bare if known else f"_agent-server/{bare}"


@frozen
class Command:
    """A command for `workspace/executeCommand`, with one object as its argument."""

    name: str
    argument: type[Wire]
    result: type[Wire] | None = None


METHODS: tuple[Method, ...] = (
    Method("agent/session/new", "client", Acp("NewSessionRequest"), Acp("NewSessionResponse")),
    Method("agent/session/load", "client", Acp("LoadSessionRequest"), Acp("LoadSessionResponse")),
    Method(
        "agent/session/resume", "client", Acp("ResumeSessionRequest"), Acp("ResumeSessionResponse")
    ),
    Method("agent/session/fork", "client", Acp("ForkSessionRequest"), Acp("ForkSessionResponse")),
    Method("agent/session/list", "client", Acp("ListSessionsRequest"), Acp("ListSessionsResponse")),
    Method(
        "agent/session/close", "client", Acp("CloseSessionRequest"), Acp("CloseSessionResponse")
    ),
    Method(
        "agent/session/delete", "client", Acp("DeleteSessionRequest"), Acp("DeleteSessionResponse")
    ),
    Method(
        "agent/session/set_title",
        "client",
        Acp("SetSessionTitleRequest"),
        Acp("SetSessionTitleResponse"),
    ),
    Method("agent/session/prompt", "client", Acp("PromptRequest"), PromptResult),
    Method("agent/session/cancel", "client", Acp("CancelNotification")),
    Method(
        "agent/session/set_mode",
        "client",
        Acp("SetSessionModeRequest"),
        Acp("SetSessionModeResponse"),
    ),
    Method(
        "agent/session/set_config_option",
        "client",
        Acp("SetSessionConfigOptionRequest"),
        Acp("SetSessionConfigOptionResponse"),
    ),
    Method("agent/session/steer", "client", SteerTurn, TurnSteered, ours=True),
    Method("agent/edit/resolve", "client", ResolveEdit, EditResolved),
    Method("agent/edit/get", "client", GetEdit, EditProposed),
    Method("agent/edit/content", "client", EditContentRequest, EditContent),
    Method("agent/edit/revert", "client", RevertEdit, EditReverted),
    Method("agent/checkpoint/list", "client", ListCheckpoints, CheckpointList),
    Method("agent/checkpoint/restore", "client", RestoreCheckpoint, CheckpointRestored),
    Method("agent/session/update", "server", SessionUpdate, capability="sessionUpdate"),
    Method("agent/status", "server", Status, capability="sessionUpdate"),
    Method(
        "agent/session/request_permission",
        "server",
        RequestPermission,
        PermissionAnswer,
        capability="permission",
    ),
    Method("agent/ask", "server", Ask, Asked, capability="ask"),
    Method("agent/edit/proposed", "server", EditProposed, capability="edit.proposed"),
    Method("agent/edit/state", "server", EditStateChanged, capability="edit.proposed"),
    Method("agent/edit/apply", "server", ApplyEdit, EditApplied, "edit.apply", acp=False),
    Method("agent/editor/save", "server", SaveDocument, DocumentSaved, "editor.save", acp=False),
    Method(
        "agent/editor/reload",
        "server",
        ReloadDocuments,
        DocumentsReloaded,
        "editor.reload",
        acp=False,
    ),
    Method(
        "agent/editor/diagnostics",
        "server",
        DiagnosticsRequest,
        DiagnosticsReport,
        "editor.diagnostics",
    ),
    Method("agent/editor/selection", "server", LookAtEditor, EditorSelection, "editor.selection"),
    Method("agent/editor/openFiles", "server", LookAtEditor, EditorFiles, "editor.openFiles"),
    Method("agent/editor/openDiff", "server", OpenDiff, DiffOpened, "editor.openDiff", acp=False),
)

COMMANDS: tuple[Command, ...] = (
    Command("agent.prompt", PromptCommand, CommandStarted),
    Command("agent.fix", FixCommand, CommandStarted),
    Command("agent.explain", AskCommand, CommandStarted),
    Command("agent.newSession", NewSessionCommand, CommandStarted),
    Command("agent.listSessions", ListSessionsCommand, SessionsListed),
    Command("agent.resumeSession", SessionCommand, CommandStarted),
    Command("agent.cancel", SessionCommand),
    Command("agent.showChanges", ReviewCommand),
    Command("agent.acceptAll", ReviewCommand),
    Command("agent.rejectAll", ReviewCommand),
    Command("agent.acceptHunk", HunkCommand),
    Command("agent.rejectHunk", HunkCommand),
    Command("agent.undo", UndoCommand),
    Command("agent.setMode", SetModeCommand),
    Command("agent.setModel", SetModelCommand),
)
