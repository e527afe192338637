"""`workspace/executeCommand`: what a person does in an editor that has no plugin of ours.

A command returns at once and the work goes on in the session; what comes of it is shown as the client can
(`stock.py`), and failures that nobody else tells are messages. Those about edits are in `reviewing.py`.
"""

from collections.abc import Awaitable, Callable, Sequence

import anyio.abc

from agent_server.front.front import Front
from agent_server.front.handlers.options import current_options
from agent_server.front.lsp import wording
from agent_server.front.lsp.background import Args, finish
from agent_server.front.lsp.current import Current
from agent_server.front.lsp.documents import Documents
from agent_server.front.lsp.messages import ERROR, INFO, show_message
from agent_server.front.lsp.protocol import Command
from agent_server.front.params import as_object
from agent_server.front.protocol.base import Range
from agent_server.front.protocol.commands import (
    AskCommand,
    FixCommand,
    ListSessionsCommand,
    NewSessionCommand,
    PromptCommand,
    SessionCommand,
    SetModeCommand,
    SetModelCommand,
)
from agent_server.front.protocol.parse import parse_params
from agent_server.front.render.options import twin_updates
from agent_server.front.rpc.errors import ConnectionClosed, RemoteError
from agent_server.front.uris import display_name, path_of
from agent_server.loop.errors import ClientMistake
from agent_server.loop.model import DoneReason, JsonObject, Part, Resource, Text
from agent_server.session.prompts import Prompt
from agent_server.session.session import Session
from agent_server.session.sessions import SessionSummary

OFFERED = 5
"""Earlier conversations that a message offers: its buttons stand in one row."""


class Commands:
    """The commands of one connection that begin, steer and end conversations."""

    def __init__(
        self,
        front: Front,
        current: Current,
        documents: Callable[[], Documents],
        tasks: anyio.abc.TaskGroup,
    ) -> None:
        """`tasks` live as long as the connection."""
        self._front = front
        self._current = current
        self._documents = documents
        self._tasks = tasks

    def table(self) -> dict[str, Command]:
        """By name."""
        return {
            "agent.prompt": self.prompt,
            "agent.fix": self.fix,
            "agent.explain": self.explain,
            "agent.newSession": self.new_session,
            "agent.listSessions": self.list_sessions,
            "agent.resumeSession": self.resume_session,
            "agent.cancel": self.cancel,
            "agent.setMode": self.set_mode,
            "agent.setModel": self.set_model,
        }

    async def prompt(self, argument: object = None) -> JsonObject:
        """Start a turn; answered before it begins."""
        given = {"prompt": argument} if isinstance(argument, str) else one_object(argument)
        wanted = parse_params(PromptCommand, given)
        session = await self._current.session(wanted.session_id, wanted.uri)
        return self._start(session, wanted.prompt, wanted.uri, wanted.range)

    async def fix(self, argument: object = None) -> JsonObject:
        """Have a document, a part of it or given problems repaired."""
        wanted = parse_params(FixCommand, one_object(argument))
        session = await self._current.session(wanted.session_id, wanted.uri)
        words = wording.fix(wanted.uri, wanted.range, wanted.diagnostics, cwd=session.cwd)
        return self._start(session, _joined(words, wanted.prompt), wanted.uri, wanted.range)

    async def explain(self, argument: object = None) -> JsonObject:
        """Have a document or a part of it explained."""
        wanted = parse_params(AskCommand, one_object(argument))
        session = await self._current.session(wanted.session_id, wanted.uri)
        words = wording.explain(wanted.uri, wanted.range, cwd=session.cwd)
        return self._start(session, _joined(words, wanted.prompt), wanted.uri, wanted.range)

    async def new_session(self, argument: object = None) -> JsonObject:
        """A fresh conversation, which is the current one from now on."""
        wanted = parse_params(NewSessionCommand, one_object(argument))
        cwd = self._current.root() if wanted.uri is None else _folder(wanted.uri)
        session = await self._current.begin(cwd)
        return {"sessionId": session.id, "turnId": None}

    async def list_sessions(self, argument: object = None) -> JsonObject:
        """Earlier conversations; a client without our messages is asked too whether one shall go on."""
        wanted = parse_params(ListSessionsCommand, one_object(argument))
        cwd = self._current.root() if wanted.uri is None else _folder(wanted.uri)
        page, _ = await self._front.sessions.list(cwd=cwd)
        if not self._front.peer.capabilities.updates:
            self._later(self._offer, page)
        return {"sessions": [_listed(one) for one in page]}

    async def resume_session(self, argument: object = None) -> JsonObject:
        """An earlier conversation, by default the last one, is the current one from now on."""
        wanted = parse_params(SessionCommand, one_object(argument))
        session = await self._resume(wanted.session_id)
        return {"sessionId": session.id, "turnId": None}

    async def cancel(self, argument: object = None) -> None:
        """End the running turn; harmless when there is none."""
        wanted = parse_params(SessionCommand, one_object(argument))
        if (session := self._current.running(wanted.session_id)) is not None:
            session.cancel()

    async def set_mode(self, argument: object = None) -> None:
        """Another mode for the session, at once."""
        wanted = parse_params(SetModeCommand, one_object(argument))
        session = await self._current.session(wanted.session_id)
        await session.set_mode(wanted.mode)
        self._tell_options(session)

    async def set_model(self, argument: object = None) -> None:
        """Another model for the session, from its next turn on."""
        wanted = parse_params(SetModelCommand, one_object(argument))
        session = await self._current.session(wanted.session_id)
        await session.set_model(wanted.model)
        self._tell_options(session)

    # ---- inside ------------------------------------------------------------------------------------

    def _start(
        self, session: Session, words: str, uri: str | None, part: Range | None
    ) -> JsonObject:
        item = session.submit((Text(words), *self._attached(uri, part)))
        self._later(self._settle, session, item)
        return {"sessionId": session.id, "turnId": item.turn}

    def _attached(self, uri: str | None, part: Range | None) -> tuple[Part, ...]:
        """The document that is meant: its text or a part of it when it is open, else a link."""
        if uri is None:
            return ()
        path = path_of(uri)
        document = self._documents().at(path) if path is not None else None
        if document is None:
            return (Resource(uri, display_name(uri)),)
        if part is None:
            return (Resource(uri, display_name(uri), document.source),)
        start, end = part.start, part.end
        text = document.text_between((start.line, start.character), (end.line, end.character))
        return (Resource(f"{uri}#L{start.line + 1}-L{end.line + 1}", display_name(uri), text),)

    async def _settle(self, session: Session, item: Prompt) -> None:
        """See the turn through. A turn that ran tells its own end, unless it showed nothing to a client of ours."""
        result = await session.answer(item)
        peer = self._front.peer
        told = not peer.capabilities.updates or peer.view(session.id).spoke(result.turn)
        if result.reason is DoneReason.ERROR and not told:
            message = result.message or f"the turn failed: {result.detail}"
            show_message(peer.connection, ERROR, message)

    async def _offer(self, page: Sequence[SessionSummary]) -> None:
        """Ask which of the last ones shall go on."""
        titles = {_title(one): one.id for one in reversed(page[:OFFERED]) if one.damaged is None}
        connection = self._front.peer.connection
        if not titles:
            show_message(connection, INFO, "There is no earlier conversation here")
            return
        actions = [{"title": title} for title in reversed(titles)]
        params = {"type": INFO, "message": "Which conversation shall go on?", "actions": actions}
        try:
            reply = await connection.request("window/showMessageRequest", params)
        except (RemoteError, ConnectionClosed):
            return
        chosen = (as_object(reply) or {}).get("title")
        if isinstance(chosen, str) and chosen in titles:
            await self._resume(titles[chosen])

    async def _resume(self, named: str | None) -> Session:
        session = await self._current.resume(named)
        if not self._front.peer.capabilities.updates:
            name = session.title or "the conversation"
            show_message(self._front.peer.connection, INFO, f"Going on with: {name}")
        return session

    def _later(self, work: Callable[[*Args], Awaitable[object]], *args: *Args) -> None:
        self._tasks.start_soon(finish, self._front.peer.connection, work, *args)

    def _tell_options(self, session: Session) -> None:
        changed = twin_updates(session.mode, current_options(session))
        for method, params in self._front.peer.view(session.id).follow_up(changed):
            self._front.peer.connection.notify(method, params)


def one_object(argument: object) -> JsonObject:
    """A command's argument.

    Raises:
        ClientMistake: it is no object.
    """
    if argument is None:
        return {}
    given = as_object(argument)
    if given is None:
        raise ClientMistake("a command takes one object")
    return given


def _joined(words: str, more: str | None) -> str:
    return words if more is None else f"{words}\n\n{more}"


def _folder(uri: str) -> str:
    path = path_of(uri)
    if path is None:
        raise ClientMistake(f"uri must name a folder, not {uri}")
    return path


def _title(one: SessionSummary) -> str:
    return one.title or f"untitled, {one.updated}"


def _listed(one: SessionSummary) -> JsonObject:
    return {"sessionId": one.id, "title": one.title, "cwd": one.cwd, "updatedAt": one.updated}
