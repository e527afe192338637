"""A change as a unified diff: for the model, the terminal and logs, not for `patch`."""

from collections.abc import Iterator, Sequence

from agent_server.edits.text.lines import content, ending, split_lines
from agent_server.loop.proposal import FileChange, Hunk

CONTEXT = 3
"""Unchanged lines around a hunk."""


def unified(change: FileChange, *, name: str | None = None) -> str:
    """The diff of one file, headed by `name` or its path.

    Line ends are not shown, unless they are all that a hunk changes; then as `␍` and `␊`.
    """
    shown = name or change.path
    lines = split_lines(change.base_text or "")
    old = "/dev/null" if change.base_text is None else f"a/{(change.old_path or shown).lstrip('/')}"
    new = "/dev/null" if change.new_text is None else f"b/{shown.lstrip('/')}"
    rows = [f"--- {old}", f"+++ {new}"]
    moved = 0
    for group in _groups(change.hunks):
        rows += _section(lines, group, moved)
        moved += sum(len(h.added) - len(h.removed) for h in group)
    return "\n".join(rows) + "\n"


def _groups(hunks: Sequence[Hunk]) -> Iterator[list[Hunk]]:
    """Hunks whose contexts meet, together."""
    group: list[Hunk] = []
    for hunk in hunks:
        if group and hunk.start - (group[-1].start + len(group[-1].removed)) > 2 * CONTEXT:
            yield group
            group = []
        group.append(hunk)
    if group:
        yield group


def _section(lines: Sequence[str], group: Sequence[Hunk], moved: int) -> Iterator[str]:
    start = max(group[0].start - CONTEXT, 0)
    end = min(group[-1].start + len(group[-1].removed) + CONTEXT, len(lines))
    grown = sum(len(h.added) - len(h.removed) for h in group)
    yield f"@@ -{_span(start, end - start)} +{_span(start + moved, end - start + grown)} @@"
    at = start
    for hunk in group:
        yield from _rows(" ", lines[at : hunk.start])
        only_ends = [content(line) for line in hunk.removed] == [
            content(line) for line in hunk.added
        ]
        yield from _rows("-", hunk.removed, ends=only_ends)
        yield from _rows("+", hunk.added, ends=only_ends)
        at = hunk.start + len(hunk.removed)
    yield from _rows(" ", lines[at:end])


def _span(start: int, count: int) -> str:
    """Unified diff's numbers: from 1, but the line before for an empty span, and no count of 1."""
    if count == 1:
        return str(start + 1)
    return f"{start + 1 if count else start},{count}"


def _rows(sign: str, lines: Sequence[str], *, ends: bool = False) -> Iterator[str]:
    for line in lines:
        end = ending(line)
        yield sign + content(line) + (end.replace("\r", "␍").replace("\n", "␊") if ends else "")
        if not end:
            yield "\\ No newline at end of file"
