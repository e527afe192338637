"""The nouns of the loop: messages, calls, results, usage, endings. Frozen values, no behaviour, no JSON."""

from collections.abc import Mapping
from dataclasses import field
from decimal import Decimal
from enum import StrEnum
from typing import Literal, NewType

from agent_server.frozen import frozen
from agent_server.loop.proposal import FileChange

SessionId = NewType("SessionId", str)
TurnId = NewType("TurnId", str)

JsonObject = Mapping[str, object]
"""A parsed JSON object from outside; its values are not trusted."""

Mode = Literal["ask", "accept_edits", "plan", "auto"]
MODES: tuple[Mode, ...] = ("ask", "accept_edits", "plan", "auto")

Review = Literal["each", "turn"]
"""When a person is asked about edits: about each, or about all of a turn together."""
REVIEWS: tuple[Review, ...] = ("each", "turn")

ToolKind = Literal[
    "read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"
]
"""What a call does, in ACP's words; decides the icon a client shows."""

Effect = Literal["none", "confirmed", "unknown"]
"""Did the call touch the world (loop.md R107–R109): never started · tool code returned · interrupted midway."""

Finish = Literal["stop", "tool_calls", "length", "content_filter", "interrupted"]
"""Why the model stopped. `interrupted`: the stream ended cleanly without label or terminator."""


# ---- what people and models say ------------------------------------------------------------------


@frozen
class Text:
    """Plain text or Markdown."""

    text: str


@frozen
class Image:
    """An inline image."""

    mime: str
    data: str
    """Base64."""


@frozen
class Resource:
    """A file or document that the person attached; `text` is None for a bare link."""

    uri: str
    name: str
    text: str | None = None


Part = Text | Image | Resource
"""One piece of a user message."""

Origin = Literal["prompt", "steer", "nudge", "hook", "continue"]


@frozen
class Reasoning:
    """One block of the model's thinking. `opaque` (signature, encrypted item) goes back unchanged, only to `model`."""

    text: str
    model: str
    opaque: str | None = None
    """JSON text as the provider sent it, or None."""


@frozen
class CallKey:
    """Identity of a tool call: the how-many-th reply of the session, and the place in it. Never the provider's id."""

    reply: int
    index: int

    def __str__(self) -> str:
        """The call's id on our wires (ACP `toolCallId`), unique in a session."""
        return f"call-{self.reply}-{self.index}"

    def __lt__(self, other: "CallKey") -> bool:
        return (self.reply, self.index) < (other.reply, other.index)


@frozen
class ToolCall:
    """A tool call as the model wrote it."""

    key: CallKey
    id: str
    """The provider's label, made unique within its reply; only ever sent back to a provider."""
    name: str
    arguments: str
    """Raw JSON text; may be malformed."""


@frozen
class Usage:
    """Tokens of one reply, or a sum of replies. `cost` None means unknown, never zero."""

    input: int = 0
    """Prompt tokens, cached ones included."""
    output: int = 0
    cached: int = 0
    cache_write: int = 0
    reasoning: int = 0
    cost: Decimal | None = None
    """US dollars."""

    def __add__(self, other: "Usage") -> "Usage":
        """The sum; its cost is unknown when a summand that used tokens has an unknown one."""
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cached + other.cached,
            self.cache_write + other.cache_write,
            self.reasoning + other.reasoning,
            _add_costs(self, other),
        )


def _add_costs(one: Usage, two: Usage) -> Decimal | None:
    known = [u.cost for u in (one, two) if u.cost is not None]
    blind = any(u.cost is None and (u.input or u.output) for u in (one, two))
    return None if blind or not known else sum(known, Decimal(0))


@frozen
class Reply:
    """One whole answer of the model, assembled from its stream."""

    text: str
    calls: tuple[ToolCall, ...]
    finish: Finish
    model: str
    usage: Usage
    reasoning: tuple[Reasoning, ...] = ()
    note: str | None = None
    """A sentence for the user about how it ended, where that was unusual: an unknown label, an error after the end."""


# ---- tool results --------------------------------------------------------------------------------


@frozen
class Location:
    """A place the person may want to look at."""

    path: str
    """Absolute."""
    line: int | None = None
    """1-based."""


@frozen
class ToolResult:
    """What a call gave: `output` for the model, the rest for the person."""

    ok: bool
    output: str
    code: str | None = None
    """One snake_case word for the kind of failure, None when ok."""
    changes: tuple[FileChange, ...] = ()
    """The edits that were really applied, or proposed and refused; shown as diffs."""
    locations: tuple[Location, ...] = ()
    summary: str | None = None
    """Outcome in a few words for a tool line, such as `12 hits`."""


@frozen
class PlanItem:
    """One line of the model's plan."""

    text: str
    status: Literal["pending", "in_progress", "completed"]


# ---- how a turn ends (loop.md §2.3) -----------------------------------------------------------------


class DoneReason(StrEnum):
    """The six public reasons; everything finer is a detail from a closed set."""

    MODEL_STOP = "model_stop"
    MAX_TURNS = "max_turns"
    USER_ABORT = "user_abort"
    ERROR = "error"
    BUDGET_EXCEEDED = "budget_exceeded"
    LOOP_DETECTED = "loop_detected"


Detail = Literal[
    "text", "tool_ended", "soft_stop", "truncated", "refusal",
    "summary", "no_summary",
    "cancel", "redirect", "approval_cancelled", "shutdown",
    "same_error_cap", "provider", "auth", "billing", "empty_response", "incomplete_response",
    "context_full", "invalid", "persistence", "internal",
    "tokens", "cost", "wall_time",
    "same_call", "cycle", "empty_results",
]  # fmt: skip


# ---- the log: append-only facts from which every request and every replay is computed ---------------


@frozen
class UserEntry:
    """Somebody spoke to the model."""

    turn: TurnId
    parts: tuple[Part, ...]
    origin: Origin = "prompt"


@frozen
class ReplyEntry:
    """The model answered; every call in it is thereby pending (R105)."""

    turn: TurnId
    number: int
    """The how-many-th reply of the session, from 1: `CallKey.reply` of its calls."""
    reply: Reply


@frozen
class StartedEntry:
    """Tool code of an effectful call is about to run (R106)."""

    turn: TurnId
    key: CallKey


@frozen
class ResultEntry:
    """A call got its one and only result."""

    turn: TurnId
    key: CallKey
    result: ToolResult
    effect: Effect


@frozen
class PartialEntry:
    """Text that was already shown when its stream was cut or cancelled; for people, never for a model (R136)."""

    turn: TurnId
    text: str


@frozen
class PlanEntry:
    """The plan as it now stands, whole."""

    turn: TurnId
    items: tuple[PlanItem, ...]


@frozen
class SummaryEntry:
    """A compaction: entries before index `upto` of what stands in the log are represented by `text` in requests."""

    turn: TurnId
    text: str
    upto: int
    generation: int


@frozen
class TurnEndEntry:
    """The turn is over; written before anybody is told."""

    turn: TurnId
    reason: DoneReason
    detail: Detail
    usage: Usage = field(default_factory=Usage)
    message: str | None = None
    """A sentence for the person when the reason is an error."""


@frozen
class RewoundEntry:
    """The conversation was taken back: what stands from here on is what stood when the log had `upto` entries.

    Nothing is deleted, and going back to where this entry is undoes it (loop/standing.py).
    """

    turn: TurnId
    """No turn's: empty."""
    upto: int
    restore: str | None = None
    """The transaction by which files were taken back along with it."""


@frozen
class AsideEntry:
    """What the model has to hear besides the person's words; a later `UserEntry` repeats it once it was said."""

    turn: TurnId
    """The one that ran; empty between turns."""
    text: str
    about: str | None = None
    """The transaction that it tells of."""


@frozen
class SpentEntry:
    """Something was asked of a model for the session and beside its turns, such as a title."""

    turn: TurnId
    """The one that ran; empty between turns."""
    usage: Usage
    what: str
    """What for, in a word."""


Withheld = Literal["images", "turn"]
"""What of the conversation before it a model is not shown any more: all pictures, or what was said in one turn."""


@frozen
class WithheldEntry:
    """A provider refused a request for the form of its content, which is left out of later requests."""

    turn: TurnId
    what: Withheld
    reason: str
    """The provider's words."""


Entry = (
    UserEntry
    | ReplyEntry
    | StartedEntry
    | ResultEntry
    | PartialEntry
    | PlanEntry
    | SummaryEntry
    | TurnEndEntry
    | RewoundEntry
    | AsideEntry
    | SpentEntry
    | WithheldEntry
)
