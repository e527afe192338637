"""The first milliseconds: whose wire is this, and ACP's `initialize`, before anything large is imported.

Owns the descriptors until `app.serve` gets them, the choice of the wire, and the answer to ACP's `initialize`. It
imports a few modules of the standard library; the server proper is imported after the answer, while the client
thinks (spec §11). LSP's `initialize` is answered by pygls alone: its capabilities are pygls' to promise.
"""

import gc
import json
import os
from collections.abc import Iterator, Mapping

from agent_server.front.rpc.envelope import (
    BOM,
    INVALID_REQUEST,
    FrameError,
    LineDecoder,
    error_with,
    is_response,
    read_envelope,
    refusal,
)
from agent_server.options import Options
from agent_server.stdio import Pipes, guard
from agent_server.version import __version__

PROTOCOL_VERSION = 1
"""The only one we speak: whatever a client asks for, this is our latest (ACP, Initialization)."""
EXTENSIONS = (
    "_agent-server/session/steer",
    "_agent-server/edit/resolve",
    "_agent-server/edit/get",
    "_agent-server/edit/content",
    "_agent-server/edit/revert",
    "_agent-server/checkpoint/list",
    "_agent-server/checkpoint/restore",
)
"""Our own methods that an ACP client may call."""

_INVALID_PARAMS = -32602
_CHUNK = 64 * 1024


def start(dialect: str | None, options: Options) -> int:
    """Serve this process's stdin and stdout until they end; the exit code.

    `dialect` is `acp`, `lsp`, or None: the first byte decides.
    """
    parent = os.getppid()  # now: it may be gone by the time that the server proper looks
    pipes = guard()
    received = b""
    if dialect is None:
        received = _first_bytes(pipes.read_fd)
        dialect = "lsp" if received[:1] in (b"C", b"c") else "acp"
    initialized = None
    if dialect == "acp":
        greeted = greet(pipes, received)
        if greeted is None:
            return 0
        initialized, received = greeted
    gc.disable()  # until the wire's code is imported: looking for garbage in that costs 15 ms and finds none
    from agent_server.app import serve  # asyncio, anyio and all the rest: only now

    return serve(
        dialect,
        read_fd=pipes.read_fd,
        write_fd=pipes.write_fd,
        received=received,
        initialized=initialized,
        initialize_result=initialize_result,
        options=options,
        parent=parent,
    )


def greet(pipes: Pipes, received: bytes) -> tuple[Mapping[str, object], bytes] | None:
    """Answer lines until one is a good `initialize`: its params, and the bytes read beyond it.

    None when the client left before. Everything else is answered as the server proper would.
    """
    decoder = LineDecoder()
    while True:
        data = received or _read(pipes.read_fd)
        received = b""
        frames = decoder.feed(data) if data else decoder.end()
        for frame in frames:
            answer, params = answer_to(frame)
            if answer is not None and not _write(pipes.write_fd, answer):
                return None
            if params is not None:
                return params, _unread(frames) + decoder.rest
        if not data:
            return None


def answer_to(
    frame: bytes | FrameError,
) -> tuple[Mapping[str, object] | None, Mapping[str, object] | None]:
    """The answer to a line before `initialize` is done, if it wants one; and the params of a good `initialize`."""
    envelope = read_envelope(frame)
    if isinstance(envelope, FrameError):
        return refusal(envelope), None
    if is_response(envelope) or "id" not in envelope:
        return None, None
    request_id, params = envelope["id"], envelope.get("params")
    if envelope["method"] != "initialize":
        message = f"the first request must be 'initialize', not {str(envelope['method'])[:100]!r}"
        return _failure(request_id, INVALID_REQUEST, message, reason="not_initialized"), None
    if not isinstance(params, dict) or not _is_uint16(params.get("protocolVersion")):
        message = "the params of 'initialize' need a protocolVersion, an integer from 0 to 65535"
        return _failure(request_id, _INVALID_PARAMS, message, reason="invalid_params"), None
    return {"jsonrpc": "2.0", "id": request_id, "result": initialize_result()}, params


def initialize_result() -> Mapping[str, object]:
    """What we are and can do. Only what works stands here; clients believe it."""
    return {
        "protocolVersion": PROTOCOL_VERSION,
        "agentInfo": {"name": "agent-server", "title": "Agent Server", "version": __version__},
        "agentCapabilities": {
            "loadSession": True,
            "promptCapabilities": {"image": True, "audio": False, "embeddedContext": True},
            # fork and title are ACP's, but not yet stable: who does not know them overlooks them.
            "sessionCapabilities": {
                "list": {},
                "resume": {},
                "close": {},
                "delete": {},
                "fork": {},
                "title": {},
                "additionalDirectories": {},
            },
            "_meta": {"agent-server": {"version": 1, "methods": list(EXTENSIONS), "commands": []}},
        },
        # CodeCompanion calls `authenticate` with the first one, whatever it is.
        "authMethods": [
            {
                "id": "config",
                "name": "Use the configured model",
                "description": "Credentials come from the environment or config.toml; "
                "`agent-server doctor` shows what was found.",
            }
        ],
    }


def _first_bytes(fd: int) -> bytes:
    """What came first, from its first byte that tells something; empty when nothing came."""
    received = b""
    while data := _read(fd):
        received = (received + data).removeprefix(BOM).lstrip()
        if received and not BOM.startswith(received):
            break
    return received


def _read(fd: int) -> bytes:
    try:
        return os.read(fd, _CHUNK)
    except OSError:  # a terminal hung up, a socket was reset
        return b""


def _unread(frames: Iterator[bytes | FrameError]) -> bytes:
    return b"".join(frame + b"\n" for frame in frames if isinstance(frame, bytes))


def _write(fd: int, answer: Mapping[str, object]) -> bool:
    """Whether anybody can have read it."""
    data = json.dumps(answer, separators=(",", ":")).encode() + b"\n"
    try:
        while data:
            data = data[os.write(fd, data) :]
    except OSError:
        return False
    return True


def _failure(request_id: object, code: int, message: str, *, reason: str) -> Mapping[str, object]:
    return {"jsonrpc": "2.0", "id": request_id, "error": error_with(code, message, reason=reason)}


def _is_uint16(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 0xFFFF
