"""The whole loop: one prompt from `Thinking` to `Done`.

It terminates: every cycle through Thinking lowers, in lexicographic order, (steps left, fallback models left, tries
left, compactions left); every visit to Executing or Confirming lowers the number of open calls. The counters only move
one way inside a turn, except `tries`: a good reply or another model resets them, and each of these lowers one of the
first two. Only a redirect repeats a step for free, once for each time that the person redirects.

Each state has a module of its own. The log decides what is durable, and the approver who is asked.
"""

import logging
from typing import assert_never

import anyio

from agent_server.loop.batch import settle_rest
from agent_server.loop.compacting import compacting
from agent_server.loop.confirming import confirming
from agent_server.loop.errors import StoreFailure, innermost, unexpected
from agent_server.loop.events import StateChanged, TurnDone
from agent_server.loop.executing import executing
from agent_server.loop.guard import over_limit
from agent_server.loop.model import DoneReason, Part, TurnEndEntry, UserEntry
from agent_server.loop.reviewing import before_end, give_up
from agent_server.loop.states import (
    NAMES,
    NEXT,
    Compacting,
    Confirming,
    Done,
    Executing,
    State,
    Streaming,
    Thinking,
    label,
)
from agent_server.loop.streaming import streaming
from agent_server.loop.thinking import thinking
from agent_server.loop.turn import Turn

log = logging.getLogger(__name__)


async def run(t: Turn, parts: tuple[Part, ...]) -> Done:
    """Answer one prompt; ends with exactly one `TurnEndEntry` and one `TurnDone`, whatever happens.

    Cancellation is re-raised after the turn has settled.
    """
    state: State = Thinking()
    try:
        await t.log.append(UserEntry(t.id, parts))
        t.emit(StateChanged(t.id, "thinking", label(state)))
        while not isinstance(state, Done):
            state = over_limit(t) or go(t, state, await advance(t, state))
    except anyio.get_cancelled_exc_class():
        await end(t, Done(DoneReason.USER_ABORT, t.root.control.abort))
        raise
    except StoreFailure as failure:
        state = Done(DoneReason.ERROR, "persistence", str(failure))
    except Exception as error:
        log.exception("turn %s broke", t.id)
        stored = isinstance(innermost(error), StoreFailure)
        state = Done(DoneReason.ERROR, "persistence" if stored else "internal", unexpected(error))
    await end(t, state)
    return state


async def step(t: Turn, state: State) -> State:
    """Run the handler of this state; gives the state that follows."""
    match state:
        case Thinking():
            return await thinking(t, state)
        case Streaming():
            return await streaming(t, state)
        case Executing():
            return await executing(t, state)
        case Confirming():
            return await confirming(t, state)
        case Compacting():
            return await compacting(t, state)
        case Done():
            return state
        case _:
            assert_never(state)


async def advance(t: Turn, state: State) -> State:
    """The next state. A turn that would end here has its staged edits reviewed first."""
    new = await step(t, state)
    return await before_end(t, new) if isinstance(new, Done) else new


def go(t: Turn, old: State, new: State) -> State:
    """The only place where a state changes."""
    if type(new) not in NEXT[type(old)]:
        raise RuntimeError(f"no edge {NAMES[type(old)]} -> {NAMES[type(new)]}")
    if type(new) is not type(old) and not isinstance(new, Done):
        t.emit(StateChanged(t.id, NAMES[type(new)], label(new)))
    return new


async def end(t: Turn, done: Done) -> None:
    """The only way out of a turn: settle what is open, log the end, then say it. A cancel cannot tear it."""
    message = done.message
    with anyio.CancelScope(shield=True):
        try:
            await settle_rest(t, done)
            await give_up(t, done)
            await t.log.append(TurnEndEntry(t.id, done.reason, done.detail, t.usage, message))
        except StoreFailure as failure:
            message = message or str(failure)
    t.emit(StateChanged(t.id, "done", label(done)))
    t.emit(TurnDone(t.id, done.reason, done.detail, t.usage, message))
