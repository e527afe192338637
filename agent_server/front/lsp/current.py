"""Which session a command means when it names none: each workspace folder has a current one."""

from collections.abc import Callable
from pathlib import Path, PurePath

import anyio

from agent_server.front.front import Front
from agent_server.front.lsp.documents import Documents
from agent_server.front.peer import Seat
from agent_server.front.uris import path_of
from agent_server.loop.errors import ClientMistake, UnknownSession
from agent_server.loop.model import SessionId
from agent_server.session.session import Session
from agent_server.session.sessions import SessionSummary


class Current:
    """The sessions that commands use. One per connection."""

    def __init__(self, front: Front, documents: Callable[[], Documents]) -> None:
        """`documents` has the workspace folders as they are now."""
        self._front = front
        self._documents = documents
        self._sessions: dict[str, SessionId] = {}
        """By folder."""
        self._root: str | None = None
        """Where the last command worked."""
        self._choosing = anyio.Lock()
        """Two commands at once must not make a session each."""

    async def session(self, named: str | None, uri: str | None = None) -> Session:
        """The one that is named, else that of the folder `uri` is in, else of the folder last used; new when none is.

        Raises:
            UnknownSession: the one that is named is not open.
        """
        async with self._choosing:
            if named is not None:
                return self._keep(self._front.sessions.get(SessionId(named)))
            root = self.root(uri)
            known = self._known(root)
            return await self._begin(root) if known is None else self._keep(known)

    async def begin(self, cwd: str) -> Session:
        """A new session in a folder, which is the current one there from now on."""
        async with self._choosing:
            return await self._begin(cwd)

    async def resume(self, named: str | None) -> Session:
        """A stored one, by default the last of the current folder that is not open; the current one from now on.

        Raises:
            UnknownSession, ClientMistake: there is none.
        """
        async with self._choosing:
            found = await (self._last_stored() if named is None else self._stored(named))
            seat = self._front.peer.seat()
            seat.session = found.id
            session = await self._front.sessions.load(
                found.id, cwd=found.cwd, roots=self._others(found.cwd), client=seat
            )
            self._greet(session, seat)
            return self._keep(session)

    def running(self, named: str | None) -> Session | None:
        """The one that is named, else the current one that works; None when there is nothing to stop."""
        if named is not None:
            return self._front.sessions.get(SessionId(named))
        known = self._known(self.root())
        if known is not None and known.busy:
            return known
        return next((s for s in reversed(self._front.sessions.opened) if s.busy), known)

    def root(self, uri: str | None = None) -> str:
        """The workspace folder that has `uri` (the innermost), else the one last used, else the first."""
        folders = self.folders
        path = None if uri is None else path_of(uri)
        if path is not None:
            around = [one for one in folders if _contains(one, path)]
            if around:
                return max(around, key=len)
        if self._root in folders:
            return self._root
        return folders[0] if folders else str(Path.cwd())

    @property
    def folders(self) -> tuple[str, ...]:
        """The workspace's folders, in the client's order."""
        documents = self._documents()
        uris = [*documents.folders] or ([documents.root_uri] if documents.root_uri else [])
        return tuple(path for uri in uris if (path := path_of(uri)) is not None)

    # ---- inside ------------------------------------------------------------------------------------

    def _known(self, root: str) -> Session | None:
        """The folder's current session, else one that the client opened there itself."""
        opened = {session.id: session for session in self._front.sessions.opened}
        if (current := opened.get(self._sessions.get(root, SessionId("")))) is not None:
            return current
        return next((s for s in reversed(opened.values()) if s.cwd == root), None)

    def _keep(self, session: Session) -> Session:
        self._sessions[session.cwd] = session.id
        self._root = session.cwd
        return session

    async def _begin(self, cwd: str) -> Session:
        seat = self._front.peer.seat()
        session = await self._front.sessions.new(cwd=cwd, roots=self._others(cwd), client=seat)
        seat.session = session.id
        self._greet(session, seat)
        return self._keep(session)

    def _greet(self, session: Session, seat: Seat) -> None:
        peer = self._front.peer
        begun = peer.view(session.id).begin(
            session.notices, per_second=session.profile.updates_per_second
        )
        for method, params in begun:
            peer.connection.notify(method, params)
        if not peer.capabilities.updates:
            for notice in session.notices:
                seat.emit(session.id, notice)

    def _others(self, cwd: str) -> tuple[str, ...]:
        """The other folders of the workspace, for a session in one of them."""
        folders = self.folders
        return tuple(one for one in folders if one != cwd) if cwd in folders else ()

    async def _last_stored(self) -> SessionSummary:
        root = self.root()
        opened = {session.id for session in self._front.sessions.opened}
        page, _ = await self._front.sessions.list(cwd=root)
        for one in page:
            if one.id not in opened and one.damaged is None:
                return one
        raise ClientMistake(f"there is no earlier session in {root}")

    async def _stored(self, named: str) -> SessionSummary:
        cursor: str | None = None
        while True:
            page, cursor = await self._front.sessions.list(cursor=cursor)
            for one in page:
                if one.id == named:
                    return one
            if not cursor:
                raise UnknownSession(f"there is no session {named!r}")


def _contains(folder: str, path: str) -> bool:
    return PurePath(path).is_relative_to(folder)
