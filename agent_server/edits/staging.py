"""Texts that were proposed and are not on disk: the agent reads them as if they were, nobody else does.

Each file once, from the text it had before the first staged edit to the one after the last, so that a person reviews
what the edits come to.
"""

from collections.abc import Iterator
from dataclasses import replace

from agent_server.edits.text.hunks import hunks
from agent_server.frozen import frozen
from agent_server.loop.proposal import ChangeKind, FileChange


@frozen
class StagedText:
    """One file."""

    first: FileChange
    """The first staged edit of it: what there was before."""
    text: str | None
    """What there is now; None: it is to be deleted."""


class Overlay:
    """The staged texts of one session, by the file's real path."""

    def __init__(self) -> None:
        self._texts: dict[str, StagedText] = {}

    def __bool__(self) -> bool:
        """Whether something is staged."""
        return bool(self._texts)

    def __iter__(self) -> Iterator[str]:
        """The real paths, in the order in which they were first staged."""
        return iter(self._texts)

    def get(self, path: str) -> StagedText | None:
        """What is staged at this real path."""
        return self._texts.get(path)

    def add(self, path: str, change: FileChange) -> None:
        """Stage a change of the file at this real path; it was made against what is staged there already."""
        known = self._texts.get(path)
        self._texts[path] = StagedText(change if known is None else known.first, change.new_text)

    def clear(self) -> None:
        """Stage nothing any more."""
        self._texts.clear()

    def net(self) -> dict[str, FileChange]:
        """What it comes to, by real path; files that end as they were are left out."""
        made = {path: _net(staged) for path, staged in self._texts.items()}
        return {path: change for path, change in made.items() if change is not None}


def _net(staged: StagedText) -> FileChange | None:
    base, text = staged.first.base_text, staged.text
    if base == text:
        return None
    kind: ChangeKind = "create" if base is None else "delete" if text is None else "edit"
    return replace(staged.first, kind=kind, new_text=text, hunks=hunks(base or "", text or ""))
