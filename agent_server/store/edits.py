"""The journal of a session's edits, as a table: one row per change of a transaction's state, never changed again."""

import sqlite3
from collections.abc import Awaitable, Callable, Sequence

from agent_server.edits.journal import Line
from agent_server.loop.errors import StoreFailure
from agent_server.loop.model import SessionId
from agent_server.store import locks
from agent_server.store.database import Database
from agent_server.store.edits_codec import STATES, decode, encode
from agent_server.store.fields import Damaged
from agent_server.store.times import from_ms, to_ms


class StoredJournal:
    """Implements `edits.journal.EditJournal`. Made by `SessionStore.journal`."""

    def __init__(self, database: Database, session: SessionId, *, token: str) -> None:
        """`token`: who holds the session."""
        self._database = database
        self._session = session
        self._token = token

    async def read(self) -> Sequence[Line]:
        """See `EditJournal`."""
        return (
            await self._database.read(lambda connection: read_lines(connection, self._session))
            or ()
        )

    async def append(self, *lines: Line) -> None:
        """See `EditJournal`; refused when this process does not hold the session."""
        if lines:
            await self._run(lines)(lambda connection: self._insert(connection, lines))

    def _run(
        self, lines: Sequence[Line]
    ) -> Callable[[Callable[[sqlite3.Connection], None]], Awaitable[None]]:
        """How these lines are kept: before files are changed, after that, or neither."""
        states = {line.state for line in lines}
        if "applying" in states:
            return self._database.run_before_effect
        if states <= {"proposed", "approved"}:
            return self._database.run
        return self._database.run_after_effect

    def _insert(self, connection: sqlite3.Connection, lines: Sequence[Line]) -> None:
        locks.require_ours(connection, self._session, self._token)
        (first,) = connection.execute(
            "SELECT coalesce(max(place) + 1, 0) FROM edit WHERE session = ?", (self._session,)
        ).fetchone()
        connection.executemany(
            "INSERT INTO edit (session, place, at, txn, revision, state, body)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    self._session,
                    first + i,
                    to_ms(line.at),
                    line.txn,
                    line.revision,
                    line.state,
                    encode(line),
                )
                for i, line in enumerate(lines)
            ),
        )


def read_lines(connection: sqlite3.Connection, session: str) -> tuple[Line, ...]:
    """A session's lines as they are stored.

    Raises:
        StoreFailure: one of them cannot be read; the sentence says which and why.
    """
    rows = connection.execute(
        "SELECT place, at, txn, revision, state, body FROM edit WHERE session = ? ORDER BY place",
        (session,),
    )
    return tuple(_read_row(session, *row) for row in rows)


def _read_row(
    session: str, place: int, at: int, txn: str, revision: int, state: str, body: bytes
) -> Line:
    try:
        if state not in STATES:
            raise Damaged(f"the state {state!r} is unknown here")
        return decode(Line(txn, revision, STATES[state], from_ms(at)), body)
    except Damaged as damage:
        raise StoreFailure(
            f"the edit journal of session {session!r} cannot be read at line {place}: {damage}"
        ) from damage
