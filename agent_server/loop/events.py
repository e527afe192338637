"""Everything a client may see of a turn, in the order it happened. Facts are never dropped; text deltas may be merged.

Law of order: an event that states a fact follows the log entry of that fact; `TurnDone` is the last event of a turn;
`CallPending` precedes every other event of its call, `CallFinished` ends it, always before `TurnDone`.
"""

from dataclasses import field
from typing import Literal

from agent_server.frozen import frozen
from agent_server.loop.action import Question
from agent_server.loop.model import (
    CallKey,
    Detail,
    DoneReason,
    Effect,
    Location,
    Part,
    PlanItem,
    ToolKind,
    ToolResult,
    TurnId,
    Usage,
)
from agent_server.loop.proposal import EditState, HunkState, PartDecision, Proposal

StateName = Literal["thinking", "streaming", "executing", "confirming", "compacting", "done"]


@frozen
class StateChanged:
    """The turn entered a state; `label` says it for a status bar."""

    turn: TurnId
    state: StateName
    label: str


@frozen
class UserSaid:
    """A user message entered the conversation (live only for steered and queued text; always in a replay)."""

    turn: TurnId
    message_id: str
    parts: tuple[Part, ...]


@frozen
class TextDelta:
    """A streamed piece of the answer. A tool call between two texts starts a new `message_id`."""

    turn: TurnId
    message_id: str
    text: str


@frozen
class ThoughtDelta:
    """A streamed piece of the model's thinking."""

    turn: TurnId
    message_id: str
    text: str


@frozen
class TextDiscarded:
    """The text shown under `message_id` belongs to a failed attempt and is not part of the conversation."""

    turn: TurnId
    message_id: str


@frozen
class CallPending:
    """The model began a call (its name is known), or the call is now understood (title, kind, places, proposal)."""

    turn: TurnId
    key: CallKey
    tool: str
    title: str
    kind: ToolKind
    locations: tuple[Location, ...] = ()
    arguments: str | None = None
    """Raw JSON text, once complete."""
    proposal: Proposal | None = None


@frozen
class CallGrowing:
    """A piece of a call's raw arguments, as the model writes them; only the new part."""

    turn: TurnId
    key: CallKey
    text: str


@frozen
class CallStarted:
    """Tool code runs now."""

    turn: TurnId
    key: CallKey


@frozen
class CallProgress:
    """Output of a running tool, only the new part."""

    turn: TurnId
    key: CallKey
    text: str


@frozen
class CallFinished:
    """The call has its result."""

    turn: TurnId
    key: CallKey
    tool: str
    result: ToolResult
    effect: Effect
    seconds: float | None = None
    """How long the tool code ran; None in a replay or when it never ran."""


@frozen
class ConfirmationRequired:
    """A question is open; the answer comes through the approver, not through this event."""

    turn: TurnId
    question: Question


@frozen
class EditChanged:
    """A proposed edit changed its state. `hunks` maps (path, hunk id) to the hunk's own state."""

    turn: TurnId
    proposal: Proposal
    state: EditState
    hunks: tuple[tuple[str, str, HunkState], ...] = ()
    message: str | None = None
    gated: bool = True
    """False: applied without a question (`accept_edits`, `auto`), shown for review."""
    key: CallKey | None = None
    """The call under which a client knows it, when that is not the call it was proposed for (a sub-agent's)."""
    hashes: tuple[tuple[str, str], ...] = ()
    """(path, content hash) of each text that it left behind; none unless it is applied."""
    decided: tuple[PartDecision, ...] = ()
    """What the user had decided of it when it was left open."""
    left: tuple[tuple[str, EditState, str], ...] = ()
    """(path, state, why) of each file that did not become part of an applied edit."""


@frozen
class PlanChanged:
    """The model's plan, whole."""

    turn: TurnId
    items: tuple[PlanItem, ...]


@frozen
class UsageChanged:
    """Tokens in use after the last reply, the model's window, and the session's cost so far."""

    turn: TurnId
    used: int
    window: int
    session: Usage


@frozen
class StepFinished:
    """A reply was accepted and all its calls, if it had any, have their results; always before what follows (R142)."""

    turn: TurnId
    step: int
    """The how-many-th of the turn, from 1."""
    calls: tuple[CallKey, ...] = ()
    """In the order in which the model made them."""


@frozen
class Retrying:
    """A request failed and is repeated after a delay."""

    turn: TurnId
    fault: str
    attempt: int
    delay_s: float
    message: str


@frozen
class ModelSwitched:
    """Another model goes on with the turn; `reason` is the fault of the one before."""

    turn: TurnId
    model: str
    before: str
    reason: str


@frozen
class Notice:
    """Something the person should know that is not part of the conversation."""

    severity: Literal["info", "warning", "error"]
    title: str
    description: str | None = None


@frozen
class TitleChanged:
    """The session has a (new) title."""

    title: str


@frozen
class TurnDone:
    """The turn is over; nothing follows it."""

    turn: TurnId
    reason: DoneReason
    detail: Detail
    usage: Usage = field(default_factory=Usage)
    message: str | None = None


Event = (
    StateChanged
    | UserSaid
    | TextDelta
    | ThoughtDelta
    | TextDiscarded
    | CallPending
    | CallGrowing
    | CallStarted
    | CallProgress
    | CallFinished
    | ConfirmationRequired
    | EditChanged
    | PlanChanged
    | UsageChanged
    | StepFinished
    | Retrying
    | ModelSwitched
    | Notice
    | TitleChanged
    | TurnDone
)
