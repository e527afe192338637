"""The person behind an LSP connection: what they are shown and asked, by our messages or by LSP's own."""

from collections.abc import Callable

import anyio.abc

from agent_server.edits.ports import Editor
from agent_server.front.capabilities import Capabilities
from agent_server.front.lsp.capabilities import Stock
from agent_server.front.lsp.documents import Documents
from agent_server.front.lsp.editor import LspEditor
from agent_server.front.lsp.pages import Pages
from agent_server.front.lsp.questions import MessageQuestions
from agent_server.front.lsp.stock import LspPeer, StockViews
from agent_server.front.peer import PERMISSION, REVIEW, Asker, Peer, Seat
from agent_server.front.proposals import Proposals
from agent_server.front.rpc.connection import Connection
from agent_server.front.view import View
from agent_server.front.vocabulary import Vocabulary
from agent_server.loop.action import Answer, Question
from agent_server.loop.model import SessionId
from agent_server.session.sessions import Sessions


class Person:
    """See the module. One per connection."""

    def __init__(
        self,
        connection: Connection,
        sessions: Sessions,
        pages: Pages,
        stock: Stock,
        tasks: anyio.abc.TaskGroup,
    ) -> None:
        """`tasks` live as long as the connection."""
        self._connection = connection
        self._stock = stock
        self._sessions = sessions
        self._questions = MessageQuestions(connection, pages, self._cwd_of)
        self.views = StockViews(connection, stock, pages, cwd_of=self._cwd_of, tasks=tasks)

    def peer(
        self, own: Capabilities, proposals: Proposals, documents: Callable[[], Documents]
    ) -> LspPeer:
        """The client, as sessions see it."""

        def editor(seat: Seat) -> Editor:
            return LspEditor(self._connection, documents, seat=seat, stock=self._stock)

        return LspPeer(
            self._connection,
            Vocabulary.LSP,
            capabilities=own,
            editor=editor,
            askers=(REVIEW, PERMISSION, _by_message(self._questions)),
            views=None if own.updates else self.views,
            proposals=proposals,
        )

    def _cwd_of(self, session: SessionId) -> str:
        return self._sessions.get(session).cwd


def _by_message(questions: MessageQuestions) -> Asker:
    """The last resort: every LSP client can be asked this way."""

    def can(peer: Peer, question: Question) -> bool:
        del peer, question
        return True

    async def ask(peer: Peer, view: View, question: Question) -> Answer:
        return await questions.ask(peer.proposals, view.stream.session, question)

    return Asker(can, ask)
