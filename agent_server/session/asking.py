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
    refused: Callable[[str], Awaitable[None]]
    """Writes down that the edit of that name was refused."""

    async def ask(self, question: Question) -> Answer:
        """See `Approver`.

        Raises:
            StoreFailure: that a sub-agent's edit was refused could not be kept.
        """
        answer = Answer("timed_out", by="clock")
        with anyio.move_on_after(self.timeout_s or None):
            answer = await self.put(question)
        # The log of its person's session has no result for a sub-agent's call that would say so after a restart.
        if question.proposal is not None and question.within is not None and _refuses(answer):
            await self.refused(question.proposal.txn)
        return answer


def _refuses(answer: Answer) -> bool:
    if answer.left_open:
        return False
    taken = answer.resolution is None or answer.resolution.accepts_anything
    return not (answer.allows and taken)


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
