"""Bytes → lines → JSON-RPC envelopes: the part of reading that has to be there before anything is imported.

The first stage uses this before `initialize` is answered, so it imports `json` alone: no typing, no dataclasses.
The same code reads every later message (`framing.py`, `messages.py`).
"""

import json
from collections.abc import Iterator, Mapping

MAX_FRAME = 32 * 1024 * 1024
"""Largest body in bytes that is accepted (spec §12)."""
PARSE_ERROR = -32700
INVALID_REQUEST = -32600
BOM = b"\xef\xbb\xbf"

JsonValue = dict[str, object] | list[object] | str | int | float | bool | None
Envelope = Mapping[str, JsonValue]


class FrameError:
    """What came is no message. Answered with an error under `id`, null when none could be read; we go on."""

    __slots__ = ("code", "id", "message")
    __match_args__ = ("code", "message", "id")

    def __init__(self, code: int, message: str, request_id: int | str | None = None) -> None:
        self.code = code
        self.message = message
        self.id = request_id

    def __repr__(self) -> str:
        return f"FrameError({self.code}, {self.message!r}, {self.id!r})"


def too_large() -> FrameError:
    """A body over `MAX_FRAME`; nothing of it is kept."""
    return FrameError(
        INVALID_REQUEST, f"the message is larger than {MAX_FRAME // 2**20} MiB and was skipped"
    )


class LineDecoder:
    """ndjson, ACP's stdio transport. Blank lines, CRLF and a byte order mark are tolerated."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0
        self._skipping = False

    @property
    def rest(self) -> bytes:
        """The line so far, as it came."""
        return b"".join(self._parts)

    def feed(self, data: bytes) -> Iterator[bytes | FrameError]:
        """The lines that `data` completes, or what was wrong with them. Exhaust it before the next call."""
        *lines, rest = data.split(b"\n")
        for line in lines:
            yield from self._extend(line)
            yield from self.end()
        yield from self._extend(rest)

    def end(self) -> Iterator[bytes | FrameError]:
        """The line so far, for at the end of input it needs no line end."""
        line = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        self._parts.clear()
        self._size = 0
        self._skipping = False
        line = line.removeprefix(BOM)
        if line and not line.isspace():
            yield line

    def _extend(self, piece: bytes) -> Iterator[bytes | FrameError]:
        if self._skipping or not piece:
            return
        self._size += len(piece)
        if self._size <= MAX_FRAME:
            self._parts.append(piece)
            return
        self._parts.clear()
        self._skipping = True
        yield too_large()


def read_envelope(frame: bytes | FrameError) -> Envelope | FrameError:
    """A JSON-RPC message: a response, or something with a method and a fitting id. Total."""
    if isinstance(frame, FrameError):
        return frame
    try:
        value: dict[str, JsonValue] | list[object] | str | float | None = _decoder.decode(
            frame.decode()
        )
    except UnicodeDecodeError as error:
        return FrameError(PARSE_ERROR, f"the message is not UTF-8 at byte {error.start}")
    except (ValueError, RecursionError) as error:
        return FrameError(PARSE_ERROR, f"the message is not valid JSON: {str(error)[:200]}")
    if not isinstance(value, dict) or not value:
        return FrameError(INVALID_REQUEST, "the message is not a JSON-RPC object")
    return value if is_response(value) else _with_method(value)


def is_response(envelope: Envelope) -> bool:
    """Whether it answers a request; then nothing may answer it, whatever its id."""
    return "method" not in envelope and ("result" in envelope or "error" in envelope)


def is_id(value: object) -> bool:
    """Whether a value may identify a request: ACP's v1 schema allows null, and `true` is no integer."""
    return (
        value is None
        or isinstance(value, str)
        or (isinstance(value, int) and not isinstance(value, bool))
    )


def error_with(
    code: int,
    message: str,
    *,
    reason: str,
    retryable: bool = False,
    extra: Mapping[str, object] | None = None,
) -> dict[str, object]:
    """The one shape of an error (spec §13): clients differ in which of the sentences they show."""
    data = {
        "reason": reason,
        "details": message,
        "error": message,
        "retryable": retryable,
        **(extra or {}),
    }
    return {"code": code, "message": message, "data": data}


def refusal(error: FrameError) -> dict[str, object]:
    """The answer to what is no message."""
    reason = "parse_error" if error.code == PARSE_ERROR else "invalid_request"
    answer = error_with(error.code, error.message, reason=reason)
    return {"jsonrpc": "2.0", "id": error.id, "error": answer}


def _with_method(envelope: Envelope) -> Envelope | FrameError:
    request_id = envelope.get("id")
    if not is_id(request_id) or isinstance(request_id, dict | list | float):
        return FrameError(INVALID_REQUEST, "the id is neither an integer nor a string")
    if envelope.get("jsonrpc") != "2.0":
        return FrameError(INVALID_REQUEST, 'the message does not say "jsonrpc": "2.0"', request_id)
    if not isinstance(envelope.get("method"), str):
        return FrameError(INVALID_REQUEST, "the message has no method", request_id)
    return envelope


def _refuse_constant(constant: str) -> object:
    raise ValueError(f"{constant} is no JSON value")


_decoder = json.JSONDecoder(parse_constant=_refuse_constant)
