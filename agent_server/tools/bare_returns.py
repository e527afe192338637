r"""Bare carriage returns: ripgrep ends a line at `\n` alone, `read`, edits and editors (LSP) at a bare `\r` too."""

import itertools
import os
import re
from contextlib import suppress

MOST_BYTES = 16 * 1024 * 1024
"""Of a file that is looked through; in a larger one lines are counted as ripgrep does."""
_BARE = re.compile(rb"\r(?!\n)")


def content_of(path: str) -> bytes:
    """The file's bytes; none of one that is too large or gone. Blocking."""
    with suppress(OSError):
        file = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(file, "rb") as stream:
            if os.fstat(file).st_size <= MOST_BYTES:
                return stream.read()
    return b""


def returns_before(data: bytes) -> list[int]:
    """For each line as ripgrep counts, how many bare returns stand before it; empty where there are none at all."""
    if b"\r" not in data or b"\0" in data:  # with zero bytes it is UTF-16, or no text
        return []
    if _BARE.search(data) is None:
        return []
    counts = [len(_BARE.findall(line + b"\n")) for line in data.split(b"\n")]
    return [0, *itertools.accumulate(counts[:-1])]
