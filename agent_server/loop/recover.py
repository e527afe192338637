"""What to do about a request that failed: the one table of loop.md §2.4, as a pure decision."""

import random
from dataclasses import dataclass
from typing import assert_never

from agent_server.loop.errors import ModelFailure
from agent_server.loop.faults import Fault
from agent_server.loop.model import Detail, DoneReason, Reply, ResultEntry
from agent_server.loop.states import Compacting, Done
from agent_server.loop.turn import Turn

NUDGE = "Your last answer was empty. State your result, or call a tool."
CONTINUE = "Go on: give your answer, or call a tool."
EMPTY_RETRIES = 1
REASONING_RETRIES = 2
AUTH_RETRIES = 1


@dataclass(frozen=True, slots=True)
class Retry:
    """Ask again after `delay_s`, saying `nudge` at the end of that one request."""

    delay_s: float = 0.0
    nudge: str | None = None


def fault_of(reply: Reply) -> ModelFailure | None:
    """The fault that a reply without text and calls stands for; None when it can be accepted."""
    if reply.calls or reply.text.strip():
        return None
    if reply.finish == "content_filter":
        return ModelFailure(f"{reply.model} refused to answer", fault=Fault.REFUSAL)
    if reply.finish == "length":
        return ModelFailure(
            f"{reply.model} used up its output limit before it said anything", fault=Fault.TRUNCATED
        )
    if reply.finish == "interrupted":
        return ModelFailure(
            f"{reply.model} broke off before it said anything", fault=Fault.TRANSIENT
        )
    if reply.reasoning:
        return ModelFailure(
            f"{reply.model} only thought and said nothing", fault=Fault.REASONING_ONLY
        )
    return ModelFailure(f"{reply.model} answered with nothing", fault=Fault.EMPTY)


def recovery(t: Turn, failure: ModelFailure, *, can_compact: bool) -> Retry | Compacting | Done:
    """The next move. `t.tries[failure.fault]` already counts this failure."""
    tries = t.tries[failure.fault]
    match failure.fault:
        case Fault.TRANSIENT:
            return (
                _again(t, failure)
                if tries <= t.limits.transient_retries
                else _give_up("provider", failure)
            )
        case Fault.RATE_LIMIT:
            patient = (failure.retry_after_s or 0.0) <= t.limits.max_delay_s
            retry = patient and tries <= t.limits.transient_retries
            return _again(t, failure) if retry else _give_up("provider", failure)
        case Fault.EMPTY:
            return _after_empty(t, failure, tries)
        case Fault.REASONING_ONLY:
            if tries > REASONING_RETRIES:
                return _give_up("incomplete_response", failure)
            return Retry(nudge=CONTINUE if tries > 1 else None)
        case Fault.OVERFLOW:
            once = can_compact and tries == 1 and t.compactions < t.limits.max_compactions
            return Compacting("overflow") if once else _give_up("context_full", failure)
        case Fault.REFUSAL:
            return Done(DoneReason.MODEL_STOP, "refusal", str(failure))
        case Fault.TRUNCATED:
            return Done(DoneReason.MODEL_STOP, "truncated", str(failure))
        case Fault.AUTH:
            return _give_up("auth", failure)
        case Fault.BILLING:
            return _give_up("billing", failure)
        case Fault.INVALID:
            return _give_up("invalid", failure)
        case _:
            assert_never(failure.fault)


def _after_empty(t: Turn, failure: ModelFailure, tries: int) -> Retry | Done:
    """Same wire once, then one nudge if tools ran in this turn, then the end (R42)."""
    if tries <= EMPTY_RETRIES:
        return Retry()
    if tries == EMPTY_RETRIES + 1 and _tools_ran(t):
        return Retry(nudge=NUDGE)
    return _give_up("empty_response", failure)


def _tools_ran(t: Turn) -> bool:
    return any(isinstance(e, ResultEntry) and e.turn == t.id for e in reversed(t.log.entries))


def _again(t: Turn, failure: ModelFailure) -> Retry:
    """Back off by doubling with jitter; what the provider asks for is a minimum, never a replacement."""
    backoff = 0.5 * 2 ** (t.tries[failure.fault] - 1) * random.uniform(0.8, 1.2)
    return Retry(min(t.limits.max_delay_s, max(backoff, failure.retry_after_s or 0.0)))


def _give_up(detail: Detail, failure: ModelFailure) -> Done:
    return Done(DoneReason.ERROR, detail, str(failure))
