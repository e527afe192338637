"""A model that answers at once: the same short stream for every request, over real HTTP on loopback."""

import json
import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress


def _chunk(delta: dict[str, object], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"id": "c", "choices": [choice]}).encode() + b"\n\n"


def _answer(words: int) -> bytes:
    body = b"".join(_chunk({"content": f"w{i} "}) for i in range(words))
    usage: dict[str, object] = {
        "id": "c",
        "choices": [],
        "usage": {"prompt_tokens": 10, "completion_tokens": words},
    }
    end = _chunk({}, "stop") + b"data: " + json.dumps(usage).encode() + b"\n\ndata: [DONE]\n\n"
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
    return head + body + end


@contextmanager
def serving_model(words: int = 20) -> Generator[str]:
    """Serve until the block is left; gives the base URL."""
    answer = _answer(words)
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=_serve, args=(server, answer), daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"


def _serve(server: socket.socket, answer: bytes) -> None:
    with suppress(OSError):
        while True:
            connection, _ = server.accept()
            threading.Thread(target=_one, args=(connection, answer), daemon=True).start()


def _one(connection: socket.socket, answer: bytes) -> None:
    with connection, suppress(OSError):
        got = b""
        while b"\r\n\r\n" not in got:
            got += connection.recv(65536)
        head, _, body = got.partition(b"\r\n\r\n")
        length = next(
            (
                int(h.split(b":")[1])
                for h in head.split(b"\r\n")
                if h.lower().startswith(b"content-length")
            ),
            0,
        )
        while len(body) < length:
            body += connection.recv(65536)
        connection.sendall(answer)
