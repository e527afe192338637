"""Places in a text: offsets in code points here, LSP positions (line, units) on the wire, clamped as LSP says.

LSP counts one line more than there are line ends: after a final newline stands an empty line.
"""

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate
from typing import Literal

from agent_server.edits.text.lines import content, ending, split_lines
from agent_server.frozen import frozen

PositionEncoding = Literal["utf-8", "utf-16", "utf-32"]
"""Which units `Position.character` counts (LSP 3.17, PositionEncodingKind)."""


@frozen
class Position:
    """A place between two characters; both numbers from 0."""

    line: int
    character: int
    """In units of the negotiated encoding."""

    def __lt__(self, other: "Position") -> bool:
        return (self.line, self.character) < (other.line, other.character)


@frozen
class Range:
    """From `start` up to, without, `end`."""

    start: Position
    end: Position


@frozen
class TextEdit:
    """One replacement in a document, as LSP sends it."""

    range: Range
    new_text: str


class PositionMap:
    """Translates between offsets and positions of one text."""

    def __init__(self, text: str, encoding: PositionEncoding) -> None:
        """Index the lines of `text` once; each translation is then a search."""
        lines = split_lines(text)
        if not lines or ending(lines[-1]):
            lines.append("")
        self._lines = lines
        self._starts = [0, *accumulate(map(len, lines))]
        self._encoding: PositionEncoding = encoding

    def line_start(self, line: int) -> int:
        """Offset of the first character of a line; the end of the text for a line past it."""
        return self._starts[min(line, len(self._lines))]

    def offset(self, position: Position) -> int:
        """Offset of a position.

        Past the end of a line means its end (before the line end), past the last line the end of the text;
        the middle of a character means its start.
        """
        if position.line >= len(self._lines):
            return self._starts[-1]
        line = content(self._lines[position.line])
        return self._starts[position.line] + _column(line, position.character, self._encoding)

    def position(self, offset: int) -> Position:
        r"""Position of an offset; one past the text means its end, one inside `\r\n` stays before it."""
        line = bisect_right(self._starts, offset, hi=len(self._lines)) - 1
        before = content(self._lines[line])[: offset - self._starts[line]]
        return Position(line, units(before, self._encoding))

    def range(self, start: int, end: int) -> Range:
        """The range between two offsets."""
        return Range(self.position(start), self.position(end))


def units(text: str, encoding: PositionEncoding) -> int:
    """How many units of `encoding` the text takes. A lone surrogate counts as the editor counts it: 3, 1, 1."""
    match encoding:
        case "utf-32":
            return len(text)
        case "utf-16":
            return len(text) if text.isascii() else sum(1 + (c > "\uffff") for c in text)
        case "utf-8":
            return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _column(line: str, wanted: int, encoding: PositionEncoding) -> int:
    if encoding == "utf-32" or line.isascii():
        return min(wanted, len(line))
    taken = 0
    for column, character in enumerate(line):
        taken += units(character, encoding)
        if taken > wanted:
            return column
    return len(line)


def apply_text_edits(text: str, edits: Iterable[TextEdit], encoding: PositionEncoding) -> str:
    """The text after LSP edits that all refer to it; of two insertions at one place the first stays first.

    Raises:
        ValueError: two edits overlap.
    """
    places = PositionMap(text, encoding)
    spans = [(places.offset(e.range.start), places.offset(e.range.end), e.new_text) for e in edits]
    spans.sort(key=lambda span: span[:2])
    pieces: list[str] = []
    at = 0
    for start, end, new_text in spans:
        if start < at:
            raise ValueError(f"two edits overlap at offset {start}")
        pieces += [text[at:start], new_text]
        at = max(start, end)
    return "".join([*pieces, text[at:]])
