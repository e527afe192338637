"""A JSON-RPC peer: both ends are alike, and neither knows a protocol.

Owns the life of the connection and the requests we make. Answering the peer's is `incoming.py`'s, order and
back-pressure `outbound.py`'s, bytes `framing.py`'s, `reader.py`'s and `writer.py`'s.
"""

import logging
from collections.abc import Callable, Hashable, Iterator
from typing import Final, cast

import anyio
import anyio.abc
import anyio.lowlevel

from agent_server.front.rpc.dialect import Dialect
from agent_server.front.rpc.dispatch import Dispatch
from agent_server.front.rpc.envelope import FrameError
from agent_server.front.rpc.errors import INTERNAL_ERROR, ConnectionClosed, RemoteError
from agent_server.front.rpc.framing import Frame
from agent_server.front.rpc.incoming import Answering
from agent_server.front.rpc.messages import (
    Message,
    Notification,
    Request,
    Response,
    notification_body,
    parse,
    request_body,
)
from agent_server.front.rpc.outbound import Outbound, Trace
from agent_server.front.rpc.reader import ByteSource, FdReader
from agent_server.front.rpc.writer import FdWriter
from agent_server.loop.model import JsonObject

logger = logging.getLogger(__name__)

GRACE_S: Final = 0.7
"""How long requests that were read may still be answered after the end of input. The two seconds of spec §14 are for
all of the end: what is left of them is the second that a command has between TERM and KILL."""
_SETTLE_S: Final = 4.0
"""How long handlers may take to answer their own cancellation, once the grace is over: a command that resists is ended
by TERM and, a second later, KILL, and the prompt is answered only then. All others take milliseconds."""
_FLUSH_S: Final = 0.5
"""How long a peer that has closed its side may take to read the last answers."""


class _Awaited:
    """A request of ours; `done` once it is answered, or never will be."""

    __slots__ = ("done", "error", "result")

    def __init__(self) -> None:
        self.done = anyio.Event()
        self.result: object = None
        self.error: Exception | None = None

    def fail(self, error: Exception) -> None:
        self.error = error
        self.done.set()


class Connection:
    """One peer. All methods belong to the event loop's thread."""

    def __init__(
        self,
        source: ByteSource,
        outbound: Outbound,
        *,
        dialect: Dialect,
        dispatch: Dispatch,
        grace_s: float = GRACE_S,
        trace: Trace | None = None,
        stop: anyio.Event | None = None,
    ) -> None:
        """`trace` sees what comes in; what goes out is traced by `outbound`. `stop`, once set, is a `close`."""
        self.closed = anyio.Event()
        """Set when `serve` is over."""
        self.outbound = outbound
        self._source = source
        self._dialect = dialect
        self._grace_s = grace_s
        self._trace = trace
        self._stops = (outbound.closed,) if stop is None else (outbound.closed, stop)
        self._answering = Answering(dispatch, dialect, outbound.put)
        self._awaited: dict[int, _Awaited] = {}
        self._last_id = 0
        self._input_ended = False
        self._hung_up = False

    @property
    def ended(self) -> bool:
        """Whether the peer is gone, or was hung up on: nothing it says is heard any more."""
        return self._input_ended

    async def serve(self) -> None:
        """Read and answer until the input ends, the peer reads no more, or `close`.

        At the end of input, requests that were read are answered as far as the grace goes; then each is cancelled,
        and all tasks are gone when this returns.
        """
        try:
            async with anyio.create_task_group() as writing:
                writing.start_soon(self.outbound.run)
                for stop in self._stops:
                    writing.start_soon(self._close_after, stop)
                async with anyio.create_task_group() as tasks:
                    await self._read(tasks)
                    await self._wind_down()
                    tasks.cancel_scope.cancel()
                with anyio.move_on_after(_FLUSH_S):
                    await self.outbound.flush()
                writing.cancel_scope.cancel()
        finally:
            self._end_input()
            self._source.close()
            self.outbound.close()
            self.closed.set()

    async def request(self, method: str, params: JsonObject) -> object:
        """The peer's result. Cancelling the wait withdraws the request and does not wait for the peer.

        Raises:
            RemoteError: the peer answered with an error.
            ConnectionClosed: it will never answer.
        """
        if self._input_ended:
            raise ConnectionClosed(f"the connection is closed; {method!r} was not sent")
        request_id = self._last_id = self._last_id + 1
        body = request_body(request_id, method, params)
        awaited = self._awaited[request_id] = _Awaited()
        self.outbound.put(body)
        try:
            await awaited.done.wait()
        finally:
            del self._awaited[request_id]
            if not awaited.done.is_set():
                self.notify(self._dialect.cancel_method, {self._dialect.cancel_param: request_id})
        if awaited.error is not None:
            raise awaited.error
        return awaited.result

    def notify(self, method: str, params: JsonObject) -> None:
        """Tell the peer. Never blocks, never drops."""
        self.outbound.put(notification_body(method, params))

    def notify_delta(
        self, key: Hashable, method: str, render: Callable[[str], JsonObject | bytes], text: str
    ) -> bool:
        """Tell the peer a piece of text; `render` makes the params of it (see `messages.template`).

        False: it was merged into the message before, and this `render` will not be called.
        """
        return self.outbound.put_delta(
            key, lambda merged: notification_body(method, render(merged)), text
        )

    def close(self) -> None:
        """Hang up: requests in flight are cancelled, what was put is still written; `serve` then returns."""
        self._hung_up = True
        self._source.close()

    async def _close_after(self, stop: anyio.Event) -> None:
        await stop.wait()
        self.close()

    async def _read(self, tasks: anyio.abc.TaskGroup) -> None:
        decoder = self._dialect.framing.decoder()
        while data := await self._source.receive():
            await self._take(decoder.feed(data), tasks)
        await self._take(decoder.end(), tasks)

    async def _take(self, frames: Iterator[Frame], tasks: anyio.abc.TaskGroup) -> None:
        messages = [self._parse(frame) for frame in frames]
        withdrawn = self._answering.withdrawn(messages)
        for position, message in enumerate(messages):
            match message:
                case Request():
                    self._answering.request(message, tasks, withdrawn=position in withdrawn)
                case Notification():
                    self._answering.notification(message, tasks)
                case Response():
                    self._settle(message)
                case FrameError():
                    self._answering.malformed(message)
            # The task just started, or woken, runs up to its first suspension before we go on: the loop is first in,
            # first out, and we queue behind it.
            await anyio.lowlevel.checkpoint()

    def _parse(self, frame: Frame) -> Message:
        if self._trace is not None and isinstance(frame, bytes):
            self._trace("in", frame)
        return parse(frame)

    def _settle(self, response: Response) -> None:
        """Give an answer to who waits for it; late and repeated ones are nobody's, and never answered."""
        known = isinstance(response.id, int) and not isinstance(response.id, bool)
        awaited = self._awaited.get(cast("int", response.id)) if known else None
        if awaited is None:
            self._answering.offer(response.envelope)
        elif awaited.done.is_set():
            logger.debug("a second answer was dropped: id %r", response.id)
        elif response.error is not None:
            awaited.fail(_remote_error(response.error))
        else:
            awaited.result = response.result
            awaited.done.set()

    async def _wind_down(self) -> None:
        self._end_input()
        if not self._hung_up:
            with anyio.move_on_after(self._grace_s):
                await self._answering.finished()
        self._answering.withdraw_all()
        with anyio.move_on_after(_SETTLE_S):
            await self._answering.finished()

    def _end_input(self) -> None:
        """Nothing can be answered by the peer any more."""
        self._input_ended = True
        for awaited in self._awaited.values():
            if not awaited.done.is_set():
                awaited.fail(ConnectionClosed("the connection was closed before the peer answered"))


def connect(
    *,
    read_fd: int,
    write_fd: int,
    dialect: Dialect,
    dispatch: Dispatch,
    received: bytes = b"",
    grace_s: float = GRACE_S,
    trace: Trace | None = None,
    stop: anyio.Event | None = None,
) -> Connection:
    """A connection over two descriptors, which stay the caller's; `received` has been read from the first one."""
    outbound = Outbound(FdWriter(write_fd), dialect.framing, trace=trace)
    source = FdReader(read_fd, received)
    return Connection(
        source,
        outbound,
        dialect=dialect,
        dispatch=dispatch,
        grace_s=grace_s,
        trace=trace,
        stop=stop,
    )


def _remote_error(error: object) -> RemoteError:
    fields: JsonObject = cast("JsonObject", error) if isinstance(error, dict) else {}
    code, message = fields.get("code"), fields.get("message")
    return RemoteError(
        code if isinstance(code, int) else INTERNAL_ERROR,
        message
        if isinstance(message, str)
        else "the peer answered with an error that says nothing",
        fields.get("data"),
    )
