"""The one tree of errors.

A class per thing a caller can do differently. `front/rpc/errors.py` maps the tree to JSON-RPC codes;
nothing below `front/` knows those codes.

    AgentServerError
      ClientMistake         the editor asked the impossible
        UnknownSession      no session has that id
        SessionBusy         another process holds the session; it can only be read
        TurnRunning         a turn runs, and prompts do not wait
        TurnMismatch        the turn that was named does not run
        StaleRevision       a decision named a revision that is no longer current
        EditRefused         the file cannot be edited as asked (binary, unencodable, outside, ambiguous …)
      AuthRequired          no credentials; logging in would help
      ModelFailure          the model could not answer; carries a `Fault`
      StoreFailure          the transcript could not be kept
        NothingDone         before anything of the effect had happened
      BadArguments          the model called a tool with arguments that do not fit (a result, never an error on a wire)
      BadSetting            a setting has a wrong value; names file, line and key

A failing tool is a `ToolResult`, not an exception.
"""

from agent_server.loop.faults import Fault


class AgentServerError(Exception):
    """Root of every error this program raises on purpose; `str()` is a sentence for a person."""


class ClientMistake(AgentServerError):
    """The client asked for something that cannot be done."""


class UnknownSession(ClientMistake):
    """No session has that id."""


class SessionBusy(ClientMistake):
    """Another process holds the session; here it can only be read."""


class TurnRunning(ClientMistake):
    """A turn of the session runs, and the settings refuse a prompt meanwhile."""


class TurnMismatch(ClientMistake):
    """The turn that was named does not run (any more); nothing was said to it."""


class StaleRevision(ClientMistake):
    """A decision named a revision of a proposal that is no longer current."""

    def __init__(self, message: str, *, revision: int) -> None:
        """Remember the `revision` that is current."""
        super().__init__(message)
        self.revision = revision


class EditRefused(ClientMistake):
    """The file cannot be edited as asked; nothing was changed. `reason` is one snake_case word."""

    def __init__(self, message: str, *, reason: str) -> None:
        """Keep the machine-readable `reason` beside the sentence."""
        super().__init__(message)
        self.reason = reason


class AuthRequired(AgentServerError):
    """There are no credentials that work, and logging in would help."""


class ModelFailure(AgentServerError):
    """The model could not answer. What to do about it depends only on `fault` (loop.md §2.4)."""

    def __init__(
        self,
        message: str,
        *,
        fault: Fault,
        status: int | None = None,
        retry_after_s: float | None = None,
        output: int = 0,
    ) -> None:
        """`status` is the HTTP status if there was one; `retry_after_s` what the provider asked for.

        `output` is the limit that cut a reply, in tokens, or how many it had, where one of them is known.
        """
        super().__init__(message)
        self.fault = fault
        self.status = status
        self.retry_after_s = retry_after_s
        self.output = output


class StoreFailure(AgentServerError):
    """The transcript could not be kept; the turn ends before the next effect."""


class NothingDone(StoreFailure):
    """What had to be kept before an effect could not be, so the effect did not happen."""


class BadArguments(AgentServerError):
    """The model's arguments for a tool do not fit its schema; the sentence names the field."""


class BadSetting(AgentServerError):
    """A setting has a wrong value; the sentence names file, line and key."""


def innermost(error: BaseException) -> BaseException:
    """The error itself, or the first one inside the groups in which tasks that ran together raise theirs."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    return error  # pyright: ignore[reportUnknownVariableType]


def words_of_error(error: BaseException) -> str:
    """What an error says, for a user: its own words, without the name of its class."""
    words = " ".join(str(innermost(error)).split())
    return words or "no reason was given; the server's log has more"


def unexpected(error: BaseException) -> str:
    """A sentence about an error that nobody foresaw; what was raised on purpose says it itself."""
    words = words_of_error(error)
    known = isinstance(innermost(error), AgentServerError)
    return words if known else f"something went wrong inside the server: {words}"
