"""Confirming: one question to the person, and what each answer means."""

from contextlib import suppress

import anyio

from agent_server.loop.action import Answer, Question
from agent_server.loop.batch import settle
from agent_server.loop.errors import StoreFailure
from agent_server.loop.events import CallFinished, CallPending, ConfirmationRequired
from agent_server.loop.model import DoneReason, ToolResult
from agent_server.loop.proposal import Proposal, Resolution
from agent_server.loop.reviewing import reviewed, show_decision, show_left_open
from agent_server.loop.states import (
    Approved,
    CallGate,
    Confirming,
    Done,
    Executing,
    LoopGate,
    ReviewGate,
    State,
    Thinking,
)
from agent_server.loop.turn import Turn


async def confirming(t: Turn, state: Confirming) -> State:
    """Put the question; what the answer means depends on what was asked."""
    match state.gate:
        case CallGate() as gate:
            t.emit(ConfirmationRequired(t.id, state.question))
            return await _call(t, gate, state.question)
        case LoopGate() as gate:
            return await _loop(t, gate, state.question)
        case ReviewGate() as gate:
            return await reviewed(t, gate, state.question)


async def _call(t: Turn, gate: CallGate, question: Question) -> State:
    """A yes runs the call next; a no settles it and the siblings go on; `cancelled` ends the turn (spec §14).

    So does a no, where the settings say so; one with words is an answer to the model, which always goes on.
    """
    answer = await _asked(t, gate, question)
    if answer.left_open:
        await _leave_open(t, gate, "the client went away")
        return Done(DoneReason.USER_ABORT, "shutdown")
    await t.gate.policy.remember(question, answer)
    proposal = gate.prepared.proposal
    if answer.allows and (answer.resolution is None or answer.resolution.accepts_anything):
        if proposal is not None:
            show_decision(t, proposal, "approved", answer.resolution)
        return Executing(gate.number, Approved(gate.call, gate.prepared, answer))
    if proposal is not None:
        show_decision(t, proposal, "rejected", Resolution(()))
    await settle(t, gate.call, _refused(answer, proposal), "none")
    if answer.kind == "cancelled" or (t.limits.stop_on_deny and not answer.feedback):
        return Done(DoneReason.USER_ABORT, "approval_cancelled")
    return Executing(gate.number)


async def _asked(t: Turn, gate: CallGate, question: Question) -> Answer:
    """The answer; a question that is open when the session is closed was not decided by anybody."""
    try:
        return await t.gate.approver.ask(question)
    except anyio.get_cancelled_exc_class():
        if t.root.control.abort == "shutdown":
            with anyio.CancelScope(shield=True), suppress(StoreFailure):
                await _leave_open(t, gate, "the session was closed")
        elif gate.prepared.proposal is not None:
            show_decision(t, gate.prepared.proposal, "rejected", Resolution(()))
        raise


async def _leave_open(t: Turn, gate: CallGate, cause: str) -> None:
    """Settle the call as not run; its edit stays in the journal as it was asked about, and can be decided later."""
    if gate.prepared.proposal is not None:
        show_left_open(t, gate.prepared.proposal)
    text = f"not run: the question was open when {cause}"
    result = ToolResult(False, text, code="interrupted", summary="not run")
    await settle(t, gate.call, result, "none")


async def _loop(t: Turn, gate: LoopGate, question: Question) -> State:
    """Only a clear yes goes on; the detectors then start counting anew (F56)."""
    t.emit(CallPending(t.id, gate.key, "loop", question.title, "other"))
    t.emit(ConfirmationRequired(t.id, question))
    text = "the person did not say that it should go on"
    try:
        answer = await t.gate.approver.ask(question)
        text = "going on" if answer.allows else "stopped"
    finally:
        result = ToolResult(text == "going on", text, summary=text)
        t.emit(CallFinished(t.id, gate.key, "loop", result, "none"))
    if not answer.allows:
        return gate.done
    t.counts.clear()
    return Thinking(nudge=question.decision.reason if answer.feedback is None else answer.feedback)


def _refused(answer: Answer, proposal: Proposal | None) -> ToolResult:
    what = "edit" if proposal is not None else "call"
    text = {
        "timed_out": f"denied: nobody answered the question about this {what} in time",
        "cancelled": f"not run: the question about this {what} was cancelled",
    }.get(answer.kind, f"denied by the person: this {what} was rejected and changed nothing")
    if answer.feedback:
        text += f". They say: {answer.feedback}"
    changes = proposal.files if proposal is not None else ()
    return ToolResult(False, text, code="denied", changes=changes, summary="rejected")
