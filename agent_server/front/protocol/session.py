"""A conversation on the wire, as far as it is ours: envelopes, status, results, questions, error data."""

from typing import Literal

from pydantic import Field, JsonValue

from agent_server.front.protocol.base import Wire
from agent_server.loop.events import StateName
from agent_server.loop.model import Detail, DoneReason, Effect, ToolKind


def _is_empty(value: object) -> bool:
    return not value


class SessionUpdate(Wire):
    """One piece of a turn, in order. Over ACP `seq` and `turnId` are in `_meta["agent-server"]`."""

    session_id: str
    seq: int = Field(ge=1)
    """From 1 per connection and session, without gaps."""
    turn_id: str | None
    """Null between turns, and while a stored conversation is replayed."""
    update: dict[str, JsonValue]
    """ACP's `SessionUpdate` object, told apart by `sessionUpdate`; `UpdateTerms` are in its `_meta`."""


class Status(Wire):
    """What a status bar shows. Sent at each change of state, and once after new and load."""

    session_id: str
    turn_id: str | None
    state: StateName
    label: str
    """For people."""
    busy: bool
    reason: DoneReason | None = Field(default=None, exclude_if=lambda value: value is None)
    """With `done` after a turn: why it ended."""
    detail: Detail | None = Field(default=None, exclude_if=lambda value: value is None)


class Cost(Wire):
    """Money."""

    amount: str
    """A decimal number."""
    currency: Literal["USD"] = "USD"


class TurnUsage(Wire):
    """Tokens of a turn."""

    input_tokens: int
    output_tokens: int
    cached_read_tokens: int
    cost: Cost | None
    """Null: unknown, not free."""


class TurnResult(Wire):
    """What the prompt's result says besides ACP's `stopReason`."""

    turn_id: str
    reason: DoneReason
    detail: Detail
    usage: TurnUsage
    unread: tuple[tuple[dict[str, JsonValue], ...], ...] | None = Field(
        default=None, exclude_if=lambda value: value is None
    )
    """Prompts steered into the turn that it did not hear: content blocks each, to be given back to the person."""


class PromptMeta(Wire):
    """The `_meta` of a prompt's result."""

    agent_server: TurnResult = Field(
        validation_alias="agent-server", serialization_alias="agent-server"
    )


class PromptResult(Wire):
    """The turn is over and settled; also after a cancellation, which is not an error."""

    stop_reason: Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]
    meta: PromptMeta


class TurnEnd(Wire):
    """How a turn of a stored conversation ended: what its prompt was answered with then."""

    turn_id: str
    reason: DoneReason
    detail: Detail
    usage: TurnUsage


class UpdateTerms(Wire):
    """`_meta["agent-server"]` of an update: what ACP has no field for. What is absent is not said."""

    arguments_delta: str | None = None
    """Of `tool_call_update`: the next piece of the raw JSON that the model is writing."""
    discarded: str | None = None
    """The `messageId` whose text is void: the answer broke off and starts again."""
    summary: str | None = None
    """Of a call that ended: its outcome in a few words."""
    code: str | None = None
    """Of a call that ended: why it failed, one word; `denied` when the person said no."""
    effect: Effect | None = None
    """Of a call that ended: whether it touched the world."""
    seconds: float | None = None
    """Of a call that ended: how long it ran."""
    turn_end: TurnEnd | None = None
    """Of `session_info_update`, in a replay: everything of that turn has been shown."""


class SteerTurn(Wire):
    """Something said to a session while it works."""

    session_id: str
    mode: Literal["queue", "steer", "redirect", "stop"]
    """A turn of its own after the others · heard at the next step · at once, dropping what streams · end softly."""
    prompt: tuple[dict[str, JsonValue], ...] = ()
    """ACP's content blocks; none with `stop`."""
    expected_turn_id: str | None = None
    """The turn that is meant. Required, except with `queue`."""


class TurnSteered(Wire):
    """What became of it."""

    outcome: Literal["steered", "redirected", "queued", "started", "stopping"]
    turn_id: str
    """The turn that hears it."""


class ErrorData(Wire):
    """The `data` of an error. The sentence for people is the error's `message`."""

    reason: str
    """One snake_case word."""
    details: str | None = None
    error: str | None = None
    """The same sentence, for clients that look here."""
    retryable: bool = False
    turn_id: str | None = None


class AskedCall(Wire):
    """The tool call that needs a yes."""

    tool_call_id: str
    title: str | None = None
    name: str | None = None
    """The tool's."""
    kind: ToolKind | None = None
    status: Literal["pending"] = "pending"
    content: tuple[dict[str, JsonValue], ...] = Field(default=(), exclude_if=_is_empty)
    """ACP's `ToolCallContent`: the diffs or the command that is asked about, then why."""
    locations: tuple[dict[str, JsonValue], ...] = Field(default=(), exclude_if=_is_empty)
    """ACP's `ToolCallLocation`: the files that it is about."""


class PermissionOption(Wire):
    """One way to answer."""

    option_id: str
    name: str
    kind: Literal["allow_once", "allow_always", "reject_once", "reject_always"]


class QuestionTerms(Wire):
    """What ACP's question has no field for. A field that is absent has its default."""

    floor: bool = Field(default=False, exclude_if=_is_empty)
    """On the safety floor: no automatic yes may answer it, and a yes reaches no further than once."""
    reason: str | None = Field(default=None, exclude_if=lambda value: value is None)
    """Why it is asked, in words for the user; for a place outside of the workspace: which."""
    within: str | None = Field(default=None, exclude_if=lambda value: value is None)
    """The running call whose sub-agent asks; `toolCall` is then one made for the question alone. Null: the agent
    that the person talks to asks."""


class QuestionMeta(Wire):
    """The `_meta` of a question."""

    agent_server: QuestionTerms | None = Field(
        default=None, validation_alias="agent-server", serialization_alias="agent-server"
    )


class RequestPermission(Wire):
    """A question to the person, as ACP's `session/request_permission`."""

    session_id: str
    tool_call: AskedCall
    options: tuple[PermissionOption, ...]
    """In the order to show them."""
    meta: QuestionMeta | None = Field(default=None, exclude_if=lambda value: value is None)


class Feedback(Wire):
    """Words for the model, beside an answer."""

    feedback: str | None = None


class FeedbackMeta(Wire):
    """The `_meta` of an outcome."""

    agent_server: Feedback | None = Field(
        default=None, validation_alias="agent-server", serialization_alias="agent-server"
    )


class PermissionOutcome(Wire):
    """What was picked."""

    outcome: Literal["selected", "cancelled"]
    option_id: str | None = None
    """With `selected`."""
    meta: FeedbackMeta | None = None


class PermissionAnswer(Wire):
    """The person's answer. Null, an error and an unknown option mean no."""

    outcome: PermissionOutcome


class Ask(Wire):
    """A question of the model itself."""

    session_id: str
    tool_call_id: str
    """The call of `ask_user`, which waits."""
    question: str
    options: tuple[str, ...]
    """Answers to choose from, at most nine; none: in words."""


class Asked(Wire):
    """What the person says."""

    answer: str | None
    """One of the options, or words of their own. Null: they do not answer."""
