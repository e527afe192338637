"""All sessions of this process: made, loaded, forked, listed, closed, deleted; one actor each in one task group."""

import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import UTC, datetime
from types import TracebackType
from typing import Self
from weakref import WeakValueDictionary

import anyio
import anyio.abc
import anyio.to_thread

from agent_server.frozen import frozen
from agent_server.loop.action import Answer
from agent_server.loop.errors import (
    AgentServerError,
    SessionBusy,
    StoreFailure,
    UnknownSession,
)
from agent_server.loop.model import SessionId
from agent_server.loop.proposal import PartDecision, Proposal
from agent_server.session.chores import collected, taken_up, tidied
from agent_server.session.edits import SessionEdits
from agent_server.session.folders import Folders, usable
from agent_server.session.keeping import Keeping
from agent_server.session.opening import Opening, moved, opened
from agent_server.session.ports import Client, Equipment
from agent_server.session.session import Session
from agent_server.session.titles import given_title
from agent_server.store.records import SessionRecord
from agent_server.store.sessions import SessionStore

log = logging.getLogger(__name__)


@frozen
class SessionSummary:
    """A session in a list."""

    id: SessionId
    cwd: str
    roots: tuple[str, ...]
    title: str | None
    updated: str
    """Of the last message; ISO 8601 in UTC."""
    damaged: str | None = None
    """Why it cannot be loaded."""


class Sessions:
    """Use as an async context: leaving it ends every turn, settles it and releases the sessions."""

    def __init__(self, store: SessionStore, equipment: Callable[[str], Equipment]) -> None:
        """`equipment` gives what the sessions of a working directory work with. Touches nothing yet."""
        self._store = store
        self._equipment = equipment
        self._open: dict[SessionId, Session] = {}
        self._keeping = Keeping(store)
        self._doors: WeakValueDictionary[SessionId, _Door] = WeakValueDictionary()
        self._stack = AsyncExitStack()
        self._group: anyio.abc.TaskGroup | None = None
        self._collecting = False

    async def __aenter__(self) -> Self:
        self._stack.push_async_callback(self._leave_store)  # last, however we leave
        self._group = await self._stack.enter_async_context(anyio.create_task_group())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        with anyio.CancelScope(shield=True):
            for session in list(self._open.values()):
                await session.close()
            if self._group is not None:
                for session in self._open.values():
                    await self._keeping.save(session)
                self._group.cancel_scope.cancel()
        return await self._stack.__aexit__(kind, error, trace)

    # ---- what clients ask for -----------------------------------------------------------------------------

    async def new(self, *, cwd: str, roots: tuple[str, ...] = (), client: Client) -> Session:
        """A fresh session in `cwd`.

        Raises:
            ClientMistake: `cwd` is no folder.
            StoreFailure: it could not be kept.
        """
        folders = await anyio.to_thread.run_sync(usable, cwd, roots)
        equipment = await anyio.to_thread.run_sync(self._equipment, cwd)
        record = await self._store.create(cwd, roots=folders.roots, mode=equipment.mode)
        return await self._begin(record, equipment, client, Opening(folders.dropped))

    async def load(
        self, session_id: SessionId, *, cwd: str, roots: tuple[str, ...] = (), client: Client
    ) -> Session:
        """An earlier session, at rest. One that is open here already changes hands to `client`.

        One that a living process holds can only be read (`Session.read_only`), as it is now; loading it once more
        tries again.

        Raises:
            UnknownSession: no session has that id.
            ClientMistake: `cwd` is no folder.
            StoreFailure: it is damaged.
        """
        folders = await anyio.to_thread.run_sync(usable, cwd, roots)
        async with self._alone(session_id):
            if (session := self._open.get(session_id)) is not None and session.read_only is None:
                session.hand_to(client)
                return session
            if session is not None:
                await self._shut(session)
            return await self._load(session_id, folders, client)

    async def fork(
        self, session_id: SessionId, *, cwd: str, roots: tuple[str, ...] = (), client: Client
    ) -> Session:
        """A new session that knows everything `session_id` holds now; the two go on apart.

        Calls that run there are settled here as interrupted: how they end, this session will not see.

        Raises:
            UnknownSession: no session has that id.
            ClientMistake: `cwd` is no folder.
            StoreFailure: it is damaged, or could not be kept.
        """
        folders = await anyio.to_thread.run_sync(usable, cwd, roots)
        await self._store.open_log(session_id)  # refuses a damaged one
        record = await self._store.fork(session_id)
        title = None if record.title is None else f"{record.title} (fork)"
        record = await self._store.update(record.id, title=title)
        record, aside = await moved(record, self._store, folders)
        opening = Opening((*folders.dropped, *([aside] if aside else [])), aside, forked=True)
        return await self._begin(
            record, await anyio.to_thread.run_sync(self._equipment, cwd), client, opening
        )

    async def list(
        self, *, cwd: str | None = None, cursor: str | None = None
    ) -> tuple[tuple[SessionSummary, ...], str | None]:
        """A page of sessions, the one spoken in last first; damaged ones say so."""
        records, more = await self._store.list(cwd, cursor)
        return tuple(map(_summary, records)), more

    def get(self, session_id: SessionId) -> Session:
        """An open session.

        Raises:
            UnknownSession: it is not open here.
        """
        session = self._open.get(session_id)
        if session is None:
            raise UnknownSession(f"there is no open session {session_id!r}")
        return session

    @property
    def opened(self) -> tuple[Session, ...]:
        """Those that are open here."""
        return tuple(self._open.values())

    async def close(self, session_id: SessionId) -> None:
        """End its turn and let others have it.

        Raises:
            UnknownSession: it is not open here.
        """
        async with self._alone(session_id):
            await self._shut(self.get(session_id))

    async def delete(self, session_id: SessionId) -> None:
        """Forget a session, open or not; one that nobody knows is gone already.

        Raises:
            SessionBusy: another process holds it.
            StoreFailure: it could not be deleted.
        """
        async with self._alone(session_id):
            if (session := self._open.get(session_id)) is not None:
                await self._shut(session)
            with suppress(UnknownSession):
                await self._store.delete(session_id)

    async def set_title(self, session_id: SessionId, title: str) -> str:
        """Name a session, open or not; the name as it was kept.

        Raises:
            UnknownSession: no session has that id.
            SessionBusy: another process holds it.
            ClientMistake: that is no title.
            StoreFailure: it could not be kept.
        """
        async with self._alone(session_id):
            if (session := self._open.get(session_id)) is not None:
                title = session.set_title(title)
            title = given_title(title)
            await self._store.update(session_id, title=title)
            return title

    def take_up(self, session: Session, left: Proposal, answer: Answer) -> None:
        """Beside everything else: do what the person decided about an edit that a dead process had left open."""
        if self._group is not None:
            self._group.start_soon(taken_up, session, left, answer)

    async def keep_decisions(
        self, session_id: SessionId, txn: str, decisions: Sequence[PartDecision]
    ) -> None:
        """Write down what the user decided so far of an edit; where that fails, it counts all the same."""
        session = self._open.get(session_id)
        if session is None:
            return
        try:
            await SessionEdits(session).keep_decisions(txn, decisions)
        except StoreFailure as failure:
            log.warning("edit %s: what was decided of it was not kept: %s", txn, failure)

    # ---- keeping it together ---------------------------------------------------------------------------------

    @asynccontextmanager
    async def _alone(self, session_id: SessionId) -> AsyncGenerator[None]:
        """Nobody else opens, closes or deletes this session meanwhile: two actors on one log would mix their turns."""
        door = self._doors.setdefault(session_id, _Door())
        async with door.lock:
            yield

    async def _shut(self, session: Session) -> None:
        await session.close()
        await self._keeping.save(session)
        self._keeping.end(session.id)
        del self._open[session.id]
        if session.read_only is None:
            await self._store.release(session.id)

    async def _load(
        self,
        session_id: SessionId,
        folders: Folders,
        client: Client,
    ) -> Session:
        try:
            await self._store.acquire(session_id)
        except SessionBusy as busy:
            record = await self._store.read(session_id)
            opening = Opening((*folders.dropped, str(busy)), read_only=str(busy))
            return await self._begin(record, self._equipment(record.cwd), client, opening)
        try:
            record = await self._store.read(session_id)
            record, aside = await moved(record, self._store, folders)
            opening = Opening((*folders.dropped, *([aside] if aside else [])), aside)
            return await self._begin(record, self._equipment(folders.cwd), client, opening)
        except BaseException:
            with anyio.CancelScope(shield=True), suppress(AgentServerError):
                self._open.pop(session_id, None)
                await self._store.release(session_id)
            raise

    async def _begin(
        self, record: SessionRecord, equipment: Equipment, client: Client, opening: Opening
    ) -> Session:
        if self._group is None:
            raise RuntimeError("the sessions are not open")
        session = await opened(record, self._store, equipment, client, opening)
        self._open[record.id] = session
        self._keeping.begin(record)
        session.changed = lambda: self._changed(session)
        self._group.start_soon(session.serve)
        self._group.start_soon(equipment.warm, session.model)
        if not self._collecting:
            self._collecting = True
            self._group.start_soon(collected, self._store)
        return session

    def _changed(self, session: Session) -> None:
        if self._group is None:
            return
        if self._keeping.pending(session):
            self._group.start_soon(self._keeping.save, session)
        if session.tools and not session.busy and session.read_only is None:
            self._group.start_soon(tidied, session)

    async def _leave_store(self) -> None:
        """A file that cannot be written any more keeps our locks; they are lost with this process."""
        with anyio.CancelScope(shield=True):
            try:
                await self._store.aclose()
            except StoreFailure as failure:
                log.warning("the sessions were not given up: %s", failure)


class _Door:
    """The way into one session; gone when nobody stands in it."""

    def __init__(self) -> None:
        self.lock = anyio.Lock()


def _summary(record: SessionRecord) -> SessionSummary:
    updated: datetime = record.updated.astimezone(UTC)
    return SessionSummary(
        record.id,
        record.cwd,
        record.roots,
        record.title,
        updated.isoformat(timespec="seconds"),
        record.damaged,
    )
