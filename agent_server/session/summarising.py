"""A conversation shortened because the person says so, between turns: the loop's own step, and what it used."""

import logging

import anyio

from agent_server.loop.compacting import compacting
from agent_server.loop.errors import ClientMistake, StoreFailure
from agent_server.loop.events import Event
from agent_server.loop.guard import over_limit
from agent_server.loop.model import SpentEntry, SummaryEntry, TurnId, Usage
from agent_server.loop.states import Compacting
from agent_server.loop.turn import Turn

log = logging.getLogger(__name__)


async def summarised(turn: Turn) -> tuple[int, int] | None:
    """Tokens of the next request before and after; None when nothing can be left out, or would be gained by it.

    `turn` is run in no other way; what it used is kept beside the turns, also when it is cancelled.

    Raises:
        ClientMistake: the session has used what it may.
        StoreFailure: the summary could not be kept.
    """
    if (done := over_limit(turn)) is not None:
        raise ClientMistake(done.message or f"the limit of this session is reached: {done.detail}")
    entries = turn.log.entries
    turn.emit = _silent  # whoever asked for it says what came of it
    before, at = turn.context.projected_tokens(entries), len(entries)
    try:
        await compacting(turn, Compacting("user"))
    finally:
        await _charge(turn)
    if not any(isinstance(entry, SummaryEntry) for entry in turn.log.entries[at:]):
        return None
    return before, turn.context.projected_tokens(turn.log.entries)


def _silent(event: Event) -> None:
    del event


async def _charge(turn: Turn) -> None:
    if turn.usage == Usage():
        return
    with anyio.CancelScope(shield=True):
        try:
            await turn.log.append(SpentEntry(TurnId(""), turn.usage, "summary"))
        except StoreFailure as failure:
            log.warning("what a summary cost is not kept: %s", failure)
