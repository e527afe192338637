"""The gate of edits for clients that show proposals themselves: `edit/proposed` out, `edit/resolve` in (protocol.md).

One per connection. The server decides, the client only shows: decisions accumulate here until nothing is left
undecided, then the answer goes to whoever waits in `ask`. Holds the revision of every edit and, for `edit/content`,
the texts of those that are open or were decided last.
"""

from collections import OrderedDict
from collections.abc import Sequence

import anyio

from agent_server.front.blocks import Json
from agent_server.front.render import edits
from agent_server.front.rpc.dispatch import FollowUp
from agent_server.front.rpc.errors import INVALID_PARAMS, RpcError
from agent_server.front.stream import Stream
from agent_server.front.uris import path_of
from agent_server.front.verdicts import Verdict, Verdicts
from agent_server.loop.action import Answer, AnswerKind, Question, Scope
from agent_server.loop.errors import ClientMistake, StaleRevision
from agent_server.loop.events import EditChanged
from agent_server.loop.model import TurnId
from agent_server.loop.proposal import FileChange, Proposal

KEPT = 32
"""Decided proposals whose texts can still be fetched: a client may look at a diff right after deciding it."""

_ANSWERS: dict[Scope, AnswerKind] = {
    "once": "allow_once",
    "session": "allow_session",
    "workspace": "allow_workspace",
}


class Entry:
    """One edit as the client knows it."""

    def __init__(self, proposal: Proposal, question: Question | None) -> None:
        self.proposal = proposal
        self.revision = proposal.revision
        self.question = question
        """None: applied without one, shown for review."""
        self.verdicts = Verdicts(proposal)
        self.answer: Answer | None = None
        """Set once; afterwards nothing can be decided any more."""
        self.decided = anyio.Event()


class Proposals:
    """Every edit that this client was shown."""

    def __init__(self) -> None:
        self._entries: OrderedDict[str, Entry] = OrderedDict()
        """By txn, oldest first."""

    @property
    def undecided(self) -> tuple[tuple[str, int], ...]:
        """Txn and revision of every edit that waits for the client, oldest first."""
        return tuple((txn, e.revision) for txn, e in self._entries.items() if e.answer is None)

    # ---- the session asks ------------------------------------------------------------------------------

    async def ask(self, stream: Stream, question: Question, *, turn: TurnId) -> Answer:
        """Show the question's proposal and wait. Cancelling the wait rejects it and says so."""
        if question.proposal is None:
            raise ValueError("the question has no proposal")
        entry = self._remember(Entry(question.proposal, question))
        self._show(stream, entry, call_id=question.call_id, turn=turn, review="ask")
        try:
            await entry.decided.wait()
        except anyio.get_cancelled_exc_class():
            if entry.answer is None:
                entry.answer = Answer("cancelled")
                entry.verdicts.add([Verdict(accept=False)])
                self._tell(stream, entry, EditChanged(turn, entry.proposal, "rejected"))
            raise
        return entry.answer or Answer("reject")

    def changed(self, stream: Stream, event: EditChanged, call_id: str) -> None:
        """An edit moved on; one that was not gated is shown now, for review."""
        entry = self._entries.get(event.proposal.txn)
        if entry is None:
            entry = self._remember(Entry(event.proposal, None))
            entry.answer = Answer("allow_once", by="policy")
            if not event.gated:
                self._show(stream, entry, call_id=call_id, turn=event.turn, review="applied")
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
        entry.revision += 1
        state = entry.verdicts.state
        if state != "proposed":
            kind = _ANSWERS[remember] if state == "approved" else "reject"
            resolution = entry.verdicts.resolution() if state == "approved" else None
            entry.answer = Answer(kind, resolution, feedback)
            entry.decided.set()
        return {"txn": txn, "revision": entry.revision, "state": state}

    def content(self, txn: str, uri: str, side: str) -> str | None:
        """One whole text of a change; None where that side does not exist."""
        change = _file(self._known(txn).proposal, uri)
        return change.base_text if side == "base" else change.new_text

    def revision(self, txn: str) -> int | None:
        """The last one that the client was told; None for an edit it has not heard of."""
        entry = self._entries.get(txn)
        return None if entry is None else entry.revision

    def recall(self, stream: Stream, left_open: Sequence[EditChanged]) -> tuple[FollowUp, ...]:
        """What became of edits that a dead process had left open, to be sent behind the answer to a load."""
        if not stream.capabilities.edit_proposed:
            return ()
        return tuple(self._recalled(stream, event) for event in left_open)

    # ---- inside ------------------------------------------------------------------------------------------

    def _undecided(self, txn: str) -> Entry:
        entry = self._known(txn)
        if entry.answer is not None:
            raise RpcError(
                INVALID_PARAMS, f"edit {txn!r} is decided already", reason="already_decided"
            )
        return entry

    def _known(self, txn: str) -> Entry:
        entry = self._entries.get(txn)
        if entry is None:
            raise RpcError(INVALID_PARAMS, f"there is no edit {txn!r}", reason="unknown_txn")
        return entry

    def _remember(self, entry: Entry) -> Entry:
        self._entries[entry.proposal.txn] = entry
        decided = [txn for txn, old in self._entries.items() if old.answer is not None]
        for txn in decided[: max(0, len(decided) - KEPT)]:
            del self._entries[txn]
        return entry

    def _show(
        self, stream: Stream, entry: Entry, *, call_id: str, turn: str | None, review: edits.Review
    ) -> None:
        question = entry.question
        stream.own(
            "edit/proposed",
            edits.proposed(
                stream.session,
                entry.proposal,
                call_id=call_id,
                turn=turn,
                revision=entry.revision,
                review=review,
                reason=(question.decision.reason or None) if question else None,
                scopes=question.scopes if question else ("once",),
            ),
        )

    def _tell(self, stream: Stream, entry: Entry, event: EditChanged) -> None:
        entry.revision = max(entry.revision + 1, event.proposal.revision)
        stream.own("edit/state", edits.edit_state(stream.session, event, revision=entry.revision))

    def _recalled(self, stream: Stream, event: EditChanged) -> FollowUp:
        entry = self._remember(Entry(event.proposal, None))
        entry.answer = Answer("reject", by="the server stopped")
        state = edits.edit_state(stream.session, event, revision=entry.revision)
        return stream.own_follow_up("edit/state", state)


def _file(proposal: Proposal, uri: str) -> FileChange:
    path = path_of(uri)
    for change in proposal.files:
        if change.path == path:
            return change
    raise ClientMistake(f"edit {proposal.txn!r} does not change {uri}")
