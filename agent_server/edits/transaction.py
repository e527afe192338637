"""The transactions of one session: every change of files goes through here, and is in the journal before it is made.

This module writes the journal's lines in order and knows the state that they add up to. `apply.py` makes the changes,
`transaction_states.py` says which state may follow which, and `recovery.py` finds out what a crash left behind.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import field, replace
from datetime import UTC, datetime
from typing import Literal

import anyio
from anyio import to_thread

from agent_server.edits import transaction_record as record
from agent_server.edits.apply import Terms, apply
from agent_server.edits.decided import decided
from agent_server.edits.documents import Documents
from agent_server.edits.files import Form, exists, read_bytes, real_path
from agent_server.edits.fit import Fitted
from agent_server.edits.hashes import bytes_hash
from agent_server.edits.journal import (
    Blobs,
    Cause,
    EditJournal,
    FileRecord,
    Line,
    Transaction,
    fold,
    grown,
)
from agent_server.edits.outcome import FileOutcome
from agent_server.edits.transaction_lease import Leases
from agent_server.edits.transaction_states import check, state_of
from agent_server.frozen import frozen, mutable
from agent_server.loop.errors import EditRefused, NothingDone, StoreFailure
from agent_server.loop.model import CallKey, SessionId, TurnId
from agent_server.loop.proposal import EditState, FileChange, PartDecision, Proposal, Resolution


@frozen
class Approval:
    """Who said yes, and what was approved besides the texts."""

    turn: TurnId | None = None
    gated: bool = False
    """The person was asked about this very edit."""
    author: Literal["model", "person"] = "model"
    """Whose texts they are: see `apply.Terms`."""
    forms: Mapping[str, Form] = field(default_factory=dict[str, Form])


@frozen
class Applied:
    """How applying ended."""

    state: EditState
    revision: int
    outcomes: tuple[FileOutcome, ...]
    """One per file of the proposal, in its order."""


@frozen
class OnBehalf:
    """Whose edits those of a sub-agent are: the call that sent it, in the turn of the person's prompt."""

    turn: TurnId
    call: CallKey
    agent: SessionId
    """Its own session."""


@mutable
class _Kept:
    """The journal as far as it is known; one for a session and its sub-agents."""

    journal: EditJournal
    known: dict[str, Transaction] | None = None
    length: int = 0
    writing: anyio.Lock = field(default_factory=anyio.Lock)


class Transactions:
    """See the module. Nothing is read before the first use."""

    def __init__(
        self,
        documents: Documents,
        journal: EditJournal,
        blobs: Blobs,
        leases: Leases,
        *,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        """`leases` are shared by all sessions of the process."""
        self.documents = documents
        self.blobs = blobs
        self._leases = leases
        self._clock = clock or _now
        self._kept = _Kept(journal)
        self._behalf: OnBehalf | None = None

    def lent(self, documents: Documents, behalf: OnBehalf) -> "Transactions":
        """The same transactions for a sub-agent, whose model knows what it has read itself.

        A sub-agent of a sub-agent also works for the call and the turn in which the first one was sent.
        """
        lent = copy(self)
        lent.documents = documents
        first = self._behalf
        lent._behalf = behalf if first is None else replace(first, agent=behalf.agent)  # noqa: SLF001  of this class
        return lent

    # ---- what there is -----------------------------------------------------------------------------------------

    async def all(self) -> tuple[Transaction, ...]:
        """Every transaction, in the order in which they were proposed.

        Raises:
            StoreFailure: the journal cannot be read.
        """
        return tuple((await self._load()).values())

    async def find(self, txn: str) -> Transaction | None:
        """The transaction with that id; None when there is none."""
        return (await self._load()).get(txn)

    # ---- what happens to one -----------------------------------------------------------------------------------

    async def propose(self, proposal: Proposal, cause: Cause) -> None:
        """Write down what is asked for: from now on it can be looked at after a crash.

        Raises:
            StoreFailure: it was not kept.
        """
        files = await to_thread.run_sync(
            lambda: tuple(record.asked(change, self.blobs) for change in proposal.files)
        )
        if self._behalf is not None:
            cause = replace(cause, call=self._behalf.call, agent=self._behalf.agent)
        await self.move(proposal.txn, "proposed", files=files, cause=cause)

    async def keep_decisions(self, txn: str, decisions: Sequence[PartDecision]) -> None:
        """Write down what was decided so far, while something is undecided; nothing when nobody is asked any more.

        Raises:
            StoreFailure: it was not kept.
        """
        transaction = await self.find(txn)
        if transaction is None or not (transaction.state == "proposed" or transaction.waits):
            return
        kept = await to_thread.run_sync(record.kept, decisions, self.blobs)
        line = Line(
            txn, 0, transaction.state, self._clock(), decisions=kept, waits=transaction.waits
        )
        await self.write(line, since=transaction.state)

    async def apply(
        self, proposal: Proposal, resolution: Resolution, approval: Approval
    ) -> Applied:
        """Make the accepted part of a proposal real, as `apply.apply` does, and write down how it went.

        Raises:
            NothingDone: the journal could not be kept, and nothing was changed.
            StoreFailure: the same later on; `recovery` finds out what stands.
        """
        if self._behalf is not None:
            approval = replace(approval, turn=self._behalf.turn)
        wanted = {p: c for p, c in decided(proposal, resolution).items() if c is not None}
        keeper = _Keeper(self, proposal.txn, approval)
        transaction = await self.find(proposal.txn)
        title = proposal.txn if transaction is None else transaction.cause.title
        terms = Terms(title, keeper, approval.author, approval.forms)
        paths = [path for c in wanted.values() for path in (c.path, c.old_path) if path]
        state: EditState = "proposed"
        async with self._leases.hold(paths):
            try:
                outcomes = await apply(self.documents, proposal, resolution, terms)
            except StoreFailure as failure:
                if keeper.begun:
                    raise
                raise NothingDone(str(failure)) from failure
            with anyio.CancelScope(shield=True):
                state, outcomes = await self._end(keeper, wanted, outcomes)
        return Applied(state, (await self._load())[proposal.txn].revision, outcomes)

    async def move(
        self,
        txn: str,
        state: EditState,
        *,
        files: tuple[FileRecord, ...] | None = None,
        message: str | None = None,
        cause: Cause | None = None,
        since: EditState | None = None,
        waits: bool = False,
    ) -> Transaction:
        """Write down one change of state and give the transaction as it is then; with `since`, only from that state.

        Raises:
            StoreFailure: it was not kept.
        """
        line = Line(
            txn, 0, state, self._clock(), files=files, message=message, cause=cause, waits=waits
        )
        await self.write(line, since=since)
        return (await self._load())[txn]

    async def write(self, *lines: Line, since: EditState | None = None) -> None:
        """Append lines of one transaction in one commit. Their `revision` is filled in here.

        With `since` nothing is written when its state is another one by now.

        Raises:
            StoreFailure: none was kept.
        """
        known, kept = await self._load(), self._kept
        async with kept.writing:
            transaction = known.get(lines[0].txn)
            if since is not None and (transaction is None or transaction.state != since):
                return
            numbered: list[Line] = []
            for line in lines:
                check(None if transaction is None else transaction.state, line.state)
                numbered.append(replace(line, revision=_revision(transaction, line.state)))
                position = kept.length + len(numbered) - 1
                transaction = grown(transaction, numbered[-1], position)
            await kept.journal.append(*numbered)
            kept.length += len(numbered)
            if transaction is not None:
                known[transaction.txn] = transaction

    def now(self) -> datetime:
        """The journal's time."""
        return self._clock()

    # ---- inside ------------------------------------------------------------------------------------------------

    async def _load(self) -> dict[str, Transaction]:
        kept = self._kept
        async with kept.writing:
            if kept.known is None:
                lines = await kept.journal.read()
                kept.known, kept.length = fold(lines), len(lines)
            return kept.known

    async def _end(
        self,
        keeper: "_Keeper",
        wanted: Mapping[str, FileChange],
        outcomes: tuple[FileOutcome, ...],
    ) -> tuple[EditState, tuple[FileOutcome, ...]]:
        """Write down what it came to; the outcomes with a word about what was changed again since."""
        if not wanted:
            await self.move(keeper.txn, "rejected")
            return "rejected", outcomes
        accepted = [outcome for outcome in outcomes if outcome.path in wanted]
        state = state_of(accepted, together=keeper.approval.author == "person")
        if not keeper.begun:
            await self.write(keeper.approved())
        elif state == "applied":
            await self.move(keeper.txn, "verifying")
            outcomes = await self._proved(outcomes, keeper.files)
        standing = await to_thread.run_sync(record.standing, keeper.files, outcomes, self.blobs)
        await self.move(keeper.txn, state, files=standing, message=_why(outcomes))
        return state, outcomes

    async def _proved(
        self, outcomes: tuple[FileOutcome, ...], files: Sequence[FileRecord]
    ) -> tuple[FileOutcome, ...]:
        """With a word about every file on disk that is not, or no longer, as we made it."""
        changed = {f.path for f in files if not await to_thread.run_sync(_is_as_made, f)}
        return tuple(
            replace(o, message=f"{o.path} was changed again right after; read it before editing it")
            if o.change is not None and o.change.path in changed
            else o
            for o in outcomes
        )


class _Keeper:
    """Writes `approved` and `applying` into the journal, in one commit, before `apply` changes anything."""

    def __init__(self, transactions: Transactions, txn: str, approval: Approval) -> None:
        self.txn = txn
        self.files: tuple[FileRecord, ...] = ()
        self.begun = False
        self._transactions = transactions
        self.approval = approval

    async def about_to(self, fitted: Sequence[Fitted]) -> None:
        """See `apply.Witness`."""
        blobs, forms = self._transactions.blobs, self.approval.forms
        files = await to_thread.run_sync(
            lambda: record.changes_something([record.about_to(f, blobs, forms) for f in fitted])
        )
        applying = Line(self.txn, 0, "applying", self._transactions.now(), files=files)
        first = () if self.begun else (self.approved(),)
        await self._transactions.write(*first, applying)
        self.begun, self.files = True, files

    def approved(self) -> Line:
        """That somebody, or a mode, said yes."""
        approval = self.approval
        return Line(
            self.txn, 0, "approved", self._transactions.now(),
            turn=approval.turn, gated=approval.gated,
        )  # fmt: skip


def _now() -> datetime:
    """In whole milliseconds, as it is kept."""
    now = datetime.now(UTC)
    return now.replace(microsecond=now.microsecond // 1000 * 1000)


def _revision(transaction: Transaction | None, state: EditState) -> int:
    """One more with every change that a client is told of."""
    if transaction is None:
        return 1
    return transaction.revision + (state != "committed")


def _why(outcomes: Sequence[FileOutcome]) -> str | None:
    """The first sentence that says why something does not stand, else the first that says anything."""
    said = [o for o in outcomes if o.message is not None and o.state != "declined"]
    culprits = [o.message for o in said if o.state != "applied"]
    return next(iter((*culprits, *(o.message for o in said))), None)


def _is_as_made(file: FileRecord) -> bool:
    """Blocking; looks at the bytes. True where that is the editor's to prove."""
    if file.after is None:
        return not exists(file.path)
    if file.after.digest is None:
        return True
    try:
        data, _ = read_bytes(real_path(file.path))
    except (OSError, EditRefused):
        return False
    return bytes_hash(data) == file.after.digest
