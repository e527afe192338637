"""A model whose next replies the test decides, over real HTTP; and what it was told, compared with buffers and disk."""

import json
import re
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")


class Model:
    """Answers requests with what `say` was given, and keeps what the model was told of its calls."""

    def __init__(self) -> None:
        self.replies: list[dict[str, Any]] = []
        self.told: list[str] = []
        self.base_url = ""

    def say(self, *replies: dict[str, Any]) -> None:
        """The next replies, each a message with `content` or `calls`; a word ends the turn."""
        self.told.clear()
        self.replies[:] = [*replies, {"content": "Done."}]

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """The message for a request."""
        for message in reversed(request["messages"]):
            if message["role"] == "assistant":
                break
            if message["role"] == "tool":
                self.told.append(str(message["content"]))
        return self.replies.pop(0) if self.replies else {"content": "Title"}


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """A message with one call."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {
        "tool_calls": [{"index": 0, "id": f"call_{name}", "type": "function", "function": function}]
    }


@contextmanager
def model() -> Generator[Model]:
    """A model that serves until the end of the block."""
    made = Model()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            delta = made.answer(request)
            finish = "tool_calls" if "tool_calls" in delta else "stop"
            chunks: list[dict[str, Any]] = [
                {"choices": [{"index": 0, "delta": {"role": "assistant", **delta}}]},
                {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
            ]
            lines = "".join(f"data: {json.dumps({'id': 'c', **c})}\n\n" for c in chunks)
            body = (lines + "data: [DONE]\n\n").encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    made.base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()


def patched(base: Sequence[str], told: str) -> list[str]:
    """The base with the applied diffs of a tool result; what was rejected is not applied."""
    applied = told.split("rejected by the person, not applied:")[0]
    lines, shift, at = list(base), 0, None
    for row in applied.splitlines():
        if found := HUNK.match(row):
            at = int(found[1]) - (found[2] != "0") + shift
        elif at is None or row.startswith(("--- ", "+++ ", "\\")):
            continue
        elif row.startswith("-"):
            assert lines[at] == row[1:], (lines[at], row, told)
            del lines[at]
            shift -= 1
        elif row.startswith("+"):
            lines.insert(at, row[1:])
            at, shift = at + 1, shift + 1
        elif row.startswith(" "):
            assert lines[at] == row[1:], (lines[at], row, told)
            at += 1
        else:
            at = None
    return lines
