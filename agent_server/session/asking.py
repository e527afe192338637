"""Questions with a bound, where the settings set one."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import anyio

from agent_server.loop.action import Answer, Question


@dataclass(frozen=True, slots=True)
class Asking:
    """Implements `loop.ports.Approver`; out of time is no."""

    put: Callable[[Question], Awaitable[Answer]]
    timeout_s: float
    """0: without end."""

    async def ask(self, question: Question) -> Answer:
        """See `Approver`."""
        with anyio.move_on_after(self.timeout_s or None):
            return await self.put(question)
        return Answer("timed_out", by="clock")
