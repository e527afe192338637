"""What to do about a request that failed: the one table of loop.md §2.4, as a pure decision."""

import json
import random
from typing import assert_never

from agent_server.frozen import frozen
from agent_server.loop.errors import ModelFailure
from agent_server.loop.faults import Fault
from agent_server.loop.model import Detail, DoneReason, Reply, ResultEntry, ToolCall
from agent_server.loop.states import Compacting, Done
from agent_server.loop.turn import Turn

NUDGE = "Your last answer was empty. State your result, or call a tool."
CONTINUE = "Go on: give your answer, or call a tool."
GO_ON = "Your answer was cut by the output limit. Go on exactly where it stops, without repeating anything."
EMPTY_RETRIES = 1
REASONING_RETRIES = 2
"""Further tries after the first reply that only thought; the third such reply fails over (R43)."""
CONTINUATIONS = 2
"""How often a text that was cut by the output limit is continued (R44)."""
OUTPUT_CAPS = (16_384, 32_768)
"""Output limits of the tries after a cut call, in tokens."""
NUDGED = "nudged"
"""Counts the nudges of a turn after empty replies; there is one at most (R41)."""
SHORTER = "Your last call was cut by the output limit and not run. Send less at once: several smaller calls."


@frozen
class Retry:
    """Ask again after `delay_s`, saying `nudge` at the end of that one request."""

    delay_s: float = 0.0
    nudge: str | None = None
    max_output: int | None = None


@frozen
class Refresh:
    """Fetch the credential again and ask again."""


@frozen
class Failover:
    """Go on with the next model."""


Move = Retry | Refresh | Failover | Compacting | Done


def fault_of(reply: Reply, max_output: int | None) -> ModelFailure | None:
    """The fault that a reply stands for; None when it can be accepted as it is. `max_output` was asked for."""
    name = reply.model
    said = bool(reply.text.strip())
    if reply.calls and not (reply.finish == "content_filter" and not said):
        return _cut_call(reply, max_output, said=said)
    if said:
        return None
    if reply.finish == "content_filter":
        return ModelFailure(f"{name} refused to answer", fault=Fault.REFUSAL)
    if reply.finish == "length":
        return _cut(f"{name} was cut before it said anything", reply, max_output)
    if reply.finish == "interrupted":
        return ModelFailure(f"{name} broke off before it said anything", fault=Fault.TRANSIENT)
    if reply.reasoning:
        return ModelFailure(f"{name} only thought and said nothing", fault=Fault.REASONING_ONLY)
    told = "" if reply.note is None else f"; {reply.note}"
    return ModelFailure(f"{name} answered with nothing{told}", fault=Fault.EMPTY)


def _cut_call(reply: Reply, max_output: int | None, *, said: bool) -> ModelFailure | None:
    """A call that was cut; text that was shown stays, and then its calls are settled by a result that says so."""
    if all(map(is_whole, reply.calls)):
        return None
    if reply.finish == "length":
        return _cut(f"{reply.model} was cut in a tool call", reply, max_output)
    if reply.finish == "interrupted" and not said:
        return ModelFailure(f"{reply.model} broke off in a tool call", fault=Fault.TRANSIENT)
    return None


def _cut(words: str, reply: Reply, max_output: int | None) -> ModelFailure:
    output = max(reply.usage.output, max_output or 0)
    return ModelFailure(words, fault=Fault.TRUNCATED, output=output)


def larger_cap(t: Turn, failure: ModelFailure) -> int | None:
    """The limit with which to ask again for a reply that was cut; None when none is larger than what cut it."""
    if t.tries[Fault.INVALID]:  # a larger one was refused
        return None
    return next((cap for cap in OUTPUT_CAPS if cap > failure.output), None)


def is_whole(call: ToolCall) -> bool:
    """Whether a call of a reply that was cut came to its end: its arguments are an object, and there are some."""
    try:
        return isinstance(json.loads(call.arguments), dict)
    except (ValueError, RecursionError):
        return False


def not_to_run(reply: Reply, call: ToolCall) -> str | None:
    """Why a call must not run although the reply was accepted; None when it may."""
    if reply.finish == "content_filter":
        return "a filter of the provider stopped this answer, so none of its calls was run"
    if reply.finish in ("length", "interrupted") and not is_whole(call):
        why = "by the output limit" if reply.finish == "length" else "because the answer broke off"
        return f"the call was cut {why}; send less at once: several smaller calls"
    return None


def recovery(t: Turn, failure: ModelFailure, *, can_compact: bool) -> Move:
    """The next move. `t.tries[failure.fault]` counts the failures before this one."""
    tries = t.tries[failure.fault] + 1
    match failure.fault:
        case Fault.TRANSIENT | Fault.RATE_LIMIT:
            patient = (failure.retry_after_s or 0.0) <= t.limits.max_delay_s
            retry = patient and tries <= _transient_retries(t)
            return _again(t, failure) if retry else _else(t, failure, "provider")
        case Fault.EMPTY:
            return _after_empty(t, failure, tries)
        case Fault.REASONING_ONLY:
            if tries > REASONING_RETRIES:
                return _else(t, failure, "incomplete_response")
            return Retry(nudge=CONTINUE if tries > 1 else None)
        case Fault.OVERFLOW:
            once = can_compact and tries == 1 and t.compactions < t.limits.max_compactions
            return Compacting("overflow") if once else _give_up("context_full", failure)
        case Fault.REFUSAL:
            return (
                Failover() if t.fallbacks else Done(DoneReason.MODEL_STOP, "refusal", str(failure))
            )
        case Fault.TRUNCATED:
            if (cap := larger_cap(t, failure)) is not None:
                return Retry(max_output=cap)
            return Done(DoneReason.MODEL_STOP, "truncated", str(failure))
        case Fault.AUTH:
            return Refresh() if tries == 1 else _else(t, failure, "auth")
        case Fault.BILLING:
            return _else(t, failure, "billing")
        case Fault.INVALID:
            # A model may refuse the larger output limit that we asked for; then it has to say less.
            raised = t.tries[Fault.TRUNCATED] > 0 and tries == 1
            return Retry(nudge=SHORTER) if raised else _give_up("invalid", failure)
        case _:
            assert_never(failure.fault)


def _transient_retries(t: Turn) -> int:
    """One on the same provider when another can go on, else all of them (spec §14)."""
    return min(1, t.limits.transient_retries) if t.fallbacks else t.limits.transient_retries


def _after_empty(t: Turn, failure: ModelFailure, tries: int) -> Move:
    """Same wire once, then one nudge if tools ran in this turn, then another model, then the end (R42)."""
    if tries <= EMPTY_RETRIES:
        return Retry()
    if tries == EMPTY_RETRIES + 1 and _tools_ran(t) and not t.counts[NUDGED]:
        return Retry(nudge=NUDGE)
    return _else(t, failure, "empty_response")


def _tools_ran(t: Turn) -> bool:
    return any(isinstance(e, ResultEntry) and e.turn == t.id for e in reversed(t.log.entries))


def _again(t: Turn, failure: ModelFailure) -> Retry:
    """Back off by doubling with jitter; what the provider asks for is a minimum, never a replacement."""
    backoff = 0.5 * 2 ** t.tries[failure.fault] * random.uniform(0.8, 1.2)
    return Retry(min(t.limits.max_delay_s, max(backoff, failure.retry_after_s or 0.0)))


def _else(t: Turn, failure: ModelFailure, detail: Detail) -> Failover | Done:
    return Failover() if t.fallbacks else _give_up(detail, failure)


def _give_up(detail: Detail, failure: ModelFailure) -> Done:
    return Done(DoneReason.ERROR, detail, str(failure))
