"""A text as lines to be found in, and what becomes of it when some of its places are written anew."""

from collections.abc import Iterable
from itertools import accumulate, pairwise

from agent_server.edits.text.endings import sources
from agent_server.edits.text.lines import content, ending, split_lines, unify_endings, usual_ending
from agent_server.edits.text.rungs import Span
from agent_server.frozen import frozen
from agent_server.loop.errors import EditRefused


class Pieces:
    """The lines of a text, ends apart, with the empty line after a final line end."""

    def __init__(self, text: str) -> None:
        lines = split_lines(text)
        self.contents = [content(line) for line in lines]
        self.ends = [ending(line) for line in lines]
        self._starts = [0, *accumulate(map(len, lines))]
        if not lines or self.ends[-1]:
            self.contents.append("")
            self.ends.append("")
        self.usual = usual_ending(lines)

    def end_near(self, line: int) -> str:
        """How a line put in here should end."""
        return self.ends[line] or (self.ends[line - 1] if line else "") or self.usual

    def offsets(self, span: Span) -> tuple[int, int]:
        """Where a span begins and ends in the text."""
        return self._starts[span.first] + span.start, self._starts[span.last] + span.end

    def line_at(self, offset: int) -> int:
        """The line of an offset, from 1."""
        return sum(start <= offset for start in self._starts[:-1])


@frozen
class Placed:
    """What is to stand between two offsets of a text."""

    start: int
    end: int
    number: int
    """Of the edit that wants it, from 0."""
    new_text: str

    def __lt__(self, other: "Placed") -> bool:
        return (self.start, self.end, self.number) < (other.start, other.end, other.number)


def splice(text: str, wanted: Iterable[Placed], *, noun: str) -> str:
    """`text` with every place written anew.

    Raises:
        EditRefused: `overlap`; names the two (`edits 1 and 3`, for the noun `edit`) and the line.
    """
    result: list[str] = []
    at = 0
    placed = sorted(wanted)
    for one, two in pairwise(placed):
        if two.start < one.end:
            raise _overlap(text, one, two, noun)
    for place in placed:
        result += [text[at : place.start], place.new_text]
        at = place.end
    return "".join([*result, text[at:]])


def _overlap(text: str, one: Placed, two: Placed, noun: str) -> EditRefused:
    first, second = sorted((one.number, two.number))
    line = Pieces(text).line_at(two.start)
    message = f"{noun}s {first + 1} and {second + 1} overlap at line {line}; join them into one"
    return EditRefused(message, reason="overlap")


def written(pieces: Pieces, span: Span, old_text: str, new_text: str) -> str:
    """What stands at `span` afterwards: repeated lines as they are in the file, the others as the model writes them."""
    region = pieces.contents[span.first : span.last + 1]
    region[-1] = region[-1][: span.end]
    region[0] = region[0][span.start :]
    ends = pieces.ends[span.first : span.last]
    outside = pieces.end_near(span.first)
    old, new = (
        unify_endings(old_text).split("\n"),
        new_text.replace("\r\n", "\n").split("\n"),
    )
    result: list[str] = []
    for line, source in zip(new, sources(old, new), strict=True):
        moved = span.shift.move(line)
        result.append(region[source.line] if source.same else line if moved is None else moved)
        near = max(source.line, 0)
        result.append(ends[near] if near < len(ends) else ends[-1] if ends else outside)
    return "".join(result[:-1])
