"""Hunks: making them from two texts, taking some of them, turning them round, sending them as LSP edits."""

from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import replace
from hashlib import sha256

from agent_server.edits.text.diff import diff
from agent_server.edits.text.lines import split_lines
from agent_server.edits.text.positions import PositionEncoding, PositionMap, TextEdit
from agent_server.loop.proposal import Hunk


def hunks(base: str, new: str) -> tuple[Hunk, ...]:
    """The hunks that make `base` into `new`, in order; between two of them stands at least one common line.

    An id is a hash of the lines taken out and put in and of the common line on either side, so that deciding one hunk
    does not rename its neighbours. Equal hunks are numbered in order.
    """
    old_lines, new_lines = split_lines(base), split_lines(new)
    seen: Counter[str] = Counter()
    made: list[Hunk] = []
    for start, end, new_start, new_end in diff(old_lines, new_lines):
        removed, added = tuple(old_lines[start:end]), tuple(new_lines[new_start:new_end])
        around = (*old_lines[max(start - 1, 0) : start], "\0", *old_lines[end : end + 1])
        name = _name(removed, added, around)
        seen[name] += 1
        made.append(
            Hunk(name if seen[name] == 1 else f"{name}-{seen[name]}", start, removed, added)
        )
    return tuple(made)


def _name(*parts: tuple[str, ...]) -> str:
    told = "".join("".join((*(f"{line}\1" for line in part), "\2")) for part in parts)
    return f"h{sha256(told.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def apply_hunks(base: str, hunks: Sequence[Hunk], accepted: Container[str]) -> str:
    """`base` with the accepted hunks; every other byte of it as it was.

    Raises:
        ValueError: a hunk is not one of this text, or two of them overlap.
    """
    lines = split_lines(base)
    result: list[str] = []
    at = 0
    for hunk in sorted(hunks, key=lambda h: h.start):
        end = hunk.start + len(hunk.removed)
        if (
            hunk.start < at
            or tuple(lines[hunk.start : end]) != hunk.removed
            or hunk.start > len(lines)
        ):
            raise ValueError(f"hunk {hunk.id} does not fit at line {hunk.start + 1}")
        if hunk.id in accepted:
            result += [*lines[at : hunk.start], *hunk.added]
            at = end
    return "".join([*result, *lines[at:]])


def invert(hunks: Sequence[Hunk]) -> tuple[Hunk, ...]:
    """The hunks that take all of `hunks` back, in lines of the new text; each keeps its id."""
    inverse: list[Hunk] = []
    moved = 0
    for hunk in sorted(hunks, key=lambda h: h.start):
        inverse.append(
            replace(hunk, start=hunk.start + moved, removed=hunk.added, added=hunk.removed)
        )
        moved += len(hunk.added) - len(hunk.removed)
    return tuple(inverse)


def text_edits(
    base: str, hunks: Sequence[Hunk], encoding: PositionEncoding
) -> tuple[TextEdit, ...]:
    """The hunks as LSP edits of a document that holds `base`, in its order."""
    places = PositionMap(base, encoding)
    return tuple(
        TextEdit(
            places.range(places.line_start(h.start), places.line_start(h.start + len(h.removed))),
            "".join(h.added),
        )
        for h in hunks
    )
