"""Applying a decided proposal: every file or none, and what is reported is what stands.

Files are fitted to their live texts first, all of them, so that a conflict costs nothing. Then they are changed one by
one (creations, edits, deletions); when one fails, those already changed are taken back, as far as they are still as we
left them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import anyio

from agent_server.edits.decided import decided
from agent_server.edits.documents import Documents
from agent_server.edits.fit import Fitted, fit
from agent_server.edits.outcome import FileOutcome
from agent_server.edits.step import Step, Stepper
from agent_server.loop.proposal import ChangeKind, FileChange, Proposal, Resolution

_ORDER: tuple[ChangeKind, ...] = ("create", "edit", "rename", "delete")


async def apply(
    documents: Documents, proposal: Proposal, resolution: Resolution, *, label: str
) -> tuple[FileOutcome, ...]:
    """Make the accepted part of a proposal real; one outcome per file, in the proposal's order.

    Cancelled before the first change, it raises and nothing has changed. Once it changes something it is carried to its
    end, so that nothing is left half known; every wait from then on is bounded.
    """
    wanted = decided(proposal, resolution)
    changes = [change for change in wanted.values() if change is not None]
    outcomes = await _all_or_none(
        documents, changes, Stepper(documents, txn=proposal.txn, label=label)
    )
    return tuple(outcomes.get(path) or _rejected(path) for path in wanted)


def _rejected(path: str) -> FileOutcome:
    return FileOutcome(path, "declined", message=f"the edit of {path} was rejected")


async def _all_or_none(
    documents: Documents, changes: Sequence[FileChange], stepper: Stepper
) -> Mapping[str, FileOutcome]:
    """Outcomes by the path of the proposal."""
    fitted: list[tuple[FileChange, Fitted]] = []
    for change in sorted(changes, key=lambda c: _ORDER.index(c.kind)):
        fits = await fit(documents, change)
        if isinstance(fits, FileOutcome):
            return _none_of(changes, change.path, fits)
        fitted.append((change, fits))
    outcomes: dict[str, FileOutcome] = {}
    with anyio.CancelScope(shield=True):
        outcomes |= await _made(documents, fitted, stepper)
        for outcome in outcomes.values():
            if outcome.state == "applied" and outcome.change is not None:
                await documents.note_applied(
                    outcome.change, authored=outcome.change.kind == "create"
                )
    return outcomes


async def _made(
    documents: Documents, fitted: Sequence[tuple[FileChange, Fitted]], stepper: Stepper
) -> dict[str, FileOutcome]:
    done: list[tuple[str, Step]] = []
    for change, fits in fitted:
        step = await _make(documents, stepper, fits)
        if step.outcome.state != "applied":
            outcomes = _none_of([change for change, _ in fitted], change.path, step.outcome)
            return outcomes | await _taken_back(done, step.outcome)
        done.append((change.path, step))
    return {path: replace(step.outcome, path=path) for path, step in done}


async def _make(documents: Documents, stepper: Stepper, fitted: Fitted) -> Step:
    """Make one change; when the text moved since it was fitted, fit it once more."""
    step = await stepper.make(fitted)
    if step.outcome.state != "stale":
        return step
    again = await fit(documents, fitted.change)
    if isinstance(again, FileOutcome):
        return Step(again)
    return await stepper.make(again) if again != fitted else step


def _none_of(
    changes: Sequence[FileChange], path: str, culprit: FileOutcome
) -> dict[str, FileOutcome]:
    """Nothing stands, because of the file at `path`."""
    why = f"not applied, because the whole proposal failed: {culprit.message}"
    outcomes = {change.path: FileOutcome(change.path, "failed", message=why) for change in changes}
    return outcomes | {path: replace(culprit, path=path)}


async def _taken_back(
    done: Sequence[tuple[str, Step]], culprit: FileOutcome
) -> dict[str, FileOutcome]:
    """Undo what was done, the last first; what cannot be undone stands, and is said to."""
    outcomes: dict[str, FileOutcome] = {}
    for path, step in reversed(done):
        if step.undo is None:
            outcomes[path] = replace(step.outcome, path=path)
        elif (why_not := await step.undo()) is None:
            message = f"taken back, because the whole proposal failed: {culprit.message}"
            outcomes[path] = FileOutcome(path, "failed", message=message)
        else:
            message = (
                f"applied, and it stands though the proposal failed ({culprit.message}): {why_not}"
            )
            outcomes[path] = FileOutcome(path, "applied", step.outcome.change, message)
    return outcomes
