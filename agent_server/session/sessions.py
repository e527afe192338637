"""All sessions of this process: made, loaded, forked, listed, closed, deleted; one actor each in one task group."""

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from types import TracebackType
from typing import Self
from weakref import WeakValueDictionary

import anyio
import anyio.abc
import anyio.to_thread

from agent_server.context.prompt import read_agents_file, system_prompt
from agent_server.context.session_context import SessionContext
from agent_server.frozen import frozen
from agent_server.loop.action import Answer
from agent_server.loop.errors import (
    AgentServerError,
    SessionBusy,
    StoreFailure,
    UnknownSession,
)
from agent_server.loop.events import Notice
from agent_server.loop.model import SessionId
from agent_server.loop.proposal import Proposal
from agent_server.session.asking import InTime
from agent_server.session.delegation import delegation_of
from agent_server.session.edits import SessionEdits
from agent_server.session.folders import Folders, usable
from agent_server.session.keeping import Keeping
from agent_server.session.ports import Client, Equipment, Kit, Place
from agent_server.session.receipts import WithReceipts
from agent_server.session.recovery import FORKED, STOPPED, recover
from agent_server.session.session import Profile, Session
from agent_server.session.taking_up import take_up
from agent_server.session.titles import given_title
from agent_server.session.turning import context_of
from agent_server.store.records import SessionRecord
from agent_server.store.sessions import SessionStore

log = logging.getLogger(__name__)

COLLECT_AFTER_S = 30.0
"""After the first session began: what comes with a session should be over, and the person be thinking."""


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


@frozen
class _Opening:
    """What is special about a session that is being opened."""

    warnings: tuple[str, ...] = ()
    aside: str | None = None
    """For the model."""
    read_only: str | None = None
    forked: bool = False


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
        return await self._begin(record, equipment, client, _Opening(folders.dropped))

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
                session.client = client
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
        record, aside = await self._moved(record, folders)
        opening = _Opening((*folders.dropped, *([aside] if aside else [])), aside, forked=True)
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
            self._group.start_soon(_take_up, session, left, answer)

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
            opening = _Opening((*folders.dropped, str(busy)), read_only=str(busy))
            return await self._begin(record, self._equipment(record.cwd), client, opening)
        try:
            record = await self._store.read(session_id)
            record, aside = await self._moved(record, folders)
            opening = _Opening((*folders.dropped, *([aside] if aside else [])), aside)
            return await self._begin(record, self._equipment(folders.cwd), client, opening)
        except BaseException:
            with anyio.CancelScope(shield=True), suppress(AgentServerError):
                self._open.pop(session_id, None)
                await self._store.release(session_id)
            raise

    async def _moved(
        self, record: SessionRecord, folders: Folders
    ) -> tuple[SessionRecord, str | None]:
        """The record with the folders as the client says, and a sentence when the session moved (SE-06)."""
        cwd, roots = folders.cwd, folders.roots
        if record.cwd != cwd:
            moved = f"this session was made in {record.cwd} and now works in {cwd}"
            changed = await self._store.update(record.id, cwd=cwd, roots=roots, system_prompt=None)
            return changed, moved
        if record.roots != roots:
            return await self._store.update(record.id, roots=roots), None
        return record, None

    async def _begin(
        self, record: SessionRecord, equipment: Equipment, client: Client, opening: _Opening
    ) -> Session:
        if self._group is None:
            raise RuntimeError("the sessions are not open")
        sentences = (*opening.warnings, *equipment.notices())
        session = Session(
            record.id,
            record.cwd,
            record.roots,
            profile=Profile(record.mode, record.model, record.title, record.review),
            log=await self._store.open_log(record.id),
            client=client,
            equipment=equipment,
            prepare=lambda: self._equip(session, equipment, record.system_prompt),
            notices=tuple(Notice("warning", sentence) for sentence in sentences),
            read_only=opening.read_only,
        )
        if equipment.receipts and not opening.forked:
            _leave_receipts(session)
        self._open[record.id] = session
        self._keeping.begin(record)
        if record.entries:
            await session.ready()
        if record.entries and opening.read_only is None:
            await _settle(session, FORKED if opening.forked else STOPPED)
        if equipment.receipts and opening.forked:
            # Only now: the calls that were just settled ran in the original, and leave their receipts there.
            _leave_receipts(session)
        if opening.aside is not None:
            await session.say_aside(f"({opening.aside})")
        session.changed = lambda: self._changed(session)
        self._group.start_soon(session.serve)
        self._group.start_soon(_warm, equipment, session.model)
        if not self._collecting:
            self._collecting = True
            self._group.start_soon(_collect, self._store)
        return session

    async def _equip(
        self, session: Session, equipment: Equipment, prompt: str | None
    ) -> tuple[Kit, SessionContext]:
        place = Place(
            session.id,
            session.cwd,
            session.roots,
            lambda: session.client.editor,
            lambda: session.mode,
            diagnostics=lambda: session.client.diagnostics,
            questions=lambda: InTime(session.client.questions, equipment.approval_timeout_s),
            review=lambda: session.review,
        )
        delegation = delegation_of(session, place, self._store, equipment)
        kit = await equipment.kit(replace(place, subagents=delegation))
        if prompt is None:
            agents = await anyio.to_thread.run_sync(read_agents_file, session.cwd)
            prompt = system_prompt(session.cwd, session.roots, agents=agents)
        session.system_prompt = prompt
        session.changed()
        return kit, await anyio.to_thread.run_sync(context_of, prompt, kit.tools, equipment)

    def _changed(self, session: Session) -> None:
        if self._group is None:
            return
        if self._keeping.pending(session):
            self._group.start_soon(self._keeping.save, session)
        if session.tools and not session.busy and session.read_only is None:
            self._group.start_soon(_tidy, session)

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


def _leave_receipts(session: Session) -> None:
    session.log = WithReceipts(session.log, session.id, session.cwd, lambda: session.tools)


async def _settle(session: Session, cause: str) -> None:
    """Bring what a dead process left open to rest: first the edits, by what the files have, then the log."""
    found = await SessionEdits(session).reopen(cause)
    await recover(session.log, session.tools, cause=cause, known=found.results)
    session.notices = (*session.notices, *found.notices)
    session.left_open = found.events


async def _take_up(session: Session, left: Proposal, answer: Answer) -> None:
    try:
        await take_up(session, left, answer)
    except AgentServerError as failure:
        session.emit(Notice("error", "The edit could not be taken up", str(failure)))


async def _tidy(session: Session) -> None:
    """After a turn; what is not kept now is found when the session is loaded."""
    try:
        await SessionEdits(session).tidy()
    except AgentServerError as failure:
        log.warning("session %s: its edits were not tidied: %s", session.id, failure)


async def _warm(equipment: Equipment, model: str) -> None:
    """After the session was handed out: what it needs may take seconds to be ready, a person takes longer to type."""
    await equipment.warm(model)


async def _collect(store: SessionStore) -> None:
    """Once in the life of a process that has sessions; how often it is really done, the store knows."""
    await anyio.sleep(COLLECT_AFTER_S)
    try:
        await store.collect()
    except AgentServerError as failure:
        log.warning("texts that nobody needs were not removed: %s", failure)


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
