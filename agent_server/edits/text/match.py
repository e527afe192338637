"""From the text a model quotes to the place it means: a ladder of four strict rungs, never likeness.

exact → spaces at line ends → a uniform shift of the indentation → typographic quotes, dashes and spaces. The first rung
with a match decides; more than one match is an error, unless all are wanted. Line ends never matter for finding.
All edits of one call are matched against the same text, so none sees what another put in.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice, pairwise

from agent_server.edits.text.endings import sources
from agent_server.edits.text.lines import content, ending, split_lines, unify_endings, usual_ending
from agent_server.edits.text.nearest import nearest
from agent_server.loop.errors import EditRefused

NAMED = 20
"""Places of an ambiguous text that its error names."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """One edit as the model asks for it."""

    old_text: str
    new_text: str
    replace_all: bool = False


@dataclass(frozen=True, slots=True)
class Shift:
    """An indentation the model has (`quoted`) and the one the file has there (`actual`)."""

    quoted: str = ""
    actual: str = ""

    def move(self, line: str) -> str | None:
        """The model's line as the file would indent it; None when it does not share the quoted indentation."""
        if not line.strip():
            return line
        return self.actual + line[len(self.quoted) :] if line.startswith(self.quoted) else None


@dataclass(frozen=True, slots=True)
class Span:
    """Where a quoted text stands: from a column of one line to a column of another, in code points."""

    first: int
    start: int
    last: int
    end: int
    shift: Shift = Shift()


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


# ---- finding -----------------------------------------------------------------------------------------------


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
    for rung in _RUNGS:
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


def _literal(lines: Sequence[str], wanted: Sequence[str]) -> Iterator[Span]:
    """Exactly the quoted text; it may begin and end within lines."""
    head, tail, size = wanted[0], wanted[-1], len(wanted)
    if size == 1:
        for number, line in enumerate(lines):
            column = line.find(head)
            while column >= 0:
                yield Span(number, column, number, column + len(head))
                column = line.find(head, column + 1)
        return
    middle = list(wanted[1:-1])
    for number in range(len(lines) - size + 1):
        if (
            lines[number].endswith(head)
            and lines[number + size - 1].startswith(tail)
            and lines[number + 1 : number + size - 1] == middle
        ):
            yield Span(number, len(lines[number]) - len(head), number + size - 1, len(tail))


def _spaced(lines: Sequence[str], wanted: Sequence[str]) -> Iterator[Span]:
    """The quoted text when spaces and tabs at line ends do not count."""
    bare = [line.rstrip(" \t") for line in lines]
    quoted = [*(line.rstrip(" \t") for line in wanted[:-1]), wanted[-1]]
    whole_tail = quoted[-1].rstrip(" \t")
    if len(quoted) > 1:
        yield from _literal(bare, quoted)
    if quoted[-1] != whole_tail:
        for span in _literal(bare, [*quoted[:-1], whole_tail]):
            if whole_tail and span.end == len(bare[span.last]):
                yield Span(span.first, span.start, span.last, len(lines[span.last]))


def _shifted(lines: Sequence[str], wanted: Sequence[str]) -> Iterator[Span]:
    """Whole lines that equal the quoted ones once all are indented more, less, or with tabs instead of spaces."""
    to_line_end = wanted[-1] != ""
    quoted = [line.rstrip(" \t") for line in (wanted if to_line_end else wanted[:-1])]
    lead = next((n for n, line in enumerate(quoted) if line), None)
    if lead is None:
        return
    bare = [line.rstrip(" \t") for line in lines]
    body = quoted[lead].lstrip(" \t")
    for number in range(len(lines) - len(wanted) + 1):
        if not bare[number + lead].endswith(body):
            continue
        shift = _shift(quoted[lead], bare[number + lead], body)
        if shift and all(
            shift.move(q) == have for q, have in zip(quoted, bare[number:], strict=False)
        ):
            last = number + len(quoted) - 1
            if to_line_end:
                yield Span(number, 0, last, len(lines[last]), shift)
            else:
                yield Span(number, 0, last + 1, 0, shift)


def _shift(quoted: str, have: str, body: str) -> Shift | None:
    """The difference of two indentations: what to take off the quoted one and what to put there."""
    theirs, ours = quoted[: len(quoted) - len(body)], have[: len(have) - len(body)]
    if ours.strip(" \t"):
        return None
    if ours.endswith(theirs):
        return Shift("", ours[: len(ours) - len(theirs)])
    if theirs.endswith(ours):
        return Shift(theirs[: len(theirs) - len(ours)], "")
    return Shift(theirs, ours)


_PLAIN = str.maketrans(
    {
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"'),
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032", "'"),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        **dict.fromkeys(
            "\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " "
        ),
    }
)
"""One character for one, so that columns stay."""

_Rung = Callable[[Sequence[str], Sequence[str]], Iterator[Span]]


def _typographic(rung: _Rung) -> _Rung:
    def folded(lines: Sequence[str], wanted: Sequence[str]) -> Iterator[Span]:
        return rung(
            [line.translate(_PLAIN) for line in lines], [line.translate(_PLAIN) for line in wanted]
        )

    return folded


_RUNGS: tuple[_Rung, ...] = (
    _literal, _spaced, _shifted, _typographic(_literal), _typographic(_spaced), _typographic(_shifted),
)  # fmt: skip


# ---- writing -----------------------------------------------------------------------------------------------


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
