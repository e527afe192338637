"""Decisions on one proposal, gathered hunk by hunk, file by file or all at once, until nothing is undecided."""

from collections.abc import Iterator, Sequence
from typing import Literal

from agent_server.front.uris import path_of
from agent_server.frozen import frozen
from agent_server.loop.errors import ClientMistake
from agent_server.loop.proposal import (
    FileChange,
    FileDecision,
    PartDecision,
    Proposal,
    Resolution,
)


@frozen
class Verdict:
    """One decision of the person. No `uri`: everything; no `hunk`: the whole file."""

    accept: bool
    uri: str | None = None
    hunk: str | None = None
    edited_text: str | None = None
    """With an accepted file: what the person wants instead."""


Decided = Literal["proposed", "approved", "rejected"]
"""`proposed` while anything is undecided; `approved` when anything was accepted."""
Unit = tuple[str, str | None]
"""What is decided alone: a hunk by path and id, or a path whose change has no hunks or cannot be taken in part."""


class Verdicts:
    """The decisions so far. A later one on the same hunk replaces the earlier."""

    def __init__(self, proposal: Proposal) -> None:
        self._proposal = proposal
        self._said: dict[Unit, bool] = {}
        self._edited: dict[str, str] = {}

    @property
    def state(self) -> Decided:
        """What the decisions so far amount to."""
        if any(unit not in self._said for unit in self._units(self._proposal.files)):
            return "proposed"
        return "approved" if any(self._said.values()) else "rejected"

    def add(self, verdicts: Sequence[Verdict]) -> None:
        """Take them all, or none.

        Raises:
            ClientMistake: one names a file or hunk that is not in the proposal, or has a text without a file.
        """
        meant = [(verdict, list(self._meant(verdict))) for verdict in verdicts]
        for verdict, units in meant:
            for unit in units:
                self._said[unit] = verdict.accept
                self._edited.pop(unit[0], None)
            if verdict.accept and verdict.edited_text is not None:
                self._edited[units[0][0]] = verdict.edited_text

    def add_rest(self, *, accept: bool) -> None:
        """The same for everything that nothing was said about."""
        for unit in self._units(self._proposal.files):
            self._said.setdefault(unit, accept)

    @property
    def parts(self) -> tuple[PartDecision, ...]:
        """What was decided so far, to be kept."""
        return tuple(
            PartDecision(path, hunk, accept, self._edited.get(path))
            for (path, hunk), accept in self._said.items()
        )

    def restore(self, parts: Sequence[PartDecision]) -> None:
        """Begin with decisions that were kept; those about what the proposal does not have are left out."""
        units = set(self._units(self._proposal.files))
        for part in parts:
            if (part.path, part.hunk) not in units:
                continue
            self._said[part.path, part.hunk] = part.accept
            if part.edited_text is not None:
                self._edited[part.path] = part.edited_text

    def is_open(self, path: str, hunk: str) -> bool:
        """Whether nothing was said about a hunk of an edited file."""
        return (path, hunk) not in self._said

    def resolution(self) -> Resolution:
        """What was decided, complete."""
        return Resolution(tuple(self._decision(change) for change in self._proposal.files))

    def _decision(self, change: FileChange) -> FileDecision:
        said = [self._said.get(unit, False) for unit in self._units([change])]
        if all(said):
            accepted = frozenset(hunk.id for hunk in change.hunks)
            return FileDecision(change.path, accepted, self._edited.get(change.path), whole=True)
        taken = (hunk for _, hunk in self._units([change]) if hunk is not None)
        return FileDecision(
            change.path, frozenset(hunk for hunk in taken if self._said.get((change.path, hunk)))
        )

    def _meant(self, verdict: Verdict) -> Iterator[Unit]:
        if verdict.uri is None:
            if verdict.hunk is not None or verdict.edited_text is not None:
                raise ClientMistake("a decision with hunk or editedText must name its uri")
            yield from self._units(self._proposal.files)
            return
        change = self._change(verdict.uri)
        if verdict.hunk is None:
            yield from self._units([change])
            return
        if verdict.edited_text is not None:
            raise ClientMistake("editedText is of a whole file: its decision must not name a hunk")
        if verdict.hunk not in {hunk.id for hunk in change.hunks}:
            raise ClientMistake(f"there is no hunk {verdict.hunk!r} in {verdict.uri}")
        yield (change.path, verdict.hunk if change.kind == "edit" else None)

    def _change(self, uri: str) -> FileChange:
        path = path_of(uri)
        for change in self._proposal.files:
            if change.path == path:
                return change
        raise ClientMistake(f"edit {self._proposal.txn!r} does not change {uri}")

    @staticmethod
    def _units(changes: Sequence[FileChange]) -> Iterator[Unit]:
        for change in changes:
            if change.kind == "edit" and change.hunks:
                yield from ((change.path, hunk.id) for hunk in change.hunks)
            else:
                yield (change.path, None)
