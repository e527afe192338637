"""All sessions of one person: making, finding, holding, opening and deleting them.

One `SessionStore` per process. Nothing touches the disk before the first session is made or opened. What a session
does is `session/`'s business; here it is a row, a log, receipts, grants and a lock.
"""

import contextlib
import secrets
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar, Unpack

import anyio.to_thread

from agent_server.loop.errors import StoreFailure
from agent_server.loop.model import Mode, SessionId
from agent_server.store import garbage, grants, listing, locks, receipts, rows
from agent_server.store.blobs import BlobStore
from agent_server.store.connection import Connect, open_for_writing
from agent_server.store.database import Database, Pulse
from agent_server.store.edits import StoredJournal
from agent_server.store.forks import fork
from agent_server.store.grants import GrantScope, GrantVerdict, StoredGrant
from agent_server.store.ids import new_session_id
from agent_server.store.log import SessionLog, read_entries
from agent_server.store.receipts import Receipt
from agent_server.store.records import Changes, SessionRecord
from agent_server.store.times import Clock, from_ms, now_ms

T = TypeVar("T")


class SessionStore:
    """Every method raises `StoreFailure` when the file cannot be used; then nothing of that call was kept."""

    def __init__(
        self,
        path: Path,
        *,
        blobs: BlobStore | None = None,
        clock: Clock = now_ms,
        connect: Connect = open_for_writing,
    ) -> None:
        """`path` is the database file; it need not exist. `blobs` are the texts that its journals refer to.

        `connect` opens the file for the writer; what it leaves out of durability, nobody else makes good.
        """
        self._blobs = blobs
        self._token = secrets.token_hex(8)
        self._clock = clock
        self._database = Database(path, pulse=Pulse(locks.BEAT_S, self._beat), connect=connect)

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
            rows.insert(connection, record, at)
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
            rows.require_named(connection, session)
            fork(connection, session, made, at)
            locks.acquire(connection, made, self._token, at)
            return rows.find(connection, made)

        return await self._run(session, write)

    async def read(self, session: SessionId) -> SessionRecord:
        """What is known of a session without its log.

        Raises:
            UnknownSession: no session has that id.
        """
        found = await self._read(session, lambda connection: rows.find(connection, session))
        if found is None:  # there is no file yet
            raise rows.unknown(session)
        return found

    async def update(self, session: SessionId, **changes: Unpack[Changes]) -> SessionRecord:
        """Change the given fields. The time of the last message stays.

        Raises:
            UnknownSession: no session has that id.
            SessionBusy: another process holds it.
        """
        at = self._clock()

        def write(connection: sqlite3.Connection) -> SessionRecord:
            rows.require_named(connection, session)
            locks.refuse_others(connection, session, self._token, at)
            return rows.update(connection, session, changes)

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
            rows.require_named(connection, session)
            locks.refuse_others(connection, session, self._token, at)
            return rows.delete(connection, session)

        texts = await self._run(session, write)
        if self._blobs is not None and texts:
            # A text that is younger than our last word of it was kept for somebody who is about to name it.
            await anyio.to_thread.run_sync(garbage.drop, self._blobs, texts)

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
        return await anyio.to_thread.run_sync(garbage.collect, blobs, named, now - garbage.DAY_MS)

    async def acquire(self, session: SessionId) -> None:
        """Hold a session for writing until `release` or `aclose`; holding it twice is fine.

        Raises:
            UnknownSession: no session has that id.
            SessionBusy: a living process holds it; the sentence names its pid.
        """
        at = self._clock()

        def write(connection: sqlite3.Connection) -> None:
            rows.require_named(connection, session)
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
        rows.require_possible(session)
        return await self._database.run(job)

    async def _read(self, session: SessionId, job: Callable[[sqlite3.Connection], T]) -> T | None:
        rows.require_possible(session)
        return await self._database.read(job)

    async def _remember_damage(self, record: SessionRecord, reason: str | None) -> None:
        """As well as can be: on a disk that cannot be written the reading is what counts."""
        with contextlib.suppress(StoreFailure):
            await self._database.run(lambda c: rows.remember_damage(c, record.id, reason))

    def _beat(self, connection: sqlite3.Connection) -> None:
        locks.beat(connection, self._token, self._clock())
