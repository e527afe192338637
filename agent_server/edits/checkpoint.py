"""Checkpoints: what a turn can be rewound to, read from the journal (decision 3). What commands change is not covered.

A checkpoint is a position: every file that was touched from there on, as it was before the first touch. A turn that
changed files has one, and so has a restore and a revert, which makes them undoable.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import pairwise

from anyio import to_thread

from agent_server.edits.checkpoint_targets import Left, Seen, Target, is_same, target
from agent_server.edits.journal import Blobs, Content, Touch, Transaction
from agent_server.frozen import frozen
from agent_server.loop.errors import ClientMistake, EditRefused
from agent_server.loop.model import TurnId
from agent_server.loop.proposal import ChangeKind


@frozen
class Checkpoint:
    """The moment before a turn, a restore or a revert changed its first file."""

    id: str
    position: int
    """In the journal."""
    at: datetime
    title: str
    files: tuple[tuple[str, ChangeKind], ...]
    """What happened to files between this checkpoint and the next."""
    turn: TurnId | None = None
    """None: a restore or a revert."""


@frozen
class Restoring:
    """What restoring a checkpoint means now."""

    targets: dict[str, Target | None]
    left: tuple[Left, ...]


def checkpoint_id(txn: str) -> str:
    """The checkpoint that is right before a transaction, when it is the first of its turn or no turn's."""
    return f"c-{txn}"


def checkpoints(transactions: Iterable[Transaction]) -> tuple[Checkpoint, ...]:
    """All of them, oldest first."""
    groups: dict[str, list[Transaction]] = {}
    for transaction in _that_changed(transactions):
        own = transaction.cause.kind != "call" or transaction.turn is None
        groups.setdefault(transaction.txn if own else f"turn {transaction.turn}", []).append(
            transaction
        )
    return tuple(map(_checkpoint, groups.values()))


def named(transactions: Iterable[Transaction], id: str) -> Checkpoint:
    """The checkpoint of that name.

    Raises:
        ClientMistake: there is none.
    """
    found = next((c for c in checkpoints(transactions) if c.id == id), None)
    if found is None:
        raise ClientMistake(f"there is no checkpoint {id!r}")
    return found


async def restoring(
    seen: Seen, blobs: Blobs, transactions: Sequence[Transaction], position: int, *, others: bool
) -> Restoring:
    """Where the files have to go that were touched from that position of the journal on.

    A file that somebody else changed meanwhile is left, unless `others`: then their change goes too.

    Raises:
        StoreFailure: a text is not there any more.
    """
    targets: dict[str, Target | None] = {}
    left: list[Left] = []
    for path, touches in _touched(transactions, position).items():
        first, last = touches[0].before, touches[-1].after
        try:
            live = await seen.at(path)
        except EditRefused as error:
            left.append(Left(path, str(error)))
            continue
        if is_same(live, first):
            continue
        if not others and not (_is_unbroken(touches) and is_same(live, last)):
            left.append(Left(path, f"{path} was changed by somebody else since"))
            continue
        targets[path] = await to_thread.run_sync(target, first, blobs)
    return Restoring(targets, tuple(left))


def _checkpoint(group: Sequence[Transaction]) -> Checkpoint:
    first = group[0]
    files: dict[str, ChangeKind] = {file.path: file.kind for one in group for file in one.files}
    return Checkpoint(
        checkpoint_id(first.txn),
        _begun(first),
        first.begun_at or first.at,
        first.cause.title if len(group) == 1 else f"{first.cause.title}, and {len(group) - 1} more",
        tuple(files.items()),
        first.turn if first.cause.kind == "call" else None,
    )


def _that_changed(transactions: Iterable[Transaction]) -> list[Transaction]:
    """Those of which something stood, in the order in which they were made."""
    standing = [t for t in transactions if t.begun is not None and t.files]
    settled = [t for t in standing if t.state not in ("applying", "verifying")]
    return sorted(settled, key=_begun)


def _begun(transaction: Transaction) -> int:
    return -1 if transaction.begun is None else transaction.begun


def _touched(transactions: Iterable[Transaction], since: int) -> dict[str, list[Touch]]:
    """What was done to each path, in order."""
    found: dict[str, list[Touch]] = {}
    for transaction in _that_changed(transactions):
        if _begun(transaction) >= since:
            for touch in (touch for file in transaction.files for touch in file.touches):
                found.setdefault(touch.path, []).append(touch)
    return found


def _is_unbroken(touches: Sequence[Touch]) -> bool:
    """Whether each change began with what the one before had left."""
    return all(_is_one(one.after, next.before) for one, next in pairwise(touches))


def _is_one(one: Content | None, two: Content | None) -> bool:
    if one is None or two is None:
        return one is two
    if one.digest is not None and two.digest is not None:
        return one.digest == two.digest
    return one.hash == two.hash
