"""A model server on loopback that does what the last prompt says, so that only the agent's own cost is seen.

Speaks OpenAI's chat completions, streamed and chunked, over connections that stay open. The last user message is an
order:

    say N          N words at once, in as few writes as the socket takes
    tick N MS      N words, one each MS milliseconds; each is the monotonic clock in ns at which it was sent
    silent         the head of the answer, then nothing until the client hangs up
    loop N PATH    `read` PATH, N rounds, then one word
"""

import json
import socket
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
VERBS = ("say", "tick", "silent", "loop")
SILENCE_S = 30.0
"""Longer than any measurement waits."""


@contextmanager
def serving_model() -> Generator[str]:
    """Serve until the block is left; gives the base URL."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=_accept, args=(server,), daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"


def words(count: int) -> str:
    """The text of `say count`."""
    return "".join(f"w{n} " for n in range(count))


def _accept(server: socket.socket) -> None:
    with suppress(OSError):
        while True:
            connection, _ = server.accept()
            threading.Thread(target=_serve, args=(connection,), daemon=True).start()


def _serve(connection: socket.socket) -> None:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with connection, suppress(OSError), connection.makefile("rb") as stream:
        while (request := _request(stream)) is not None:
            connection.sendall(HEAD)
            for piece in _answer(request, connection):
                connection.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
            connection.sendall(b"0\r\n\r\n")


def _request(stream: Any) -> dict[str, Any] | None:
    """The body of the next request; None when the client is gone."""
    length = 0
    while (line := stream.readline().strip()) or not length:
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
        elif not line:
            return None
    return json.loads(stream.read(length))


def _answer(request: dict[str, Any], connection: socket.socket) -> Iterator[bytes]:
    verb, *numbers = _order(request)
    match verb:
        case "tick":
            count, pause_s = int(numbers[0]), int(numbers[1]) / 1000
            began = time.monotonic()
            for n in range(count):
                time.sleep(max(0.0, began + n * pause_s - time.monotonic()))
                yield _event({"content": f"{time.monotonic_ns()} "})
        case "silent":
            connection.settimeout(SILENCE_S)
            connection.recv(1)
            raise OSError("the client hung up")
        case "loop" if _rounds(request) < int(numbers[0]):
            yield _call(_rounds(request), numbers[1])
            yield _end("tool_calls")
            return
        case "say":
            yield b"".join(_event({"content": f"w{n} "}) for n in range(int(numbers[0])))
        case _:
            yield _event({"content": "done"})
    yield _end("stop")


def _order(request: dict[str, Any]) -> Sequence[str]:
    said: Any = next(m["content"] for m in reversed(request["messages"]) if m["role"] == "user")
    text: str = said if isinstance(said, str) else "\n".join(part.get("text", "") for part in said)
    words: Sequence[str] = text.split()
    # Behind a cancelled turn, the agent may send both prompts as one message.
    return words[max((n for n, word in enumerate(words) if word in VERBS), default=0) :]


def _rounds(request: dict[str, Any]) -> int:
    """Calls answered since the last order."""
    roles = [message["role"] for message in request["messages"]]
    return roles[::-1].index("user") - roles[::-1][: roles[::-1].index("user")].count("assistant")


def _call(number: int, path: str) -> bytes:
    # Other lines each time: the agent stops a model that asks for the same again and again.
    arguments = json.dumps({"path": path, "start_line": number + 1, "line_count": 1})
    function = {"name": "read", "arguments": arguments}
    return _event(
        {"tool_calls": [{"index": 0, "id": f"c{number}", "type": "function", "function": function}]}
    )


def _event(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"id": "c", "choices": [choice]}).encode() + b"\n\n"


def _end(finish: str) -> bytes:
    usage = {"prompt_tokens": 10, "completion_tokens": 10}
    last: dict[str, Any] = {"id": "c", "choices": [], "usage": usage}
    return _event({}, finish) + b"data: " + json.dumps(last).encode() + b"\n\ndata: [DONE]\n\n"
