"""A prompt that a command answers in place of the model: its place in a turn. The commands are in `builtin/`.

Nothing of it is in the log but what the command does, so neither the model nor a replay has the words of either side.
"""

from collections.abc import Callable
from typing import Protocol

from anyio.lowlevel import checkpoint

from agent_server.loop.events import Event, StateChanged, TextDelta, TurnDone
from agent_server.loop.model import Detail, DoneReason, Usage
from agent_server.session.prompts import Parts, Prompt, TurnResult
from agent_server.session.turning import announcing


class Commands(Protocol):
    """Those of one session."""

    def named(self, parts: Parts) -> str | None:
        """The command that a prompt is; None: it is for the model."""
        ...

    async def run(self, item: Prompt) -> str:
        """Do what the prompt says; what came of it, for the person, in Markdown. A failure is a sentence too."""
        ...


class NoCommands:
    """Every prompt is for the model."""

    def named(self, parts: Parts) -> str | None:
        """See `Commands`."""
        del parts
        return None

    async def run(self, item: Prompt) -> str:
        """See `Commands`."""
        raise RuntimeError(f"turn {item.turn} is no command")


async def commanded(
    item: Prompt, name: str, commands: Commands, emit: Callable[[Event], None]
) -> TurnResult:
    """Like a turn for whoever watches, and ended by a cancel like one."""
    emit = emit if item.asked else announcing(item, emit)
    reason, words = DoneReason.ERROR, ""
    detail: Detail = "internal"
    emit(StateChanged(item.turn, "executing", f"Running /{name}"))
    try:
        with item.scope:
            await checkpoint()  # cancelled while it waited: it must not begin
            words = await commands.run(item)
        if item.scope.cancelled_caught:
            reason, detail = DoneReason.USER_ABORT, item.control.abort
        else:
            emit(TextDelta(item.turn, f"command-{item.turn}", words))
            reason, detail = DoneReason.MODEL_STOP, "text"
    finally:
        emit(StateChanged(item.turn, "done", "Done"))
        emit(TurnDone(item.turn, reason, detail))
    return TurnResult(item.turn, reason, detail, Usage(), words)
