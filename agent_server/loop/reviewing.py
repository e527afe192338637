"""The review of staged edits (`review = "turn"`): before a call needs the disk, and before the prompt is answered."""

from collections.abc import Sequence

import anyio

from agent_server.loop.action import Answer, Decision, Question
from agent_server.loop.batch import Judged, settle
from agent_server.loop.events import CallFinished, CallPending, ConfirmationRequired, EditChanged
from agent_server.loop.model import (
    CallKey,
    DoneReason,
    Entry,
    ResultEntry,
    Text,
    ToolCall,
    ToolResult,
    UserEntry,
)
from agent_server.loop.ports import CallContext
from agent_server.loop.proposal import EditState, HunkState, Proposal, Resolution
from agent_server.loop.states import Confirming, Done, Executing, ReviewGate, State, Thinking
from agent_server.loop.turn import Turn

REASON = "the edits of this turn are reviewed together"
AGAIN = "review:again"
"""Counts the reviews after which the model was let go on with what the person said: one per turn."""
REVIEWED = "(The person reviewed the changes that were staged.\n"
REJECTED = "the person rejected the staged changes; nothing was written"
UNRECORDED = (
    "(The server stopped before the review of the staged changes was recorded. They are not staged any more: "
    "read the files before you rely on them.)"
)
GIVEN_UP = "(The changes that were staged were given up: the turn ended before they were reviewed.)"


def needs_disk(judged: Judged) -> bool:
    """Whether the call would see, or change, files without what is staged."""
    return not judged.staged and judged.prepared.action.kind in ("exec", "agent", "write", "delete")


async def review(
    t: Turn, then: Executing | Done, call: ToolCall | None = None
) -> Confirming | None:
    """The question about everything that is staged; None when there is nothing."""
    if not t.gate.staging.holds:
        return None
    prepared = await t.gate.staging.review()
    if prepared is None:
        await t.gate.staging.release(t.id, t.emit, "the edits of the turn came to nothing")
        return None
    key = CallKey(next(t.numbers), 0)
    decision = Decision("ask", REASON, scopes=("once",))
    question = Question(
        str(key), prepared.title, prepared.action, decision, ("once",), prepared.proposal
    )
    return Confirming(question, ReviewGate(key, prepared, then, call))


async def before_end(t: Turn, done: Done) -> State:
    """The end, or the review before it. A turn that ends in any other way gives up what is staged."""
    if done.reason is not DoneReason.MODEL_STOP:
        return done
    return await review(t, done) or done


async def reviewed(t: Turn, gate: ReviewGate, question: Question) -> State:
    """Put the question, make what was accepted, and tell the model; what was said with it may be worth another step."""
    prepared = gate.prepared
    t.emit(
        CallPending(
            t.id, gate.key, "review", prepared.title, "edit", prepared.locations,
            proposal=prepared.proposal,
        )
    )  # fmt: skip
    t.emit(ConfirmationRequired(t.id, question))
    result = ToolResult(
        False, "not reviewed: the turn ended", code="interrupted", summary="not reviewed"
    )
    answer = Answer("cancelled")
    try:
        answer = await t.gate.approver.ask(question)
        if answer.kind != "cancelled":
            result = await _decided(t, gate, answer)
    except anyio.get_cancelled_exc_class():
        if prepared.proposal is not None and t.root.control.abort == "shutdown":
            show_left_open(t, prepared.proposal)
        elif prepared.proposal is not None:
            show_decision(t, prepared.proposal, "rejected", Resolution(()))
        raise
    finally:
        t.emit(CallFinished(t.id, gate.key, "review", result, "confirmed" if result.ok else "none"))
    return await _next(t, gate, answer, made=result.code != "denied")


async def give_up(t: Turn, done: Done) -> None:
    """At the end of a turn: what was not reviewed is never applied, and the model hears of it with the next prompt.

    When the session was closed meanwhile nobody decided, and the user may do so later.

    Raises:
        StoreFailure: that could not be written down.
    """
    if not t.gate.staging.holds:
        return
    left_open = done.detail == "shutdown"
    why = "the turn ended before it was reviewed"
    await t.gate.staging.release(t.id, t.emit, why, left_open=left_open)
    await t.log.append(UserEntry(t.id, (Text(GIVEN_UP),), "nudge"))


def unreviewed(entries: Sequence[Entry]) -> bool:
    """Whether something was staged of which the log does not say what became of it: the process died meanwhile."""
    for entry in reversed(entries):
        match entry:
            case ResultEntry(result=ToolResult(code="staged")):
                return True
            case UserEntry(origin="nudge", parts=(Text(text),)):
                if text == GIVEN_UP or text.startswith((REVIEWED, UNRECORDED)):
                    return False
            case _:
                pass
    return False


async def _decided(t: Turn, gate: ReviewGate, answer: Answer) -> ToolResult:
    result = await _made(t, gate, answer)
    words = f"\nThe person says: {answer.feedback}" if answer.feedback else ""
    text = f"{REVIEWED}{result.output}{words})"
    with anyio.CancelScope(shield=True):
        try:
            await t.gate.staging.release(
                t.id, t.emit, "reviewed together with the other edits of the turn"
            )
        finally:
            await t.log.append(UserEntry(t.id, (Text(text),), "nudge"))
    return result


async def _made(t: Turn, gate: ReviewGate, answer: Answer) -> ToolResult:
    proposal, resolution = gate.prepared.proposal, answer.resolution
    if answer.allows and (resolution is None or resolution.accepts_anything):
        if proposal is not None:
            show_decision(t, proposal, "approved", resolution)
        context = CallContext(t.id, gate.key, t.emit, gated=True)
        return await gate.prepared.run(context, resolution)
    if proposal is not None:
        show_decision(t, proposal, "rejected", Resolution(()))
    changes = proposal.files if proposal is not None else ()
    return ToolResult(False, REJECTED, code="denied", changes=changes, summary="rejected")


async def _next(t: Turn, gate: ReviewGate, answer: Answer, *, made: bool) -> State:
    if answer.kind == "cancelled":
        detail = "shutdown" if answer.left_open else "approval_cancelled"
        return Done(DoneReason.USER_ABORT, detail)
    denied = not answer.allows and not answer.feedback
    if denied and t.limits.stop_on_deny and isinstance(gate.then, Executing):
        return Done(DoneReason.USER_ABORT, "approval_cancelled")
    if gate.call is not None and not made:
        text = f"not run: {REJECTED}, and this was to run on them"
        await settle(
            t, gate.call, ToolResult(False, text, code="denied", summary="not run"), "none"
        )
    if answer.feedback and isinstance(gate.then, Done) and not t.counts[AGAIN]:
        t.counts[AGAIN] += 1
        return Thinking()
    return gate.then


def show_decision(
    t: Turn, proposal: Proposal, state: EditState, resolution: Resolution | None
) -> None:
    """Tell what the person decided about an edit."""
    t.emit(EditChanged(t.id, proposal, state, tuple(_hunk_states(proposal, resolution))))


def show_left_open(t: Turn, proposal: Proposal) -> None:
    """Tell that nobody waits for the decision any more, though it can be made later."""
    hunks: tuple[tuple[str, str, HunkState], ...] = tuple(
        (f.path, h.id, "pending") for f in proposal.files for h in f.hunks
    )
    t.emit(EditChanged(t.id, proposal, "abandoned", hunks))


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
