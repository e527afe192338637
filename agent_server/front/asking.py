"""How the model's own questions reach the person: the first of `Way`s that the client has (loop.md R144).

Exactly one request goes out for a question. No answer, an error and an answer that nobody offered are all None: the
model is told, and goes on.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Protocol

from agent_server.front.blocks import Json
from agent_server.front.capabilities import Capabilities
from agent_server.front.params import as_object
from agent_server.front.render.content import one_line
from agent_server.front.rpc.connection import Connection
from agent_server.front.rpc.errors import ConnectionClosed, RemoteError
from agent_server.front.view import View
from agent_server.front.vocabulary import Vocabulary, wire_name
from agent_server.frozen import frozen
from agent_server.loop.events import Event, StateChanged
from agent_server.loop.model import CallKey, JsonObject, SessionId

LABEL_CHARS: Final = 60
"""Of the question, in a status bar."""
NO_ANSWER: Final = "No answer"


@frozen
class Asked:
    """What the person is asked."""

    session: SessionId
    call_id: str
    """Of `ask_user`, whose card the client shows."""
    question: str
    options: tuple[str, ...]
    """None: they answer in words."""


@frozen
class Way:
    """One way to ask."""

    can: Callable[[Capabilities], bool]
    words: bool
    """Whether there is a place for words, which a question without options needs."""
    ask: Callable[[Connection, Vocabulary, Asked], Awaitable[str | None]]


class Host(Protocol):
    """The client behind a connection (front.peer.Peer)."""

    connection: Connection
    vocabulary: Vocabulary
    capabilities: Capabilities
    ways: tuple[Way, ...]

    def view(self, session: SessionId) -> View:
        """What it sees of a session."""
        ...


class ClientQuestions:
    """`tools.questions.Questions` for one session."""

    def __init__(
        self,
        host: Host,
        session: Callable[[], SessionId | None],
        emit: Callable[[SessionId, Event], None],
    ) -> None:
        """`session` tells which, once it is there; `emit` shows its events."""
        self._host = host
        self._session = session
        self._emit = emit

    def takes(self, options: Sequence[str]) -> bool:
        """See `Questions`."""
        return self._way(options) is not None

    async def ask(self, call: CallKey, question: str, options: Sequence[str]) -> str | None:
        """See `Questions`."""
        session, way = self._session(), self._way(options)
        if session is None or way is None:
            return None
        view = self._host.view(session)
        view.waits_for_person(call)
        if view.turn is not None:
            label = f"Waiting for you: {one_line(question, LABEL_CHARS)}"
            self._emit(session, StateChanged(view.turn, "confirming", label))
        asked = Asked(session, str(call), question, tuple(options))
        return await way.ask(self._host.connection, self._host.vocabulary, asked)

    def _way(self, options: Sequence[str]) -> Way | None:
        return next(
            (
                way
                for way in self._host.ways
                if way.can(self._host.capabilities) and (options or way.words)
            ),
            None,
        )


async def answer_to(connection: Connection, method: str, params: Json) -> JsonObject:
    """The result of a request; nothing in it where there is none."""
    try:
        return as_object(await connection.request(method, params)) or {}
    except (RemoteError, ConnectionClosed):
        return {}


async def _ask(connection: Connection, vocabulary: Vocabulary, asked: Asked) -> str | None:
    method = wire_name("ask", vocabulary, ours=True)
    params: Json = {
        "sessionId": asked.session,
        "toolCallId": asked.call_id,
        "question": asked.question,
        "options": list(asked.options),
    }
    answer = (await answer_to(connection, method, params)).get("answer")
    return answer if isinstance(answer, str) else None


async def _fill_in(connection: Connection, vocabulary: Vocabulary, asked: Asked) -> str | None:
    del vocabulary
    field: Json = {"type": "string", "title": "Answer"}
    if asked.options:
        field["enum"] = list(asked.options)
    params: Json = {
        "sessionId": asked.session,
        "toolCallId": asked.call_id,
        "mode": "form",
        "message": asked.question,
        "requestedSchema": {
            "type": "object",
            "properties": {"answer": field},
            "required": ["answer"],
        },
    }
    reply = await answer_to(connection, "elicitation/create", params)
    answer = (as_object(reply.get("content")) or {}).get("answer")
    if reply.get("action") != "accept" or not isinstance(answer, str):
        return None
    return answer if not asked.options or answer in asked.options else None


async def _choose(connection: Connection, vocabulary: Vocabulary, asked: Asked) -> str | None:
    options: list[Json] = [
        {"optionId": f"o{number}", "name": option, "kind": "allow_once"}
        for number, option in enumerate(asked.options, 1)
    ]
    no_answer: Json = {"optionId": "none", "name": NO_ANSWER, "kind": "reject_once"}
    params: Json = {
        "sessionId": asked.session,
        "toolCall": {
            "toolCallId": asked.call_id,
            "title": asked.question,
            "kind": "other",
            "status": "pending",
        },
        "options": [*options, no_answer],
        # A client's automatic yes would answer in the person's name.
        "_meta": {"agent-server": {"floor": True}},
    }
    method = wire_name("session/request_permission", vocabulary, ours=False)
    outcome = as_object((await answer_to(connection, method, params)).get("outcome")) or {}
    if outcome.get("outcome") != "selected":
        return None
    chosen = outcome.get("optionId")
    return next((str(one["name"]) for one in options if one["optionId"] == chosen), None)


OWN = Way(lambda client: client.ask, words=True, ask=_ask)
"""`ask`, for clients of ours."""
FORM = Way(lambda client: client.forms, words=True, ask=_fill_in)
"""ACP's `elicitation/create`: a form with one field."""
CHOICE = Way(lambda client: client.permission, words=False, ask=_choose)
"""`session/request_permission`, whose options are the answers."""
WAYS = (OWN, FORM, CHOICE)
"""In the order in which they are tried."""
