"""Executing: one segment of a reply's calls per visit.

A segment is a maximal run of adjacent calls that may run together: reads beside reads, calls of one tool that says so
beside each other, all of them where the settings say so; every other call is a segment of its own. Nothing crosses a
segment's end or a question (R78), and a call that asks the person something runs alone (R77).
Results commit in completion order; requests show them in call order.
"""

import anyio

from agent_server.loop.batch import Judged, judge, open_calls, run_call
from agent_server.loop.errors import StoreFailure
from agent_server.loop.events import StepFinished
from agent_server.loop.guard import after_batch
from agent_server.loop.model import ReplyEntry, ToolCall
from agent_server.loop.reviewing import needs_disk, review
from agent_server.loop.states import CallGate, Confirming, Executing, State
from agent_server.loop.turn import Turn


async def executing(t: Turn, state: Executing) -> State:
    """Run what may run now; a call that needs the person goes to Confirming."""
    if state.approved is not None:
        approved = state.approved
        await run_call(t, approved.call, approved.prepared, approved.answer)
        return Executing(state.number)
    segment: list[tuple[ToolCall, Judged]] = []
    for call in open_calls(t.log.entries):
        if segment and not _fits(t, segment, call):
            break
        judged = await judge(t, call)
        if judged is None:
            continue
        if t.gate.staging.holds and needs_disk(judged):
            if segment:
                break
            if (first := await review(t, Executing(state.number), call)) is not None:
                return first
        if segment and _needs_person(judged):
            break
        if judged.question is not None:
            return Confirming(judged.question, CallGate(state.number, call, judged.prepared))
        segment.append((call, judged))
        if _needs_person(judged):
            break
    if not segment:
        calls = next(e.reply.calls for e in reversed(t.log.entries) if isinstance(e, ReplyEntry))
        t.emit(StepFinished(t.id, t.steps, tuple(call.key for call in calls)))
        return after_batch(t, state.number)
    await _run_together(t, segment)
    return Executing(state.number)


def _fits(t: Turn, segment: list[tuple[ToolCall, Judged]], call: ToolCall) -> bool:
    """Whether the call may run beside those of the segment."""
    first, tool = t.tools[segment[0][0].name], t.tools.get(call.name)
    if tool is None or len(segment) >= t.limits.parallel:
        return False
    if t.limits.mixed or first.read_only:
        return t.limits.mixed or tool.read_only
    return tool is first and len(segment) < tool.parallel


def _needs_person(judged: Judged) -> bool:
    return judged.question is not None or judged.prepared.action.kind == "ask"


async def _run_together(t: Turn, segment: list[tuple[ToolCall, Judged]]) -> None:
    """A failing tool is a result, so only a store that fails can break a segment."""
    try:
        async with anyio.create_task_group() as group:
            for call, judged in segment:
                group.start_soon(run_call, t, call, judged.prepared, None)
    except ExceptionGroup as failures:
        broken = failures.subgroup(StoreFailure)
        if broken is None:
            raise
        raise StoreFailure(str(broken.exceptions[0])) from failures
