"""What comes from the server, as values: sessions, questions with a place for their answer, the end of a turn."""

from dataclasses import field
from typing import Generic, TypeVar

import anyio

from agent_server.front.terminal.questions import EditQuestion, Inquiry, Permission, Picked
from agent_server.front.terminal.updates import Update
from agent_server.frozen import frozen

T = TypeVar("T")


@frozen
class Session:
    """A conversation as it was opened; its mode and model change with updates."""

    id: str
    mode: str
    model: str


@frozen
class SessionInfo:
    """A row of the session list."""

    id: str
    title: str
    updated: str
    """ISO 8601, or empty."""


@frozen
class TurnEnd:
    """How a turn ended. `error` is the sentence of a turn that failed before it showed anything."""

    stop_reason: str
    reason: str = ""
    detail: str = ""
    tokens: int = 0
    """Input and output of the turn."""
    cost: str | None = None
    """`0.0123 USD`; None when unknown."""
    error: str | None = None


class Slot(Generic[T]):
    """Where the answer to a question is put, by the client's own event loop."""

    def __init__(self, nothing: T) -> None:
        """`nothing` is what it holds before."""
        self._set = anyio.Event()
        self._answer = nothing

    def put(self, answer: T) -> None:
        """Answer. The first one counts."""
        if not self._set.is_set():
            self._answer = answer
            self._set.set()

    @property
    def now(self) -> T:
        """What it holds."""
        return self._answer

    async def wait(self) -> T:
        """The answer."""
        await self._set.wait()
        return self._answer


@frozen
class Updated:
    """Something to show."""

    update: Update


@frozen
class Asked:
    """A question about a call; its answer goes into the slot."""

    question: Permission
    slot: Slot[Picked] = field(compare=False)


@frozen
class Inquired:
    """A question of the model itself; its answer goes into the slot, None for no answer."""

    inquiry: Inquiry
    slot: Slot[str | None] = field(compare=False)


@frozen
class Proposed:
    """An edit to show or decide."""

    question: EditQuestion


@frozen
class Withdrawn:
    """Nobody needs the answer any more: of a call's question its call id, of an edit its txn."""

    subject: str


@frozen
class Ended:
    """The turn is over."""

    end: TurnEnd


@frozen
class Gone:
    """The server is."""


Inbound = Updated | Asked | Inquired | Proposed | Withdrawn | Ended | Gone
