"""The one mutable object of a turn: owned by one task, dies with the turn.

The messages are not in it, they are in the log.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from agent_server.loop.events import Event
from agent_server.loop.faults import Fault
from agent_server.loop.limits import Limits
from agent_server.loop.model import Detail, Part, TurnId, Usage
from agent_server.loop.ports import Approver, Context, Log, Model, Policy, Tools


@dataclass(slots=True)
class Turn:
    """What the handlers share while one prompt is being answered."""

    id: TurnId
    log: Log
    model: Model
    tools: Tools
    policy: Policy
    approver: Approver
    context: Context
    emit: Callable[[Event], None]
    limits: Limits
    numbers: Iterator[int]
    """Numbers for replies, never reused within a session, also not by attempts that failed."""
    deadline: float | None = None
    """On anyio's clock."""
    before: Usage = field(default_factory=Usage)
    """What the session had used when the turn began."""
    inbox: deque[tuple[Part, ...]] = field(default_factory=deque[tuple[Part, ...]])
    """What the person added while the turn runs; heard at batch boundaries only."""
    usage: Usage = field(default_factory=Usage)
    steps: int = 0
    tries: Counter[Fault] = field(default_factory=Counter[Fault])
    """Failed attempts by kind since the last good reply."""
    counts: Counter[str] = field(default_factory=Counter[str])
    """Error keys, repeats and streaks (guard.py)."""
    compactions: int = 0
    abort: Detail = "cancel"
    """Why the turn was cancelled, set by who cancels it."""
