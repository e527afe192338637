"""All sessions of this process: made, loaded, listed, closed; one actor each in one task group."""

import logging
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

import anyio
import anyio.abc
import anyio.to_thread

from agent_server.context.prompt import read_agents_file, system_prompt
from agent_server.context.session_context import SessionContext
from agent_server.loop.errors import AgentServerError, ClientMistake, StoreFailure, UnknownSession
from agent_server.loop.events import Notice
from agent_server.loop.model import Mode, SessionId
from agent_server.session.ports import Client, Equipment, Kit, Place
from agent_server.session.recovery import recover
from agent_server.session.session import Profile, Session
from agent_server.store.records import SessionRecord
from agent_server.store.sessions import SessionStore

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
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


@dataclass(slots=True)
class _Kept:
    """What the store knows of a session, so that only changes are written."""

    mode: Mode
    model: str | None
    title: str | None
    prompt: str | None


class Sessions:
    """Use as an async context: leaving it ends every turn, settles it and releases the sessions."""

    def __init__(self, store: SessionStore, equipment: Callable[[str], Equipment]) -> None:
        """`equipment` gives what the sessions of a working directory work with. Touches nothing yet."""
        self._store = store
        self._equipment = equipment
        self._open: dict[SessionId, Session] = {}
        self._kept: dict[SessionId, _Kept] = {}
        self._stack = AsyncExitStack()
        self._group: anyio.abc.TaskGroup | None = None

    async def __aenter__(self) -> Self:
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
                await self._flush()
                self._group.cancel_scope.cancel()
        suppressed = await self._stack.__aexit__(kind, error, trace)
        with anyio.CancelScope(shield=True):
            await self._leave_store()
        return suppressed

    # ---- what clients ask for -----------------------------------------------------------------------------

    async def new(self, *, cwd: str, roots: tuple[str, ...] = (), client: Client) -> Session:
        """A fresh session in `cwd`.

        Raises:
            ClientMistake: `cwd` is no folder.
            StoreFailure: it could not be kept.
        """
        roots, dropped = _usable(cwd, roots)
        equipment = self._equipment(cwd)
        record = await self._store.create(cwd, roots=roots, mode=equipment.mode)
        return await self._begin(record, equipment, client, dropped)

    async def load(
        self, session_id: SessionId, *, cwd: str, roots: tuple[str, ...] = (), client: Client
    ) -> Session:
        """An earlier session, at rest. One that is open here already changes hands to `client`.

        Raises:
            UnknownSession: no session has that id.
            SessionBusy: another process holds it.
            ClientMistake: `cwd` is no folder.
            StoreFailure: it is damaged.
        """
        roots, dropped = _usable(cwd, roots)
        if (session := self._open.get(session_id)) is not None:
            session.client = client
            return session
        await self._store.acquire(session_id)
        record = await self._store.read(session_id)
        if record.cwd != cwd:
            dropped = (*dropped, f"this session was made in {record.cwd} and now works in {cwd}")
            record = await self._store.update(session_id, cwd=cwd, roots=roots, system_prompt=None)
        elif record.roots != roots:
            record = await self._store.update(session_id, roots=roots)
        return await self._begin(record, self._equipment(cwd), client, dropped)

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

    async def close(self, session_id: SessionId) -> None:
        """End its turn and let others have it."""
        session = self.get(session_id)
        await session.close()
        await self._save(session)
        del self._open[session_id], self._kept[session_id]
        await self._store.release(session_id)

    # ---- keeping it together ---------------------------------------------------------------------------------

    async def _begin(
        self, record: SessionRecord, equipment: Equipment, client: Client, warnings: tuple[str, ...]
    ) -> Session:
        if self._group is None:
            raise RuntimeError("the sessions are not open")
        sentences = (*warnings, *equipment.notices())
        session = Session(
            record.id,
            record.cwd,
            record.roots,
            profile=Profile(record.mode, record.model, record.title),
            log=await self._store.open_log(record.id),
            client=client,
            equipment=equipment,
            prepare=lambda: self._equip(session, equipment, record.system_prompt),
            notices=tuple(Notice("warning", sentence) for sentence in sentences),
        )
        self._open[record.id] = session
        self._kept[record.id] = _Kept(record.mode, record.model, record.title, record.system_prompt)
        if record.entries:
            await session.ready()
            await recover(session.log, session.tools)
        session.changed = lambda: self._changed(session)
        self._group.start_soon(session.serve)
        self._group.start_soon(_warm, equipment, session.model)
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
        )
        kit = await equipment.kit(place)
        if prompt is None:
            agents = await anyio.to_thread.run_sync(read_agents_file, session.cwd)
            prompt = system_prompt(session.cwd, session.roots, agents=agents)
        session.system_prompt = prompt
        session.changed()
        return kit, SessionContext(prompt, tuple(tool.spec for tool in kit.tools.values()))

    def _changed(self, session: Session) -> None:
        if self._group is not None and self._pending(session):
            self._group.start_soon(self._save, session)

    def _pending(self, session: Session) -> bool:
        now = _Kept(session.mode, session.chosen_model, session.title, session.system_prompt)
        return self._kept.get(session.id) not in (now, None)

    async def _save(self, session: Session) -> None:
        """Keep the session's own facts; a store that fails here costs a title or a mode, never a conversation."""
        if not self._pending(session):
            return
        now = _Kept(session.mode, session.chosen_model, session.title, session.system_prompt)
        before, self._kept[session.id] = self._kept[session.id], now
        try:
            await self._store.update(
                session.id,
                mode=now.mode,
                model=now.model,
                title=now.title,
                system_prompt=now.prompt,
            )
        except AgentServerError as failure:
            self._kept[session.id] = before
            log.warning("session %s: its settings were not kept: %s", session.id, failure)

    async def _leave_store(self) -> None:
        """A file that cannot be written any more keeps our locks; they are lost with this process."""
        try:
            await self._store.aclose()
        except StoreFailure as failure:
            log.warning("the sessions were not given up: %s", failure)

    async def _flush(self) -> None:
        for session in self._open.values():
            await self._save(session)


async def _warm(equipment: Equipment, model: str) -> None:
    """After the session was handed out: its model may take seconds to be ready, a person takes longer to type."""
    equipment.warm(model)


def _usable(cwd: str, roots: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The further roots that exist and are not `cwd`, and a sentence for each that was dropped."""
    if not Path(cwd).is_dir():
        raise ClientMistake(f"the working directory {cwd!r} does not exist or is no folder")
    kept: list[str] = []
    dropped: list[str] = []
    for root in dict.fromkeys(roots):
        if root == cwd:
            continue
        if Path(root).is_dir():
            kept.append(root)
        else:
            dropped.append(f"the additional folder {root!r} does not exist and was left out")
    return tuple(kept), tuple(dropped)


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
