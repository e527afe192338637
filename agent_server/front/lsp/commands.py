"""`workspace/executeCommand`: what a person does in an editor that has no plugin of ours.

A command returns at once and the work goes on in the session; what comes of it is shown as the client can
(`stock.py`), and failures that nobody else tells are messages.
"""

from collections.abc import Callable
from pathlib import Path

import anyio
import anyio.abc

from agent_server.front.front import Front
from agent_server.front.handlers.options import current_options
from agent_server.front.lsp.documents import Documents
from agent_server.front.lsp.protocol import Command
from agent_server.front.lsp.questions import MessageQuestions
from agent_server.front.params import as_object
from agent_server.front.protocol.base import Range
from agent_server.front.protocol.commands import (
    NewSessionCommand,
    PromptCommand,
    ReviewCommand,
    SessionCommand,
    SetModeCommand,
    SetModelCommand,
)
from agent_server.front.protocol.parse import parse_params
from agent_server.front.render.options import twin_updates
from agent_server.front.uris import display_name, path_of
from agent_server.front.verdicts import Verdict
from agent_server.loop.errors import AgentServerError, ClientMistake
from agent_server.loop.model import DoneReason, JsonObject, Part, Resource, SessionId, Text
from agent_server.session.prompts import Prompt
from agent_server.session.session import Session


class Commands:
    """The commands of one connection, and which session they mean when none is named."""

    def __init__(
        self,
        front: Front,
        questions: MessageQuestions,
        documents: Callable[[], Documents],
        tasks: anyio.abc.TaskGroup,
    ) -> None:
        """`tasks` live as long as the connection."""
        self._front = front
        self._questions = questions
        self._documents = documents
        self._tasks = tasks
        self._current: SessionId | None = None
        self._choosing = anyio.Lock()
        """Two commands at once must not make a session each."""

    def table(self) -> dict[str, Command]:
        """By name."""
        return {
            "agent.prompt": self.prompt,
            "agent.newSession": self.new_session,
            "agent.cancel": self.cancel,
            "agent.acceptAll": self.accept_all,
            "agent.rejectAll": self.reject_all,
            "agent.setMode": self.set_mode,
            "agent.setModel": self.set_model,
        }

    async def prompt(self, argument: object = None) -> JsonObject:
        """Start a turn; answered before it begins."""
        given = {"prompt": argument} if isinstance(argument, str) else _object(argument)
        wanted = parse_params(PromptCommand, given)
        session = await self._session(wanted.session_id)
        item = session.submit((Text(wanted.prompt), *self._attached(wanted.uri, wanted.range)))
        self._tasks.start_soon(self._settle, session, item)
        return {"sessionId": session.id, "turnId": item.turn}

    async def new_session(self, argument: object = None) -> JsonObject:
        """A fresh conversation, which is the current one from now on."""
        wanted = parse_params(NewSessionCommand, _object(argument))
        session = await self._begin(self._root() if wanted.uri is None else _folder(wanted.uri))
        return {"sessionId": session.id, "turnId": None}

    async def cancel(self, argument: object = None) -> None:
        """End the running turn; harmless when there is none."""
        wanted = parse_params(SessionCommand, _object(argument))
        named = wanted.session_id or self._current
        if named is not None:
            self._front.sessions.get(SessionId(named)).cancel()

    async def accept_all(self, argument: object = None) -> None:
        """Say yes to the open edits, or to the one that is named."""
        self._decide(argument, accept=True)

    async def reject_all(self, argument: object = None) -> None:
        """Say no to them."""
        self._decide(argument, accept=False)

    async def set_mode(self, argument: object = None) -> None:
        """Another mode for the session, at once."""
        wanted = parse_params(SetModeCommand, _object(argument))
        session = await self._session(wanted.session_id)
        await session.set_mode(wanted.mode)
        self._tell_options(session)

    async def set_model(self, argument: object = None) -> None:
        """Another model for the session, from its next turn on."""
        wanted = parse_params(SetModelCommand, _object(argument))
        session = await self._session(wanted.session_id)
        await session.set_model(wanted.model)
        self._tell_options(session)

    # ---- inside ------------------------------------------------------------------------------------

    async def _session(self, named: str | None) -> Session:
        """The one that is named, else the current one, else a new one in the first workspace folder."""
        async with self._choosing:
            wanted = named or self._current
            if wanted is None:
                return await self._begin(self._root())
            session = self._front.sessions.get(SessionId(wanted))
            self._current = session.id
            return session

    async def _begin(self, cwd: str) -> Session:
        seat = self._front.peer.seat()
        session = await self._front.sessions.new(cwd=cwd, client=seat)
        seat.session = self._current = session.id
        for method, params in self._front.peer.view(session.id).begin(session.notices):
            self._front.peer.connection.notify(method, params)
        if not self._front.peer.capabilities.updates:
            for notice in session.notices:
                seat.emit(session.id, notice)
        return session

    def _root(self) -> str:
        documents = self._documents()
        uris = [*documents.folders, *([documents.root_uri] if documents.root_uri else [])]
        paths = (path_of(uri) for uri in uris)
        return next((path for path in paths if path is not None), str(Path.cwd()))

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

    def _decide(self, argument: object, *, accept: bool) -> None:
        """Whichever way they are asked about: as messages, or as proposals that the client shows."""
        wanted = parse_params(ReviewCommand, _object(argument)).txn
        proposals = self._front.peer.proposals
        for txn in self._questions.open_edits:
            if wanted in (None, txn):
                self._questions.decide(txn, accept=accept)
        for txn, revision in proposals.undecided:
            if wanted in (None, txn):
                verdict = Verdict(accept)
                proposals.resolve(txn, revision, [verdict], remember="once", feedback=None)

    async def _settle(self, session: Session, item: Prompt) -> None:
        """See the turn through. A turn that ran tells its own end, unless it showed nothing to a client of ours."""
        try:
            result = await session.answer(item)
        except AgentServerError as error:
            self._complain(str(error))
            return
        peer = self._front.peer
        told = not peer.capabilities.updates or peer.view(session.id).spoke(result.turn)
        if result.reason is DoneReason.ERROR and not told:
            self._complain(result.message or f"the turn failed: {result.detail}")

    def _complain(self, sentence: str) -> None:
        self._front.peer.connection.notify("window/showMessage", {"type": 1, "message": sentence})

    def _tell_options(self, session: Session) -> None:
        changed = twin_updates(session.mode, current_options(session))
        for method, params in self._front.peer.view(session.id).follow_up(changed):
            self._front.peer.connection.notify(method, params)


def _object(argument: object) -> JsonObject:
    if argument is None:
        return {}
    given = as_object(argument)
    if given is None:
        raise ClientMistake("a command takes one object")
    return given


def _folder(uri: str) -> str:
    path = path_of(uri)
    if path is None:
        raise ClientMistake(f"uri must name a folder, not {uri}")
    return path
