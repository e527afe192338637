"""Replacing what a model quotes: found by the ladder of `rungs`, unique or refused, written as given.

All edits of one call are matched against the same text, so none sees what another put in.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice, pairwise

from agent_server.edits.text.endings import sources
from agent_server.edits.text.lines import content, ending, split_lines, unify_endings, usual_ending
from agent_server.edits.text.nearest import nearest
from agent_server.edits.text.rungs import RUNGS, Span
from agent_server.loop.errors import EditRefused

NAMED = 20
"""Places of an ambiguous text that its error names."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """One edit as the model asks for it."""

    old_text: str
    new_text: str
    replace_all: bool = False


def replace(text: str, edits: Sequence[Replacement]) -> str:
    """`text` with all `edits` made.

    What a model repeats unchanged keeps the file's own bytes; what it writes new is taken as given, with the line ends
    of its surroundings and, on the rung of the indentation, with the same shift.

    Raises:
        EditRefused: `empty_old_text`, `no_change`, `not_found`, `ambiguous` or `overlap`; names edits and lines.
    """
    lines = split_lines(text)
    starts = [0, *accumulate(map(len, lines))]
    pieces = _Pieces(lines, usual_ending(lines))
    placed: list[tuple[int, int, int, str]] = []
    for number, edit in enumerate(edits):
        for span in _find(pieces, edits, number):
            start, end = starts[span.first] + span.start, starts[span.last] + span.end
            placed.append((start, end, number, _written(pieces, span, edit)))
    placed.sort()
    for (_, end, one, _), (start, _, two, _) in pairwise(placed):
        if start < end:
            first, second = sorted((one, two))
            place = f"edits {first + 1} and {second + 1} overlap at line {_line_at(starts, start)}"
            raise EditRefused(f"{place}; join them into one", reason="overlap")
    return _spliced(text, placed)


def _spliced(text: str, placed: Sequence[tuple[int, int, int, str]]) -> str:
    result: list[str] = []
    at = 0
    for start, end, _, new_text in placed:
        result += [text[at:start], new_text]
        at = end
    return "".join([*result, text[at:]])


def _line_at(starts: Sequence[int], offset: int) -> int:
    return sum(start <= offset for start in starts[:-1])


class _Pieces:
    """The lines of a text, ends apart, with the empty line after a final line end."""

    def __init__(self, lines: Sequence[str], usual: str) -> None:
        self.contents = [content(line) for line in lines]
        self.ends = [ending(line) for line in lines]
        if not lines or self.ends[-1]:
            self.contents.append("")
            self.ends.append("")
        self.usual = usual

    def end_near(self, line: int) -> str:
        """How a line put in here should end."""
        return self.ends[line] or (self.ends[line - 1] if line else "") or self.usual


def _find(pieces: _Pieces, edits: Sequence[Replacement], number: int) -> list[Span]:
    edit = edits[number]
    quoted = unify_endings(edit.old_text)
    if not quoted:
        message = f"edit {number + 1}: old_text is empty; quote the text to replace, or write the whole file"
        raise EditRefused(message, reason="empty_old_text")
    if edit.old_text == edit.new_text:
        raise EditRefused(
            f"edit {number + 1}: old_text and new_text are the same", reason="no_change"
        )
    wanted, written = quoted.split("\n"), edit.new_text.split("\n")
    for rung in RUNGS:
        found = (
            s
            for s in rung(pieces.contents, wanted)
            if all(s.shift.move(n) is not None for n in written)
        )
        spans = list(_apart(found) if edit.replace_all else islice(found, NAMED + 1))
        if len(spans) == 1 or (spans and edit.replace_all):
            return spans
        if spans:
            raise EditRefused(_ambiguous(number, spans), reason="ambiguous")
    raise EditRefused(_not_found(pieces, edits, number), reason="not_found")


def _apart(spans: Iterable[Span]) -> Iterator[Span]:
    """Each span that does not overlap the one taken before it."""
    free = (0, 0)
    for span in spans:
        if (span.first, span.start) >= free:
            yield span
            free = (span.last, span.end)


def _ambiguous(number: int, spans: Sequence[Span]) -> str:
    places = [str(span.first + 1) for span in spans]
    times = f"{len(places)} times" if len(places) <= NAMED else f"more than {NAMED} times"
    return (
        f"edit {number + 1}: old_text occurs {times}, at lines {', '.join(places[:NAMED])}; "
        "quote more of its surroundings, or set replace_all"
    )


def _not_found(pieces: _Pieces, edits: Sequence[Replacement], number: int) -> str:
    quoted = edits[number].old_text
    for other, edit in enumerate(edits):
        if other != number and quoted in edit.new_text:
            return (
                f"edit {number + 1}: old_text is not in the file, only in the new_text of edit {other + 1}; "
                "all edits of one call are matched against the file as it was: join the two"
            )
    return f"edit {number + 1}: old_text is not in the file{nearest(pieces.contents, quoted)}"


def _written(pieces: _Pieces, span: Span, edit: Replacement) -> str:
    """What stands at `span` afterwards: repeated lines as they are in the file, the others as the model writes them."""
    region = pieces.contents[span.first : span.last + 1]
    region[-1] = region[-1][: span.end]
    region[0] = region[0][span.start :]
    ends = pieces.ends[span.first : span.last]
    outside = pieces.end_near(span.first)
    old, new = (
        unify_endings(edit.old_text).split("\n"),
        edit.new_text.replace("\r\n", "\n").split("\n"),
    )
    result: list[str] = []
    for line, source in zip(new, sources(old, new), strict=True):
        moved = span.shift.move(line)
        result.append(region[source.line] if source.same else line if moved is None else moved)
        near = max(source.line, 0)
        result.append(ends[near] if near < len(ends) else ends[-1] if ends else outside)
    return "".join(result[:-1])
