"""Streaming: one request, its pieces shown as they come, its reply judged and logged."""

from dataclasses import replace

import anyio

from agent_server.frozen import frozen
from agent_server.loop.early import Early
from agent_server.loop.errors import ModelFailure, StoreFailure
from agent_server.loop.events import ModelSwitched, Notice, Retrying, StepFinished, UsageChanged
from agent_server.loop.faults import Fault
from agent_server.loop.model import (
    AsideEntry,
    DoneReason,
    Reply,
    ReplyEntry,
    Text,
    WithheldEntry,
)
from agent_server.loop.recover import (
    CONTINUATIONS,
    GO_ON,
    NUDGE,
    NUDGED,
    Failover,
    Refresh,
    Retry,
    fault_of,
    larger_cap,
    recovery,
)
from agent_server.loop.refused import is_about_form, withhold
from agent_server.loop.shown import Shown
from agent_server.loop.states import Compacting, Done, Executing, State, Streaming, Thinking
from agent_server.loop.turn import Turn


@frozen
class Redirected:
    """The person corrected the course while the model was speaking."""


async def streaming(t: Turn, state: Streaming) -> State:
    """Exactly one request (R2). Only `recover` decides what follows a failure."""
    number = next(t.numbers)
    shown = Shown(t, number)
    try:
        got = await _ask(t, state, number, shown)
    except BaseException:
        with anyio.CancelScope(shield=True):
            await shown.break_off()
        raise
    match got:
        case Redirected():
            return await _redirected(t, shown)
        case ModelFailure():
            return await _failed(t, state, got, shown)
        case Reply():
            return await _judge(t, state, number, got, shown)


async def _ask(
    t: Turn, state: Streaming, number: int, shown: Shown
) -> Reply | ModelFailure | Redirected:
    """The request; calls that only read run beside it as soon as they are whole."""
    request = replace(state.request, reply_number=number)
    got: Reply | ModelFailure = ModelFailure("the request was dropped", fault=Fault.TRANSIENT)
    with anyio.CancelScope() as t.control.request:
        async with anyio.create_task_group() as group:
            shown.early = Early(t, group)
            t.early = shown.early.results
            try:
                got = await t.model.stream(request, shown.receive)
                t.charge(got.usage)  # at once: a reply that is dropped was paid for too (I16)
            except ModelFailure as failure:
                got = failure
                group.cancel_scope.cancel()
    redirected = t.control.request.cancelled_caught
    t.control.request = None
    return Redirected() if redirected else got


async def _judge(t: Turn, state: Streaming, number: int, reply: Reply, shown: Shown) -> State:
    failure = fault_of(reply, state.request.max_output)
    if failure is None or (reply.calls and _stays(t, failure)):
        return await _accept(t, state, number, reply, shown)
    return await _failed(t, state, failure, shown)


def _stays(t: Turn, failure: ModelFailure) -> bool:
    """Whether asking again would bring nothing else: calls that stay cut or refused get a result that says so."""
    match failure.fault:
        case Fault.REFUSAL:
            return not t.fallbacks
        case Fault.TRUNCATED:
            return larger_cap(t, failure) is None
        case _:
            return False


async def _accept(t: Turn, state: Streaming, number: int, reply: Reply, shown: Shown) -> State:
    with anyio.CancelScope(shield=True):
        try:
            await t.log.append(ReplyEntry(t.id, number, reply))
        except StoreFailure:
            shown.close_calls()
            raise
    t.steps += 1
    t.tries.clear()
    used = reply.usage.input + reply.usage.output
    t.emit(UsageChanged(t.id, used, t.model.window, t.before + t.usage))
    shown.announce(reply)
    if reply.note is not None:
        t.emit(Notice("warning", "The end of the answer was unusual", reply.note))
    if not reply.calls:
        t.emit(StepFinished(t.id, t.steps))
    return _after(t, state, number, reply)


def _after(t: Turn, state: Streaming, number: int, reply: Reply) -> State:
    """Where an accepted reply leads: its calls, what the person added, the rest of a cut text, or the end."""
    if state.last:
        return Done(DoneReason.MAX_TURNS, "summary", f"stopped after {t.steps - 1} steps")
    if reply.finish == "content_filter" and (reply.calls or not t.control.inbox):
        return Done(DoneReason.MODEL_STOP, "refusal", f"{reply.model} refused to go on")
    if reply.calls:
        return Executing(number)
    if t.control.inbox:
        return Thinking()
    if reply.finish == "interrupted":
        return Done(DoneReason.MODEL_STOP, "text", f"the answer of {reply.model} broke off here")
    if reply.finish != "length":
        return Done(DoneReason.MODEL_STOP, "text", reply.note)
    t.counts["continued"] += 1
    if t.counts["continued"] <= CONTINUATIONS:
        return Thinking(nudge=GO_ON)
    return Done(DoneReason.MODEL_STOP, "truncated", f"{reply.model} reached its output limit")


async def _redirected(t: Turn, shown: Shown) -> State:
    """Drop the answer; as much of it as was shown is quoted to the model in front of the correction (F23)."""
    said = "".join(shown.text)
    await shown.break_off()
    if said.strip() and t.control.inbox:
        quoted = f"(You were saying, when I interrupted: {said.strip()})"
        await t.log.append(AsideEntry(t.id, quoted))
        t.control.inbox[0] = (Text(quoted), *t.control.inbox[0])
    return Thinking()


async def _failed(t: Turn, state: Streaming, failure: ModelFailure, shown: Shown) -> State:
    t.early = {}
    if failure.fault is Fault.OVERFLOW and is_about_form(failure, state.request):
        failure = ModelFailure(str(failure), fault=Fault.INVALID, status=failure.status)
    move = recovery(t, failure, can_compact=not state.last)
    t.tries[failure.fault] += 1
    match move:
        case Retry(delay_s=delay_s, nudge=nudge, max_output=max_output):
            shown.discard()
            t.counts[NUDGED] += nudge is not None and nudge == NUDGE
            _tell(t, failure, delay_s)
            await anyio.sleep(delay_s)
            return Thinking(nudge, max_output)
        case Refresh():
            shown.discard()
            return await _refresh(t, state, failure)
        case Failover():
            shown.discard()
            return _switch(t, failure)
        case Compacting() as compacting:
            shown.discard()
            return compacting
        case Done() as done:
            await shown.break_off()
            await _leave_out(t, state, failure)
            return done


async def _leave_out(t: Turn, state: Streaming, failure: ModelFailure) -> None:
    """Make sure that what was refused for its form is not refused again with the next prompt."""
    what = withhold(failure, state.request, t.log.entries, t.id)
    if what is None:
        return
    await t.log.append(WithheldEntry(t.id, what, str(failure)))
    named = "Pictures are" if what == "images" else "What was said in this turn is"
    t.emit(Notice("warning", f"{named} left out of later requests", str(failure)))


async def _refresh(t: Turn, state: Streaming, failure: ModelFailure) -> State:
    """A new credential, once per model and turn (R54)."""
    if await t.model.refresh_auth():
        _tell(t, failure, 0)
        return Thinking()
    if t.fallbacks:
        return _switch(t, failure)
    return Done(DoneReason.ERROR, "auth", str(failure))


def _switch(t: Turn, failure: ModelFailure) -> State:
    before, t.model = t.model.name, t.fallbacks.popleft()
    reason = "incomplete_response" if failure.fault is Fault.REASONING_ONLY else failure.fault.value
    t.tries.clear()
    t.emit(ModelSwitched(t.id, t.model.name, before, reason))
    return Thinking()


def _tell(t: Turn, failure: ModelFailure, delay_s: float) -> None:
    t.emit(Retrying(t.id, failure.fault.value, t.tries[failure.fault], delay_s, str(failure)))
