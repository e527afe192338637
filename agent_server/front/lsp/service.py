"""What a connection serves of ours, wired once the sessions are open; imported after `initialize` is answered."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

import anyio.abc
from lsprotocol import types

from agent_server.config_layers import problems_of
from agent_server.edits.ports import Editor
from agent_server.front.front import Front
from agent_server.front.lsp.actions import Actions
from agent_server.front.lsp.capabilities import own_of, stock_capabilities
from agent_server.front.lsp.client_settings import Configuration
from agent_server.front.lsp.commands import Commands
from agent_server.front.lsp.current import Current
from agent_server.front.lsp.documents import Documents
from agent_server.front.lsp.editor import LspEditor
from agent_server.front.lsp.lenses import Lenses, Refresher
from agent_server.front.lsp.messages import WARNING, show_message
from agent_server.front.lsp.pages import Pages
from agent_server.front.lsp.protocol import Protocol
from agent_server.front.lsp.questions import MessageQuestions
from agent_server.front.lsp.reviewing import ReviewCommands
from agent_server.front.lsp.stock import LspPeer, StockViews
from agent_server.front.lsp.virtual import VirtualDocuments
from agent_server.front.lsp.watched import real_paths, register
from agent_server.front.methods import dispatch
from agent_server.front.peer import PERMISSION, REVIEW, Asker, Peer, Seat
from agent_server.front.proposals import Proposals
from agent_server.front.rpc.connection import Connection
from agent_server.front.view import View
from agent_server.front.vocabulary import Vocabulary
from agent_server.loop.action import Answer, Question
from agent_server.loop.model import SessionId
from agent_server.session.sessions import Sessions


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
        proposals = Proposals(lambda path: _version(protocol.documents, path))
        virtual = VirtualDocuments(proposals)
        pages = Pages(connection, stock, virtual)

        def cwd_of(session: SessionId) -> str:
            return sessions.get(session).cwd

        def editor(seat: Seat) -> Editor:
            return LspEditor(connection, lambda: protocol.documents, seat=seat, stock=stock)

        questions = MessageQuestions(connection, pages, cwd_of)
        views = StockViews(connection, stock, pages, cwd_of=cwd_of, tasks=tasks)
        peer = LspPeer(
            connection,
            Vocabulary.LSP,
            capabilities=own,
            editor=editor,
            askers=(REVIEW, PERMISSION, _by_message(questions)),
            views=None if own.updates else views,
            proposals=proposals,
        )
        front = Front(peer, sessions, ready=True)
        self.table = dispatch(lambda: front, Vocabulary.LSP)
        current = Current(front, lambda: protocol.documents)
        self.commands = {
            **Commands(front, current, lambda: protocol.documents, tasks).table(),
            **ReviewCommands(front, current, pages, tasks).table(),
        }
        actions = Actions(stock, current.root)
        lenses = Lenses(proposals, lambda: protocol.documents)
        self.features = _features(actions, lenses, virtual, configuration)
        _hear(protocol, sessions, views)
        configuration.changed = partial(_complain, connection, configuration)
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


Feature = Callable[[Any], Awaitable[object]]
"""Gets the params of one of LSP's messages, as lsprotocol has them; its result is the answer."""


def _features(
    actions: Actions, lenses: Lenses, virtual: VirtualDocuments, configuration: Configuration
) -> Mapping[str, Feature]:
    async def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
        return actions.offer(params)

    async def resolve(action: types.CodeAction) -> types.CodeAction:
        return actions.resolve(action)

    async def code_lens(params: types.CodeLensParams) -> list[types.CodeLens]:
        return lenses.of(params.text_document.uri)

    async def content(params: types.TextDocumentContentParams) -> types.TextDocumentContentResult:
        return types.TextDocumentContentResult(virtual.text(params.uri))

    return {
        types.TEXT_DOCUMENT_CODE_ACTION: code_action,
        types.CODE_ACTION_RESOLVE: resolve,
        types.TEXT_DOCUMENT_CODE_LENS: code_lens,
        types.WORKSPACE_TEXT_DOCUMENT_CONTENT: content,
        types.WORKSPACE_DID_CHANGE_CONFIGURATION: configuration.follow,
    }


def _by_message(questions: MessageQuestions) -> Asker:
    """The last resort: every LSP client can be asked this way."""

    def can(peer: Peer, question: Question) -> bool:
        del peer, question
        return True

    async def ask(peer: Peer, view: View, question: Question) -> Answer:
        return await questions.ask(peer.proposals, view.stream.session, question)

    return Asker(can, ask)
