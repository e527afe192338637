"""The files a session changed, as a client asks about them: checkpoints, going back, and what a crash had left open."""

from collections.abc import Sequence
from dataclasses import replace
from os.path import relpath

from anyio import to_thread

from agent_server.edits.checkpoint import Checkpoint, checkpoints
from agent_server.edits.journal import Transaction
from agent_server.edits.outside import listed
from agent_server.edits.recovery import recover, tidy
from agent_server.edits.transaction import Transactions
from agent_server.edits.transaction_record import proposal_of
from agent_server.edits.transaction_states import IN_FORCE
from agent_server.edits.undo import ALL, Part
from agent_server.edits.undo_run import Rewound, look, restore, revert, undo_last
from agent_server.loop.errors import (
    ClientMistake,
    SessionBusy,
    StaleRevision,
    StoreFailure,
)
from agent_server.loop.events import EditChanged, Notice
from agent_server.loop.model import (
    AsideEntry,
    CallKey,
    ResultEntry,
    StartedEntry,
    TurnEndEntry,
    TurnId,
)
from agent_server.loop.proposal import HunkState, PartDecision, Proposal
from agent_server.session.edits_reopened import Reopened, reopened
from agent_server.session.places import not_covered
from agent_server.session.session import Session
from agent_server.tools.told import STAGED


class SessionEdits:
    """What can be asked about one session's edits."""

    def __init__(self, session: Session) -> None:
        """Nothing is read yet."""
        self._session = session

    async def find(self, txn: str) -> Transaction | None:
        """The session's transaction of that name."""
        transactions = await self._transactions()
        return None if transactions is None else await transactions.find(txn)

    async def checkpoints(self) -> tuple[Checkpoint, ...]:
        """Oldest first.

        Raises:
            StoreFailure: the journal cannot be read.
        """
        transactions = await self._transactions()
        return () if transactions is None else checkpoints(await transactions.all())

    async def look(self, checkpoint: Checkpoint | str, *, others: bool = False) -> Rewound:
        """What restoring would do; changes nothing.

        Raises:
            ClientMistake: there is no such checkpoint.
            StoreFailure: the journal cannot be read.
        """
        return await look(await self._changing(), checkpoint, others=others)

    async def restore(self, checkpoint: Checkpoint | str, *, others: bool = False) -> Rewound:
        """Take files back to a checkpoint; only between turns.

        Raises:
            ClientMistake: there is no such checkpoint.
            EditRefused: `turn_running`.
            SessionBusy: another process holds the session.
            StoreFailure: the journal could not be kept.
        """
        async with self._session.at_rest("restore"):
            return await self.take_back(checkpoint, others=others)

    async def take_back(
        self, checkpoint: Checkpoint | str, *, others: bool, note: str | None = None
    ) -> Rewound:
        """The same, while the session is at rest already. `note` is told to the model beside it."""
        transactions = await self._changing()
        rewound = await restore(transactions, checkpoint, others=others)
        await self._tell(transactions, rewound, TurnId(""))
        await self._say(rewound, "set files back to how they were earlier", note)
        return rewound

    async def revert(self, txn: str, revision: int | None = None, part: Part = ALL) -> Rewound:
        """Take back what is left of an edit, or of a part of it; also while a turn runs.

        Raises:
            ClientMistake: there is no such edit, or part of it.
            StaleRevision: it changed since `revision`.
            EditRefused: `not_applied`.
            SessionBusy: another process holds the session.
            StoreFailure: the journal could not be kept.
        """
        transactions = await self._changing()
        transaction = await transactions.find(txn)
        if transaction is not None and revision is not None and revision < transaction.revision:
            raise StaleRevision(
                f"edit {txn!r} is at revision {transaction.revision} now",
                revision=transaction.revision,
            )
        rewound = await revert(transactions, txn, part)
        await self._tell_of(transactions, txn, rewound, part)
        some = part != ALL or bool(rewound.left)
        await self._say(rewound, "took back a part of an edit" if some else "took back an edit")
        return rewound

    async def undo(self, *, turn: bool = False) -> Rewound:
        """Take back the last edit, or with `turn` all edits of its turn.

        Raises:
            EditRefused: `not_applied`; there is none.
            SessionBusy: another process holds the session.
            StoreFailure: the journal could not be kept.
        """
        transactions = await self._changing()
        rewound = await undo_last(transactions, turn=turn)
        await self._tell(transactions, rewound, TurnId(""))
        some = "what could be taken back of " if rewound.left else ""
        what = f"took back {some}the {'edits of the last turn' if turn else 'last edit'}"
        await self._say(rewound, what, self.not_covered(rewound))
        return rewound

    def not_covered(self, rewound: Rewound) -> str | None:
        """For the person: that what commands did since that turn began stays; None where none ran."""
        entries = self._session.entries
        at = next((i for i, e in enumerate(entries) if e.turn == rewound.turn), len(entries))
        return not_covered(entries, at, self._session.tools)

    async def keep_decisions(self, txn: str, decisions: Sequence[PartDecision]) -> None:
        """Write down what the user decided so far of an edit that still waits for the rest.

        Raises:
            StoreFailure: it was not kept.
        """
        transactions = await self._transactions()
        if transactions is not None and self._session.read_only is None:
            await transactions.keep_decisions(txn, decisions)

    async def tidy(self) -> None:
        """At the end of a turn: refused proposals become `rejected`, edits that are done with `committed`."""
        transactions = await self._transactions()
        if transactions is not None and self._session.read_only is None:
            await tidy(transactions, self._answered)

    async def reopen(self, cause: str) -> Reopened:
        """After the session was loaded, before its log is brought to rest: what stands of the edits left open.

        `cause` says why they were.
        """
        transactions = await self._transactions()
        if transactions is None:
            return Reopened()
        started = {e.key for e in self._session.entries if isinstance(e, StartedEntry)}
        try:
            found = await recover(transactions, self._answered)
            await self._say_untold(transactions)
            return await reopened(transactions, found, cause=cause, started=started)
        except StoreFailure as failure:
            # The conversation can be read and gone on with all the same; every edit will say what is wrong.
            notice = Notice("error", "The journal of edits cannot be used", str(failure))
            return Reopened((notice,))

    # ---- inside ------------------------------------------------------------------------------------------

    async def _say_untold(self, transactions: Transactions) -> None:
        """The process died between taking files back and keeping that the model has to hear of it."""
        times = await self._session.log.times()
        told = {e.about for e in self._session.entries if isinstance(e, AsideEntry)}
        for one in await transactions.all():
            if one.cause.kind == "call" or one.state not in IN_FORCE or one.txn in told:
                continue
            if one.begun_at is not None and (not times or one.begun_at >= times[-1]):
                names = listed(_relative([file.path for file in one.files], self._session.cwd))
                sentence = f"(The person took files back: {names}. They are as they were earlier.)"
                await self._session.say_aside(sentence, about=one.txn)

    async def _transactions(self) -> Transactions | None:
        kit, _ = await self._session.ready()
        return kit.transactions

    async def _changing(self) -> Transactions:
        if self._session.read_only is not None:
            raise SessionBusy(self._session.read_only)
        transactions = await self._transactions()
        if transactions is None:
            raise ClientMistake(f"session {self._session.id!r} changes no files")
        return transactions

    def _answered(self, call: CallKey) -> bool:
        """Whether the call has a result that says what became of its edit.

        That it was interrupted because the session was closed says nothing: nobody had decided.
        """
        closed: set[TurnId] = set()
        for entry in reversed(self._session.entries):
            if isinstance(entry, TurnEndEntry) and entry.detail == "shutdown":
                closed.add(entry.turn)
            if isinstance(entry, ResultEntry) and entry.key == call:
                open_then = entry.result.code == "interrupted" and entry.turn in closed
                return entry.result.code != STAGED and not open_then
        return False

    async def _tell_of(
        self, transactions: Transactions, txn: str, rewound: Rewound, part: Part
    ) -> None:
        """Of the edit that was taken back, and of the one that takes it back."""
        transaction = await transactions.find(txn)
        if transaction is None:
            return
        turn = transaction.turn or TurnId("")
        await self._tell(transactions, rewound, turn)
        shown = await to_thread.run_sync(proposal_of, transaction, transactions.blobs)
        hunks = _hunks(shown, rewound, part)
        hashes = transaction.hashes
        self._session.emit(EditChanged(turn, shown, transaction.state, hunks, hashes=hashes))

    async def _say(self, rewound: Rewound, what: str, note: str | None = None) -> None:
        """To the model: its own words in the conversation no longer say what is in the files."""
        if rewound.state == "applied" and rewound.changes and rewound.proposal is not None:
            names = _names(rewound, self._session.cwd)
            more = f"; {note}" if note else ""
            about = rewound.proposal.txn
            await self._session.say_aside(f"(The person {what}: {names}{more}.)", about=about)

    async def _tell(self, transactions: Transactions, rewound: Rewound, turn: TurnId) -> None:
        if rewound.proposal is None:
            return
        kept = await transactions.find(rewound.proposal.txn)
        proposal = replace(rewound.proposal, revision=rewound.revision)
        each: HunkState = "applied" if rewound.state == "applied" else "conflict"
        hunks: tuple[tuple[str, str, HunkState], ...] = tuple(
            (f.path, h.id, each) for f in proposal.files for h in f.hunks
        )
        hashes = () if kept is None else kept.hashes
        self._session.emit(EditChanged(turn, proposal, rewound.state, hunks, hashes=hashes))


def _names(rewound: Rewound, cwd: str) -> str:
    return listed(_relative([change.path for change in rewound.changes], cwd))


def _relative(paths: Sequence[str], cwd: str) -> list[str]:
    return [relpath(path, cwd) for path in paths]


def _hunks(
    proposal: Proposal, rewound: Rewound, part: Part
) -> tuple[tuple[str, str, HunkState], ...]:
    """What each hunk of an edit is after a part of it was taken back."""
    stuck = {(left.path, left.hunk) for left in rewound.left}
    hunks: list[tuple[str, str, HunkState]] = []
    for file in proposal.files:
        meant = part.path in (None, file.path, file.old_path)
        for hunk in file.hunks:
            state: HunkState = "applied"
            if meant and part.hunk in (None, hunk.id):
                left = {(file.path, hunk.id), (file.path, None)} & stuck
                state = "conflict" if left else "rejected"
            hunks.append((file.path, hunk.id, state))
    return tuple(hunks)
