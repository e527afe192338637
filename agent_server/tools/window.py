"""Some lines of a file that is too large to be read whole: memory stays flat whatever its size.

Blocking, in a worker thread of anyio; it stops when whoever waits for it is cancelled.
"""

import os
from collections.abc import Iterator

from anyio import from_thread

from agent_server.edits.encodings import decode, kind_of
from agent_server.frozen import frozen
from agent_server.loop.errors import EditRefused

CHUNK = 1 << 20
HEAD = 8_192
"""Bytes that decide whether it is text."""


@frozen
class Window:
    """Lines of a file, without their ends."""

    first: int
    """Number of the first, from 1."""
    lines: tuple[str, ...]
    total: int
    """Lines of the whole file."""


def window(descriptor: int, shown: str, *, start: int, count: int, line_bytes: int) -> Window:
    """`count` lines from line `start`; a negative `start` counts from the end. Longer lines are cut at `line_bytes`.

    Raises:
        EditRefused: `binary`, or `too_large` for an encoding in which lines cannot be counted by bytes.
    """
    _check_text(descriptor, shown)
    total = _count_lines(descriptor)
    first = max(total + 1 + start if start < 0 else start, 1)
    offset = _offset_of(descriptor, first - 1)
    lines = list(_lines(descriptor, offset, min(count, max(total - first + 1, 0)), line_bytes))
    return Window(first, tuple(lines), total)


def _check_text(descriptor: int, shown: str) -> None:
    head = os.pread(descriptor, HEAD, 0)
    size = os.fstat(descriptor).st_size
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise EditRefused(
            f"{shown} is UTF-16 or UTF-32 and {size:,} bytes, too large to be read",
            reason="too_large",
        )
    if decode(head[: head.rfind(b"\n") + 1] or head.decode(errors="ignore").encode()) is None:
        raise EditRefused(
            f"{shown} is not text: {kind_of(head) or 'a binary file'}, {size:,} bytes",
            reason="binary",
        )


def _chunks(descriptor: int, offset: int = 0) -> Iterator[tuple[int, bytes]]:
    while chunk := os.pread(descriptor, CHUNK, offset):
        from_thread.check_cancelled()  # the whole file may be terabytes
        yield offset, chunk
        offset += len(chunk)


def _count_lines(descriptor: int) -> int:
    count, last = 0, b"\n"
    for _, chunk in _chunks(descriptor):
        count += chunk.count(b"\n")
        last = chunk[-1:]
    return count + (last != b"\n")


def _offset_of(descriptor: int, line: int) -> int:
    """Where the line with this 0-based number begins; the file's size when there are fewer."""
    end = 0
    for offset, chunk in _chunks(descriptor):
        count = chunk.count(b"\n")
        if line == 0:
            return offset
        if line <= count:
            at = -1
            for _ in range(line):
                at = chunk.index(b"\n", at + 1)
            return offset + at + 1
        line -= count
        end = offset + len(chunk)
    return end


def _lines(descriptor: int, offset: int, count: int, line_bytes: int) -> Iterator[str]:
    for _ in range(count):
        begin = os.pread(descriptor, line_bytes + 1, offset)
        end = begin.find(b"\n")
        if end >= 0:
            yield begin[:end].decode(errors="replace").rstrip("\r")
            offset += end + 1
            continue
        length = _distance_to_end(descriptor, offset)
        kept = begin[:line_bytes].decode(errors="replace")
        yield kept if length <= line_bytes else f"{kept} [… line of {length:,} bytes]"
        offset += length + 1


def _distance_to_end(descriptor: int, start: int) -> int:
    """Bytes from `start` to the next line end, or to the end of the file."""
    length = 0
    for _, chunk in _chunks(descriptor, start):
        at = chunk.find(b"\n")
        if at >= 0:
            return length + at
        length += len(chunk)
    return length
