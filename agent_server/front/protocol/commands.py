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


class AskCommand(SessionCommand):
    """A document to ask about, or a part of it."""

    uri: str
    range: Range | None = None
    prompt: str | None = None
    """Words of the person, beside what the command says anyway."""


class ProblemToFix(Wire):
    """A diagnostic, as LSP has it; what is not here is ignored."""

    message: str
    range: Range | None = None
    source: str | None = None
    code: str | int | None = None


class FixCommand(AskCommand):
    """What is wrong there."""

    diagnostics: tuple[ProblemToFix, ...] = ()
    """Empty: whatever is wrong in the document or the range."""


class HunkCommand(Wire):
    """One hunk of a proposal that is open."""

    txn: str
    revision: int | None = None
    """The one that the person saw; null: whichever it is."""
    uri: str
    hunk: str


class UndoCommand(SessionCommand):
    """How much is taken back."""

    turn: bool = False
    """All edits of the last turn that made any, instead of the last edit."""


class ListSessionsCommand(Wire):
    """Whose sessions."""

    uri: str | None = None
    """A folder; null: the current one."""


class SessionListed(Wire):
    """A stored session."""

    session_id: str
    title: str | None = None
    cwd: str
    updated_at: str
    """ISO 8601 in UTC."""


class SessionsListed(Wire):
    """The latest first; the first page of them."""

    sessions: tuple[SessionListed, ...]


class ReviewCommand(Wire):
    """Which proposal is decided; null: every open one."""

    txn: str | None = None


class CommandStarted(Wire):
    """The work goes on in this session."""

    session_id: str
    turn_id: str | None = None
    """The turn that was begun; null when none was."""
