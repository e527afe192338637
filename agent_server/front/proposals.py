"""The gate of edits for clients that show proposals themselves: `edit/proposed` out, `edit/resolve` in (protocol.md).

One per connection. The server decides, the client only shows: decisions accumulate here until nothing is left
undecided, then the answer goes to whoever waits. Holds the state and revision of every edit and, for `edit/content`,
the texts of those that are open or were decided last; of clients that are asked in another way too, which are told
nothing of it.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import anyio

from agent_server.front.blocks import Json
from agent_server.front.render import edits
from agent_server.front.rpc.dispatch import FollowUp
from agent_server.front.rpc.errors import INVALID_PARAMS, RpcError
from agent_server.front.shown_edit import Appearance, ShownEdit
from agent_server.front.stream import Stream
from agent_server.front.verdicts import Decided, Verdict
from agent_server.loop.action import Answer, Question, Scope
from agent_server.loop.errors import ClientMistake, StaleRevision
from agent_server.loop.events import EditChanged
from agent_server.loop.model import SessionId, TurnId
from agent_server.loop.proposal import PartDecision, Proposal

KEPT = 32
"""Decided proposals whose texts can still be fetched: a client may look at a diff right after deciding it."""


class Proposals:
    """Every edit that this client was shown."""

    def __init__(self, version_of: edits.VersionOf = lambda path: None) -> None:
        self._version_of = version_of
        self._entries: OrderedDict[str, ShownEdit] = OrderedDict()
        """By txn, oldest first."""
        self.keep: Callable[[SessionId, str, Sequence[PartDecision]], Awaitable[None]] = (
            _keep_nothing
        )
        """Writes down what was decided so far of an edit."""
        self.moved: Callable[[], None] = lambda: None
        """Called when an edit was proposed, decided on in part or in whole, or changed its state."""

    @property
    def undecided(self) -> tuple[ShownEdit, ...]:
        """Every edit that waits for the person, oldest first; not those that a dead process had left open."""
        entries = self._entries.values()
        return tuple(e for e in entries if e.answer is None and e.take_up is None)

    @property
    def last(self) -> ShownEdit | None:
        """The edit that was proposed last."""
        return next(reversed(self._entries.values()), None)

    def find(self, txn: str) -> ShownEdit:
        """The edit of that name.

        Raises:
            RpcError: `unknown_txn`.
        """
        entry = self._entries.get(txn)
        if entry is None:
            raise RpcError(INVALID_PARAMS, f"there is no edit {txn!r}", reason="unknown_txn")
        return entry

    # ---- the session asks ------------------------------------------------------------------------------

    async def ask(self, stream: Stream, question: Question, *, turn: TurnId) -> Answer:
        """Show the question's proposal and wait. Cancelling the wait withdraws it; who cancels says what it is then."""
        entry = self.open(stream.session, question, turn)
        self._show(stream, entry)
        try:
            await entry.decided.wait()
        except anyio.get_cancelled_exc_class():
            self.withdraw(entry)
            raise
        return entry.answer or Answer("reject")

    def open(self, session: SessionId, question: Question, turn: TurnId | None = None) -> ShownEdit:
        """An edit that can be decided on from now on, however the client is asked."""
        if question.proposal is None:
            raise ValueError("the question has no proposal")
        appearance = Appearance(question.call_id, turn, "ask")
        entry = self._remember(ShownEdit(session, question.proposal, question, appearance))
        self.moved()
        return entry

    def withdraw(self, entry: ShownEdit) -> bool:
        """Nobody waits for the decision any more; whether it was still open."""
        if entry.answer is not None:
            return False
        entry.settle(Answer("cancelled"))
        entry.state = "rejected"
        self.moved()
        return True

    def changed(self, stream: Stream, event: EditChanged, call_id: str) -> None:
        """An edit moved on; one that was not gated is shown now, for review."""
        if not stream.follows_edits:
            return  # nobody can ask for its texts
        entry = self._entries.get(event.proposal.txn)
        if entry is None:
            staged = event.state == "proposed"
            appearance = Appearance(call_id, event.turn, "staged" if staged else "applied")
            entry = self._remember(ShownEdit(stream.session, event.proposal, appearance=appearance))
            entry.answer = Answer("allow_once", by="policy")
            if staged or not event.gated:
                self._show(stream, entry)
            if staged:
                return
        self._tell(stream, entry, event)

    # ---- the client decides ----------------------------------------------------------------------------

    def resolve(
        self,
        txn: str,
        revision: int,
        verdicts: list[Verdict],
        *,
        remember: Scope,
        feedback: str | None,
    ) -> Json:
        """Take decisions; all of them or, when one makes no sense, none. Answers at once, before anything is applied.

        Raises:
            RpcError: `unknown_txn`, `already_decided`.
            StaleRevision: the decisions were made on an older revision.
            ClientMistake: a decision names what is not in the proposal.
        """
        entry = self._undecided(txn)
        if revision != entry.revision:
            raise StaleRevision(
                f"edit {txn!r} is at revision {entry.revision} now", revision=entry.revision
            )
        if entry.question is not None and remember not in entry.question.scopes:
            raise ClientMistake(f"remember must be one of {', '.join(entry.question.scopes)}")
        entry.verdicts.add(verdicts)
        state = self._weigh(entry, remember, feedback)
        return {"txn": txn, "revision": entry.revision, "state": state}

    async def keep_decisions(self, txn: str) -> None:
        """Write down what was decided so far of an edit, while something is undecided."""
        entry = self.find(txn)
        if entry.answer is None:
            await self.keep(entry.session, txn, entry.verdicts.parts)

    def finish(self, entry: ShownEdit, *, accept: bool) -> None:
        """Decide everything of an edit that is still undecided; nothing when nothing is."""
        if entry.answer is None:
            entry.verdicts.add_rest(accept=accept)
            self._weigh(entry, "once", None)

    def shown(self, txn: str) -> Json:
        """The whole proposal as it is now, the params of `edit/proposed`.

        Raises:
            RpcError: `unknown_txn`.
        """
        return self.find(txn).shown

    def content(self, txn: str, uri: str, side: str) -> str | None:
        """One whole text of a change; None where that side does not exist."""
        change = self.find(txn).file(uri)
        return change.base_text if side == "base" else change.new_text

    def revision(self, txn: str) -> int | None:
        """The last one that the client was told; None for an edit it has not heard of."""
        entry = self._entries.get(txn)
        return None if entry is None else entry.revision

    def recall(
        self,
        stream: Stream,
        left_open: Sequence[EditChanged],
        take_up: Callable[[Proposal, Answer], None],
    ) -> tuple[FollowUp, ...]:
        """What became of edits that a dead process had left open, to be sent behind the answer to a load.

        Those that were abandoned can still be decided; `take_up` hears it.
        """
        if not stream.capabilities.edit_proposed:
            return ()
        return tuple(self._recalled(stream, event, take_up) for event in left_open)

    def forget(self, session: SessionId) -> None:
        """The session is not open any more: none of its edits can be decided, looked at or taken up."""
        gone = [txn for txn, entry in self._entries.items() if entry.session == session]
        for txn in gone:
            del self._entries[txn]
        if gone:
            self.moved()

    # ---- inside ------------------------------------------------------------------------------------------

    def _weigh(self, entry: ShownEdit, remember: Scope, feedback: str | None) -> Decided:
        """After more was said."""
        state = entry.weigh(remember, feedback)
        self.moved()
        return state

    def _undecided(self, txn: str) -> ShownEdit:
        entry = self.find(txn)
        if entry.answer is not None:
            raise RpcError(
                INVALID_PARAMS, f"edit {txn!r} is decided already", reason="already_decided"
            )
        return entry

    def _remember(self, entry: ShownEdit) -> ShownEdit:
        self._entries[entry.proposal.txn] = entry
        decided = [txn for txn, old in self._entries.items() if old.answer is not None]
        for txn in decided[: max(0, len(decided) - KEPT)]:
            del self._entries[txn]
        return entry

    def _show(self, stream: Stream, entry: ShownEdit) -> None:
        if stream.capabilities.edit_proposed:
            stream.own("edit/proposed", entry.shown)

    def _state(self, stream: Stream, entry: ShownEdit, event: EditChanged) -> Json:
        return edits.edit_state(
            stream.session, event, revision=entry.revision, version_of=self._version_of
        )

    def _tell(self, stream: Stream, entry: ShownEdit, event: EditChanged) -> None:
        entry.state = event.state
        entry.revision = max(entry.revision + 1, event.proposal.revision)
        self.moved()
        if not stream.capabilities.edit_proposed:
            return
        stream.own("edit/state", self._state(stream, entry, event))

    def _recalled(
        self, stream: Stream, event: EditChanged, take_up: Callable[[Proposal, Answer], None]
    ) -> FollowUp:
        call_id = "" if event.key is None else str(event.key)
        appearance = Appearance(call_id, event.turn or None, "ask")
        entry = self._remember(ShownEdit(stream.session, event.proposal, appearance=appearance))
        if event.state == "abandoned":
            entry.take_up = partial(take_up, event.proposal)
            entry.verdicts.restore(event.decided)
        else:
            entry.answer = Answer("reject", by="the server stopped")
        entry.state = event.state
        state = self._state(stream, entry, event)
        return stream.own_follow_up("edit/state", state)


async def _keep_nothing(session: SessionId, txn: str, decisions: Sequence[PartDecision]) -> None:
    """For a client whose decisions nobody keeps."""
    del session, txn, decisions
