"""Going back, done: a restore or a revert as a transaction of its own, which can be undone like any other."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from anyio import to_thread

from agent_server.edits.checkpoint import Checkpoint, checkpoint_id, named, restoring
from agent_server.edits.checkpoint_targets import Changes, Left, Seen, changes_to
from agent_server.edits.disk import remove_folders
from agent_server.edits.journal import Cause, Transaction
from agent_server.edits.proposal import new_proposal
from agent_server.edits.transaction import Approval, Transactions
from agent_server.edits.transaction_states import IN_FORCE
from agent_server.edits.undo import ALL, Part, undoing
from agent_server.frozen import frozen
from agent_server.loop.errors import ClientMistake, EditRefused
from agent_server.loop.model import TurnId
from agent_server.loop.proposal import EditState, FileChange, Proposal, accept_all


@frozen
class Rewound:
    """What came of going back, or what would."""

    changes: tuple[FileChange, ...]
    """Made, or to be made."""
    left: tuple[Left, ...]
    """Not touched, and why."""
    proposal: Proposal | None = None
    """None: nothing was done."""
    state: EditState = "proposed"
    revision: int = 0
    turn: TurnId | None = None
    """The one whose edits were taken back, when it was one's."""

    @property
    def undo(self) -> str | None:
        """The checkpoint that undoes it."""
        if self.proposal is None or self.state != "applied":
            return None
        return checkpoint_id(self.proposal.txn)


async def look(
    transactions: Transactions, checkpoint: Checkpoint | str, *, others: bool
) -> Rewound:
    """What restoring a checkpoint would do; changes nothing.

    Raises:
        ClientMistake: there is no such checkpoint.
        StoreFailure: the journal or a text cannot be read.
    """
    changes = await _to_checkpoint(transactions, checkpoint, others=others)
    return Rewound(changes.changes, changes.left)


async def restore(
    transactions: Transactions, checkpoint: Checkpoint | str, *, others: bool
) -> Rewound:
    """Take every file back to where it was at the checkpoint. `others`: also what somebody else changed since.

    Raises:
        ClientMistake: there is no such checkpoint.
        StoreFailure: the journal could not be kept.
    """
    if not isinstance(checkpoint, Checkpoint):
        checkpoint = named(await transactions.all(), checkpoint)
    changes = await _to_checkpoint(transactions, checkpoint, others=others)
    cause = Cause("restore", _going_back_to(checkpoint), of=checkpoint.id)
    return await _go(transactions, changes, cause)


def _going_back_to(checkpoint: Checkpoint) -> str:
    """As the title of a checkpoint: what comes after it."""
    if checkpoint.turn is not None:
        return f"going back to before {checkpoint.title}"
    for done, instead in (("undoing ", "redoing "), ("redoing ", "undoing ")):
        if checkpoint.title.startswith(done):
            return instead + checkpoint.title.removeprefix(done)
    return f"undoing {checkpoint.title}"


async def revert(transactions: Transactions, txn: str, part: Part = ALL) -> Rewound:
    """Take back what is left of one transaction, or of a part of it.

    Raises:
        ClientMistake: there is no such transaction, or it has no such part.
        EditRefused: `not_applied`; nothing of it stands.
        StoreFailure: the journal could not be kept.
    """
    transaction = await transactions.find(txn)
    if transaction is None:
        raise ClientMistake(f"there is no edit {txn!r}")
    if transaction.state not in IN_FORCE:
        raise EditRefused(
            f"edit {txn!r} is {transaction.state}; there is nothing to take back",
            reason="not_applied",
        )
    cause = Cause("revert", f"revert {transaction.cause.title}", of=txn)
    return await _take_back(transactions, (transaction,), part, cause)


async def undo_last(transactions: Transactions, *, turn: bool = False) -> Rewound:
    """Take back the last transaction in force that a call made, or with `turn` all of its turn.

    Raises:
        EditRefused: `not_applied`; there is none.
        StoreFailure: the journal could not be kept.
    """
    made = [t for t in await transactions.all() if t.state in IN_FORCE and t.cause.kind == "call"]
    if not made:
        raise EditRefused("there is no edit to take back", reason="not_applied")
    last = max(made, key=_begun)
    meant = [t for t in made if t.turn == last.turn] if turn and last.turn else [last]
    newest_first = sorted(meant, key=_begun, reverse=True)
    title = last.cause.title if len(meant) == 1 else f"the last turn, {len(meant)} edits"
    cause = Cause("revert", f"undo {title}", of=last.txn)
    rewound = await _take_back(transactions, newest_first, ALL, cause)
    return replace(rewound, turn=last.turn)


async def _to_checkpoint(
    transactions: Transactions, checkpoint: Checkpoint | str, *, others: bool
) -> Changes:
    seen, known = Seen(transactions.documents), await transactions.all()
    found = checkpoint if isinstance(checkpoint, Checkpoint) else named(known, checkpoint)
    wanted = await restoring(seen, transactions.blobs, known, found.position, others=others)
    changes = await changes_to(seen, wanted.targets)
    return Changes(changes.changes, changes.forms, (*wanted.left, *changes.left))


async def _take_back(
    transactions: Transactions, meant: Sequence[Transaction], part: Part, cause: Cause
) -> Rewound:
    seen = Seen(transactions.documents)
    wanted = await undoing(seen, transactions.blobs, meant, part)
    changes = await changes_to(seen, wanted.targets)
    rewound = await _go(
        transactions,
        Changes(changes.changes, changes.forms, (*wanted.left, *changes.left)),
        cause,
    )
    whole = part == ALL and not rewound.left
    if whole and (rewound.state == "applied" or not rewound.changes):
        for transaction in meant:
            await transactions.move(transaction.txn, "reverted")
    return rewound


async def _go(transactions: Transactions, changes: Changes, cause: Cause) -> Rewound:
    """Make the changes, all or none."""
    if not changes.changes:
        return Rewound((), changes.left)
    proposal = new_proposal(*changes.changes)
    await transactions.propose(proposal, cause)
    applied = await transactions.apply(
        proposal, accept_all(proposal), Approval(None, True, "person", changes.forms)
    )
    if applied.state != "applied":
        failed = [Left(o.path, o.message or o.state) for o in applied.outcomes]
        left = (*changes.left, *failed)
        return Rewound((), left, proposal, applied.state, applied.revision)
    await _remove_empty(transactions, proposal)
    return Rewound(proposal.files, changes.left, proposal, applied.state, applied.revision)


async def _remove_empty(transactions: Transactions, proposal: Proposal) -> None:
    """Folders that we once made for files that are gone now, as far as they are empty."""
    gone = {change.path for change in proposal.files if change.kind == "delete"}
    made = [f for t in await transactions.all() for f in t.files if f.path in gone]
    await to_thread.run_sync(_remove, [f for file in made for f in file.folders])


def _remove(folders: Iterable[str]) -> None:
    ordered = sorted({Path(folder) for folder in folders}, key=lambda folder: len(folder.parts))
    remove_folders(ordered)


def _begun(transaction: Transaction) -> int:
    return -1 if transaction.begun is None else transaction.begun
