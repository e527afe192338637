"""Replacing what a model quotes: found by the ladder of `rungs`, unique or refused, written as given.

All edits of one call are matched against the same text, so none sees what another put in.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from agent_server.edits.text.lines import unify_endings
from agent_server.edits.text.nearest import nearest
from agent_server.edits.text.pieces import Pieces, Placed, splice, written
from agent_server.edits.text.rungs import RUNGS, Span
from agent_server.frozen import frozen
from agent_server.loop.errors import EditRefused

NAMED = 20
"""Places of an ambiguous text that its error names."""


@frozen
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
    pieces = Pieces(text)
    placed: list[Placed] = []
    for number, edit in enumerate(edits):
        for span in _find(pieces, edits, number):
            new_text = written(pieces, span, edit.old_text, edit.new_text)
            placed.append(Placed(*pieces.offsets(span), number, new_text))
    return splice(text, placed, noun="edit")


def _find(pieces: Pieces, edits: Sequence[Replacement], number: int) -> list[Span]:
    edit = edits[number]
    quoted = unify_endings(edit.old_text)
    if not quoted:
        message = f"edit {number + 1}: old_text is empty; quote the text to replace, or write the whole file"
        raise EditRefused(message, reason="empty_old_text")
    if edit.old_text == edit.new_text:
        raise EditRefused(
            f"edit {number + 1}: old_text and new_text are the same", reason="no_change"
        )
    wanted, new_lines = quoted.split("\n"), edit.new_text.split("\n")
    for rung in RUNGS:
        found = (
            s
            for s in rung(pieces.contents, wanted)
            if all(s.shift.move(n) is not None for n in new_lines)
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


def _not_found(pieces: Pieces, edits: Sequence[Replacement], number: int) -> str:
    quoted = edits[number].old_text
    for other, edit in enumerate(edits):
        if other != number and quoted in edit.new_text:
            return (
                f"edit {number + 1}: old_text is not in the file, only in the new_text of edit {other + 1}; "
                "all edits of one call are matched against the file as it was: join the two"
            )
    return f"edit {number + 1}: old_text is not in the file{nearest(pieces.contents, quoted)}"
