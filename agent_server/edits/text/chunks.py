"""The chunks of a patch in the text they are for: whole lines, found by the ladder of `rungs`, unique or refused.

A chunk without an anchor must occur once in the text. Anchors (`@@ class A`, `@@ def f`) are lines that stand above it,
each below the one before: then it must occur once below the last of them, or once in the block which that line opens.
All chunks are matched against the same text, so none sees what another put in.
"""

from collections.abc import Callable, Iterator, Sequence

from agent_server.edits.text.nearest import nearest
from agent_server.edits.text.pieces import Pieces, Placed, splice, written
from agent_server.edits.text.rungs import RUNGS, Span
from agent_server.frozen import frozen
from agent_server.loop.errors import EditRefused

NAMED = 20
"""Places of an ambiguous chunk that its error names."""


@frozen
class Chunk:
    """One hunk as the model writes it."""

    anchors: tuple[str, ...]
    """Lines that stand above it, the outermost first."""
    old: tuple[str, ...]
    """Lines without their ends, context among them; empty for lines put in at the anchor or the end."""
    new: tuple[str, ...]
    """What stands there afterwards, the same context among it."""
    at_end: bool = False
    """Its last old line is the file's last."""


def apply_chunks(text: str, chunks: Sequence[Chunk]) -> str:
    """`text` with all `chunks` made; context keeps the file's own bytes.

    Raises:
        EditRefused: `not_found`, `ambiguous`, `no_change` or `overlap`; names the hunk, from 1, and lines.
    """
    pieces = Pieces(text)
    placed = [_placed(pieces, chunk, number) for number, chunk in enumerate(chunks)]
    return splice(text, placed, noun="hunk")


def _placed(pieces: Pieces, chunk: Chunk, number: int) -> Placed:
    try:
        top = _below_anchors(pieces.contents, chunk.anchors)
        if not chunk.old:
            return _put_in(pieces, chunk, number, top)
        if chunk.old == chunk.new:
            raise EditRefused("it changes nothing", reason="no_change")
        span = _find(pieces, chunk, top)
    except EditRefused as error:
        raise EditRefused(f"hunk {number + 1}: {error}", reason=error.reason) from error
    old, new = ("".join(f"{line}\n" for line in lines) for lines in (chunk.old, chunk.new))
    if span.last < span.first + len(chunk.old):  # no line end behind it
        old, new = old.removesuffix("\n"), new.removesuffix("\n")
    return Placed(*pieces.offsets(span), number, written(pieces, span, old, new))


# ---- anchors ---------------------------------------------------------------------------------------------------


def _below_anchors(lines: Sequence[str], anchors: Sequence[str]) -> int:
    """The first line below the last anchor; 0 without one."""
    top = 0
    for anchor in anchors:
        found = _lines_like(lines, anchor, top)
        if not found:
            raise EditRefused(
                f"no line{_below(top)} is {anchor.strip()!r}{nearest(lines, anchor)}",
                reason="not_found",
            )
        if len(found) > 1:
            places = ", ".join(str(line + 1) for line in found[:NAMED])
            raise EditRefused(
                f"the line {anchor.strip()!r} stands at lines {places}; name one above it too, with a `@@` of its own",
                reason="ambiguous",
            )
        top = found[0] + 1
    return top


def _below(top: int) -> str:
    return f" below line {top}" if top else ""


def _lines_like(lines: Sequence[str], anchor: str, top: int) -> list[int]:
    """Where the anchor stands: as it is, else with another indentation, else as the start of a line."""
    bare = anchor.strip()
    likenesses: tuple[Callable[[str], bool], ...] = (
        lambda line: line.rstrip() == anchor.rstrip(),
        lambda line: line.strip() == bare,
        lambda line: bool(bare) and line.strip().startswith(bare),
    )
    for like in likenesses:
        if found := [n for n in range(top, len(lines)) if like(lines[n])]:
            return found
    return []


def _block_end(lines: Sequence[str], top: int) -> int:
    """The first line, below the anchor above `top`, that is outside the block it opens: not indented more."""
    depth = _indentation(lines[top - 1])
    inside = range(top, len(lines))
    return next((n for n in inside if lines[n].strip() and _indentation(lines[n]) <= depth), -1)


def _indentation(line: str) -> int:
    expanded = line.expandtabs()
    return len(expanded) - len(expanded.lstrip())


# ---- the lines themselves --------------------------------------------------------------------------------------


def _find(pieces: Pieces, chunk: Chunk, top: int) -> Span:
    """The one place of the chunk's old lines, with the line end behind them where there is one."""
    for rung in RUNGS:
        ended = rung(pieces.contents, [*chunk.old, ""])
        found = list(_whole(pieces, ended, chunk, top))
        rest = list(_whole(pieces, rung(pieces.contents, chunk.old), chunk, top))
        found += [span for span in rest if _at_unended(pieces, span)]
        if found := found or [span for span in rest if span.last == len(pieces.contents) - 1]:
            return _only(pieces.contents, found, chunk, top)
    raise EditRefused(
        f"its lines are not in the file{_below(top)}{' at its end' if chunk.at_end else ''}"
        f"{nearest(pieces.contents, chr(10).join(chunk.old))}",
        reason="not_found",
    )


def _at_unended(pieces: Pieces, span: Span) -> bool:
    """Whether the span's last line is the file's last and has no line end."""
    return span.last == len(pieces.contents) - 1 and bool(pieces.contents[span.last])


def _whole(pieces: Pieces, spans: Iterator[Span], chunk: Chunk, top: int) -> Iterator[Span]:
    """Spans of whole lines, below the anchor, where the new lines can be indented like the old ones."""
    lines = pieces.contents
    for span in spans:
        ends_line = span.end == len(lines[span.last]) or span.last == span.first + len(chunk.old)
        if span.start or not ends_line or span.first < top:
            continue
        if chunk.at_end and any(line.strip() for line in lines[span.first + len(chunk.old) :]):
            continue
        if all(span.shift.move(line) is not None for line in chunk.new):
            yield span


def _only(lines: Sequence[str], found: list[Span], chunk: Chunk, top: int) -> Span:
    if len(found) > 1 and chunk.anchors and (end := _block_end(lines, top)) > 0:
        found = [span for span in found if span.first < end] or found
    if len(found) == 1:
        return found[0]
    places = ", ".join(str(span.first + 1) for span in found[:NAMED])
    raise EditRefused(
        f"its lines occur {len(found)} times{_below(top)}, at lines {places}; "
        "give more lines around them, or name a line above with `@@`",
        reason="ambiguous",
    )


def _put_in(pieces: Pieces, chunk: Chunk, number: int, top: int) -> Placed:
    """Lines without old ones: below the anchor, else at the end of the file."""
    last = len(pieces.contents) - 1
    line = last if chunk.at_end or not chunk.anchors else min(top, last)
    usual = pieces.end_near(line)
    lines = [text + usual for text in chunk.new]
    here = Span(line, 0, line, 0)
    if line == last and pieces.contents[last]:  # the last line has no end: it gets one
        here = Span(last, len(pieces.contents[last]), last, len(pieces.contents[last]))
        lines = [usual, *lines]
    offset, _ = pieces.offsets(here)
    return Placed(offset, offset, number, "".join(lines))
