"""Arguments of `workspace/executeCommand`: one object each, every field optional. Commands exist over LSP only."""

from agent_server.front.protocol.base import Range, Wire
from agent_server.loop.model import Mode


class PromptCommand(Wire):
    """Prompt the agent; a bare string is taken as `prompt`."""

    prompt: str
    session_id: str | None = None
    """Null: the root's current session, made when there is none."""
    uri: str | None = None
    """A document to attach."""
    range: Range | None = None
    """The part of it that is meant."""


class SessionCommand(Wire):
    """Names a session; null: the current one."""

    session_id: str | None = None


class NewSessionCommand(Wire):
    """Where the session works."""

    uri: str | None = None
    """A folder; null: the first workspace folder."""


class SetModeCommand(SessionCommand):
    """Which mode from now on."""

    mode: Mode


class SetModelCommand(SessionCommand):
    """Which model from now on."""

    model: str


class ReviewCommand(Wire):
    """Which proposal is decided; null: every open one."""

    txn: str | None = None


class CommandStarted(Wire):
    """The work goes on in this session."""

    session_id: str
