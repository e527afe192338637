"""Thinking: hear the person, mind the limits and the window, build the next request."""

import anyio

from agent_server.loop.errors import StoreFailure
from agent_server.loop.events import UserSaid
from agent_server.loop.guard import window_is_full
from agent_server.loop.model import DoneReason, Text, UserEntry
from agent_server.loop.standing import asides, own_words
from agent_server.loop.states import Compacting, Done, State, Streaming, Thinking
from agent_server.loop.turn import Turn

SUMMARY = (
    "The step limit of this turn is reached and no more tools can be called. "
    "Summarise for the person what was done, what is unfinished, and what you would do next."
)


async def thinking(t: Turn, state: Thinking) -> State:
    """Limits before requests: a turn at its limit of steps makes no request but the closing summary (R9, R22)."""
    await hear(t)
    if t.steps >= t.limits.max_turns:
        return _at_step_limit(t)
    if window_is_full(t) and t.compactions < t.limits.max_compactions:
        return Compacting("preflight")
    return Streaming(
        t.context.request(t.log.entries, nudge=state.nudge, max_output=state.max_output)
    )


async def hear(t: Turn) -> None:
    """Log what the person said meanwhile, and news such as changed files; never between a call and its result (F60)."""
    while t.control.inbox:
        parts = t.control.inbox.popleft()
        with anyio.CancelScope(shield=True):  # a cancel in between would lose the words (I9)
            try:
                await t.log.append(UserEntry(t.id, parts, "steer"))
            except StoreFailure:
                t.control.inbox.appendleft(parts)
                raise
        own = tuple(own_words(parts, asides(t.log.entries)))
        t.emit(UserSaid(t.id, f"steer-{t.id}-{len(t.log.entries)}", own))
    if (news := await t.control.news()) is not None:
        await t.log.append(UserEntry(t.id, (Text(news),), "nudge"))


def _at_step_limit(t: Turn) -> State:
    if t.limits.on_max_turns == "stop":
        return Done(DoneReason.MAX_TURNS, "no_summary", f"stopped after {t.steps} steps")
    request = t.context.request(t.log.entries, nudge=SUMMARY, tools=False)
    return Streaming(request, last=True)
