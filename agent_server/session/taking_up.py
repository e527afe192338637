"""An edit that a dead process had left open, decided after all: rebased, checked, and applied as a new transaction.

The old one stays `abandoned`; the model hears of it with the next prompt (protocol/README.md, "After a restart").
"""

from collections.abc import Sequence
from dataclasses import replace
from os.path import realpath

from anyio import to_thread

from agent_server.edits.decided import decided
from agent_server.edits.journal import Cause
from agent_server.edits.proposal import new_proposal
from agent_server.edits.transaction import Applied, Approval, Transactions
from agent_server.edits.unified import unified
from agent_server.loop.action import Action, Answer
from agent_server.loop.events import EditChanged
from agent_server.loop.model import TurnId
from agent_server.loop.ports import Policy
from agent_server.loop.proposal import (
    EditState,
    FileChange,
    HunkState,
    Proposal,
    accept_all,
)
from agent_server.session.session import Session

NO_TURN = TurnId("")
SHOWN_CHARS = 8_000
"""Of the diff that the model is shown."""


async def take_up(session: Session, left: Proposal, answer: Answer) -> None:
    """Do what the person decided about `left`; nothing when it is not open any more.

    Raises:
        StoreFailure: the journal could not be kept.
    """
    still = [event for event in session.left_open if event.proposal.txn != left.txn]
    kit, _ = await session.ready()
    transactions = kit.transactions
    if len(still) == len(session.left_open) or transactions is None:
        return
    session.left_open = tuple(still)
    known = await transactions.find(left.txn)
    title = left.txn if known is None else known.cause.title
    wanted = decided(left, answer.resolution or accept_all(left)) if answer.allows else {}
    changes = [change for change in wanted.values() if change is not None]
    if not changes:
        await _close(transactions, left.txn)
        await _say(session, f"rejected {title}", "", answer)
        session.emit(EditChanged(NO_TURN, left, "abandoned", message="rejected"))
        return
    new = new_proposal(*changes)
    made = await _made(transactions, kit.policy, new, Cause("call", title, of=left.txn))
    if isinstance(made, str):
        await _close(transactions, left.txn)
    await _say(session, f"accepted {title}", _outcome(made), answer)
    _tell(session, new, left, made)


async def _close(transactions: Transactions, txn: str) -> None:
    """Nobody is asked about it any more, also after the next load."""
    left = await transactions.find(txn)
    if left is not None and left.waits:
        await transactions.move(txn, "abandoned", since="abandoned")


async def _made(
    transactions: Transactions, policy: Policy, new: Proposal, cause: Cause
) -> Applied | str:
    """How applying ended; why it was not tried."""
    refused = await to_thread.run_sync(_refused, policy, new.files)
    if refused is not None:
        return refused
    await transactions.propose(new, cause)
    return await transactions.apply(
        new, accept_all(new), Approval(None, gated=True, author="person")
    )


def _refused(policy: Policy, changes: Sequence[FileChange]) -> str | None:
    """Why a yes to these files is not enough, by where their paths lead now."""
    for change in changes:
        paths = tuple(realpath(path) for path in (change.path, change.old_path) if path)
        kind = "delete" if change.kind in ("delete", "rename") else "write"
        decision = policy.decide(Action(kind, "edit", paths))
        if decision.verdict == "block" or decision.floor:
            return f"{change.path}: {decision.reason}"
    return None


def _tell(session: Session, new: Proposal, left: Proposal, made: Applied | str) -> None:
    """Whoever shows edits: of the new one, and that the old one is done with."""
    if isinstance(made, str):
        session.emit(EditChanged(NO_TURN, left, "abandoned", message=f"not taken up: {made}"))
        return
    states: tuple[tuple[EditState, HunkState, int], ...] = (
        ("approved", "accepted", 1),
        (made.state, "applied" if made.state == "applied" else "conflict", made.revision),
    )
    message = next((o.message for o in made.outcomes if o.message), None)
    for state, each, revision in states:
        shown = replace(new, revision=revision)
        hunks: tuple[tuple[str, str, HunkState], ...] = tuple(
            (f.path, h.id, each) for f in shown.files for h in f.hunks
        )
        session.emit(EditChanged(NO_TURN, shown, state, hunks, message))
    why = "" if made.state == "applied" or message is None else f": {message}"
    words = f"taken up as edit {new.txn}: {made.state}{why}"
    session.emit(EditChanged(NO_TURN, left, "abandoned", message=words))


def _outcome(made: Applied | str) -> str:
    """For the model: the diff that was really applied, or why there is none."""
    if isinstance(made, str):
        return f" It was not applied: {made}."
    if made.state != "applied":
        why = next((o.message for o in made.outcomes if o.message), made.state)
        return f" It could not be applied: {why}."
    stands = [o.change for o in made.outcomes if o.change is not None and o.state == "applied"]
    diff = "".join(map(unified, stands))
    cut = diff if len(diff) <= SHOWN_CHARS else f"{diff[:SHOWN_CHARS]}\n… (cut)\n"
    return f" What was applied:\n{cut}"


async def _say(session: Session, what: str, told: str, answer: Answer) -> None:
    words = f"\nThe person says: {answer.feedback}" if answer.feedback else ""
    await session.say_aside(
        f"(The person {what}, an edit that was open when the server stopped.{told}{words})"
    )
