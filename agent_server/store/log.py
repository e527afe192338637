"""The log of one session: in memory for reading, on disk before anybody is told."""

import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

from agent_server.loop.errors import StoreFailure
from agent_server.loop.model import (
    Entry,
    ReplyEntry,
    ResultEntry,
    SessionId,
    StartedEntry,
    TurnEndEntry,
    UserEntry,
)
from agent_server.store import locks, receipts
from agent_server.store.codec import decode, encode
from agent_server.store.database import Database
from agent_server.store.times import Clock, from_ms


class SessionLog:
    """Implements `loop.ports.Log`. Made by `SessionStore.open_log`."""

    def __init__(
        self,
        database: Database,
        session: SessionId,
        entries: list[Entry],
        *,
        token: str,
        clock: Clock,
    ) -> None:
        """`entries` are what is on disk; the log takes the list over. `token`: who holds it."""
        self.session = session
        self._database = database
        self._entries = entries
        self._token = token
        self._clock = clock

    @property
    def entries(self) -> Sequence[Entry]:
        """All of it, oldest first; grows in place, after the disk has it."""
        return self._entries

    async def append(self, *entries: Entry) -> None:
        """Keep these facts, in one commit. An append that has begun is finished, also when the caller is cancelled.

        Raises:
            StoreFailure: nothing of it was kept; also when this process does not hold the session.
        """
        if not entries:
            return
        await self._run(entries)(self._writing(entries))
        self._entries.extend(entries)

    async def times(self) -> Sequence[datetime]:
        """See `Log`."""
        rows = await self._database.read(
            lambda connection: connection.execute(
                "SELECT at FROM entry WHERE session = ? ORDER BY place", (self.session,)
            ).fetchall()
        )
        return [from_ms(at) for (at,) in rows or ()]

    def _run(
        self, entries: Sequence[Entry]
    ) -> Callable[[Callable[[sqlite3.Connection], None]], Awaitable[None]]:
        """How these facts are kept: before an effect, after one, or neither."""
        if any(isinstance(entry, StartedEntry) for entry in entries):
            return self._database.run_before_effect
        if any(isinstance(entry, ResultEntry | TurnEndEntry) for entry in entries):
            return self._database.run_after_effect
        return self._database.run

    def _writing(self, entries: Sequence[Entry]) -> Callable[[sqlite3.Connection], None]:
        at = self._clock()

        def write(connection: sqlite3.Connection) -> None:
            locks.require_ours(connection, self.session, self._token)
            _insert(connection, self.session, entries, at)
            receipts.keep(connection, self.session, entries, at)
            _count(connection, self.session, entries, at)

        return write


def read_entries(connection: sqlite3.Connection, session: str) -> list[Entry]:
    """A session's entries as they are stored.

    Raises:
        StoreFailure: one of them cannot be read; the sentence says which and why.
    """
    rows = connection.execute(
        "SELECT place, kind, body FROM entry WHERE session = ? ORDER BY place", (session,)
    )
    entries: list[Entry] = []
    for place, kind, body in rows:
        if place != len(entries):
            raise StoreFailure(f"session {session!r} is damaged: entry {len(entries)} is missing")
        try:
            # A column of SQLite holds what was put into it, whatever its type says.
            entries.append(decode(kind, body if isinstance(body, bytes) else str(body).encode()))
        except StoreFailure as failure:
            raise StoreFailure(
                f"session {session!r} cannot be read at entry {place}: {failure}"
            ) from failure
    return entries


def _insert(
    connection: sqlite3.Connection, session: str, entries: Sequence[Entry], at: int
) -> None:
    (first,) = connection.execute("SELECT entries FROM session WHERE id = ?", (session,)).fetchone()
    connection.executemany(
        "INSERT INTO entry (session, place, at, kind, body) VALUES (?, ?, ?, ?, ?)",
        ((session, first + i, at, *encode(entry)) for i, entry in enumerate(entries)),
    )


def _count(connection: sqlite3.Connection, session: str, entries: Sequence[Entry], at: int) -> None:
    """Only what people and models say makes a session newer; settling, plans and summaries do not."""
    connection.execute(
        "UPDATE session SET entries = entries + ? WHERE id = ?", (len(entries), session)
    )
    if any(isinstance(entry, (UserEntry, ReplyEntry)) for entry in entries):
        connection.execute("UPDATE session SET updated = ? WHERE id = ?", (at, session))
