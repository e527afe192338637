"""What the loop needs from outside, as roles.

Adapters live in providers/, store/, tools/, policy/, session/ and front/.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from agent_server.frozen import frozen
from agent_server.loop.action import Action, Answer, Decision, Question
from agent_server.loop.events import Event
from agent_server.loop.model import (
    CallKey,
    Entry,
    JsonObject,
    Location,
    Part,
    Reasoning,
    Reply,
    ToolCall,
    ToolKind,
    ToolResult,
    TurnId,
)
from agent_server.loop.proposal import Proposal, Resolution

# ---- the model -----------------------------------------------------------------------------------


@frozen
class UserMessage:
    """Something said to the model. Neighbouring user entries are merged into one."""

    parts: tuple[Part, ...]


@frozen
class AssistantMessage:
    """What the model said before; never empty."""

    text: str
    calls: tuple[ToolCall, ...]
    reasoning: tuple[Reasoning, ...] = ()


@frozen
class ToolMessage:
    """The result of one call of the assistant message before it, in call order."""

    call_id: str
    """The provider's label of the call."""
    name: str
    text: str


Message = UserMessage | AssistantMessage | ToolMessage


@frozen
class ToolSpec:
    """A tool as the model sees it."""

    name: str
    description: str
    parameters: JsonObject
    """JSON Schema of an object."""


@frozen
class Request:
    """One request to a model. Valid for a strict provider: starts with user, alternates, every call answered (I1)."""

    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    reply_number: int
    """`CallKey.reply` for the calls of the answer."""
    max_output: int | None = None


@frozen
class TextPiece:
    """A piece of visible text."""

    text: str


@frozen
class ReasoningPiece:
    """A piece of thinking."""

    text: str


@frozen
class CallOpened:
    """A tool call began; its name is known."""

    index: int
    name: str


@frozen
class CallPiece:
    """A piece of a call's raw arguments."""

    index: int
    text: str


@frozen
class CallClosed:
    """A call is complete before the stream ends; it may start early (R10)."""

    call: ToolCall


Piece = TextPiece | ReasoningPiece | CallOpened | CallPiece | CallClosed


class Model(Protocol):
    """A language model. One `stream` is one HTTP request: no retry, no tools, no loop inside (R2)."""

    @property
    def name(self) -> str:
        """litellm's name: `openai/gpt-x`."""
        ...

    @property
    def window(self) -> int:
        """Context window in tokens."""
        ...

    async def stream(self, request: Request, receive: Callable[[Piece], None]) -> Reply:
        """Ask, hand out pieces as they come, return the whole reply.

        The reply may be empty or truncated; judging that is the loop's. Cancellation closes the connection at once.

        Raises:
            ModelFailure: the request failed; pieces already received are void.
        """
        ...

    async def refresh_auth(self) -> bool:
        """Fetch a credential again after a 401 or 403; True when there is a new one."""
        ...


# ---- tools ---------------------------------------------------------------------------------------


@frozen
class CallContext:
    """What a running call may use of the turn."""

    turn: TurnId
    key: CallKey
    emit: Callable[[Event], None]
    gated: bool = False
    """The person was asked about this very call and said yes."""


@frozen
class Prepared:
    """A call whose arguments fit: what it is about to do, and how to do it. Preparing has no effect on the world."""

    action: Action
    title: str
    run: Callable[[CallContext, Resolution | None], Awaitable[ToolResult]]
    """Do it. With a proposal, the resolution says which part of it. Failures are results."""
    locations: tuple[Location, ...] = ()
    proposal: Proposal | None = None
    stage: Callable[[CallContext, Resolution | None], Awaitable[ToolResult]] | None = None
    """Do it where only the agent's own reads see it, to be reviewed later; None: it cannot be."""
    note: str | None = None
    """What whoever is asked about it should know beside the reason."""


class Tool(Protocol):
    """A tool the model may call."""

    @property
    def spec(self) -> ToolSpec:
        """Name, description and schema; the same bytes all session long."""
        ...

    @property
    def kind(self) -> ToolKind:
        """For the client's icon."""
        ...

    @property
    def read_only(self) -> bool:
        """Never changes anything: an interrupted call has effect `none`, adjacent calls run together."""
        ...

    @property
    def parallel(self) -> int:
        """How many adjacent calls of this tool may run at once although they can change things; mostly 1."""
        ...

    @property
    def ends_turn(self) -> bool:
        """A successful call ends the turn (R29)."""
        ...

    async def prepare(self, arguments: JsonObject, key: CallKey) -> Prepared | ToolResult:
        """Understand a call. A `ToolResult` settles it at once (a file to edit does not exist, text not found …).

        Raises:
            BadArguments: they do not fit the schema.
        """
        ...


Tools = Mapping[str, Tool]
"""By name, in the order they are shown to the model."""


# ---- everything else -------------------------------------------------------------------------------


class Policy(Protocol):
    """Judges actions; total and quick."""

    def decide(self, action: Action) -> Decision:
        """The verdict as of now: mode, rules, grants, floor."""
        ...

    async def remember(self, question: Question, answer: Answer) -> None:
        """Keep a grant when the answer reaches further than once."""
        ...


class Approver(Protocol):
    """Asks the person."""

    async def ask(self, question: Question) -> Answer:
        """Exactly one question; a client that fails, lies or is gone has answered no."""
        ...


class Staging(Protocol):
    """Edits that wait for one review of them all (`review = "turn"`)."""

    @property
    def active(self) -> bool:
        """Whether an edit that would be asked about is staged instead, as of now."""
        ...

    @property
    def holds(self) -> bool:
        """Whether something is staged."""
        ...

    async def review(self) -> Prepared | None:
        """All that is staged as one call with one proposal, to be asked about; None when it comes to nothing.

        Raises:
            StoreFailure: it could not be written down.
        """
        ...

    async def release(
        self, turn: TurnId, emit: Callable[[Event], None], why: str, *, left_open: bool = False
    ) -> None:
        """Stage nothing any more: reviewed and applied, or given up. Nothing on disk changes.

        With `left_open` nobody decided: what was asked about, or else each staged edit, may be decided later.

        Raises:
            StoreFailure: that could not be written down; it is forgotten all the same.
        """
        ...


class NoStaging:
    """Every edit is asked about by itself."""

    active = False
    holds = False

    async def review(self) -> Prepared | None:
        """None."""

    async def release(
        self, turn: TurnId, emit: Callable[[Event], None], why: str, *, left_open: bool = False
    ) -> None:
        """There is nothing."""
        del turn, emit, why, left_open


class Log(Protocol):
    """The session's append-only record. `append` returns when the entries are durable, in one commit."""

    @property
    def entries(self) -> Sequence[Entry]:
        """All of it, oldest first; grows in place."""
        ...

    async def append(self, *entries: Entry) -> None:
        """Keep these facts.

        Raises:
            StoreFailure: nothing of it was kept.
        """
        ...

    async def times(self) -> Sequence[datetime]:
        """When each of the entries was kept, in their order.

        Raises:
            StoreFailure: they cannot be read.
        """
        ...


class Context(Protocol):
    """Computes requests from the log; pure (context/)."""

    def request(
        self,
        entries: Sequence[Entry],
        *,
        nudge: str | None = None,
        tools: bool = True,
        max_output: int | None = None,
    ) -> Request:
        """The next request. `nudge` is said at the very end, to the model only, and is in no log."""
        ...

    def projected_tokens(self, entries: Sequence[Entry]) -> int:
        """How large the next request will be: the last real usage plus an estimate of what came since (R63)."""
        ...

    def compaction(self, entries: Sequence[Entry], *, forced: bool) -> "Compaction | None":
        """Where a summary may replace the past, and what to ask for it; None when nothing can be cut."""
        ...


@frozen
class Compaction:
    """A legal cut (never inside a batch) and what is needed to make the summary."""

    upto: int
    """Entries before this index are summarised."""
    request: Request
    """Asks the model for the summary."""
    extract: str
    """The summary made without a model, when that fails."""
    generation: int
    quote: str = ""
    """What must stand in the summary word for word."""
    below_chars: int = 0
    """About as long as what is summarised; a summary that is not shorter is none."""
    summariser: Model | None = None
    """Whom to ask first; the turn's own model if that fails."""
