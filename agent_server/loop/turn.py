"""The one mutable object of a turn: owned by one task, dies with the turn.

The messages are not in it, they are in the log.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import field

from agent_server.frozen import frozen, mutable
from agent_server.loop.control import Control
from agent_server.loop.events import Event
from agent_server.loop.faults import Fault
from agent_server.loop.limits import Limits
from agent_server.loop.model import CallKey, ToolResult, TurnId, Usage
from agent_server.loop.ports import (
    Approver,
    Context,
    Log,
    Model,
    NoStaging,
    Policy,
    Staging,
    Tools,
)


@frozen
class EarlyResult:
    """What a call gave that ran while its reply streamed."""

    result: ToolResult
    seconds: float


@frozen
class Gate:
    """Who is asked before a call runs."""

    policy: Policy
    approver: Approver
    staging: Staging = field(default_factory=NoStaging)


@mutable
class Turn:
    """What the handlers share while one prompt is being answered."""

    id: TurnId
    log: Log
    model: Model
    tools: Tools
    gate: Gate
    context: Context
    emit: Callable[[Event], None]
    limits: Limits
    numbers: Iterator[int]
    """Numbers for replies, never reused within a session, also not by attempts that failed."""
    fallbacks: deque[Model] = field(default_factory=deque[Model])
    """Models to go on with, in order; none when the person picked the model (R53)."""
    control: Control = field(default_factory=Control)
    deadline: float | None = None
    """On anyio's clock."""
    before: Usage = field(default_factory=Usage)
    """What the session had used when the turn began."""
    usage: Usage = field(default_factory=Usage)
    steps: int = 0
    tries: Counter[Fault] = field(default_factory=Counter[Fault])
    """Failed attempts by kind since the last good reply."""
    counts: Counter[str] = field(default_factory=Counter[str])
    """Error keys, repeats and streaks (guard.py)."""
    compactions: int = 0
    early: dict[CallKey, EarlyResult] = field(default_factory=dict[CallKey, EarlyResult])
    """Results of read-only calls that ran while their reply streamed."""
    parent: "Turn | None" = None
    """The turn whose call this sub-agent answers; None for a prompt of a person."""

    @property
    def root(self) -> "Turn":
        """The turn of the person's prompt: who cancels or stops that one means all below it."""
        return self if self.parent is None else self.parent.root

    def charge(self, usage: Usage) -> None:
        """Count what a request used, here and in every turn above, as soon as it is known (I16)."""
        self.usage += usage
        if self.parent is not None:
            self.parent.charge(usage)
