"""A strict OpenAI-compatible model server, scripted one answer per request.

In a test:

    async with ModelServer([say("hi") + call("read", path="a"), say("done")]) as server:
        ...                               # OPENAI_BASE_URL = server.base_url
    server.bodies[0]["messages"]          # what was asked, in order
    server.refused == []                  # histories a strict provider would have refused (answered with 400)
    await server.exchanges[0].peer_closed.wait()     # the client hung up while the answer was still going on

As a program, for tests that start real processes (the notation is in tests/fakes/answers.py):

    python -m tests.fakes.model_server --script FILE [--port 0] [--log FILE]

`FILE` is a JSON list; each item is one line of notation (`"say \\"hi\\" + call read(path=a)"`) or an object with the
fields of `Answer`. The program prints its base URL as its first line; `--log` receives one JSON line per finished
request: `{"body", "refused", "peer_closed"}`. A request past the end of the script is answered with 400.
"""

import argparse
import asyncio
import contextlib
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.fakes.answers import Answer, JsonDict, answer
from tests.fakes.render import completion, ending, events
from tests.fakes.strict import complaint

LARGEST_BODY = 64 * 1024 * 1024


@dataclass
class Exchange:
    """One request and what became of its answer."""

    path: str
    headers: dict[str, str]
    body: JsonDict
    refused: str | None = None
    peer_closed: asyncio.Event = field(default_factory=asyncio.Event)
    """The peer hung up before the answer was over."""
    answered: asyncio.Event = field(default_factory=asyncio.Event)


class ModelServer:
    """Listens on 127.0.0.1 while its `async with` block lasts."""

    def __init__(
        self, script: Iterable[Answer | str] = (), *, port: int = 0, log: Path | None = None
    ) -> None:
        self.script = [a if isinstance(a, Answer) else answer(a) for a in script]
        self.exchanges: list[Exchange] = []
        self.accepted = 0
        """Connections that were ever made."""
        self._port = port
        self._log = log
        self._server: asyncio.Server | None = None
        self._arrived = asyncio.Condition()
        self._connections: set[asyncio.Task[None]] = set()

    @property
    def base_url(self) -> str:
        """With `/v1`."""
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def bodies(self) -> list[JsonDict]:
        """What was asked, in order."""
        return [e.body for e in self.exchanges]

    @property
    def refused(self) -> list[str]:
        """Why requests were refused as invalid."""
        return [e.refused for e in self.exchanges if e.refused]

    @property
    def connections(self) -> int:
        """Connections that are open now."""
        return len(self._connections)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(
            self._connected, "127.0.0.1", self._port, limit=LARGEST_BODY
        )
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in tuple(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def asked(self, count: int) -> None:
        """Return once so many requests have come in."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: len(self.exchanges) >= count)

    async def serve_forever(self) -> None:
        """Until cancelled."""
        assert self._server is not None
        await self._server.serve_forever()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        self.accepted += 1
        try:
            while request := await _read_request(reader):
                await self._answer(request, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._connections.discard(task)
            writer.close()

    async def _answer(
        self, exchange: Exchange, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if not exchange.path.endswith("/chat/completions"):
            models = {"object": "list", "data": [{"id": "mock", "object": "model"}]}
            await _send_json(writer, 200, {}, models)
            return
        self.exchanges.append(exchange)
        exchange.refused = complaint(exchange.body)
        given = self._next(exchange)
        async with self._arrived:
            self._arrived.notify_all()
        watch = asyncio.create_task(_watch(reader, exchange))
        try:
            await _send(writer, given, exchange)
        finally:
            exchange.answered.set()
            watch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await watch
            self._record(exchange)
        if exchange.peer_closed.is_set():
            raise ConnectionError("the peer is gone")

    def _next(self, exchange: Exchange) -> Answer:
        if exchange.refused:
            return _refusal(exchange.refused)
        if not self.script:
            exchange.refused = "the script has no answer left"
            return _refusal(exchange.refused)
        return self.script.pop(0)

    def _record(self, exchange: Exchange) -> None:
        if self._log is not None:
            line = {
                "body": exchange.body,
                "refused": exchange.refused,
                "peer_closed": exchange.peer_closed.is_set(),
            }
            with self._log.open("a", encoding="utf-8") as log:
                log.write(json.dumps(line) + "\n")


def _refusal(message: str) -> Answer:
    return Answer(status=400, body={"error": {"message": message, "type": "invalid_request_error"}})


async def _watch(reader: asyncio.StreamReader, exchange: Exchange) -> None:
    """Notice the peer's end of the connection while an answer is on its way. Clients do not pipeline."""
    with contextlib.suppress(ConnectionError):
        await reader.read(1)
    exchange.peer_closed.set()


async def _read_request(reader: asyncio.StreamReader) -> Exchange | None:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.rstrip().split("\r\n")
    headers = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Exchange(first.split()[1], headers, json.loads(body or b"{}"))


# ---- what goes out -------------------------------------------------------------------------------


async def _send(writer: asyncio.StreamWriter, given: Answer, exchange: Exchange) -> None:
    if given.status != 200:
        error = given.body or {
            "error": {"message": f"scripted error {given.status}", "type": "error"}
        }
        await _send_json(writer, given.status, given.headers, error)
    elif given.plain or not exchange.body.get("stream"):
        await _send_json(writer, 200, given.headers, completion(given, exchange.body))
    else:
        await _send_stream(writer, given, exchange)


async def _send_json(
    writer: asyncio.StreamWriter, status: int, headers: dict[str, str], value: object
) -> None:
    body = json.dumps(value).encode()
    extra = "".join(f"{name}: {text}\r\n" for name, text in headers.items())
    writer.write(
        f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n{extra}\r\n".encode()
        + body
    )
    await writer.drain()


async def _send_stream(writer: asyncio.StreamWriter, given: Answer, exchange: Exchange) -> None:
    kind = given.headers.get("content-type", "text/event-stream")
    writer.write(
        f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    )
    sent = 0
    for data in given.raw or events(given, exchange.body):
        writer.write(b"%x\r\n%s\r\n" % (len(data), data))
        await writer.drain()
        sent += 1
        if pause := given.tick_ms or given.delay_ms:
            await _sleep_or_gone(exchange, pause / 1000)
        if exchange.peer_closed.is_set():
            return
    if given.hang:
        await exchange.peer_closed.wait()
        return
    if given.end == "reset":
        await writer.drain()
        writer.transport.abort()
        raise ConnectionError("reset as scripted")
    if given.end == "normal" and not given.raw:
        for data in ending(given, exchange.body, sent):
            writer.write(b"%x\r\n%s\r\n" % (len(data), data))
    writer.write(b"0\r\n\r\n")
    await writer.drain()


async def _sleep_or_gone(exchange: Exchange, seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(exchange.peer_closed.wait(), seconds)


# ---- as a program --------------------------------------------------------------------------------


def read_script(path: Path) -> list[Answer]:
    """The answers of a script file."""
    items = json.loads(path.read_text(encoding="utf-8"))
    return [answer(item) if isinstance(item, str) else _answer_of(item) for item in items]


def _answer_of(item: JsonDict) -> Answer:
    calls = tuple((name, json.dumps(given)) for name, given in item.pop("calls", ()))
    return Answer(**item, calls=calls)


async def _main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fakes.model_server")
    parser.add_argument("--script", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log", type=Path)
    options = parser.parse_args(arguments)
    async with ModelServer(
        read_script(options.script), port=options.port, log=options.log
    ) as server:
        sys.stdout.write(f"{server.base_url}\n")
        sys.stdout.flush()
        await server.serve_forever()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_main(sys.argv[1:]))
