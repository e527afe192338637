"""What recovery found when a session was opened, in words for the person, the model and the client that shows edits."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import field, replace

from anyio import to_thread

from agent_server.edits.journal import KeptDecision, Transaction
from agent_server.edits.recovery import Recovered, waiting
from agent_server.edits.transaction import Transactions
from agent_server.edits.transaction_record import decisions_of, proposal_of
from agent_server.edits.transaction_states import UNSETTLED
from agent_server.frozen import frozen
from agent_server.loop.events import EditChanged, Notice
from agent_server.loop.model import CallKey, Effect, ToolResult, TurnId
from agent_server.loop.proposal import HunkState


@frozen
class Reopened:
    """What recovery found, for the three who have to know."""

    notices: tuple[Notice, ...] = ()
    """For the person."""
    results: Mapping[CallKey, tuple[ToolResult, Effect]] = field(
        default_factory=dict[CallKey, tuple[ToolResult, Effect]]
    )
    """For the model: how the interrupted calls ended."""
    events: tuple[EditChanged, ...] = ()
    """For the client that shows edits."""


async def reopened(
    transactions: Transactions,
    found: Sequence[Recovered],
    *,
    cause: str,
    started: Container[CallKey],
) -> Reopened:
    """What recovery found, told. `started` are the calls whose tool code had begun.

    Raises:
        StoreFailure: a text of a proposal cannot be read.
    """
    open_now = await waiting(transactions)
    closed = {one.txn for one in open_now}
    events = [
        await _event(transactions, replace(one.transaction, files=one.files))
        for one in found
        if one.transaction.txn not in closed
    ]
    events += [await _event(transactions, one) for one in open_now]
    notices = [_notice(one) for one in found if one.was in UNSETTLED]
    results: dict[CallKey, tuple[ToolResult, Effect]] = {}
    delegated: dict[CallKey, list[Recovered]] = {}
    for one in found:
        call = one.transaction.cause.call
        if call is None:
            continue
        if one.transaction.cause.agent is None:
            results[call] = _result(one, cause, started=call in started)
        else:
            delegated.setdefault(call, []).append(one)
    results |= {call: _of_sub_agent(edits, cause) for call, edits in delegated.items()}
    return Reopened(tuple(notices), results, tuple(events))


async def _event(transactions: Transactions, transaction: Transaction) -> EditChanged:
    proposal = await to_thread.run_sync(proposal_of, transaction, transactions.blobs)
    decided = await to_thread.run_sync(decisions_of, transaction, transactions.blobs)
    hunks: tuple[tuple[str, str, HunkState], ...] = tuple(
        (f.path, h.id, _hunk_state(transaction, f.path, h.id))
        for f in proposal.files
        for h in f.hunks
    )
    return EditChanged(
        transaction.turn or TurnId(""),
        proposal,
        transaction.state,
        hunks,
        transaction.message,
        key=transaction.cause.call,
        hashes=transaction.hashes,
        decided=decided,
    )


def _hunk_state(transaction: Transaction, path: str, hunk: str) -> HunkState:
    match transaction.state:
        case "abandoned" if transaction.waits:
            return _decided_state(transaction.decisions, path, hunk)
        case "applied":
            return "applied"
        case "conflict":
            return "conflict"
        case _:
            return "rejected"


def _decided_state(decisions: Sequence[KeptDecision], path: str, hunk: str) -> HunkState:
    """What was decided of a hunk, alone or with its file."""
    for one in decisions:
        if one.path == path and one.hunk in (hunk, None):
            return "accepted" if one.accept else "rejected"
    return "pending"


def _notice(found: Recovered) -> Notice:
    title = found.transaction.cause.title
    names = ", ".join(file.path for file in found.files)
    match found.transaction.state:
        case "applied":
            return Notice(
                "info", f"Interrupted, and complete: {title}", f"{names}: all of it stands"
            )
        case "abandoned" if found.taken_back:
            words = f"{names}: what had been changed already was taken back"
            return Notice("warning", f"Interrupted, and taken back: {title}", words)
        case "abandoned":
            return Notice("info", f"Interrupted before it began: {title}", f"{names}: unchanged")
        case _:
            return Notice("error", f"Interrupted, please look: {title}", found.transaction.message)


def _of_sub_agent(edits: Sequence[Recovered], cause: str) -> tuple[ToolResult, Effect]:
    """What the model is told about a call of `delegate`: of the edits that were open something is known, no more."""
    lines = [f"- {one.transaction.cause.title}: {_fate(one)}" for one in edits]
    head = (
        f"interrupted, effects unknown: {cause} while the sub-agent worked, so there is no report. "
        "Edits of it that had ended stand. Those that had not:"
    )
    text = "\n".join((head, *lines, "Inspect before you send another one."))
    return ToolResult(
        False, text, code="interrupted", summary="interrupted, effects unknown"
    ), "unknown"


def _fate(found: Recovered) -> str:
    match found.transaction.state:
        case "applied":
            return "all of it stands"
        case "abandoned":
            return "none of it stands" + ("; it was taken back" if found.taken_back else "")
        case _:
            return found.transaction.message or "it is not known what stands"


def _result(found: Recovered, cause: str, *, started: bool) -> tuple[ToolResult, Effect]:
    """What the model is told about the call that the edit was."""
    match found.transaction.state:
        case "applied":
            text = (
                f"applied. {cause} right after; by their content all of the files have the new text"
            )
            return ToolResult(True, text, summary="applied, then interrupted"), "confirmed"
        case "abandoned" if found.was not in UNSETTLED and started:
            text = f"interrupted: {cause} before this edit changed anything"
            return ToolResult(
                False, text, code="interrupted", summary="nothing changed"
            ), "confirmed"
        case "abandoned" if found.was not in UNSETTLED:
            text = f"not run: the question was open when {cause}"
            return ToolResult(False, text, code="interrupted", summary="not run"), "none"
        case "abandoned":
            text = f"interrupted: {cause} while this edit was applied. None of it stands"
            text += "; what had been changed was taken back" if found.taken_back else ""
            return ToolResult(
                False, text, code="interrupted", summary="nothing changed"
            ), "confirmed"
        case _:
            message = found.transaction.message or "it is not known what stands"
            text = f"interrupted: {cause} while this edit was applied; {message}. Read the files before you try again"
            return ToolResult(
                False, text, code="interrupted", summary="in part, unclear"
            ), "unknown"
