"""From a prompt to the turn that answers it, and from its end to what the caller hears. Values in, values out."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence

import anyio

from agent_server.context.session_context import SessionContext
from agent_server.frozen import frozen
from agent_server.loop.events import Event, StateChanged, UserSaid
from agent_server.loop.model import (
    DoneReason,
    Entry,
    ReplyEntry,
    TurnId,
    UserEntry,
)
from agent_server.loop.ports import Approver, Log, Model, Tools
from agent_server.loop.states import Done
from agent_server.loop.turn import Gate, Turn
from agent_server.session.ports import Equipment, Kit
from agent_server.session.prompts import Prompt, TurnResult
from agent_server.session.spending import Spending


@frozen
class Ground:
    """What all turns of a session stand on."""

    log: Log
    equipment: Equipment
    approver: Approver
    emit: Callable[[Event], None]
    numbers: Iterator[int]
    """For replies; never reused within the session."""
    spending: Spending


def new_turn(
    item: Prompt, ground: Ground, kit: Kit, context: SessionContext, models: deque[Model]
) -> Turn:
    """The turn of a prompt; `models` are the one that answers and those that may go on when it cannot."""
    limits = ground.equipment.limits
    return Turn(
        id=item.turn,
        log=ground.log,
        model=models.popleft(),
        tools=kit.tools,
        gate=Gate(kit.policy, ground.approver, kit.staging),
        context=context,
        emit=ground.emit if item.asked else announcing(item, ground.emit),
        limits=limits,
        numbers=ground.numbers,
        fallbacks=models,
        deadline=None if limits.max_wall_s is None else anyio.current_time() + limits.max_wall_s,
        before=ground.spending.of(ground.log.entries),
        control=item.control,
    )


def context_of(prompt: str, tools: Tools, equipment: Equipment) -> SessionContext:
    """What requests are made of, for an agent with this system prompt and these tools."""
    return SessionContext(
        prompt,
        tuple(tool.spec for tool in tools.values()),
        protect_last_n=equipment.protect_last_n,
        summariser=equipment.summariser(),
    )


def announcing(item: Prompt, emit: Callable[[Event], None]) -> Callable[[Event], None]:
    """Shows the prompt once its turn is seen to run: its client could not know when that would be."""
    shown = False

    def announce(event: Event) -> None:
        nonlocal shown
        emit(event)
        if not shown and isinstance(event, StateChanged) and event.state != "done":
            shown = True
            emit(UserSaid(item.turn, f"user-{item.turn}", item.parts))

    return announce


def result_of(item: Prompt, turn: Turn, done: Done | None) -> TurnResult:
    """What the turn came to; `done` is None when it was cancelled."""
    if done is None:
        done = Done(DoneReason.USER_ABORT, item.control.abort)
    text = last_text(turn.log.entries, item.turn)
    return TurnResult(item.turn, done.reason, done.detail, turn.usage, text, done.message)


def last_text(entries: Sequence[Entry], turn: TurnId) -> str:
    """The last visible text of a turn."""
    for entry in reversed(entries):
        if isinstance(entry, ReplyEntry) and entry.turn == turn and entry.reply.text:
            return entry.reply.text
        if isinstance(entry, UserEntry) and entry.origin == "prompt":
            break
    return ""
