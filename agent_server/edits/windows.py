"""Parts of a text file of any size: a window of lines found by seeking, in memory that does not grow with the file.

Blocking: callers on the event loop use a thread.
"""

import os

from agent_server.edits.encodings import kind_of
from agent_server.edits.files import open_regular, real_path, refusing
from agent_server.frozen import frozen
from agent_server.loop.errors import EditRefused

BLOCK = 1 << 20
SNIFFED = 8192
"""Bytes at the start of a file that tell whether it is text."""


@frozen
class Window:
    r"""Some consecutive lines of a file; here a line ends at `\n` only."""

    text: str
    """UTF-8, what is not valid replaced: to look at, never to write back."""
    first_line: int
    """0-based."""
    size: int
    """Bytes of the whole file."""
    total_lines: int
    cut: bool
    """`max_bytes` ended it before its last line was whole."""


def read_window(
    path: str, *, start_line: int, line_count: int, max_bytes: int = 256 * 1024
) -> Window:
    """Up to `line_count` lines from `start_line` (0-based; from the end when negative), at most `max_bytes`.

    Raises:
        EditRefused: `missing`, `directory`, `not_a_file`, `binary`, `no_permission` or `io`.
    """
    with refusing(path), open_regular(real_path(path)) as descriptor:
        size = os.fstat(descriptor).st_size
        head = os.read(descriptor, SNIFFED)
        if b"\0" in head:
            kind = kind_of(head) or "a binary file, or not UTF-8"
            raise EditRefused(f"{path} is not text: {kind}, {size:,} bytes", reason="binary")
        total = _count_lines(descriptor)
        first = max(total + start_line, 0) if start_line < 0 else min(start_line, total)
        data, cut = _take(descriptor, _offset_of(descriptor, first), line_count, max_bytes)
    return Window(data.decode("utf-8", "replace"), first, size, total, cut)


def _count_lines(descriptor: int) -> int:
    os.lseek(descriptor, 0, os.SEEK_SET)
    ends, last = 0, b"\n"
    while block := os.read(descriptor, BLOCK):
        ends, last = ends + block.count(b"\n"), block[-1:]
    return ends + (last != b"\n")


def _offset_of(descriptor: int, line: int) -> int:
    """Where a line begins; the end of the file for one past it."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    passed = 0
    while line and (block := os.read(descriptor, BLOCK)):
        ends = block.count(b"\n")
        if ends >= line:
            at = -1
            for _ in range(line):
                at = block.index(b"\n", at + 1)
            return passed + at + 1
        line, passed = line - ends, passed + len(block)
    return passed


def _take(descriptor: int, offset: int, line_count: int, max_bytes: int) -> tuple[bytes, bool]:
    """The bytes of the lines, and whether the limit came before their end."""
    os.lseek(descriptor, offset, os.SEEK_SET)
    data = b""
    while (
        data.count(b"\n") < line_count
        and len(data) <= max_bytes
        and (block := os.read(descriptor, 1 << 16))
    ):
        data += block
    whole = _first_lines(data, line_count)
    return whole[:max_bytes], len(whole) > max_bytes


def _first_lines(data: bytes, line_count: int) -> bytes:
    at = 0
    for _ in range(line_count):
        at = data.find(b"\n", at) + 1
        if not at:
            return data
    return data[:at]
