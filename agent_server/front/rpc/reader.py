"""Bytes from a descriptor into the event loop.

Pipes, sockets and terminals are watched by the loop and read when they are ready; what cannot be watched (regular
files under epoll, anything on Windows) is read by a thread that blocks in `os.read` alone, so that the
interpreter can always exit. Descriptors are shared with whoever started us: their flags are never changed.
"""

import asyncio
import contextlib
import os
import threading
from collections import deque
from typing import Final, Protocol

CHUNK: Final = 256 * 1024
_ENOUGH: Final = 4 * 1024 * 1024
"""Bytes read ahead of the consumer before reading pauses, and the client's pipe fills."""


class ByteSource(Protocol):
    """A stream of bytes from the peer."""

    async def receive(self) -> bytes:
        """What came next; empty at the end, and from then on."""
        ...

    def close(self) -> None:
        """Stop; a pending `receive` returns empty."""
        ...


class FdReader:
    """Reads a descriptor that it does not own. `received` is what somebody has read from it already."""

    def __init__(self, fd: int, received: bytes = b"") -> None:
        self._fd = fd
        self._chunks = deque([received] if received else [])
        self._buffered = len(received)
        self._ended = False
        self._waiter: asyncio.Future[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._watching = False
        self._room = threading.Event()
        self._room.set()

    async def receive(self) -> bytes:
        """See `ByteSource`. One consumer at a time."""
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            if not self._ended:
                self._start(self._loop)
        while not self._chunks and not self._ended:
            self._waiter = self._loop.create_future()
            await self._waiter
        if not self._chunks:
            return b""
        chunk = self._chunks.popleft()
        self._buffered -= len(chunk)
        self._resume(self._loop)
        return chunk

    def close(self) -> None:
        """See `ByteSource`. The descriptor stays open."""
        self._chunks.clear()
        self._arrived(b"")

    def _start(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            loop.add_reader(self._fd, self._readable)
            self._watching = True
        except (NotImplementedError, PermissionError):
            threading.Thread(
                target=self._read_blocking, args=(loop,), daemon=True, name="rpc reader"
            ).start()

    def _readable(self) -> None:
        try:
            data = os.read(self._fd, CHUNK)
        except (
            BlockingIOError
        ):  # the other holder made it non-blocking, and it was not ready after all
            return
        except OSError:  # a terminal hung up, a socket was reset
            data = b""
        self._arrived(data)

    def _arrived(self, data: bytes) -> None:
        if self._ended:
            return
        if data:
            self._chunks.append(data)
            self._buffered += len(data)
        else:
            self._ended = True
        if self._ended or self._buffered >= _ENOUGH:
            self._pause()
        if self._ended:
            self._room.set()  # lets the thread see it
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _pause(self) -> None:
        self._room.clear()
        if self._watching and self._loop is not None:
            self._loop.remove_reader(self._fd)
            self._watching = False

    def _resume(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._ended or self._room.is_set() or self._buffered >= _ENOUGH:
            return
        self._room.set()
        with contextlib.suppress(
            NotImplementedError, PermissionError
        ):  # the thread waits for room itself
            loop.add_reader(self._fd, self._readable)
            self._watching = True

    def _read_blocking(self, loop: asyncio.AbstractEventLoop) -> None:
        data = b"-"
        while data and not self._ended:
            self._room.wait()
            try:
                data = os.read(self._fd, CHUNK)
            except OSError:
                data = b""
            try:
                loop.call_soon_threadsafe(self._arrived, data)
            except RuntimeError:  # the loop is closed: nobody listens any more
                return
