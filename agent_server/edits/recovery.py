"""After a crash: what stands of a transaction that was being applied, told by content; and what becomes of the others.

All files new: `applied`. All old: `abandoned`. Some new, the rest old: the new ones are taken back, exactly ours by
hash, then `abandoned`. Anything else: `conflict`, and nothing is touched. Running it twice is running it once.
"""

from collections.abc import Callable

from anyio import to_thread

from agent_server.edits.apply import Terms, apply
from agent_server.edits.checkpoint_targets import Seen, changes_to, target
from agent_server.edits.journal import Cause, FileRecord, Transaction
from agent_server.edits.proposal import new_proposal
from agent_server.edits.recovery_files import Found, clear, compare
from agent_server.edits.transaction import Transactions
from agent_server.edits.transaction_states import PENDING, UNSETTLED
from agent_server.frozen import frozen
from agent_server.loop.model import CallKey
from agent_server.loop.proposal import EditState, accept_all

IsAnswered = Callable[[CallKey], bool]
"""Whether the log has a result for a call."""


@frozen
class Recovered:
    """A transaction that a dead process had left open."""

    transaction: Transaction
    """As it is now."""
    was: EditState
    files: tuple[FileRecord, ...]
    """Those it had been about."""
    found: tuple[tuple[str, Found], ...] = ()
    """What each path has, where that had to be looked at."""
    taken_back: bool = False
    """Some files had been changed already and were put back."""


async def recover(transactions: Transactions, answered: IsAnswered) -> tuple[Recovered, ...]:
    """Bring every transaction to rest. Nothing of this session may be running.

    Raises:
        StoreFailure: the journal could not be read or kept.
    """
    recovered: list[Recovered] = []
    known = await transactions.all()
    for place, transaction in enumerate(known):
        if transaction.state in UNSETTLED:
            recovered.append(await settle(transactions, transaction))
        elif transaction.state in PENDING and not _is_refused(transaction, answered):
            waits = not any(_reviews(later) for later in known[place + 1 :])
            now = await transactions.move(transaction.txn, "abandoned", waits=waits)
            recovered.append(Recovered(now, transaction.state, transaction.files))
    await tidy(transactions, answered)
    return tuple(recovered)


async def waiting(transactions: Transactions) -> tuple[Transaction, ...]:
    """Those that were left open and that the user may still decide.

    Raises:
        StoreFailure: the journal could not be read.
    """
    known = await transactions.all()
    taken_up = {one.cause.of for one in known if one.cause.kind == "call"}
    return tuple(one for one in known if one.waits and one.txn not in taken_up)


async def tidy(transactions: Transactions, answered: IsAnswered) -> None:
    """What follows from the log once calls have their results: refused proposals, and edits that are done with.

    It may run more than once at a time, and while the person takes edits back.

    Raises:
        StoreFailure: the journal could not be read or kept.
    """
    for transaction in await transactions.all():
        if transaction.state in UNSETTLED and _is_refused(transaction, answered):
            await settle(transactions, transaction)  # a call that ended in the middle, by a defect
        elif transaction.state in PENDING and _is_refused(transaction, answered):
            await transactions.move(transaction.txn, "rejected", since=transaction.state)
        elif transaction.state == "applied" and _is_done_with(transaction, answered):
            await transactions.move(transaction.txn, "committed", since=transaction.state)


async def settle(transactions: Transactions, transaction: Transaction) -> Recovered:
    """Find out what stands of a transaction that was being applied, and make it all or nothing."""
    seen = Seen(transactions.documents)
    found: list[tuple[str, Found]] = [
        (touch.path, await compare(seen, transactions.blobs, file, touch))
        for file in transaction.files
        for touch in file.touches
    ]
    kinds = {what for _, what in found}
    state: EditState = "conflict"
    taken_back = False
    if kinds <= {"new"}:
        state = "applied"
    elif kinds <= {"old"}:
        state = "abandoned"
    elif "other" not in kinds:
        taken_back = await _take_back(transactions, seen, transaction, found)
        state = "abandoned" if taken_back else "conflict"
    if state != "conflict":
        await to_thread.run_sync(clear, transaction.files, transactions.blobs, state == "abandoned")
    standing = _standing(transaction.files, found) if state != "abandoned" else ()
    now = await transactions.move(
        transaction.txn, state, files=standing, message=_message(state, found, taken_back),
        since=transaction.state,
    )  # fmt: skip
    return Recovered(now, transaction.state, transaction.files, tuple(found), taken_back)


async def _take_back(
    transactions: Transactions,
    seen: Seen,
    transaction: Transaction,
    found: list[tuple[str, Found]],
) -> bool:
    """Put back what is new, and only that; whether all of it is old now."""
    ours = {path for path, what in found if what != "old"}
    before = {t.path: t.before for f in transaction.files for t in f.touches if t.path in ours}
    targets = {
        path: await to_thread.run_sync(target, content, transactions.blobs)
        for path, content in before.items()
    }
    changes = await changes_to(seen, targets)
    if changes.left or not changes.changes:
        return False
    proposal = new_proposal(*changes.changes)
    title = f"take back {transaction.cause.title}"
    terms = Terms(title, author="person", forms=changes.forms)
    outcomes = await apply(transactions.documents, proposal, accept_all(proposal), terms)
    return all(outcome.state == "applied" for outcome in outcomes)


def _reviews(transaction: Transaction) -> bool:
    """Whether it is an open review of a turn: what was staged before is part of it."""
    cause = transaction.cause
    return transaction.state in PENDING and cause == Cause("call", cause.title)


def _is_refused(transaction: Transaction, answered: IsAnswered) -> bool:
    """Whether its call has a result, so that it will never be applied any more."""
    return transaction.cause.call is not None and answered(transaction.cause.call)


def _is_done_with(transaction: Transaction, answered: IsAnswered) -> bool:
    """Whether nothing of it awaits review: the person was asked, and has heard how it went."""
    return transaction.gated and (
        transaction.cause.call is None or answered(transaction.cause.call)
    )


def _standing(
    files: tuple[FileRecord, ...], found: list[tuple[str, Found]]
) -> tuple[FileRecord, ...]:
    new = {path for path, what in found if what == "new"}
    return tuple(file for file in files if all(touch.path in new for touch in file.touches))


def _message(state: EditState, found: list[tuple[str, Found]], taken_back: bool) -> str | None:
    if state == "conflict":
        return "interrupted; " + "; ".join(f"{path} {_WORDS[what]}" for path, what in found)
    return "interrupted, and what had been changed was taken back" if taken_back else None


_WORDS: dict[Found, str] = {
    "new": "has the new text",
    "old": "has the old text",
    "between": "is half changed",
    "other": "has neither the old nor the new text",
}
