"""Applying a decided proposal, and what is reported is what stands.

Files are fitted to their live texts first, all of them, so that a conflict costs nothing. Then they are changed one by
one (creations, edits, renames, deletions). A file of which the editor refuses the change, or that conflicts, does
not stop the others of what a model proposed, and is named. When something fails (a disk, an editor that says nothing),
or when going back is refused, those already changed are taken back, as far as they are still as we left them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Literal, Protocol

import anyio

from agent_server.edits.decided import decided
from agent_server.edits.documents import Documents
from agent_server.edits.files import Form
from agent_server.edits.fit import Fitted, fit
from agent_server.edits.outcome import FileOutcome, FileState
from agent_server.edits.step import Step, Stepper
from agent_server.frozen import frozen, mutable
from agent_server.loop.errors import StoreFailure
from agent_server.loop.proposal import ChangeKind, FileChange, Proposal, Resolution

_ORDER: tuple[ChangeKind, ...] = ("create", "edit", "rename", "delete")


BY_ITSELF: frozenset[FileState] = frozenset({"conflict", "stale", "declined"})
"""What happens to one file and says nothing about the others."""


class Witness(Protocol):
    """Writes down what is about to happen."""

    async def about_to(self, fitted: Sequence[Fitted]) -> None:
        """All changes as they will be made now, durable when it returns; again when one was fitted anew.

        Raises:
            StoreFailure: it was not kept, so nothing may change.
        """
        ...


@frozen
class Terms:
    """How a proposal is applied."""

    label: str
    """Names the undo step in the editor."""
    witness: Witness | None = None
    """None: nothing is written down."""
    author: Literal["model", "person"] = "model"
    """`model`: the model wrote these texts, so it need not read them. After a `person` undid something, it must, and
    that is done to every file or to none."""
    forms: Mapping[str, Form] = field(default_factory=dict[str, Form])
    """Encoding and mode that files get on disk instead of their own, by path."""

    @property
    def together(self) -> bool:
        """Every file or none."""
        return self.author == "person"


async def apply(
    documents: Documents, proposal: Proposal, resolution: Resolution, terms: Terms
) -> tuple[FileOutcome, ...]:
    """Make the accepted part of a proposal real; one outcome per file, in the proposal's order.

    Every file by itself, or all or none (`Terms.author`).

    Cancelled before the witness is called, it raises and nothing has changed. From then on it is carried to its end, so
    that nothing is left half known; every wait is bounded.

    Raises:
        StoreFailure: the witness failed before the first change; nothing has changed.
    """
    wanted = decided(proposal, resolution)
    changes = [change for change in wanted.values() if change is not None]
    stepper = Stepper(documents, txn=proposal.txn, label=terms.label, forms=terms.forms)
    outcomes = await _applied(documents, changes, stepper, terms)
    return tuple(outcomes.get(path) or _rejected(path) for path in wanted)


def _rejected(path: str) -> FileOutcome:
    return FileOutcome(path, "declined", message=f"the edit of {path} was rejected")


async def _applied(
    documents: Documents, changes: Sequence[FileChange], stepper: Stepper, terms: Terms
) -> Mapping[str, FileOutcome]:
    """Outcomes by the path of the proposal."""
    ordered = sorted(changes, key=lambda c: _ORDER.index(c.kind))
    fitted: dict[str, Fitted] = {}
    outcomes: dict[str, FileOutcome] = {}
    for change in ordered:
        fits = await fit(documents, change)
        if isinstance(fits, Fitted):
            fitted[change.path] = fits
        elif terms.together or fits.state not in BY_ITSELF:
            return _none_of([c.path for c in changes], change.path, fits)
        else:
            outcomes[change.path] = replace(fits, path=change.path)
    if not fitted:
        return outcomes
    with anyio.CancelScope(shield=True):
        making = _Making(
            documents, stepper, terms, list(fitted), list(fitted.values())
        )  # fmt: skip
        outcomes |= await making.run()
        if terms.author == "model":
            await _note(documents, outcomes)
    return outcomes


async def _note(documents: Documents, outcomes: Mapping[str, FileOutcome]) -> None:
    for outcome in outcomes.values():
        if outcome.state == "applied" and outcome.change is not None:
            await documents.note_applied(outcome.change, authored=outcome.change.kind == "create")


@mutable
class _Making:
    """Changes that fit, made one by one."""

    documents: Documents
    stepper: Stepper
    terms: Terms
    paths: Sequence[str]
    """As the proposal spells them; an editor may know a fitted file by another path."""
    fitted: list[Fitted]

    async def run(self) -> dict[str, FileOutcome]:
        """Make all changes. When one fails, or is refused of those that belong together, none stands."""
        await self._tell()
        done: list[tuple[str, Step]] = []
        for index, path in enumerate(self.paths):
            step = await self._make(index)
            state = step.outcome.state
            if state != "applied" and (self.terms.together or state not in BY_ITSELF):
                outcomes = _none_of(self.paths, path, step.outcome)
                return outcomes | await _taken_back(done, step.outcome)
            done.append((path, step))
        return {path: replace(step.outcome, path=path) for path, step in done}

    async def _make(self, index: int) -> Step:
        """Make one change; when the text moved since it was fitted, fit it once more."""
        fitted = self.fitted[index]
        step = await self.stepper.make(fitted)
        if step.outcome.state != "stale":
            return step
        again = await fit(self.documents, fitted.change)
        if isinstance(again, FileOutcome):
            return Step(again)
        if again == fitted:
            return step
        self.fitted[index] = again
        try:
            await self._tell()
        except StoreFailure as failure:
            return Step(FileOutcome(fitted.change.path, "failed", message=str(failure)))
        return await self.stepper.make(again)

    async def _tell(self) -> None:
        if self.terms.witness is not None:
            await self.terms.witness.about_to(self.fitted)


def _none_of(paths: Sequence[str], path: str, culprit: FileOutcome) -> dict[str, FileOutcome]:
    """Nothing stands, because of the file at `path`."""
    why = f"not applied, because the whole proposal failed: {culprit.message}"
    outcomes = {each: FileOutcome(each, "failed", message=why) for each in paths}
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
