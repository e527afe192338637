"""The two framings: bytes of any cut → message bodies, and back.

Owns where a message begins and ends, what is too large, and how to find the next message after rubbish. What a
body means is `messages.py`'s. ndjson, ACP's stdio transport, is read in `envelope.py`; Content-Length is LSP 3.17's
base protocol.

A decoder holds at most one frame of `MAX_FRAME` bytes; of a larger one it keeps nothing. It never gives up:
whatever came before, the next well-formed frame is found.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Final, Protocol

from agent_server.front.rpc.envelope import (
    BOM,
    MAX_FRAME,
    PARSE_ERROR,
    FrameError,
    LineDecoder,
    too_large,
)
from agent_server.frozen import frozen

_MAX_HEADER: Final = 8192
"""A header block longer than this is rubbish: real ones have two short lines."""
_LENGTH: Final = re.compile(
    rb"content-length[ \t]*:[ \t]*(\d{1,18})[ \t]*\r?(?:\n|\Z)", re.IGNORECASE
)
# A raw line end cannot stand inside a JSON string, so this never matches within the text of a message.
_LENGTH_LINE: Final = re.compile(rb"content-length[ \t]*:[ \t]*\d{1,18}[ \t]*\r?\n", re.IGNORECASE)
_HEADER_LINE: Final = re.compile(rb"[A-Za-z][A-Za-z0-9-]*[ \t]*:")
_HEADER_END: Final = re.compile(rb"\r?\n\r?\n")


Frame = bytes | FrameError
"""A body, or what was wrong where one should have been."""


class Decoder(Protocol):
    """Incremental: feed it what arrived, in order."""

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The frames that `data` completes. Exhaust it before the next call."""
        ...

    def end(self) -> Iterator[Frame]:
        """What the end of input completes: an unterminated last line, a frame cut short."""
        ...


@frozen
class Framing:
    """One way to put messages on a stream of bytes."""

    decoder: Callable[[], Decoder]
    encode: Callable[[bytes], bytes]
    """A body → the bytes to write."""


class HeaderDecoder:
    r"""Content-Length framing, forgiving.

    Header names in any case, lines ended by `\n` alone, other headers, a byte order mark and blank lines between
    frames are accepted. A body that a wrong length cut short or made too long is reported, and the search for
    the next header starts at that body's beginning, so that the message after it is not lost with it.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._wanted: int | None = None
        """Length of the body being read; None between frames."""
        self._lost = False
        """Searching for the next header; what was wrong has been reported."""
        self._searched = 0
        """So much of the buffer holds no end of the header."""

    def feed(self, data: bytes) -> Iterator[Frame]:
        """See `Decoder`."""
        self._buffer += data
        while True:
            if self._lost and not self._find_header():
                return
            if self._wanted is None:
                if (block := self._take_header()) is None:
                    return
                yield from self._read_header(block)
            elif len(self._buffer) >= self._wanted:
                yield self._take_body(self._wanted)
            else:
                return

    def end(self) -> Iterator[Frame]:
        """See `Decoder`."""
        if self._wanted is not None or (not self._lost and self._buffer.strip()):
            yield FrameError(PARSE_ERROR, "the input ended inside a message")
        self._buffer.clear()
        self._wanted = None

    def _find_header(self) -> bool:
        found = _LENGTH_LINE.search(self._buffer)
        if found is None:
            del self._buffer[:-_MAX_HEADER]  # its beginning may be there already
            return False
        del self._buffer[: found.start()]
        self._lost = False
        return True

    def _take_header(self) -> bytes | None:
        """The next header block without its end; empty when there is no end within reason."""
        if self._searched < len(BOM):
            self._skip_blank()
        end = _HEADER_END.search(self._buffer, max(0, self._searched - 3))
        if end is None and len(self._buffer) <= _MAX_HEADER:
            self._searched = len(self._buffer)
            return None
        self._searched = 0
        if end is None:
            del self._buffer[0]  # so that the search does not find the same beginning again
            return b""
        block = bytes(self._buffer[: end.start()])
        del self._buffer[: end.end()]
        return block

    def _skip_blank(self) -> None:
        if self._buffer.startswith(BOM):
            del self._buffer[: len(BOM)]
        if self._buffer[:1].isspace():
            del self._buffer[: len(self._buffer) - len(self._buffer.lstrip())]

    def _read_header(self, block: bytes) -> Iterator[Frame]:
        lengths = list(_LENGTH.finditer(block))
        if not lengths:
            self._lost = True
            yield FrameError(PARSE_ERROR, "the header has no valid Content-Length")
            return
        if not _is_clean(block, lengths[-1].start()):
            yield FrameError(
                PARSE_ERROR, "there are bytes before the header that belong to no message"
            )
        # After rubbish the last one is the header's own.
        wanted = int(lengths[-1][1])
        if wanted > MAX_FRAME:
            # Not counted off: the number may be wrong, and the next header can be recognised anyway.
            self._lost = True
            yield too_large()
            return
        self._wanted = wanted

    def _take_body(self, wanted: int) -> Frame:
        with memoryview(self._buffer) as view:
            body = bytes(view[:wanted])
        self._wanted = None
        if not _may_be_json(body):
            self._lost = True  # the body stays in the buffer: the next header may have begun inside
            return FrameError(
                PARSE_ERROR, f"the {wanted} bytes after the header are not a JSON message"
            )
        del self._buffer[:wanted]
        return body


def _is_clean(block: bytes, length_at: int) -> bool:
    """Whether a header block is headers only, its Content-Length at the start of a line."""
    if len(block) > _MAX_HEADER or block[:length_at].rpartition(b"\n")[2]:
        return False
    return all(_HEADER_LINE.match(line) for line in block.splitlines())


def _may_be_json(body: bytes) -> bool:
    """False when the length was certainly wrong. Objects are judged by their ends only: that is quick."""
    trimmed = body.strip()
    if trimmed.startswith(b"{") and trimmed.endswith(b"}"):
        return b"\n" not in trimmed or _LENGTH_LINE.search(trimmed) is None
    try:
        json.loads(trimmed)
    except (ValueError, RecursionError):
        return False
    return True


NDJSON: Final = Framing(LineDecoder, lambda body: body + b"\n")
CONTENT_LENGTH: Final = Framing(
    HeaderDecoder, lambda body: b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
)
