"""One SQLite file and the one thread that writes it.

Owns the queue, durability and the translation of SQLite's errors into `StoreFailure`. Knows no table: facts arrive as
jobs. Jobs that wait at the same moment share a commit (`transaction.py`).
"""

import asyncio
import contextlib
import logging
import queue
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import anyio
import anyio.to_thread

from agent_server.frozen import frozen
from agent_server.loop.errors import StoreFailure
from agent_server.store.connection import (
    Connect,
    identity,
    open_for_reading,
    open_for_writing,
)
from agent_server.store.reserve import Reserve, in_words, is_full
from agent_server.store.transaction import Job, commit

logger = logging.getLogger(__name__)

T = TypeVar("T")


@frozen
class Pulse:
    """Something to do every `seconds` while the file is open. It need not survive a power cut, so it costs no sync."""

    seconds: float
    beat: Job


@frozen
class _Waiting:
    """A job in the queue, and the way to tell its caller how it went."""

    job: Job
    settle: Callable[[Exception | None], None]


class Database:
    """Lazy: neither the file nor the thread exists before the first `run`."""

    def __init__(
        self,
        path: Path,
        *,
        pulse: Pulse | None = None,
        connect: Connect = open_for_writing,
    ) -> None:
        """`connect` opens the file for the writer."""
        self.path = path
        self._queue: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._writer = _Writer(path, connect, self._queue, pulse)
        self._thread: threading.Thread | None = None
        self._closed = False
        self._reserve = Reserve(path)

    @property
    def is_open(self) -> bool:
        """Whether there was a `run` and no `aclose` since."""
        return self._thread is not None

    async def run_before_effect(self, job: Callable[[sqlite3.Connection], T]) -> T:
        """The same for a fact that an effect follows: kept only where there is also room for how the effect ends.

        Raises:
            StoreFailure: nothing of this job was kept, and the effect must not happen.
        """

        def with_room(connection: sqlite3.Connection) -> T:
            self._reserve.hold()
            return job(connection)

        return await self.run(with_room)

    async def run_after_effect(self, job: Callable[[sqlite3.Connection], T]) -> T:
        """The same for how an effect ended: it may use the room that was held for it.

        Raises:
            StoreFailure: nothing of this job was kept.
        """
        try:
            return await self.run(job)
        except StoreFailure as failure:
            if failure.__cause__ is None or not is_full(failure.__cause__):
                raise
        self._reserve.release()
        return await self.run(job)

    async def run(self, job: Callable[[sqlite3.Connection], T]) -> T:
        """Run `job` on the writer's connection; return its value once everything it wrote is durable.

        The job runs in a thread, inside a transaction that it must not end, and again from the start when that
        transaction fails: it may touch nothing but the connection. Jobs run in the order of the calls. A call that has
        begun is finished: cancellation waits for the caller's next wait, so there is no doubt about what was kept.

        Raises:
            StoreFailure: nothing of this job was kept.
        """
        value: list[T] = []

        def keep(connection: sqlite3.Connection) -> None:
            value[:] = [job(connection)]

        error = await self._commit(keep)
        if error is None:
            return value[0]
        if isinstance(error, (sqlite3.Error, OSError)):
            raise StoreFailure(in_words(self.path, error)) from error
        raise error

    async def read(self, job: Callable[[sqlite3.Connection], T]) -> T | None:
        """Run `job` on a connection of its own, beside the writer; None when nothing was ever kept.

        Raises:
            StoreFailure: it could not be read.
        """
        return await anyio.to_thread.run_sync(self._read, job)

    async def aclose(self) -> None:
        """Finish what is queued, then close the file. Later calls of `run` fail."""
        self._closed = True
        if self._thread is None:
            return
        self._queue.put(None)
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self._thread.join)
        self._thread = None

    async def _commit(self, job: Job) -> Exception | None:
        if self._closed:
            raise StoreFailure(f"{self.path} is closed")
        self._start()
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[Exception | None] = loop.create_future()

        def settle(error: Exception | None) -> None:
            # A loop that is closed has nobody left to tell.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(_tell, outcome, error)

        self._queue.put(_Waiting(job, settle))
        with anyio.CancelScope(shield=True):
            return await outcome

    def _start(self) -> None:
        if self._thread is None:
            # A daemon, because a process that must die shall not wait for a disk; a commit is whole or absent.
            self._thread = threading.Thread(target=self._writer.work, name="store", daemon=True)
            self._thread.start()

    def _read(self, job: Callable[[sqlite3.Connection], T]) -> T | None:
        try:
            connection = open_for_reading(self.path)
            if connection is None:
                return None
            with contextlib.closing(connection):
                return job(connection)
        except (sqlite3.Error, OSError) as error:
            raise StoreFailure(in_words(self.path, error)) from error


def _tell(outcome: "asyncio.Future[Exception | None]", error: Exception | None) -> None:
    if not outcome.done():
        outcome.set_result(error)


def _commit_unsynced(connection: sqlite3.Connection, job: Job) -> Exception | None:
    connection.execute("PRAGMA synchronous = NORMAL")
    try:
        return commit(connection, [job])[0]
    finally:
        connection.execute("PRAGMA synchronous = FULL")


class _Writer:
    """The thread's side: takes what waits, commits it together, tells each caller."""

    def __init__(
        self,
        path: Path,
        connect: Connect,
        jobs: "queue.SimpleQueue[_Waiting | None]",
        pulse: Pulse | None,
    ) -> None:
        self._path = path
        self._connect = connect
        self._jobs = jobs
        self._pulse = pulse
        self._connection: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None
        self._next_beat = 0.0

    def work(self) -> None:
        """Until the end mark comes out of the queue."""
        going = True
        while going:
            batch, going = self._take()
            if batch:
                self._keep(batch)
            self._beat()
        if self._connection is not None:
            self._connection.close()

    def _take(self) -> tuple[list[_Waiting], bool]:
        """Everything that waits now, at least one job or the end mark, unless a beat is due first."""
        batch: list[_Waiting] = []
        try:
            item = self._jobs.get(timeout=self._until_beat())
            while item is not None:
                batch.append(item)
                item = self._jobs.get_nowait()
        except queue.Empty:
            return batch, True
        return batch, False

    def _keep(self, batch: list[_Waiting]) -> None:
        try:
            connection = self._open()
            outcomes = commit(connection, [waiting.job for waiting in batch])
        except Exception as error:  # noqa: BLE001 -- boundary of a background thread: every caller is told
            outcomes = [error] * len(batch)
        for waiting, outcome in zip(batch, outcomes, strict=True):
            waiting.settle(outcome)

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None and self._file != identity(self._path):
            # Deleted or replaced beneath us: what we would write into the old file, nobody would ever see.
            self._connection.close()
            self._connection = None
        if self._connection is None:
            self._connection = self._connect(self._path)
            self._file = identity(self._path)
            self._next_beat = self._after_a_beat()
        return self._connection

    def _until_beat(self) -> float | None:
        if self._pulse is None or self._connection is None:
            return None
        return max(0.0, self._next_beat - time.monotonic())

    def _after_a_beat(self) -> float:
        return time.monotonic() + (self._pulse.seconds if self._pulse else 0.0)

    def _beat(self) -> None:
        if self._pulse is None or self._connection is None or time.monotonic() < self._next_beat:
            return
        self._next_beat = self._after_a_beat()
        try:
            outcome = _commit_unsynced(self._connection, self._pulse.beat)
        except sqlite3.Error as error:
            outcome = error
        if outcome is not None:
            logger.warning("the session store %s did not keep a heartbeat: %s", self._path, outcome)
