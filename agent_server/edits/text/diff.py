"""The difference of two line lists: patience anchors first, difflib between them, then tidied for people.

Anchors are lines that stand exactly once on both sides; they make a difference that follows the structure of a file
and cost n·log n. Only the small gaps between them go to difflib, whose cost grows with the number of equal pairs.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import chain, pairwise
from typing import NamedTuple

DIFFLIB_PAIRS = 40_000
"""Equal pairs of lines up to which a gap goes to difflib: about 10 ms at worst."""
SLIDE = 200
"""How far a change is moved to read better, in lines."""


class Change(NamedTuple):
    """Lines `start:end` of the base become lines `new_start:new_end` of the new list."""

    start: int
    end: int
    new_start: int
    new_end: int


def diff(base: Sequence[str], new: Sequence[str]) -> list[Change]:
    """The changes from `base` to `new`, in order; between two of them stands at least one equal line."""
    start, end, new_start, new_end = _trim(base, new, Change(0, len(base), 0, len(new)))
    middle, new_middle = base[start:end], new[new_start:new_end]
    numbers = {line: n for n, line in enumerate(dict.fromkeys(chain(middle, new_middle)))}
    found = _found(*([numbers[line] for line in lines] for lines in (middle, new_middle)))
    placed = [Change(a + start, b + start, c + start, d + start) for a, b, c, d in found]
    return _joined(_slid(base, new, _joined(placed)))


def _found(base: Sequence[int], new: Sequence[int]) -> list[Change]:
    """The changes of two texts whose equal lines are equal numbers, which compare many times faster than lines."""
    found: list[Change] = []
    pending = [Change(0, len(base), 0, len(new))]
    while pending:
        gap = _trim(base, new, pending.pop())
        if gap.start == gap.end or gap.new_start == gap.new_end:
            if gap.end > gap.start or gap.new_end > gap.new_start:
                found.append(gap)
            continue
        if _have_nothing_in_common(base, new, gap):  # most gaps: a few lines written anew
            found.append(gap)
            continue
        anchors = _anchors(base, new, gap)
        if anchors:
            pending += _between(anchors, gap)
        else:
            found += _by_difflib(base, new, gap)
    return sorted(found)


def _trim(base: Sequence[object], new: Sequence[object], gap: Change) -> Change:
    start, end, new_start, new_end = gap
    while start < end and new_start < new_end and base[start] == new[new_start]:
        start, new_start = start + 1, new_start + 1
    while start < end and new_start < new_end and base[end - 1] == new[new_end - 1]:
        end, new_end = end - 1, new_end - 1
    return Change(start, end, new_start, new_end)


def _have_nothing_in_common(base: Sequence[int], new: Sequence[int], gap: Change) -> bool:
    if gap.end - gap.start == gap.new_end - gap.new_start == 1:
        return True  # they differ, or they would have been trimmed
    return set(base[gap.start : gap.end]).isdisjoint(new[gap.new_start : gap.new_end])


def _anchors(base: Sequence[int], new: Sequence[int], gap: Change) -> list[tuple[int, int]]:
    """Pairs of equal lines to hold on to; none where difflib does better."""
    old_lines, new_lines = base[gap.start : gap.end], new[gap.new_start : gap.new_end]
    counts, new_counts = Counter(old_lines), Counter(new_lines)
    single = _once(counts) & _once(new_counts)
    unique = _ascending(_places(old_lines, single), _places(new_lines, single))
    if unique:
        return [(gap.start + i, gap.new_start + j) for i, j in unique]
    if sum(count * new_counts[line] for line, count in counts.items()) <= DIFFLIB_PAIRS:
        return []
    nth = _ascending(_nth_places(old_lines), _nth_places(new_lines))
    return [(gap.start + i, gap.new_start + j) for i, j in nth]


def _once(counts: Counter[int]) -> set[int]:
    return {line for line, count in counts.items() if count == 1}


def _places(lines: Sequence[int], wanted: Container[int]) -> dict[object, int]:
    return {line: place for place, line in enumerate(lines) if line in wanted}


def _nth_places(lines: Sequence[int]) -> dict[object, int]:
    """Places by (line, how-many-th of its kind): a coarse pairing for thousands of equal lines."""
    seen: Counter[int] = Counter()
    places: dict[object, int] = {}
    for place, line in enumerate(lines):
        places[line, seen[line]] = place
        seen[line] += 1
    return places


def _ascending(places: dict[object, int], new_places: dict[object, int]) -> list[tuple[int, int]]:
    """The longest run of shared keys whose places rise on both sides (patience sorting)."""
    pairs = [(place, new_places[key]) for key, place in places.items() if key in new_places]
    if all(one[1] < two[1] for one, two in pairwise(pairs)):
        return pairs
    tops: list[int] = []
    top_pairs: list[int] = []
    before: list[int] = []
    for index, (_, new_place) in enumerate(pairs):
        pile = bisect_left(tops, new_place)
        before.append(top_pairs[pile - 1] if pile else -1)
        tops[pile : pile + 1] = [new_place]
        top_pairs[pile : pile + 1] = [index]
    run: list[tuple[int, int]] = []
    index = top_pairs[-1] if top_pairs else -1
    while index >= 0:
        run.append(pairs[index])
        index = before[index]
    return run[::-1]


def _between(anchors: list[tuple[int, int]], gap: Change) -> Iterator[Change]:
    """What lies between the anchors; most of them are neighbours, with nothing between."""
    start, new_start = gap.start, gap.new_start
    for place, new_place in [*anchors, (gap.end, gap.new_end)]:
        if place > start or new_place > new_start:
            yield Change(start, place, new_start, new_place)
        start, new_start = place + 1, new_place + 1


def _by_difflib(base: Sequence[int], new: Sequence[int], gap: Change) -> Iterator[Change]:
    matcher = SequenceMatcher(
        None, base[gap.start : gap.end], new[gap.new_start : gap.new_end], autojunk=False
    )
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        if tag != "equal":
            yield Change(
                gap.start + start,
                gap.start + end,
                gap.new_start + new_start,
                gap.new_start + new_end,
            )


def _joined(changes: list[Change]) -> list[Change]:
    """Changes that touch, as one."""
    joined: list[Change] = []
    for change in changes:
        if joined and joined[-1].end == change.start and joined[-1].new_end == change.new_start:
            joined[-1] = joined[-1]._replace(end=change.end, new_end=change.new_end)
        else:
            joined.append(change)
    return joined


# ---- tidying: a pure insertion or deletion may often stand at several places; take the one that reads best ----


def _slid(base: Sequence[str], new: Sequence[str], changes: list[Change]) -> list[Change]:
    slid: list[Change] = []
    for index, change in enumerate(changes):
        low = slid[-1].end + 1 if slid else 0
        high = changes[index + 1].start - 1 if index + 1 < len(changes) else len(base)
        slid.append(_best_place(base, new, change, room=(change.start - low, high - change.end)))
    return slid


def _best_place(
    base: Sequence[str], new: Sequence[str], change: Change, *, room: tuple[int, int]
) -> Change:
    if change.start == change.end:
        lines, start, end = new, change.new_start, change.new_end
    elif change.new_start == change.new_end:
        lines, start, end = base, change.start, change.end
    else:
        return change
    up, down = 0, 0
    while up < min(room[0], SLIDE) and lines[start - up - 1] == lines[end - up - 1]:
        up += 1
    while down < min(room[1], SLIDE) and lines[start + down] == lines[end + down]:
        down += 1
    by = max(range(-up, down + 1), key=_readability(lines, start, end)) if up or down else 0
    return Change(*(place + by for place in change))


def _readability(
    lines: Sequence[str], start: int, end: int
) -> Callable[[int], tuple[bool, bool, int, int]]:
    """A change reads best when it ends with a blank line or starts after one, and begins far left."""

    def score(by: int) -> tuple[bool, bool, int, int]:
        first, last = lines[start + by], lines[end + by - 1]
        before = lines[start + by - 1] if start + by else ""
        return (not last.strip() and bool(first.strip())), not before.strip(), -_indent(first), by

    return score


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip()) if line.strip() else 1000
