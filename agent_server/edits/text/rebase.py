"""Three-way merge by lines: our hunks were made against `base`, the text is now `live`.

A hunk whose lines and neighbours are untouched moves to where they stand now. One that touches a change of the other
side, adjacency included, is a conflict. Nothing is placed by likeness (lsp.md §4.3).
"""

from collections.abc import Container, Sequence
from dataclasses import replace

from agent_server.edits.text.diff import Change, diff
from agent_server.edits.text.hunks import apply_hunks, invert
from agent_server.edits.text.lines import split_lines
from agent_server.frozen import frozen
from agent_server.loop.proposal import Hunk


@frozen
class Rebased:
    """What became of our hunks."""

    hunks: tuple[Hunk, ...]
    """Those that still have to be made, in lines of the live text, ids kept."""
    conflicts: tuple[Hunk, ...]
    """Those that touch a change of the other side, in lines of the base."""
    already: tuple[Hunk, ...]
    """Those the live text has already: the other side made the very same change. In lines of the base."""


def rebase(base: str, hunks: Sequence[Hunk], live: str) -> Rebased:
    """Place hunks of `base` in `live`."""
    old_lines, live_lines = split_lines(base), split_lines(live)
    changes = diff(old_lines, live_lines)
    moved: list[Hunk] = []
    conflicts: list[Hunk] = []
    already: list[Hunk] = []
    for hunk in hunks:
        end = hunk.start + len(hunk.removed)
        touching = [c for c in changes if c.start <= end and hunk.start <= c.end]
        if not touching:
            moved.append(replace(hunk, start=hunk.start + _drift(changes, hunk.start)))
        elif len(touching) == 1 and _same(hunk, touching[0], live_lines):
            already.append(hunk)
        else:
            conflicts.append(hunk)
    return Rebased(tuple(moved), tuple(conflicts), tuple(already))


def take_out(
    after: str, made: Sequence[Hunk], live: str, wanted: Container[str]
) -> tuple[str, tuple[Hunk, ...]]:
    """`live` without those of the hunks that made `after` whose ids are wanted, and the ones that stay.

    What stays touches a change that somebody made to `after` since; theirs is never taken out with it.
    """
    inverse = [hunk for hunk in invert(made) if hunk.id in wanted]
    placed = rebase(after, inverse, live)
    text = apply_hunks(live, placed.hunks, {hunk.id for hunk in placed.hunks})
    return text, placed.conflicts


def _drift(changes: Sequence[Change], line: int) -> int:
    return sum((c.new_end - c.new_start) - (c.end - c.start) for c in changes if c.end < line)


def _same(hunk: Hunk, change: Change, live_lines: Sequence[str]) -> bool:
    return (hunk.start, hunk.start + len(hunk.removed)) == (change.start, change.end) and tuple(
        live_lines[change.new_start : change.new_end]
    ) == hunk.added
