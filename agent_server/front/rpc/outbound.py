"""The one ordered queue of a connection: everything the peer gets passes through it, in the order it was put.

Owns order, merging of deltas and the bound in bytes. All methods belong to the event loop's thread. Framing is the
caller's choice; how bytes leave is `writer.py`'s.

The law: messages arrive in the order they were put. Text deltas may be merged, and only with the message put
directly before, of the same key, while that one still waits: the concatenation is exact, and with an idle
output every delta goes out at once. Nothing is ever dropped unless the peer is gone.
"""

from collections import deque
from collections.abc import Callable, Hashable
from typing import Final, Literal

import anyio

from agent_server.front.rpc.framing import Framing
from agent_server.front.rpc.writer import ByteSink

LIMIT: Final = 8 * 1024 * 1024
"""Bytes waiting before `drain` makes producers wait (lsp.md §1.5)."""
_BATCH: Final = 256 * 1024
"""Bytes handed over in one write; small enough that merging goes on behind it."""
_OVERHEAD: Final = 200
"""What a waiting delta counts beside its text: about the envelope's size."""

Trace = Callable[[Literal["in", "out"], bytes], None]
"""Sees every body, in order, as it is read or as it leaves the queue."""
Render = Callable[[str], bytes]
"""Text → the body of the message that carries it. Called once for each message, when it leaves."""


class _Delta:
    """A waiting delta; grows while it is the last one."""

    __slots__ = ("key", "render", "texts")

    def __init__(self, key: Hashable, render: Render, text: str) -> None:
        self.key = key
        self.render = render
        self.texts = [text]

    @property
    def size(self) -> int:
        return _OVERHEAD + sum(map(len, self.texts))


class Outbound:
    """See the module. `run` must be running for more than the fast path to leave."""

    def __init__(self, sink: ByteSink, framing: Framing, *, trace: Trace | None = None) -> None:
        self.closed = anyio.Event()
        """Set when the peer reads no more, or after `close`. What is put then is discarded."""
        self._sink = sink
        self._encode = framing.encode
        self._trace = trace
        self._waiting: deque[bytes | _Delta] = deque()
        """Bodies, and deltas not yet rendered."""
        self._rest = b""
        """What is left of a frame that went out in part; comes before everything that waits."""
        self._size = 0
        self._writing = False
        self._work = anyio.Event()
        self._progress = anyio.Event()

    @property
    def size(self) -> int:
        """Bytes that wait, roughly."""
        return self._size

    def put(self, body: bytes) -> None:
        """Send a message. Never blocks, never drops."""
        if self.closed.is_set():
            return
        if self._idle:
            self._leave(body)
        else:
            self._append(body, len(body))

    def put_delta(self, key: Hashable, render: Render, text: str) -> bool:
        """Send a piece of text; False when it was merged into the message before, and `render` discarded.

        Whatever `render` numbers its messages with may be counted up only when this returns True.
        """
        if self.closed.is_set():
            return True
        if self._idle:
            self._leave(render(text))
            return True
        last = self._waiting[-1] if self._waiting else None
        if isinstance(last, _Delta) and last.key == key:
            last.texts.append(text)
            self._size += len(text)
            return False
        delta = _Delta(key, render, text)
        self._append(delta, delta.size)
        return True

    async def drain(self) -> None:
        """Wait until less than `LIMIT` bytes wait; for producers that can. Returns when closed."""
        while self._size >= LIMIT and not self.closed.is_set():
            await self._progress.wait()

    async def flush(self) -> None:
        """Wait until everything put so far has been written. Returns when closed."""
        while not self._idle and not self.closed.is_set():
            await self._progress.wait()

    async def run(self) -> None:
        """Write what waits until closed. One at a time."""
        while not self.closed.is_set():
            if not self._waiting and not self._rest:
                self._work = anyio.Event()
                await self._work.wait()
                continue
            await self._write(self._take())

    def close(self) -> None:
        """Discard what waits; nothing more is sent."""
        self._waiting.clear()
        self._rest = b""
        self._size = 0
        self.closed.set()
        self._work.set()
        self._moved()
        self._sink.close()

    @property
    def _idle(self) -> bool:
        return not self._waiting and not self._writing and not self._rest

    def _append(self, item: bytes | _Delta, size: int) -> None:
        self._waiting.append(item)
        self._size += size
        self._work.set()

    def _leave(self, body: bytes) -> None:
        """Write at once, or as much as goes; only with nothing before it."""
        frame = self._frame(body)
        try:
            written = self._sink.write_now(frame)
        except OSError:
            self.close()
            return
        if written < len(frame):
            self._rest = frame[written:]
            self._size += len(self._rest)
            self._work.set()

    def _take(self) -> bytes:
        frames = [self._rest]
        size = len(self._rest)
        self._rest = b""
        while self._waiting and size < _BATCH:
            item = self._waiting.popleft()
            if isinstance(item, _Delta):
                self._size -= item.size
                body = item.render("".join(item.texts))
            else:
                self._size -= len(item)
                body = item
            frame = self._frame(body)
            self._size += len(frame)
            frames.append(frame)
            size += len(frame)
        return b"".join(frames)

    async def _write(self, data: bytes) -> None:
        self._writing = True
        try:
            written = self._sink.write_now(data)
            if written < len(data):
                await self._sink.write(data[written:])
        except OSError:
            self.close()
            return
        finally:
            self._writing = False
        self._size = max(0, self._size - len(data))
        self._moved()

    def _moved(self) -> None:
        progress, self._progress = self._progress, anyio.Event()
        progress.set()

    def _frame(self, body: bytes) -> bytes:
        if self._trace is not None:
            self._trace("out", body)
        return self._encode(body)
