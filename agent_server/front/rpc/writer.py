"""Bytes from the event loop onto a descriptor, without ever blocking the loop.

What the kernel takes at once is written on the spot; the rest is written by one thread that blocks in `os.write`.
The descriptor's flags are shared with the process that started us and are never changed.
"""

import asyncio
import contextlib
import os
import queue
import select
import socket
import stat
import threading
from typing import Final, Protocol

_PIPE_BUF: Final = getattr(select, "PIPE_BUF", 512)
"""POSIX: a pipe that polls writable takes this many bytes without blocking."""


class ByteSink(Protocol):
    """A stream of bytes to the peer. One caller; `write_now` is not called while a `write` runs."""

    def write_now(self, data: bytes) -> int:
        """How many bytes were taken at once; 0 when none can be.

        Raises:
            OSError: nobody will ever read them.
        """
        ...

    async def write(self, data: bytes) -> None:
        """Write all of it, however long that takes.

        Raises:
            OSError: nobody will ever read it.
        """
        ...

    def close(self) -> None:
        """Stop; what a pending `write` still holds may be lost."""
        ...


class FdWriter:
    """Writes to a descriptor that it does not own."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._jobs: queue.SimpleQueue[tuple[bytes, asyncio.Future[None]] | None] = (
            queue.SimpleQueue()
        )
        self._thread: threading.Thread | None = None
        mode = os.fstat(fd).st_mode
        # A duplicate, because a socket object closes what it holds.
        self._socket = socket.socket(fileno=os.dup(fd)) if _sends_now(mode) else None
        self._poll = select.poll() if stat.S_ISFIFO(mode) and hasattr(select, "poll") else None
        if self._poll is not None:
            self._poll.register(fd, select.POLLOUT)

    def write_now(self, data: bytes) -> int:
        """See `ByteSink`."""
        if self._socket is not None:
            try:
                return self._socket.send(data, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return 0
        if self._poll is None or len(data) > _PIPE_BUF or not self._poll.poll(0):
            return 0
        try:
            # Also when only an error was polled: the write then says which.
            return os.write(self._fd, data)
        except BlockingIOError:  # the other holder made it non-blocking
            return 0

    async def write(self, data: bytes) -> None:
        """See `ByteSink`."""
        if self._thread is None:
            self._thread = threading.Thread(
                target=self._write_blocking, daemon=True, name="rpc writer"
            )
            self._thread.start()
        done = asyncio.get_running_loop().create_future()
        self._jobs.put((data, done))
        await done

    def close(self) -> None:
        """See `ByteSink`. The descriptor stays open."""
        self._jobs.put(None)
        if self._socket is not None:
            self._socket.close()

    def _write_blocking(self) -> None:
        while (job := self._jobs.get()) is not None:
            data, done = job
            error = _write_all(self._fd, data)
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                done.get_loop().call_soon_threadsafe(_settle, done, error)


def _sends_now(mode: int) -> bool:
    return stat.S_ISSOCK(mode) and hasattr(socket, "MSG_DONTWAIT")


def _write_all(fd: int, data: bytes) -> OSError | None:
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(fd, view) :]
        except BlockingIOError:  # the other holder made it non-blocking
            select.select([], [fd], [])
        except OSError as error:
            return error
    return None


def _settle(done: "asyncio.Future[None]", error: OSError | None) -> None:
    if done.done():  # its writer was cancelled
        return
    if error is None:
        done.set_result(None)
    else:
        done.set_exception(error)
