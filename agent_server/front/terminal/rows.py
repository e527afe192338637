"""A change as rows to read: the lines around it, what goes, what comes, and which words differ. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal

from agent_server.edits.text.diff import diff
from agent_server.edits.text.lines import content, split_lines
from agent_server.frozen import frozen
from agent_server.loop.proposal import FileChange, Hunk

CONTEXT = 3
"""Unchanged lines shown around a change."""
ALIKE = 0.5
"""How similar two lines must be (difflib's ratio) for their words to be compared."""
PAIRS = 2_500
"""Pairs of lines in one hunk up to which similar lines are looked for."""

_WORD = re.compile(r"\w+|\s+|[^\w\s]")

Span = tuple[int, int]
"""From and up to, in characters of the row's text."""


@frozen
class Row:
    """One line of a diff. `number` is 1-based: of the old text for `removed`, else of the new; None for a gap."""

    kind: Literal["same", "removed", "added", "gap"]
    number: int | None
    text: str
    marks: tuple[Span, ...] = ()
    """The words that differ from the line's counterpart; empty when all of it does."""


def count(hunks: Sequence[Hunk]) -> tuple[int, int]:
    """Lines added and removed."""
    return sum(len(h.added) for h in hunks), sum(len(h.removed) for h in hunks)


def file_rows(change: FileChange, hunks: Sequence[Hunk] | None = None) -> tuple[Row, ...]:
    """The change in rows; `hunks` picks some of its hunks, the others are shown as if they were not there."""
    lines = split_lines(change.base_text or "")
    return tuple(
        _rows(lines, sorted(change.hunks if hunks is None else hunks, key=lambda h: h.start))
    )


def _rows(lines: Sequence[str], hunks: Sequence[Hunk]) -> Iterator[Row]:
    shown = 0
    """So many lines of the old text are behind us."""
    moved = 0
    for index, hunk in enumerate(hunks):
        start = max(shown, hunk.start - CONTEXT)
        if index > 0 and start > shown:
            yield Row("gap", None, "")
        yield from _same(lines, start, hunk.start, moved)
        yield from hunk_rows(hunk, moved)
        moved += len(hunk.added) - len(hunk.removed)
        shown = hunk.start + len(hunk.removed)
        following = hunks[index + 1].start if index + 1 < len(hunks) else len(lines)
        end = min(shown + CONTEXT, following)
        yield from _same(lines, shown, end, moved)
        shown = end


def hunk_rows(hunk: Hunk, moved: int = 0) -> Iterator[Row]:
    """What goes, then what comes. `moved`: by how many lines the hunks before it push the new text down."""
    old = [content(line) for line in hunk.removed]
    new = [content(line) for line in hunk.added]
    old_marks, new_marks = _marks(old, new)
    for at, text in enumerate(old):
        yield Row("removed", hunk.start + at + 1, text, old_marks.get(at, ()))
    for at, text in enumerate(new):
        yield Row("added", hunk.start + moved + at + 1, text, new_marks.get(at, ()))


def _same(lines: Sequence[str], start: int, end: int, moved: int) -> Iterator[Row]:
    for at in range(start, min(end, len(lines))):
        yield Row("same", at + moved + 1, content(lines[at]))


Marks = dict[int, tuple[Span, ...]]


def _marks(old: Sequence[str], new: Sequence[str]) -> tuple[Marks, Marks]:
    """The words that differ, for each line that has a counterpart on the other side."""
    old_marks: Marks = {}
    new_marks: Marks = {}
    for at, other in _counterparts(old, new):
        gone, come = changed_words(old[at], new[other])
        old_marks[at], new_marks[other] = _trimmed(old[at], gone), _trimmed(new[other], come)
    return old_marks, new_marks


def _counterparts(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Similar lines of both sides, in order; each line at most once."""
    if len(old) * len(new) > PAIRS:
        return
    free = 0
    for at, line in enumerate(old):
        candidates = [(_likeness(line, new[other]), -other) for other in range(free, len(new))]
        best, place = max(candidates, default=(0.0, 0))
        if best >= ALIKE:
            free = -place + 1
            yield at, -place


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one.strip(), other.strip(), autojunk=False).ratio()


def changed_words(old: str, new: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Where two lines differ, by words, on each side."""
    old_words, new_words = _WORD.findall(old), _WORD.findall(new)
    old_at, new_at = _offsets(old_words), _offsets(new_words)
    changes = diff(old_words, new_words)
    return (
        tuple((old_at[c.start], old_at[c.end]) for c in changes if c.start < c.end),
        tuple((new_at[c.new_start], new_at[c.new_end]) for c in changes if c.new_start < c.new_end),
    )


def _trimmed(text: str, spans: Iterable[Span]) -> tuple[Span, ...]:
    """The spans without blanks at their ends, which only make a mark look ragged; a blank that is all of it stays."""
    found: list[Span] = []
    for start, end in spans:
        words = text[start:end]
        left, right = len(words) - len(words.lstrip()), len(words) - len(words.rstrip())
        found.append((start + left, end - right) if words.strip() else (start, end))
    return tuple(found)


def _offsets(words: Sequence[str]) -> list[int]:
    offsets = [0]
    for word in words:
        offsets.append(offsets[-1] + len(word))
    return offsets
