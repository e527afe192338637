"""JSON-RPC 2.0 envelopes: a body → one of four messages, and values → bodies.

Owns the messages' types and the encoding; never looks inside `params` or `result`. What is an envelope at all is
`envelope.py`'s. No batches: neither wire has them.
"""

import json
from collections.abc import Callable
from json.encoder import encode_basestring
from typing import Final, TypeGuard

from agent_server.front.rpc.envelope import FrameError, is_id, read_envelope
from agent_server.frozen import frozen
from agent_server.loop.model import JsonObject

RequestId = int | str | None
"""ACP's v1 schema allows null."""


@frozen
class Request:
    """Wants exactly one answer. `params` is not yet known to be an object."""

    id: RequestId
    method: str
    params: object
    envelope: JsonObject


@frozen
class Notification:
    """Wants none."""

    method: str
    params: object
    envelope: JsonObject


@frozen
class Response:
    """The peer's answer to a request; never to be answered, whatever its id."""

    id: object
    result: object
    error: object
    """None: it succeeded."""
    envelope: JsonObject


Message = Request | Notification | Response | FrameError


def parse(frame: bytes | FrameError) -> Message:
    """What a frame says; total."""
    envelope = read_envelope(frame)
    if isinstance(envelope, FrameError):
        return envelope
    request_id, method, params = (envelope.get(key) for key in ("id", "method", "params"))
    if not isinstance(method, str):
        return Response(request_id, envelope.get("result"), envelope.get("error"), envelope)
    if "id" in envelope and is_request_id(request_id):
        return Request(request_id, method, params, envelope)
    return Notification(method, params, envelope)


def is_request_id(value: object) -> TypeGuard[RequestId]:
    """Whether a value may identify a request."""
    return is_id(value)


def request_body(request_id: int, method: str, params: JsonObject) -> bytes:
    """The body of a request of ours."""
    return encode({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})


def notification_body(method: str, params: JsonObject | bytes) -> bytes:
    """The body of a notification; `params` may be encoded already."""
    encoded = params if isinstance(params, bytes) else encode(params)
    return b'{"jsonrpc":"2.0","method":%b,"params":%b}' % (encode(method), encoded)


def result_body(request_id: RequestId, result: object) -> bytes:
    """The body of a successful answer."""
    return encode({"jsonrpc": "2.0", "id": request_id, "result": result})


def error_body(request_id: RequestId, error: JsonObject) -> bytes:
    """The body of an answer that says what went wrong: `{code, message, data?}`."""
    return encode({"jsonrpc": "2.0", "id": request_id, "error": error})


def encode(value: object) -> bytes:
    """A value as compact UTF-8 JSON. Halves of a surrogate pair are joined, lone ones become U+FFFD.

    Raises:
        TypeError, ValueError: something in it is not JSON (NaN too).
    """
    return _utf8(_encoder.encode(value))


HOLE: Final = "\x00text\x00"
"""Where `template` puts the text; cannot be mistaken for a real value."""


def template(params: JsonObject) -> Callable[[str], bytes]:
    """Encodes `params` once; the result fills in the one string that is `HOLE`. For streams of deltas."""
    before, hole, after = encode(params).partition(encode(HOLE))
    if not hole:
        raise ValueError("the template has no hole")
    return lambda text: b"%b%b%b" % (before, _utf8(encode_basestring(text)), after)


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        # Strict readers refuse an escaped lone surrogate as well, so it cannot be sent at all.
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


_encoder: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
