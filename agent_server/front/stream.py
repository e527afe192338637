"""What one client is sent of one session: the envelopes, and their numbers.

`seq` counts updates from 1 per connection and session without gaps (protocol.md). Only clients of ours get it, with
the turn: over ACP in `_meta["agent-server"]`, over LSP beside the update.
"""

from collections.abc import Callable

from agent_server.front.blocks import Json
from agent_server.front.capabilities import Capabilities
from agent_server.front.pace import NATURAL, Rate, at_most
from agent_server.front.paced import Clock, LoopClock, Paced, Text
from agent_server.front.rpc.connection import Connection
from agent_server.front.rpc.dispatch import FollowUp
from agent_server.front.rpc.messages import HOLE, template
from agent_server.front.vocabulary import Vocabulary, wire_name
from agent_server.loop.model import SessionId


class Stream:
    """Sends. Never blocks, never raises."""

    def __init__(
        self,
        connection: Connection,
        vocabulary: Vocabulary,
        capabilities: Capabilities,
        session: SessionId,
        clock: Clock | None = None,
    ) -> None:
        """`clock` is the event loop's, unless a test has one."""
        self.session = session
        self.capabilities = capabilities
        self._connection = connection
        self._vocabulary = vocabulary
        self._update_method = wire_name("session/update", vocabulary, ours=False)
        self._sent = 0
        """Updates so far: the last one's `seq`."""
        self._template: tuple[str, Callable[[str], bytes]] | None = None
        """The envelope of the message that is being streamed, by its id, when nothing in it changes but the text."""
        self._paced = Paced(self._grown, self._rate(0), clock or LoopClock())

    def pace(self, per_second: int) -> None:
        """How many updates a second the settings allow a growing text; 0: as `NATURAL` has it.

        A client that says how many it wants gets as many (decision 5).
        """
        self._paced.rate = self._rate(per_second)
        self._paced.end()

    def update(self, update: Json, *, turn: str | None) -> None:
        """One `session/update`; `turn` is None in a replay and between turns."""
        for method, params in self.follow_up([update], turn=turn):
            self._connection.notify(method, params)

    def follow_up(self, updates: list[Json], *, turn: str | None) -> tuple[FollowUp, ...]:
        """The same, to be sent by whoever answers a request: the answer first. Numbered now: send before any other."""
        if not self.capabilities.updates:
            return ()
        self._paced.flush()
        return tuple((self._update_method, self._envelope(update, turn)) for update in updates)

    def delta(
        self, chunk: Callable[[str, str], Json], message_id: str, text: str, *, turn: str
    ) -> None:
        """A piece of a message; `chunk` makes the update of its id and text. The hot path.

        Neighbouring pieces of one message become one update, which has one number, where pieces come faster than the
        client wants them, and while the output is busy.
        """
        if self.capabilities.updates:
            self._paced.put(Text(chunk, message_id, turn), text)

    def state(
        self, chunk: Callable[[str, str], Json], call_id: str, text: str, *, turn: str
    ) -> None:
        """A text as it is now, shown in place of what it was; where they come too fast only the last one is sent."""
        if self.capabilities.updates:
            self._paced.put(Text(chunk, call_id, turn, whole=True), text)

    def flush(self) -> None:
        """Send what is held of growing texts: something else follows that must not overtake them."""
        self._paced.flush()

    def rest(self) -> None:
        """The same at the end of a turn; the next one's first piece leaves at once."""
        self._paced.end()

    def own(self, name: str, params: Json) -> None:
        """A notification of ours; the caller knows that the client wants it."""
        self._connection.notify(*self.own_follow_up(name, params))

    def own_follow_up(self, name: str, params: Json) -> FollowUp:
        """The same, to be sent by whoever answers a request."""
        self._paced.flush()
        return wire_name(name, self._vocabulary, ours=True), params

    @property
    def follows_edits(self) -> bool:
        """Whether the client can ask about an edit later: by our messages, or by LSP's commands and documents."""
        return self.capabilities.edit_proposed or self._vocabulary is Vocabulary.LSP

    def status(self, status: Json) -> None:
        """`status`, to clients that know it."""
        for method, params in self.status_follow_up(status):
            self._connection.notify(method, params)

    def status_follow_up(self, status: Json) -> tuple[FollowUp, ...]:
        """The same, to be sent by whoever answers a request."""
        self._paced.flush()
        if not self.capabilities.own:
            return ()
        return ((wire_name("status", self._vocabulary, ours=True), status),)

    def _rate(self, per_second: int) -> Rate:
        wanted = self.capabilities.updates_per_second or per_second
        return at_most(wanted) if wanted else NATURAL

    def _grown(self, grown: Text, piece: str) -> None:
        if grown.whole:
            params = self._envelope(grown.chunk(grown.id, piece), grown.turn)
            self._connection.notify(self._update_method, params)
            return
        before = self._sent
        render = self._render(grown.chunk, grown.id, grown.turn)
        key = (self.session, grown.id)
        joined = not self._connection.notify_delta(key, self._update_method, render, piece)
        self._sent = before if joined else before + 1

    def _render(
        self, chunk: Callable[[str, str], Json], message_id: str, turn: str
    ) -> Callable[[str], Json | bytes]:
        if self.capabilities.own:
            number = self._sent + 1
            return lambda merged: self._numbered(chunk(message_id, merged), turn, number)
        if self._template is None or self._template[0] != message_id:
            params: Json = {"sessionId": self.session, "update": chunk(message_id, HOLE)}
            self._template = (message_id, template(params))
        return self._template[1]

    def _envelope(self, update: Json, turn: str | None) -> Json:
        self._sent += 1
        if not self.capabilities.own:
            return {"sessionId": self.session, "update": update}
        return self._numbered(update, turn, self._sent)

    def _numbered(self, update: Json, turn: str | None, number: int) -> Json:
        params: Json = {"sessionId": self.session, "update": update}
        numbered: Json = {"seq": number, "turnId": turn}
        match self._vocabulary:
            case Vocabulary.ACP:
                return params | {"_meta": {"agent-server": numbered}}
            case Vocabulary.LSP:
                return params | numbered
