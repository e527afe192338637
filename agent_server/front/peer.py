"""The client behind one connection, as sessions see it: shows their events, puts their questions, has its documents.

Which question is asked is data: the first of `askers` that can. Exactly one goes out for a question (protocol.md,
"The gate").
"""

from collections.abc import Awaitable, Callable

from agent_server.context.before_person import BeforePerson
from agent_server.edits.ports import Diagnostics, Editor
from agent_server.front.asking import WAYS, ClientQuestions, Way
from agent_server.front.before_person import look
from agent_server.front.blocks import Json
from agent_server.front.capabilities import Capabilities
from agent_server.front.diagnostics import ClientDiagnostics
from agent_server.front.permission import request_permission
from agent_server.front.proposals import Proposals
from agent_server.front.rpc.connection import Connection
from agent_server.front.stream import Stream
from agent_server.front.view import View
from agent_server.front.vocabulary import Vocabulary, wire_name
from agent_server.frozen import frozen
from agent_server.loop.action import Answer, Question
from agent_server.loop.events import Event
from agent_server.loop.model import SessionId, TurnId
from agent_server.tools.questions import Questions


@frozen
class Asker:
    """One way to put a question."""

    can: Callable[["Peer", Question], bool]
    ask: Callable[["Peer", View, Question], Awaitable[Answer]]


class Peer:
    """One connection. Knows the sessions that its client has seen."""

    def __init__(
        self,
        connection: Connection,
        vocabulary: Vocabulary,
        *,
        capabilities: Capabilities,
        editor: "EditorFactory",
        askers: tuple[Asker, ...],
        ways: tuple[Way, ...] = WAYS,
        proposals: Proposals | None = None,
    ) -> None:
        """`askers` put the questions about calls, `ways` the model's own.

        `editor` gives the documents of one session; they may be the same for all.
        """
        self.connection = connection
        self.vocabulary = vocabulary
        self.capabilities = capabilities
        """Replaced when the client initializes again, before it has a session."""
        self.proposals = Proposals() if proposals is None else proposals
        self.ways = ways
        self._make_editor = editor
        self._askers = askers
        self._views: dict[SessionId, View] = {}

    def seat(self) -> "Seat":
        """The client of one session, to be given to it."""
        return Seat(self, self._make_editor)

    def view(self, session: SessionId) -> View:
        """What the client sees of a session."""
        view = self._views.get(session)
        if view is None:
            stream = Stream(self.connection, self.vocabulary, self.capabilities, session)
            view = self._views[session] = View(stream, self.proposals)
        return view

    async def ask(self, session: SessionId, question: Question) -> Answer:
        """Put the question in the one way that fits; nobody to put it to is no."""
        view = self.view(session)
        view.stream.flush()
        for asker in self._askers:
            if asker.can(self, question):
                return await asker.ask(self, view, question)
        return Answer("reject", by="no client that can be asked")


class Seat:
    """`session.ports.Client`: the peer, in one session."""

    def __init__(self, peer: Peer, editor: "EditorFactory") -> None:
        self.session: SessionId | None = None
        """Which one; a new session has no id until it is there."""
        self._peer = peer
        self._editor = editor(self)
        self._diagnostics = ClientDiagnostics(self)
        self._questions = ClientQuestions(peer, lambda: self.session, self.emit)

    @property
    def editor(self) -> Editor:
        """See `Client`."""
        return self._editor

    @property
    def diagnostics(self) -> Diagnostics:
        """See `Client`."""
        return self._diagnostics

    @property
    def questions(self) -> Questions:
        """See `Client`."""
        return self._questions

    @property
    def capabilities(self) -> Capabilities:
        """Of the client."""
        return self._peer.capabilities

    async def request(self, name: str, params: Json) -> object:
        """Ask the client for something of this session; ACP's own methods.

        Raises:
            RemoteError, ConnectionClosed: as `Connection.request`.
        """
        method = wire_name(name, self._peer.vocabulary, ours=False)
        return await self._peer.connection.request(method, {"sessionId": self.session, **params})

    async def request_own(self, name: str, params: Json) -> object:
        """The same with a message of ours.

        Raises:
            RemoteError, ConnectionClosed: as `Connection.request`.
        """
        method = wire_name(name, self._peer.vocabulary, ours=True)
        return await self._peer.connection.request(method, {"sessionId": self.session, **params})

    def emit(self, session: SessionId, event: Event) -> None:
        """See `Client`."""
        self._peer.view(session).show(event)

    async def before_person(self) -> BeforePerson | None:
        """See `Client`."""
        return await look(self)

    async def ask(self, session: SessionId, question: Question) -> Answer:
        """See `Client`."""
        return await self._peer.ask(session, question)


EditorFactory = Callable[[Seat], Editor]


def _can_review(peer: Peer, question: Question) -> bool:
    return question.proposal is not None and peer.capabilities.edit_proposed


async def _review(peer: Peer, view: View, question: Question) -> Answer:
    return await peer.proposals.ask(view.stream, question, turn=view.turn or TurnId(""))


def _can_permit(peer: Peer, question: Question) -> bool:
    del question
    return peer.capabilities.permission


async def _permit(peer: Peer, view: View, question: Question) -> Answer:
    kind = view.introduce(question)
    session = view.stream.session
    return await request_permission(
        peer.connection, peer.vocabulary, session, question, kind=kind, own=peer.capabilities.own
    )


REVIEW = Asker(_can_review, _review)
"""`edit/proposed` and `edit/resolve`, for clients that show proposals themselves."""
PERMISSION = Asker(_can_permit, _permit)
"""`session/request_permission`."""
