"""Where a text that was not found probably should have been: for the error message only, never for an edit."""

from collections import Counter
from collections.abc import Sequence

from agent_server.edits.text.lines import unify_endings

SHOWN = 12
"""Lines shown at most."""


def nearest(lines: Sequence[str], quoted: str) -> str:
    """The end of `old_text is not in the file …`: the closest region with line numbers, or that none is near.

    Tabs are drawn as `→`, because they are what a quote most often gets wrong.
    """
    wanted = unify_endings(quoted).strip("\n").split("\n")
    start = _by_equal_lines(lines, wanted)
    if start is None:
        start = _by_words(lines, wanted)
    if start is None:
        return "; nothing in it is similar"
    region = lines[start : start + min(len(wanted), SHOWN)]
    shown = "\n".join(f"{start + n + 1}: {line}" for n, line in enumerate(region))
    tabs = " (→ is a tab)" if "\t" in shown else ""
    return f"; the nearest lines are{tabs}:\n" + shown.replace("\t", "→")


def _by_equal_lines(lines: Sequence[str], wanted: Sequence[str]) -> int | None:
    """The start at which most quoted lines stand in place, leading and trailing space aside."""
    places: dict[str, list[int]] = {}
    for number, line in enumerate(wanted):
        if line.strip():
            places.setdefault(line.strip(), []).append(number)
    votes: Counter[int] = Counter()
    for number, line in enumerate(lines):
        for place in places.get(line.strip(), ()):
            votes[max(number - place, 0)] += len(line.strip())
    return min(votes, key=lambda start: (-votes[start], start)) if votes else None


def _by_words(lines: Sequence[str], wanted: Sequence[str]) -> int | None:
    """The start from which the longest quoted line shares most words with its counterpart; at least half of them."""
    place = max(range(len(wanted)), key=lambda n: len(wanted[n]))
    words = set(wanted[place].split())
    best, found = len(words) / 2, None
    for number, line in enumerate(lines):
        shared = len(words & set(line.split()))
        if shared and shared >= best and (found is None or shared > best):
            best, found = shared, number
    return None if found is None else max(found - place, 0)
