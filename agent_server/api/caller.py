"""Who is on the other side of a session that a program drives: its answers, its eyes, and no editor."""

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

import anyio.to_thread

from agent_server.context.before_person import BeforePerson
from agent_server.edits.ports import Diagnostics, Editor, NoDiagnostics, NoEditor
from agent_server.loop.action import Answer, Question
from agent_server.loop.events import Event
from agent_server.loop.model import SessionId
from agent_server.tools.questions import NoQuestions, Questions

Approve = (
    Literal["never", "always-but-floor"]
    | Callable[[Question], bool | Answer]
    | Callable[[Question], Awaitable[bool | Answer]]
)
"""Who answers questions. `never`: no to each. `always-but-floor`: yes, but to what no mode or rule may loosen.

Or a function of the question; a plain one runs in a thread, so it may block.
"""
Watch = Callable[[Event], None]
"""Called with each event of a turn, in order, on the agent's own thread; it must not block."""


@dataclass(frozen=True, slots=True)
class Caller:
    """`session.ports.Client` for a program: its answers, and nobody's editor."""

    approve: Approve
    watch: Watch | None = None

    @property
    def editor(self) -> Editor:
        """None."""
        return NoEditor()

    @property
    def diagnostics(self) -> Diagnostics:
        """None."""
        return NoDiagnostics()

    @property
    def questions(self) -> Questions:
        """None: a program is not asked what only a person knows."""
        return NoQuestions()

    def emit(self, session: SessionId, event: Event) -> None:
        """See `Client`."""
        del session
        if self.watch is not None:
            self.watch(event)

    async def before_person(self) -> BeforePerson | None:
        """Nothing."""
        return None

    async def ask(self, session: SessionId, question: Question) -> Answer:
        """See `Client`."""
        del session
        match self.approve:
            case "never":
                return Answer("reject", by="api")
            case "always-but-floor":
                return Answer("reject" if question.decision.floor else "allow_once", by="api")
            case approve:
                said = await _called(approve, question)
        if isinstance(said, Answer):
            return said
        return Answer("allow_once" if said is True else "reject", by="api")


async def _called(
    approve: Callable[[Question], bool | Answer | Awaitable[bool | Answer]], question: Question
) -> bool | Answer:
    """The function's answer, on this loop when it is a coroutine function, else from a thread."""
    if inspect.iscoroutinefunction(approve):
        said = approve(question)
    else:
        said = await anyio.to_thread.run_sync(approve, question, abandon_on_cancel=True)
    return await said if inspect.isawaitable(said) else said
