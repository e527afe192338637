"""Opening a log whose process died: settle what was open, once, and say that the turn did not end by itself (R110)."""

from collections.abc import Mapping

from agent_server.loop.batch import leftovers
from agent_server.loop.model import (
    AsideEntry,
    CallKey,
    DoneReason,
    Effect,
    Entry,
    ResultEntry,
    RewoundEntry,
    SpentEntry,
    SummaryEntry,
    Text,
    ToolResult,
    TurnEndEntry,
    UserEntry,
)
from agent_server.loop.ports import Log, Tools
from agent_server.loop.reviewing import UNRECORDED, unreviewed

STOPPED = "the server stopped"
FORKED = "this conversation was forked from another one"


Known = Mapping[CallKey, tuple[ToolResult, Effect]]
"""Calls of which it was found out how they ended (the edits: `edits_reopened.py`)."""


async def recover(log: Log, tools: Tools, *, cause: str, known: Known | None = None) -> int:
    """Bring an interrupted log to rest; idempotent. Returns how many calls were settled.

    Nothing is run and nothing is asked again: a call that never started has effect `none`, one that did is `unknown`,
    unless it is known.
    """
    turn = _unfinished(log)
    if turn is None:
        return 0
    rest = leftovers(log.entries, tools, cause)
    settled = [
        ResultEntry(turn.turn, call.key, *(known or {}).get(call.key, (result, effect)))
        for call, result, effect in rest
    ]
    lost = [UserEntry(turn.turn, (Text(UNRECORDED),), "nudge")] if unreviewed(log.entries) else []
    await log.append(
        *settled, *lost, TurnEndEntry(turn.turn, DoneReason.USER_ABORT, "shutdown", message=cause)
    )
    return len(settled)


def _unfinished(log: Log) -> Entry | None:
    """The last entry of a turn, when it does not end it. What is said, spent or summarised beside one is not asked."""
    beside = AsideEntry | SpentEntry | SummaryEntry
    last = next((e for e in reversed(log.entries) if not isinstance(e, beside)), None)
    return None if isinstance(last, TurnEndEntry | RewoundEntry) else last
