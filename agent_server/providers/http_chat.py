"""The `http` engine: OpenAI-compatible chat completions, streamed, over one shared HTTP client.

One `stream` is one request. What is left to others: retries and fallbacks (the loop), shapes of deltas (`assemble`),
what a status means (`faults`). The wire is read defensively: a server may answer a stream request with one JSON body
(ST-11), send keep-alives for ever (ST-13), end without a terminator, or break off.
"""

import json
import logging
import re
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import cast

import anyio

from agent_server.config import Timeouts
from agent_server.frozen import frozen, mutable
from agent_server.loop.errors import ModelFailure
from agent_server.loop.faults import Fault
from agent_server.loop.model import Reply
from agent_server.loop.ports import Piece, Request
from agent_server.providers import faults, wire
from agent_server.providers.assemble import Assembler
from agent_server.providers.error_shapes import error_in, said_in
from agent_server.providers.fragments import Json
from agent_server.providers.http_address import completions
from agent_server.providers.http_clients import Answer, HttpClients
from agent_server.providers.http_errors import BrokenOff, Unreachable, Unusable
from agent_server.providers.keys import Key
from agent_server.providers.prices import Price
from agent_server.providers.shapes import as_object
from agent_server.providers.sse import ErrorData, SseDecoder
from agent_server.providers.watch import Watch
from agent_server.providers.written import Written, dumped

log = logging.getLogger(__name__)

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
        self._url = completions(endpoint.base_url)
        self._clients = clients
        self._timeouts = timeouts
        self._price = price
        self._written = Written()

    async def stream(self, request: Request, receive: Callable[[Piece], None]) -> Reply:
        """Ask, see the port."""
        key = await self._endpoint.key.value()
        assembler = Assembler(self.name, request, receive, self._price)
        watch = Watch(self._timeouts)
        stream = _Stream(assembler, watch, key)
        try:
            with watch.scope:
                async with self._answer(request, key) as answer:
                    await self._read(answer, stream)
                    return self._whole(stream)
        except Unreachable as error:
            raise faults.unreachable(self.name, self._endpoint.base_url, error) from error
        except Unusable as error:
            reason = f"the address or {self._endpoint.key.source} cannot be used ({error})"
            raise self._cannot_ask(reason) from None
        except BrokenOff as error:
            if not assembler.ended:
                raise faults.interrupted(self.name, error) from error
        if assembler.ended:
            return self._whole(stream)
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
            if not 200 <= answer.status < 300:
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
        decoder, head, seen = SseDecoder(), bytearray(), False
        chunks = answer.chunks()
        async with aclosing(chunks):
            async for data in chunks:
                events = decoder.feed(data)
                if events:
                    seen = True
                    self._take(events, stream)
                    if stream.assembler.terminated:
                        await _drain(chunks)
                        return
                    stream.watch.chunk(
                        substance=stream.assembler.anything, ended=stream.assembler.ended
                    )
                elif not seen:
                    head += data
        rest = decoder.end()
        self._take(rest, stream)
        if not (seen or rest):
            self._take_whole(bytes(head), stream)

    def _take(self, events: Sequence[bytes], stream: "_Stream") -> None:
        """Feed the data of events to the assembler: the hot path."""
        take, loads = stream.assembler.chunk, json.loads
        for data in events:
            try:
                chunk: object = loads(data.decode())
            except (ValueError, RecursionError):
                if self._is_end(data, stream):
                    return
                continue
            fields = cast("Json", chunk) if type(chunk) is dict else None
            if fields is not None and fields.get("choices") and not fields.get("error"):
                take(fields)
            else:
                self._take_other(cast("object", chunk), stream, named=isinstance(data, ErrorData))

    def _is_end(self, data: bytes, stream: "_Stream") -> bool:
        """Whether data that is no JSON is the terminator, in any form; behind the end, junk makes nothing bad."""
        text = data.strip(b" \t\r\n\0")
        if text.lower() == b"[done]":
            stream.assembler.terminated = True
            return True
        if isinstance(data, ErrorData) and text:
            self._hear_error(text.decode("utf-8", "replace"), stream)
        elif text and not stream.assembler.ended:
            raise self._unreadable(data)
        elif text:
            log.warning("%s sent junk after the end of its answer", self.name)
        return False

    def _take_other(self, chunk: object, stream: "_Stream", *, named: bool) -> None:
        """JSON without a choice: an error in some shape, the usage, the frame of an answer, or nothing known."""
        if isinstance(chunk, str) and chunk.strip().lower() == "[done]":
            stream.assembler.terminated = True
            return
        if (error := error_in(chunk, named=named)) is not None:
            self._hear_error(error, stream)
        elif (fields := as_object(chunk)) is not None:
            stream.said = stream.said or said_in(fields)
            stream.assembler.chunk(fields)

    def _hear_error(self, error: object, stream: "_Stream") -> None:
        """An error ends the answer, unless that had its end before: then what it says is told beside it."""
        failure = self._failed(error, stream)
        if not stream.assembler.ended:
            raise failure
        stream.assembler.say(str(failure))

    def _take_whole(self, body: bytes, stream: "_Stream") -> None:
        """A body that is no stream: one JSON completion (ST-11), an error, or what somebody in between wrote."""
        text = body.strip(b" \t\r\n\0\xef\xbb\xbf")
        if not text:
            return
        if text.startswith(b"<"):
            raise self._cannot_ask(_page(text))
        try:
            whole: object = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise self._unreadable(text) from error
        if (problem := error_in(whole)) is not None:
            raise self._failed(problem, stream)
        if (found := as_object(whole)) is None:
            raise self._unreadable(text)
        if not found.get("choices") and (words := said_in(found)):
            raise self._failed(words, stream)
        stream.assembler.terminated = True
        stream.assembler.chunk(found)

    def _whole(self, stream: "_Stream") -> Reply:
        """The reply, or a failure when what came was something else."""
        if stream.assembler.error is not None:
            raise self._failed(stream.assembler.error, stream)
        if stream.said and not stream.assembler.begun:
            raise self._failed(stream.said, stream)
        return stream.assembler.reply()

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


@mutable
class _Stream:
    """What belongs to one request."""

    assembler: Assembler
    watch: Watch
    key: str | None
    said: str = ""
    """Words of an object that is no part of an answer; they count when no answer comes."""


def _page(body: bytes) -> str:
    """That a page came, such as that of a login or a proxy, and what it is called."""
    title = re.search(rb"<(title|h1)[^>]*>(.*?)</", body, re.IGNORECASE | re.DOTALL)
    name = " ".join(title[2].decode("utf-8", "replace").split())[:100] if title else ""
    called = f" ({name!r})" if name else ""
    return f"it answered with a web page{called}, not with a completion"


async def _drain(chunks: AsyncGenerator[bytes]) -> None:
    """Read to the end, so that the connection can serve the next request."""
    with anyio.move_on_after(DRAIN_S):
        async for _ in chunks:
            pass
