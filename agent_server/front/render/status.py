"""The state of a turn and how it ended: `agent/status`, the prompt's result."""

from collections.abc import Sequence
from typing import Literal

from agent_server.front.blocks import Json, block_of
from agent_server.loop.events import StateChanged, TurnDone
from agent_server.loop.model import Detail, DoneReason, Part, SessionId, TurnId, Usage

StopReason = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]

_DONE_LABELS: dict[DoneReason, str] = {
    DoneReason.MODEL_STOP: "Done",
    DoneReason.MAX_TURNS: "Stopped: step limit reached",
    DoneReason.USER_ABORT: "Cancelled",
    DoneReason.ERROR: "Failed",
    DoneReason.BUDGET_EXCEEDED: "Stopped: budget used up",
    DoneReason.LOOP_DETECTED: "Stopped: repeating itself",
}
_RETRYABLE: frozenset[Detail] = frozenset({"provider", "empty_response", "incomplete_response"})


def state_status(session: SessionId, event: StateChanged) -> Json:
    """The turn is in this state now."""
    return {
        "sessionId": session,
        "turnId": event.turn,
        "state": event.state,
        "label": event.label,
        "busy": event.state != "done",
    }


def done_status(session: SessionId, event: TurnDone) -> Json:
    """The turn is over, and why."""
    return idle_status(session, turn=event.turn, label=_DONE_LABELS[event.reason]) | {
        "reason": event.reason.value,
        "detail": event.detail,
    }


def idle_status(session: SessionId, *, turn: TurnId | None = None, label: str = "Done") -> Json:
    """Nothing runs; also what a client gets once after new and load."""
    return {"sessionId": session, "turnId": turn, "state": "done", "label": label, "busy": False}


def prompt_result(
    turn: TurnId,
    reason: DoneReason,
    detail: Detail,
    usage: Usage,
    unread: Sequence[Sequence[Part]] = (),
) -> Json:
    """The answer to a prompt, on both wires."""
    own: Json = {
        "turnId": turn,
        "reason": reason.value,
        "detail": detail,
        "usage": usage_object(usage),
    }
    if unread:
        own["unread"] = [[block_of(part) for part in parts] for parts in unread]
    return {"stopReason": stop_reason(reason, detail), "_meta": {"agent-server": own}}


def stop_reason(reason: DoneReason, detail: Detail) -> StopReason:
    """ACP's closed set (loop.md §2.3); an error that gets here was shown as a message already."""
    match reason, detail:
        case DoneReason.MODEL_STOP, "truncated":
            return "max_tokens"
        case DoneReason.MODEL_STOP, "refusal":
            return "refusal"
        case ((DoneReason.MODEL_STOP | DoneReason.ERROR), _):
            return "end_turn"
        case DoneReason.USER_ABORT, _:
            return "cancelled"
        case ((DoneReason.MAX_TURNS | DoneReason.BUDGET_EXCEEDED | DoneReason.LOOP_DETECTED), _):
            return "max_turn_requests"


def is_retryable(detail: Detail) -> bool:
    """Whether the same prompt may succeed when it is sent again."""
    return detail in _RETRYABLE


def usage_object(usage: Usage) -> Json:
    """Tokens; the cost as a decimal string, null when unknown."""
    cost = None if usage.cost is None else {"amount": str(usage.cost), "currency": "USD"}
    return {
        "inputTokens": usage.input,
        "outputTokens": usage.output,
        "cachedReadTokens": usage.cached,
        "cost": cost,
    }
