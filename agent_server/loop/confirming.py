"""Confirming: one question to the person, and what each answer means."""

from agent_server.loop.action import Answer
from agent_server.loop.batch import settle
from agent_server.loop.events import ConfirmationRequired, EditChanged
from agent_server.loop.model import DoneReason, ToolResult
from agent_server.loop.proposal import EditState, HunkState, Proposal, Resolution
from agent_server.loop.states import Approved, Confirming, Done, Executing, State
from agent_server.loop.turn import Turn


async def confirming(t: Turn, state: Confirming) -> State:
    """A yes runs the call next; a no settles it and the siblings go on; `cancelled` ends the turn (spec §14)."""
    t.emit(ConfirmationRequired(t.id, state.question))
    answer = await t.gate.approver.ask(state.question)
    await t.gate.policy.remember(state.question, answer)
    proposal = state.prepared.proposal
    if answer.allows and (answer.resolution is None or answer.resolution.accepts_anything):
        if proposal is not None:
            _show(t, proposal, "approved", answer.resolution)
        return Executing(state.number, Approved(state.call, state.prepared, answer))
    if proposal is not None:
        _show(t, proposal, "rejected", Resolution(()))
    await settle(t, state.call, _refused(answer, proposal), "none")
    if answer.kind == "cancelled":
        return Done(DoneReason.USER_ABORT, "approval_cancelled")
    return Executing(state.number)


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


def _show(t: Turn, proposal: Proposal, state: EditState, resolution: Resolution | None) -> None:
    t.emit(EditChanged(t.id, proposal, state, tuple(_hunk_states(proposal, resolution))))


def _hunk_states(
    proposal: Proposal, resolution: Resolution | None
) -> list[tuple[str, str, HunkState]]:
    """Every hunk with what the person decided about it; no resolution means all of them."""
    taken = None if resolution is None else {d.path: d.accepted for d in resolution.files}
    return [
        (
            file.path,
            hunk.id,
            "accepted" if taken is None or hunk.id in taken.get(file.path, ()) else "rejected",
        )
        for file in proposal.files
        for hunk in file.hunks
    ]
