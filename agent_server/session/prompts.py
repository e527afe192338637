"""A prompt on its way through a session: its place in the inbox, the scope of its turn, and what is added to that."""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field

import anyio

from agent_server.frozen import frozen
from agent_server.loop.control import Control
from agent_server.loop.errors import AgentServerError
from agent_server.loop.model import Detail, DoneReason, Part, TurnId, Usage

Parts = tuple[Part, ...]


@frozen
class TurnResult:
    """How a prompt was answered."""

    turn: TurnId
    reason: DoneReason
    detail: Detail
    usage: Usage
    text: str
    """The last visible text of the turn."""
    message: str | None = None
    """A sentence for the person when the turn did not end normally."""
    unread: tuple[Parts, ...] = ()
    """What was added to the turn, was not heard before it ended, and is not carried on either (R137)."""


@dataclass(slots=True, eq=False)
class Prompt:
    """A prompt in the inbox, and the scope of its turn: cancelling works before the turn begins as well as later."""

    parts: Parts
    turn: TurnId
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    done: anyio.Event = field(default_factory=anyio.Event)
    result: TurnResult | None = None
    error: AgentServerError | None = None
    """Why there is no result."""
    control: Control = field(default_factory=Control)
    """What is said to its turn while that runs."""
    spared: bool = False
    """A cancel came while it was in the inbox."""
    asked: bool = True
    """A client waits for its answer; otherwise its turn tells everything by itself."""
    host: "Prompt | None" = None
    """The prompt whose running turn it was added to, instead of a turn of its own."""
    said_by: "list[Prompt | None]" = field(default_factory=list["Prompt | None"])
    """Who added what to its turn, oldest first; None is nobody who waits for an answer."""

    def cancel(self, why: Detail) -> None:
        """End its turn, whether that runs already or not; the first reason counts.

        What was added to another's turn is taken back, or, when it was heard already, ends that turn.
        """
        if self.host is not None and not self.host.take_back(self):
            self.host.cancel(why)
        elif self.host is not None:
            self.settle_cancelled(why)
        elif not self.scope.cancel_called:
            self.control.abort = why
            self.scope.cancel()

    def settle_cancelled(self, why: Detail) -> None:
        """Answer it without a turn."""
        self.host = None
        self.result = TurnResult(self.turn, DoneReason.USER_ABORT, why, Usage(), "")
        self.done.set()

    def add(self, parts: Parts, *, by: "Prompt | None" = None, now: bool = False) -> None:
        """Say more to its turn: at the next step boundary, or `now`, dropping what streams."""
        self.said_by.append(by)
        if now:
            self.control.redirect(parts)
        else:
            self.control.inbox.append(parts)

    def take_back(self, rider: "Prompt") -> bool:
        """Whether `rider`'s words had not been heard; then they never will."""
        for place, (_, by) in enumerate(self.unheard()):
            if by is rider:
                del self.control.inbox[place]
                self.said_by.remove(rider)
                return True
        return False

    def unheard(self) -> "tuple[tuple[Parts, Prompt | None], ...]":
        """What was added and not heard yet: the end of everything that was added."""
        waiting = tuple(self.control.inbox)
        return tuple(zip(waiting, self.said_by[len(self.said_by) - len(waiting) :], strict=True))

    def heard(self) -> "Iterator[Prompt]":
        """The prompts that became part of its turn."""
        count = len(self.said_by) - len(self.control.inbox)
        return (by for by in self.said_by[:count] if by is not None)


def new_turn_id() -> TurnId:
    """Unguessable and short."""
    return TurnId(f"turn-{secrets.token_hex(6)}")
