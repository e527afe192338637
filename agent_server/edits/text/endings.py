r"""Line ends of new text: a model writes `\n`, the file keeps what it has."""

from collections.abc import Sequence
from typing import NamedTuple

from agent_server.edits.text.diff import diff
from agent_server.edits.text.lines import content, ending, split_lines, unify_endings, usual_ending


class Source(NamedTuple):
    """Where a line of a new text comes from."""

    line: int
    """The old line it repeats, or stands in place of or after; -1 before the first."""
    same: bool
    """It repeats it."""


def sources(old: Sequence[str], new: Sequence[str]) -> list[Source]:
    """For each line of `new`, its line of `old`."""
    found: list[Source] = []
    at = 0
    for start, end, new_start, new_end in [
        *diff(old, new),
        (len(old), len(old), len(new), len(new)),
    ]:
        found += [Source(line, same=True) for line in range(at, start)]
        found += [Source(min(start + n, end - 1), same=False) for n in range(new_end - new_start)]
        at = end
    return found


def keep_endings(base: str, new: str) -> str:
    r"""`new` with the line ends of `base`: kept lines keep theirs, new ones take their neighbour's.

    A text that brings `\r` of its own throughout is taken as given, so that a file can be converted on purpose. One
    that mixes `\n` and `\r\n` says nothing, and a file of one of them keeps it.
    """
    if "\r" in new and _kinds(new) == {"\n", "\r\n"} and _kinds(base) in ({"\n"}, {"\r\n"}):
        new = unify_endings(new)
    if "\r" in new or "\r" not in base:
        return new
    lines, new_lines = split_lines(base), split_lines(new)
    ends = [ending(line) for line in lines]
    usual = usual_ending(lines)
    contents = [content(line) for line in new_lines]
    result: list[str] = []
    for text, source in zip(
        contents, sources([content(line) for line in lines], contents), strict=True
    ):
        result.append(text + (ends[max(source.line, 0)] or usual))
    if new_lines and not ending(new_lines[-1]):
        result[-1] = contents[-1]
    return "".join(result)


def _kinds(text: str) -> set[str]:
    return {end for line in split_lines(text) if (end := ending(line))}
