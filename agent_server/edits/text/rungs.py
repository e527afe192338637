"""Where a quoted text stands: a ladder of four strict rungs, never likeness.

exact → spaces at line ends → a uniform shift of the indentation → typographic quotes, dashes and spaces. The first rung
with a match decides. Lines come and go without their ends, which therefore never matter; the empty line after a final
line end is one of them. A rung gives every place, overlapping ones too, in order.
"""

from collections.abc import Callable, Iterator, Sequence

from agent_server.frozen import frozen


@frozen
class Shift:
    """An indentation the model has (`quoted`) and the one the file has there (`actual`)."""

    quoted: str = ""
    actual: str = ""

    def move(self, line: str) -> str | None:
        """The model's line as the file would indent it; None when it does not share the quoted indentation."""
        if not line.strip():
            return line
        return self.actual + line[len(self.quoted) :] if line.startswith(self.quoted) else None


@frozen
class Span:
    """Where a quoted text stands: from a column of one line to a column of another, in code points."""

    first: int
    start: int
    last: int
    end: int
    shift: Shift = Shift()


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
        if shift and all(shift.move(line) == bare[number + n] for n, line in enumerate(quoted)):
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

Rung = Callable[[Sequence[str], Sequence[str]], Iterator[Span]]


def _typographic(rung: Rung) -> Rung:
    def folded(lines: Sequence[str], wanted: Sequence[str]) -> Iterator[Span]:
        return rung(
            [line.translate(_PLAIN) for line in lines], [line.translate(_PLAIN) for line in wanted]
        )

    return folded


RUNGS: tuple[Rung, ...] = (
    _literal, _spaced, _shifted, _typographic(_literal), _typographic(_spaced), _typographic(_shifted),
)  # fmt: skip
