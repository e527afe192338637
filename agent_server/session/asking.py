"""Questions with a bound, where the settings set one."""

from collections.abc import Awaitable, Callable, Sequence

import anyio

from agent_server.frozen import frozen
from agent_server.loop.action import Answer, Question
from agent_server.loop.model import CallKey
from agent_server.tools.questions import Questions


@frozen
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


@frozen
class InTime:
    """Implements `tools.questions.Questions`; out of time is no answer."""

    person: Questions
    timeout_s: float
    """0: without end."""

    def takes(self, options: Sequence[str]) -> bool:
        """See `Questions`."""
        return self.person.takes(options)

    async def ask(self, call: CallKey, question: str, options: Sequence[str]) -> str | None:
        """See `Questions`."""
        with anyio.move_on_after(self.timeout_s or None):
            return await self.person.ask(call, question, options)
        return None
