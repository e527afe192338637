"""The calls of one reply: understand, judge, run, settle. Every call gets its one and only result, whatever happens."""

import time
from collections.abc import Sequence
from dataclasses import replace

import anyio

from agent_server.frozen import frozen
from agent_server.loop.action import Answer, Question
from agent_server.loop.errors import NothingDone
from agent_server.loop.events import CallFinished
from agent_server.loop.guard import note_result, repeated_before
from agent_server.loop.model import (
    CallKey,
    DoneReason,
    Effect,
    Entry,
    Reply,
    ReplyEntry,
    ResultEntry,
    StartedEntry,
    ToolCall,
    ToolResult,
)
from agent_server.loop.ports import Prepared, Tools
from agent_server.loop.recover import not_to_run
from agent_server.loop.running import decide, execute, show_understood, understand
from agent_server.loop.states import Done
from agent_server.loop.turn import Turn


@frozen
class Judged:
    """A call that may run, after the question when there is one."""

    prepared: Prepared
    question: Question | None = None
    staged: bool = False
    """It is staged, not made."""


def open_calls(entries: Sequence[Entry]) -> list[ToolCall]:
    """The calls of the last reply that have no result yet, in call order. Older replies have none open (I2)."""
    settled: set[CallKey] = set()
    for entry in reversed(entries):
        if isinstance(entry, ResultEntry):
            settled.add(entry.key)
        elif isinstance(entry, ReplyEntry):
            return [call for call in entry.reply.calls if call.key not in settled]
    return []


async def judge(t: Turn, call: ToolCall) -> Judged | None:
    """Understand a call and ask the policy; None when it was settled on the spot.

    Order (R83): known tool → arguments → prepared → policy.
    """
    understood = _refused(t, call) or await understand(t, call)
    if isinstance(understood, ToolResult):
        await settle(t, call, understood, "none")
        return None
    tool, prepared = understood
    if call.key not in t.early:
        show_understood(t, call, tool, prepared)
    decision = decide(t, prepared)
    if decision.verdict == "block":
        result = ToolResult(False, f"blocked: {decision.reason}", code="blocked", summary="blocked")
        await settle(t, call, result, "none")
        return None
    if decision.verdict == "allow":
        return Judged(prepared)
    if t.gate.staging.active and prepared.stage is not None and not decision.floor:
        return Judged(replace(prepared, run=prepared.stage), staged=True)
    if prepared.note is not None:
        reason = "; ".join(filter(None, (decision.reason, prepared.note)))
        decision = replace(decision, reason=reason)
    question = Question(
        str(call.key), prepared.title, prepared.action, decision, decision.scopes, prepared.proposal
    )
    return Judged(prepared, question)


def _refused(t: Turn, call: ToolCall) -> ToolResult | None:
    """A call that is not even looked at: cut, of a stopped reply, a duplicate in it, or repeated too often."""
    if (reply := _reply_of(t.log.entries)) and (why := not_to_run(reply, call)) is not None:
        return ToolResult(False, f"not run: {why}", code="cut", summary="not run")
    if (twin := _twin(t, call)) is None:
        return repeated_before(t, call)
    text = f"identical to call {twin + 1} of this reply; not run again"
    return ToolResult(False, text, code="duplicate", summary="duplicate")


def _reply_of(entries: Sequence[Entry]) -> Reply | None:
    return next((e.reply for e in reversed(entries) if isinstance(e, ReplyEntry)), None)


def _twin(t: Turn, call: ToolCall) -> int | None:
    """The index of an earlier call of the same reply with the same name and arguments (R82)."""
    for entry in reversed(t.log.entries):
        if isinstance(entry, ReplyEntry):
            same = [
                c for c in entry.reply.calls if (c.name, c.arguments) == (call.name, call.arguments)
            ]
            return same[0].key.index if same and same[0].key < call.key else None
    return None


async def run_call(t: Turn, call: ToolCall, prepared: Prepared, answer: Answer | None) -> None:
    """Run one call and settle it. `started` is durable before the tool's code runs (R106)."""
    if (early := t.early.pop(call.key, None)) is not None:
        await settle(t, call, early.result, "confirmed", seconds=early.seconds)
        return
    if not t.tools[call.name].read_only:
        await t.log.append(StartedEntry(t.id, call.key))
    began = time.monotonic()
    try:
        result = await execute(t, call, prepared, answer)
    except NothingDone as failure:
        text = f"not run: {failure}. Nothing was changed"
        stopped = ToolResult(False, text, code="interrupted", summary="not run")
        with anyio.CancelScope(shield=True):
            await settle(t, call, stopped, "none")
        raise
    with anyio.CancelScope(shield=True):
        await settle(t, call, result, "confirmed", seconds=time.monotonic() - began)


async def settle(
    t: Turn, call: ToolCall, result: ToolResult, effect: Effect, *, seconds: float | None = None
) -> None:
    """Give a call its result: logged first, then shown."""
    result = note_result(t, call, result)
    await t.log.append(ResultEntry(t.id, call.key, result, effect))
    t.emit(CallFinished(t.id, call.key, call.name, result, effect, seconds))


async def settle_rest(t: Turn, done: Done) -> None:
    """Settle every call that is still open when the turn ends (R110, R112); shown even if they cannot be logged."""
    cause = "the turn was cancelled" if done.reason is DoneReason.USER_ABORT else "the turn ended"
    if done.detail == "refusal":
        cause = "a filter of the provider stopped the answer"
    rest = leftovers(t.log.entries, t.tools, cause)
    if not rest:
        return
    try:
        await t.log.append(
            *(ResultEntry(t.id, call.key, result, effect) for call, result, effect in rest)
        )
    finally:
        for call, result, effect in rest:
            t.emit(CallFinished(t.id, call.key, call.name, result, effect))


def leftovers(
    entries: Sequence[Entry], tools: Tools, cause: str
) -> list[tuple[ToolCall, ToolResult, Effect]]:
    """What to record for calls that never got a result: the same rule at a turn's end and after a crash.

    Never started, or known to only read: effect `none`. Started and able to change things: `unknown`, and the model
    is told to look before it tries again.
    """
    started = _started(entries)
    return [
        (call, *(_unknown(call, cause) if call.key in started else _not_run(call, tools, cause)))
        for call in open_calls(entries)
    ]


def _started(entries: Sequence[Entry]) -> set[CallKey]:
    started: set[CallKey] = set()
    for entry in reversed(entries):
        if isinstance(entry, StartedEntry):
            started.add(entry.key)
        elif isinstance(entry, ReplyEntry):
            break
    return started


def _unknown(call: ToolCall, cause: str) -> tuple[ToolResult, Effect]:
    text = (
        f"interrupted, effects unknown: {cause} while {call.name} was running. "
        "Part of it may have happened: inspect before you try again."
    )
    return ToolResult(
        False, text, code="interrupted", summary="interrupted, effects unknown"
    ), "unknown"


def _not_run(call: ToolCall, tools: Tools, cause: str) -> tuple[ToolResult, Effect]:
    tool = tools.get(call.name)
    verb = "interrupted" if tool is not None and tool.read_only else "not run"
    return ToolResult(False, f"{verb}: {cause}", code="interrupted", summary=verb), "none"
