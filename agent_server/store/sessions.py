"""All sessions of one person: making, finding, holding, opening and deleting them.

One `SessionStore` per process. Nothing touches the disk before the first session is made or opened. What a session
does is `session/`'s business; here it is a row, a log, receipts, grants and a lock.
"""

import contextlib
import secrets
import sqlite3
from collections.abc import Callable, Mapping, Sequence, Set
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TypeVar, Unpack

import anyio.to_thread

from agent_server.loop.errors import StoreFailure, UnknownSession
from agent_server.loop.model import Mode, SessionId
from agent_server.store import garbage, grants, listing, locks, receipts
from agent_server.store.blobs import BlobStore
from agent_server.store.database import Database, Pulse
from agent_server.store.edits import StoredJournal
from agent_server.store.forks import fork
from agent_server.store.grants import GrantScope, GrantVerdict, StoredGrant
from agent_server.store.ids import new_session_id
from agent_server.store.log import SessionLog, read_entries
from agent_server.store.receipts import Receipt
from agent_server.store.records import COLUMNS, Changes, SessionRecord, from_row, to_columns
from agent_server.store.times import Clock, from_ms, now_ms

T = TypeVar("T")


class SessionStore:
    """Every method raises `StoreFailure` when the file cannot be used; then nothing of that call was kept."""

    def __init__(
        self, path: Path, *, blobs: BlobStore | None = None, clock: Clock = now_ms
    ) -> None:
        """`path` is the database file; it need not exist. `blobs` are the texts that its journals refer to."""
        self._blobs = blobs
        self._token = secrets.token_hex(8)
        self._clock = clock
        self._database = Database(path, pulse=Pulse(locks.BEAT_S, self._beat))

    @property
    def path(self) -> Path:
        """The database file."""
        return self._database.path

    async def aclose(self) -> None:
        """Finish what is queued, give up every session, close the file."""
        try:
            if self._database.is_open:
                await self._database.run(lambda c: locks.release_all(c, self._token))
        finally:
            await self._database.aclose()

    async def create(
        self,
        cwd: str,
        *,
        roots: tuple[str, ...] = (),
        title: str | None = None,
        model: str | None = None,
        mode: Mode = "ask",
        system_prompt: str | None = None,
        parent: SessionId | None = None,
        delegated_by: str | None = None,
    ) -> SessionRecord:
        """Make a session with an empty log; this process holds it.

        One `delegated_by` a call is never listed, and is unknown to `acquire`, `fork`, `update` and `delete`: it is
        held once, here, and goes with its parent.
        """
        at = self._clock()
        record = SessionRecord(
            id=new_session_id(at),
            cwd=cwd,
            roots=roots,
            title=title,
            model=model,
            mode=mode,
            created=from_ms(at),
            updated=from_ms(at),
            system_prompt=system_prompt,
            parent=parent,
            delegated_by=delegated_by,
        )

        def write(connection: sqlite3.Connection) -> None:
            _insert(connection, record, at)
            locks.acquire(connection, record.id, self._token, at)

        await self._database.run(write)
        return record

    async def fork(self, session: SessionId) -> SessionRecord:
        """A new session that begins with everything the log of `session` holds now; this process holds the new one.

        The copy is whole or absent, and needs no lock: another process may be writing the original. Standing answers
        and the journal of edits stay with the original.

        Raises:
            UnknownSession: no session has that id.
        """
        at = self._clock()
        made = new_session_id(at)

        def write(connection: sqlite3.Connection) -> SessionRecord:
            _named(session, _select(connection, session))
            fork(connection, session, made, at)
            locks.acquire(connection, made, self._token, at)
            return _found(made, _select(connection, made))

        return await self._run(session, write)

    async def read(self, session: SessionId) -> SessionRecord:
        """What is known of a session without its log.

        Raises:
            UnknownSession: no session has that id.
        """
        return _found(session, await self._read(session, lambda c: _select(c, session)))

    async def update(self, session: SessionId, **changes: Unpack[Changes]) -> SessionRecord:
        """Change the given fields. The time of the last message stays.

        Raises:
            UnknownSession: no session has that id.
            SessionBusy: another process holds it.
        """
        at = self._clock()
        columns = to_columns(changes)
        assignments = ", ".join(f"{name} = ?" for name in columns)

        def write(connection: sqlite3.Connection) -> SessionRecord:
            _named(session, _select(connection, session))
            locks.refuse_others(connection, session, self._token, at)
            if columns:
                connection.execute(
                    f"UPDATE session SET {assignments} WHERE id = ?",  # noqa: S608 -- names of `Changes`
                    (*columns.values(), session),
                )
            return _found(session, _select(connection, session))

        return await self._run(session, write)

    async def list(
        self, cwd: str | None = None, cursor: str | None = None, limit: int = 50
    ) -> tuple[Sequence[SessionRecord], str | None]:
        """A page of sessions, the one spoken in last first, and the cursor of the next page (None at the end).

        A session that cannot be loaded is in it, `damaged`. `cwd` keeps only the sessions of exactly that folder.

        Raises:
            ClientMistake: the cursor is none of ours.
        """
        size = max(1, min(limit, listing.PAGE_MAX))
        found = await self._database.read(
            lambda connection: listing.page(connection, cwd=cwd, cursor=cursor, limit=size)
        )
        return ((), None) if found is None else found

    async def delete(self, session: SessionId) -> None:
        """Forget a session: its log, receipts, grants and texts, and its sub-agents' too.

        Forks of it stay, without a parent, and texts that another session refers to.

        Raises:
            UnknownSession: no session has that id.
            SessionBusy: another process holds it.
        """
        at = self._clock()

        def write(connection: sqlite3.Connection) -> Mapping[str, int]:
            _named(session, _select(connection, session))
            locks.refuse_others(connection, session, self._token, at)
            texts = garbage.only_of(connection, session)
            connection.execute(garbage.DELETE, (session,))
            grants.revoke_all(connection, session)
            return texts

        texts = await self._run(session, write)
        if self._blobs is not None and texts:
            # A text that is younger than our last word of it was kept for somebody who is about to name it.
            await anyio.to_thread.run_sync(_drop, self._blobs, texts)

    async def collect(self) -> int:
        """Remove texts that no session refers to and nobody kept for a day; at most once a day. How many went."""
        blobs, now = self._blobs, self._clock()
        if blobs is None or not await anyio.to_thread.run_sync(
            partial(blobs.take_turn, now, every_ms=garbage.DAY_MS)
        ):
            return 0
        named = await self._database.read(garbage.named)
        if named is None:
            return 0
        return await anyio.to_thread.run_sync(_collect, blobs, named, now - garbage.DAY_MS)

    async def acquire(self, session: SessionId) -> None:
        """Hold a session for writing until `release` or `aclose`; holding it twice is fine.

        Raises:
            UnknownSession: no session has that id.
            SessionBusy: a living process holds it; the sentence names its pid.
        """
        at = self._clock()

        def write(connection: sqlite3.Connection) -> None:
            _named(session, _select(connection, session))
            locks.acquire(connection, session, self._token, at)

        await self._run(session, write)

    async def release(self, session: SessionId) -> None:
        """Let others hold the session."""
        await self._run(session, lambda connection: locks.release(connection, session, self._token))

    async def open_log(self, session: SessionId) -> SessionLog:
        """The session's log, read whole. Reading needs no lock; `append` needs `acquire` or `create` before it.

        Raises:
            UnknownSession: no session has that id.
            StoreFailure: an entry is damaged, or a newer program wrote it; the session is then listed as damaged.
        """
        record = await self.read(session)
        try:
            entries = await self._read(
                session, lambda connection: read_entries(connection, session)
            )
        except StoreFailure as failure:
            await self._remember_damage(record, str(failure))
            raise
        if record.damaged is not None:
            await self._remember_damage(record, None)
        return SessionLog(
            self._database, session, entries or [], token=self._token, clock=self._clock
        )

    def journal(self, session: SessionId) -> StoredJournal:
        """The journal of the session's edits. Reading needs no lock; `append` needs `acquire` or `create` before it."""
        return StoredJournal(self._database, session, token=self._token)

    async def receipts(self, session: SessionId) -> Sequence[Receipt]:
        """Which call reached which phase and whether it touched the world, in call order."""
        return (
            await self._read(session, lambda connection: receipts.read(connection, session)) or ()
        )

    async def grants(self, session: SessionId, workspace: str) -> Sequence[StoredGrant]:
        """The standing answers of a session and of its workspace, oldest first."""
        return (
            await self._read(
                session, lambda connection: grants.read(connection, session, workspace)
            )
            or ()
        )

    async def add_grant(
        self, scope: GrantScope, owner: str, key: str, verdict: GrantVerdict = "allow"
    ) -> None:
        """Keep a standing answer. `owner`: the session's id or the workspace's path; the newest of a key counts."""
        grant = StoredGrant(scope, owner, key, verdict, from_ms(self._clock()))
        await self._database.run(lambda connection: grants.add(connection, grant))

    async def revoke_grant(self, scope: GrantScope, owner: str, key: str) -> None:
        """Forget a standing answer."""
        await self._database.run(lambda connection: grants.revoke(connection, scope, owner, key))

    async def _run(self, session: SessionId, job: Callable[[sqlite3.Connection], T]) -> T:
        _require_possible(session)
        return await self._database.run(job)

    async def _read(self, session: SessionId, job: Callable[[sqlite3.Connection], T]) -> T | None:
        _require_possible(session)
        return await self._database.read(job)

    async def _remember_damage(self, record: SessionRecord, reason: str | None) -> None:
        """As well as can be: on a disk that cannot be written the reading is what counts."""
        with contextlib.suppress(StoreFailure):
            await self._database.run(
                lambda connection: connection.execute(
                    "UPDATE session SET damage = ? WHERE id = ?", (reason, record.id)
                )
            )

    def _beat(self, connection: sqlite3.Connection) -> None:
        locks.beat(connection, self._token, self._clock())


def _drop(blobs: BlobStore, texts: Mapping[str, int]) -> int:
    return sum(blobs.drop(name, until_ms=at) for name, at in texts.items())


def _collect(blobs: BlobStore, named: Set[str], until_ms: int) -> int:
    unnamed = islice(blobs.names() - named, garbage.MOST)
    torn = blobs.clear_torn(until_ms=until_ms)
    return torn + sum(blobs.drop(name, until_ms=until_ms) for name in unnamed)


def _insert(connection: sqlite3.Connection, record: SessionRecord, at: int) -> None:
    if record.parent is not None and _select(connection, record.parent) is None:
        raise _unknown(record.parent)
    columns = to_columns(
        {
            "cwd": record.cwd,
            "roots": record.roots,
            "title": record.title,
            "model": record.model,
            "mode": record.mode,
            "system_prompt": record.system_prompt,
        }
    )
    columns |= {"id": record.id, "parent": record.parent, "created": at, "updated": at}
    columns |= {"delegated_by": record.delegated_by}
    connection.execute(
        f"INSERT INTO session ({', '.join(columns)})"  # noqa: S608 -- names of columns
        f" VALUES ({', '.join('?' for _ in columns)})",
        tuple(columns.values()),
    )


def _select(connection: sqlite3.Connection, session: str) -> SessionRecord | None:
    row = connection.execute(
        f"SELECT {', '.join(COLUMNS)} FROM session WHERE id = ?",  # noqa: S608 -- names of columns
        (session,),
    ).fetchone()
    return None if row is None else from_row(row)


def _found(session: SessionId, record: SessionRecord | None) -> SessionRecord:
    if record is None:
        raise _unknown(session)
    return record


def _named(session: SessionId, record: SessionRecord | None) -> None:
    """Pass when it is a session that a person may name: a sub-agent's is its parent's business, and in no list."""
    if _found(session, record).delegated_by is not None:
        raise _unknown(session)


def _require_possible(session: SessionId) -> None:
    """An id comes from a client and may be anything; SQLite takes no text with lone surrogates."""
    if not session.isascii():
        raise _unknown(session)


def _unknown(session: str) -> UnknownSession:
    return UnknownSession(f"there is no session {session!r}")
