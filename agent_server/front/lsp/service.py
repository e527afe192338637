"""What a connection serves of ours, wired once the sessions are open; imported after `initialize` is answered."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import anyio.abc
from lsprotocol import types

from agent_server.config_layers import problems_of
from agent_server.front.front import Front
from agent_server.front.lsp.capabilities import Stock, own_of, stock_capabilities
from agent_server.front.lsp.client_settings import Configuration
from agent_server.front.lsp.current import Current
from agent_server.front.lsp.documents import Documents
from agent_server.front.lsp.lenses import Lenses, Refresher
from agent_server.front.lsp.messages import WARNING, show_message
from agent_server.front.lsp.pages import Pages
from agent_server.front.lsp.person import Person
from agent_server.front.lsp.protocol import Command, Protocol
from agent_server.front.lsp.stock import StockViews
from agent_server.front.lsp.virtual import VirtualDocuments
from agent_server.front.lsp.watched import real_paths, register
from agent_server.front.methods import dispatch
from agent_server.front.proposals import Proposals
from agent_server.front.rpc.connection import Connection
from agent_server.front.vocabulary import Vocabulary
from agent_server.session.sessions import Sessions

if TYPE_CHECKING:  # pydantic: see `commands`
    from agent_server.front.lsp.actions import Actions

Feature = Callable[[Any], Awaitable[object]]
"""Gets the params of one of LSP's messages, as lsprotocol has them; its result is the answer."""


class Service:
    """The one table over this connection, the commands by name, and LSP's own requests by method."""

    def __init__(
        self,
        connection: Connection,
        protocol: Protocol,
        sessions: Sessions,
        configuration: Configuration,
        tasks: anyio.abc.TaskGroup,
    ) -> None:
        """`protocol` has been initialized; `tasks` live as long as the connection."""
        declared = protocol.initialize_params.capabilities
        own, stock = own_of(declared), stock_capabilities(declared)
        self._tasks, self._stock = tasks, stock
        self._documents = documents = lambda: protocol.documents
        proposals = Proposals(lambda path: _version(protocol.documents, path))
        proposals.keep = sessions.keep_decisions
        virtual = VirtualDocuments(proposals)
        self._pages = Pages(connection, stock, virtual)
        person = Person(connection, sessions, self._pages, stock, tasks)
        peer = person.peer(own, proposals, documents)
        self._front = front = Front(peer, sessions, ready=True)
        self._current = Current(front, documents)
        self.table = dispatch(lambda: front, Vocabulary.LSP)
        self.features: Mapping[str, Feature] = {
            **_features(Lenses(proposals, documents), virtual, configuration),
            types.TEXT_DOCUMENT_CODE_ACTION: self._code_action,
            types.CODE_ACTION_RESOLVE: self._resolve_action,
        }
        _hear(protocol, sessions, person.views)
        configuration.changed = partial(_complain, connection, configuration)
        _tell(connection, proposals, configuration, stock=stock, tasks=tasks)

    @cached_property
    def commands(self) -> Mapping[str, Command]:
        """By name."""
        # Pydantic, 6 MB and 50 ms: a client with our plugin has no use for them, and reads its first delta earlier.
        from agent_server.front.lsp.commands import Commands
        from agent_server.front.lsp.reviewing import ReviewCommands

        return {
            **Commands(self._front, self._current, self._documents, self._tasks).table(),
            **ReviewCommands(self._front, self._current, self._pages, self._tasks).table(),
        }

    @cached_property
    def _actions(self) -> "Actions":
        from agent_server.front.lsp.actions import Actions  # see `commands`

        return Actions(self._stock, self._current.root)

    async def _code_action(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        return self._actions.offer(params)

    async def _resolve_action(self, action: types.CodeAction) -> types.CodeAction:
        return self._actions.resolve(action)


def _tell(
    connection: Connection,
    proposals: Proposals,
    configuration: Configuration,
    *,
    stock: Stock,
    tasks: anyio.abc.TaskGroup,
) -> None:
    """Have the client told, and asked to tell, what it declared that it can."""
    if stock.lenses and stock.refreshes_lenses:
        refresher = Refresher(connection)
        proposals.moved = refresher.refresh
        tasks.start_soon(refresher.run)
    if stock.registers_configuration:
        tasks.start_soon(configuration.register)
    if stock.watches_files:
        tasks.start_soon(register, connection)


def _version(documents: Documents, path: str) -> int | None:
    document = documents.at(path)
    return None if document is None else document.version


def _hear(protocol: Protocol, sessions: Sessions, views: StockViews) -> None:
    """Have the sessions told what comes in as LSP's own notifications."""

    def progress_cancelled(token: int | str) -> None:
        if (session := views.session_of(token)) is not None:
            sessions.get(session).cancel()

    def touched(uris: Sequence[str]) -> None:
        if opened := sessions.opened:
            paths = real_paths(uris, protocol.documents)
            for session in opened:
                session.marks.add(paths)

    protocol.progress_cancelled = progress_cancelled
    protocol.touched = touched


def _complain(connection: Connection, configuration: Configuration) -> None:
    """Settings have changed: what is wrong with them is said now, not when the next session begins."""
    for problem in problems_of(configuration.settings):
        show_message(connection, WARNING, problem.sentence)


def _features(
    lenses: Lenses, virtual: VirtualDocuments, configuration: Configuration
) -> Mapping[str, Feature]:
    async def code_lens(params: types.CodeLensParams) -> list[types.CodeLens]:
        return lenses.of(params.text_document.uri)

    async def content(params: types.TextDocumentContentParams) -> types.TextDocumentContentResult:
        return types.TextDocumentContentResult(virtual.text(params.uri))

    return {
        types.TEXT_DOCUMENT_CODE_LENS: code_lens,
        types.WORKSPACE_TEXT_DOCUMENT_CONTENT: content,
        types.WORKSPACE_DID_CHANGE_CONFIGURATION: configuration.follow,
    }
