"""A conversation at the terminal: opened, prompted, commanded; a server and a person on either side of it."""

import contextlib
from collections.abc import Generator, Iterable, Mapping
from pathlib import Path
from typing import assert_never

from rich.console import ConsoleRenderable
from rich.table import Table
from rich.text import Text

from agent_server.front.rpc.connection import connect
from agent_server.front.rpc.dialect import ACP
from agent_server.front.rpc.errors import ConnectionClosed, RemoteError
from agent_server.front.terminal.inbound import Session, SessionInfo, TurnEnd, Updated
from agent_server.front.terminal.input import Keyboard
from agent_server.front.terminal.link import Link, linked
from agent_server.front.terminal.page import Page
from agent_server.front.terminal.person import Automatic, Person, StopTurn
from agent_server.front.terminal.review import Review
from agent_server.front.terminal.rewind import Rewind
from agent_server.front.terminal.server import Server, running_server
from agent_server.front.terminal.slash import HELP, Mistaken, Slash
from agent_server.front.terminal.style import INDENT
from agent_server.front.terminal.transcript import Transcript, apply
from agent_server.front.terminal.turn import Header, ServerGone, TurnRun
from agent_server.front.terminal.view import header
from agent_server.frozen import frozen
from agent_server.loop.errors import AgentServerError, ClientMistake
from agent_server.loop.model import MODES
from agent_server.options import Options


@frozen
class Place:
    """Where a conversation happens and what it is started with."""

    cwd: Path
    env: Mapping[str, str]
    options: Options


class Conversation:
    """One server, one person, one session at a time."""

    def __init__(
        self, link: Link, page: Page, keyboard: Keyboard, *, cwd: str, version: str
    ) -> None:
        self.page = page
        self.keyboard = keyboard
        self._link = link
        self._cwd = cwd
        self._version = version
        self._session = Session("", "", "")
        self.header = Header("", "")
        self._past = Transcript()

    def open(self, resume: str | None) -> None:
        """Begin: a new session, the one with that id, or (empty) the newest of this folder.

        Raises:
            ClientMistake: there is none to go on with.
        """
        client = self._link.client
        if resume is None:
            self._enter(self._link.call(client.new, self._cwd))
        else:
            session_id = resume or self._newest()
            self._enter(self._link.call(client.load, session_id, self._cwd))
        self._past = self._hear()

    def show_past(self) -> None:
        """What was said in the session before it was opened here, and notices that came with it."""
        self._past = self.page.show(self._past, closed=True)

    def decide_left_open(self, automatic: Automatic | None) -> None:
        """Ask about the edits that waited for an answer when the server stopped; nobody is asked by themselves."""
        if automatic is not None:
            return
        client = self._link.client
        left_open = self._link.call(client.left_open, self._session.id)
        self.page.show(self._hear(), closed=True)  # what came with them, their end among it
        for question in left_open:
            self.page.add(_said("this edit was still to be decided when the server stopped:"))
            try:
                decided = Review(self._person(None), question, place=(1, 1)).run()
            except StopTurn:
                return
            if decided is not None:
                came_of_it = self._link.call(client.take_up, question, decided)
                self.page.add(_said(came_of_it.partition(": ")[2] or came_of_it))
        self._hear()  # the edits that were made of them, which were just shown

    def show_header(self) -> None:
        """The first line: program, model, mode, folder."""
        screen = self.page.screen
        width = 0 if screen.plain else screen.width
        shown = header(self._version, self.header.model, self.header.mode, self._cwd, width)
        self.page.add(shown)

    def turn(self, text: str, automatic: Automatic | None) -> TurnEnd:
        """One prompt until its end.

        Raises:
            ServerGone, Quit: as `TurnRun.run`.
        """
        person = self._person(automatic)
        return TurnRun(self._link, person, self._session.id, self.header).run(text)

    def obey(self, command: Slash | Mistaken, automatic: Automatic | None) -> None:
        """Do what a slash command says; `/quit` is the caller's."""
        if isinstance(command, Mistaken):
            self.page.add(Text(f"{' ' * INDENT}{command.sentence}", "warning"))
            return
        try:
            self.page.add(self._obeyed(command, automatic))
        except (RemoteError, ClientMistake) as error:
            self.page.add(Text.assemble(" " * INDENT, ("✗ ", "error"), str(error)))

    def _obeyed(self, command: Slash, automatic: Automatic | None) -> ConsoleRenderable:
        client = self._link.client
        match command.name:
            case "help" | "quit":
                return _table(HELP)
            case "mode":
                return self._set_mode(command.argument)
            case "model":
                return self._set_model(command.argument)
            case "undo" | "rewind":
                return self._go_back(command, automatic)
            case "new":
                self._enter(self._link.call(client.new, self._cwd))
                return _said("a new session; the old one is kept")
            case "fork":
                self._enter(self._link.call(client.fork, self._session.id, self._cwd))
                return _said("in a copy from here on; the session before is kept as it is")
            case "title":
                title = self._link.call(client.set_title, self._session.id, command.argument)
                return _said(f"this session is called {title}")
            case "sessions":
                return _sessions(self._link.call(client.sessions, self._cwd))
            case _:
                assert_never(command.name)

    def _go_back(self, command: Slash, automatic: Automatic | None) -> ConsoleRenderable:
        rewind = Rewind(self._link, self._person(automatic), self._session.id)
        done = rewind.undo() if command.name == "undo" else rewind.to(command.argument)
        self._hear()  # the edit that did it, which was just shown
        return done

    def _person(self, automatic: Automatic | None) -> Person:
        withdrawn = self._link.inbox.withdrawn
        return Person(self.page, self.keyboard, automatic, withdrawn, self._cwd)

    def _set_mode(self, mode: str) -> Text:
        if mode:
            self._link.call(self._link.client.set_mode, self._session.id, mode)
            self.header.mode = mode
        return _said(f"mode {self.header.mode}" + ("" if mode else f" (of {', '.join(MODES)})"))

    def _set_model(self, model: str) -> Text:
        if model:
            self.header.model = self._link.call(
                self._link.client.set_model, self._session.id, model
            )
        return _said(f"model {self.header.model}")

    def _enter(self, session: Session) -> None:
        self._session = session
        self.header = Header(session.mode, session.model)

    def _newest(self) -> str:
        found = self._link.call(self._link.client.sessions, self._cwd)
        if not found:
            raise ClientMistake(f"there is no session of {self._cwd} to go on with")
        return found[0].id

    def _hear(self) -> Transcript:
        """What arrived without a turn."""
        transcript = Transcript()
        while (arrival := self._link.inbox.next(0)) is not None:
            if isinstance(arrival, Updated):
                self.header.hear(arrival.update)
                transcript = apply(transcript, arrival.update, now=0.0)
        return transcript


@contextlib.contextmanager
def conversation(place: Place, page: Page, keyboard: Keyboard) -> Generator[Conversation]:
    """A server in this place and a conversation with it, not opened yet; both are gone at the end.

    Raises:
        ServerGone: it ended when it should not; with its last words.
    """
    with running_server(place.options, cwd=place.cwd, env=place.env) as server:
        try:
            with linked(
                lambda dispatch: connect(
                    read_fd=server.read_fd, write_fd=server.write_fd, dialect=ACP, dispatch=dispatch
                )
            ) as link:
                version = link.call(link.client.initialize)
                yield Conversation(link, page, keyboard, cwd=str(place.cwd), version=version)
        except (ServerGone, ConnectionClosed) as error:
            raise ServerGone(_obituary(server, error)) from error


def _obituary(server: Server, error: AgentServerError) -> str:
    words = server.last_words()
    return f"{error}; its last words:\n{words}" if words else f"{error}; it left no message"


def _said(text: str) -> Text:
    return Text(f"{' ' * INDENT}{text}", "quiet")


def _table(rows: Iterable[tuple[str, str]]) -> Table:
    table = Table.grid(padding=(0, 2))
    for left, right in rows:
        table.add_row(" " * (INDENT - 2), Text(left, "key"), Text(right))
    return table


def _sessions(found: Iterable[SessionInfo]) -> ConsoleRenderable:
    rows = [(s.id, f"{s.title or 'no title'}  {s.updated[:16].replace('T', ' ')}") for s in found]
    return _table(rows) if rows else _said("no session of this folder yet")
