"""The `http` engine: OpenAI-compatible chat completions, streamed, over one shared HTTP client.

One `stream` is one request. What is left to others: retries and fallbacks (the loop), shapes of deltas (`assemble`),
what a status means (`faults`). The wire is read defensively: a server may answer a stream request with one JSON body
(ST-11), send keep-alives for ever (ST-13), end without a terminator, or break off.
"""

import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import cast

import anyio

from agent_server.config import Timeouts
from agent_server.frozen import frozen
from agent_server.loop.errors import ModelFailure
from agent_server.loop.faults import Fault
from agent_server.loop.model import Reply
from agent_server.loop.ports import Piece, Request
from agent_server.providers import faults, wire
from agent_server.providers.assemble import Assembler
from agent_server.providers.fragments import Json
from agent_server.providers.http_clients import Answer, HttpClients
from agent_server.providers.http_errors import BrokenOff, Unreachable, Unusable
from agent_server.providers.keys import Key
from agent_server.providers.prices import Price
from agent_server.providers.sse import SseDecoder
from agent_server.providers.watch import Watch
from agent_server.providers.written import Written, dumped

DRAIN_S = 0.2
"""After the terminator the body should end; a connection that does not end by then is closed instead of kept."""
ERROR_BODY_BYTES = 64 * 1024


@frozen
class Endpoint:
    """Where and as what a model is asked."""

    base_url: str
    """Ends in `/v1` as a rule; `/chat/completions` is put behind it."""
    model: str
    """The name the server knows."""
    key: Key
    output_field: str = "max_tokens"
    """How this server calls the limit of the output; OpenAI itself wants `max_completion_tokens`."""


class HttpChatModel:
    """A model behind an OpenAI-compatible endpoint."""

    def __init__(
        self,
        name: str,
        endpoint: Endpoint,
        clients: HttpClients,
        *,
        window: int,
        timeouts: Timeouts,
        price: Price | None = None,
    ) -> None:
        self.name = name
        self.window = window
        self._endpoint = endpoint
        self._url = endpoint.base_url.rstrip("/") + "/chat/completions"
        self._clients = clients
        self._timeouts = timeouts
        self._price = price
        self._written = Written()

    async def stream(self, request: Request, receive: Callable[[Piece], None]) -> Reply:
        """Ask, see the port."""
        key = await self._endpoint.key.value()
        assembler = Assembler(self.name, request, receive, self._price)
        watch = Watch(self._timeouts)
        try:
            with watch.scope:
                async with self._answer(request, key) as answer:
                    await self._read(answer, _Stream(assembler, watch, key))
                    return self._whole(assembler, answer)
        except Unreachable as error:
            raise faults.unreachable(self.name, self._endpoint.base_url, error) from error
        except Unusable as error:
            reason = f"the address or {self._endpoint.key.source} cannot be used ({error})"
            raise self._cannot_ask(reason) from None
        except BrokenOff as error:
            raise faults.interrupted(self.name, error) from error
        raise faults.silent(self.name, watch.limit_s, began=watch.began)

    async def refresh_auth(self) -> bool:
        """Fetch the key again."""
        return await self._endpoint.key.refresh()

    @asynccontextmanager
    async def _answer(self, request: Request, key: str | None) -> AsyncGenerator[Answer]:
        """The answer with a good status; leaving the block closes the connection unless it was read to its end."""
        headers = {"Content-Type": "application/json", "Accept": "text/event-stream"}
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        # Only connecting is timed there; silence is the watch's.
        async with self._clients.post(
            self._url, self._body(request), headers, connect_s=self._timeouts.connect_s
        ) as answer:
            if answer.status != 200:
                raise await self._refused(answer, key)
            yield answer

    def _body(self, request: Request) -> bytes:
        body: Json = {
            "model": self._endpoint.model,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if request.tools:
            body["tools"] = wire.tools(request.tools)
        if request.max_output is not None:
            body[self._endpoint.output_field] = request.max_output
        messages = self._written.messages(request, self.name)
        return f'{dumped(body)[:-1]},"messages":{messages}}}'.encode("utf-8", "replace")

    async def _read(self, answer: Answer, stream: "_Stream") -> None:
        decoder = SseDecoder()
        chunks = answer.chunks()
        async with aclosing(chunks):
            if "json" in answer.headers.get("content-type", ""):
                self._take_whole(b"".join([data async for data in chunks]), stream)
                return
            async for data in chunks:
                if events := decoder.feed(data):
                    self._take(events, stream)
                    if stream.assembler.terminated:
                        await _drain(chunks)
                        return
                    stream.watch.chunk(substance=stream.assembler.anything)
        self._take(decoder.end(), stream)

    def _take(self, events: Sequence[bytes], stream: "_Stream") -> None:
        """Feed the data of events to the assembler: the hot path."""
        take, loads = stream.assembler.chunk, json.loads
        for data in events:
            if data == b"[DONE]":
                stream.assembler.terminated = True
                return
            if not data:
                continue
            try:
                chunk = loads(data.decode())
            except ValueError as error:
                raise self._unreadable(data) from error
            if chunk.get("error"):
                raise self._failed(chunk["error"], stream)
            take(chunk)

    def _take_whole(self, body: bytes, stream: "_Stream") -> None:
        """One JSON body where a stream was asked for (ST-11)."""
        try:
            whole = json.loads(body)
        except ValueError as error:
            raise self._unreadable(body) from error
        if not isinstance(whole, dict):
            raise self._unreadable(body)
        found = cast("Json", whole)
        if found.get("error"):
            raise self._failed(found["error"], stream)
        stream.assembler.terminated = True
        stream.assembler.chunk(found)

    def _whole(self, assembler: Assembler, answer: Answer) -> Reply:
        """The reply, or a failure when what came was something else, such as the page of a login or a proxy."""
        if not assembler.anything and "html" in answer.headers.get("content-type", ""):
            raise self._cannot_ask("it answered with a web page, not with a completion")
        return assembler.reply()

    async def _refused(self, answer: Answer, key: str | None) -> ModelFailure:
        body = b""
        async with aclosing(answer.chunks()) as chunks:
            async for data in chunks:
                body += data
                if len(body) > ERROR_BODY_BYTES:
                    break
        return faults.failure(
            self.name,
            answer.status,
            body.decode("utf-8", "replace"),
            key_source=self._endpoint.key.source,
            key=key,
            headers=answer.headers,
        )

    def _failed(self, error: object, stream: "_Stream") -> ModelFailure:
        return faults.failure_in_stream(
            self.name, error, key_source=self._endpoint.key.source, key=stream.key
        )

    def _unreadable(self, data: bytes) -> ModelFailure:
        shown = data[:80].decode("utf-8", "replace")
        return ModelFailure(
            f"{self.name} sent something that is no JSON: {shown!r}", fault=Fault.TRANSIENT
        )

    def _cannot_ask(self, reason: str) -> ModelFailure:
        return ModelFailure(
            f"{self.name} cannot be asked at {self._endpoint.base_url}: {reason}",
            fault=Fault.INVALID,
        )


@frozen
class _Stream:
    """What belongs to one request."""

    assembler: Assembler
    watch: Watch
    key: str | None


async def _drain(chunks: AsyncGenerator[bytes]) -> None:
    """Read to the end, so that the connection can serve the next request."""
    with anyio.move_on_after(DRAIN_S):
        async for _ in chunks:
            pass
