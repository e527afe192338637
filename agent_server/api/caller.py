"""Who is on the other side of a session that a program drives: its answers, its eyes, and no editor."""

import inspect
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Literal, ParamSpec, TypeVar, cast

import anyio.to_thread

from agent_server.context.before_person import BeforePerson
from agent_server.edits.ports import Diagnostics, Editor, NoDiagnostics, NoEditor
from agent_server.frozen import frozen
from agent_server.loop.action import Answer, Question
from agent_server.loop.events import Event
from agent_server.loop.model import CallKey, SessionId
from agent_server.tools.questions import NoQuestions, Questions

P = ParamSpec("P")
T = TypeVar("T")

Approve = (
    Literal["never", "always-but-floor"]
    | Callable[[Question], bool | Answer]
    | Callable[[Question], Awaitable[bool | Answer]]
)
"""Who answers questions. `never`: no to each. `always-but-floor`: yes, but to what no mode or rule may loosen.

Or a function of the question; a plain one runs in a thread, so it may block.
"""
Clarify = (
    Callable[[str, tuple[str, ...]], str | None]
    | Callable[[str, tuple[str, ...]], Awaitable[str | None]]
)
"""Who answers what the model asks with `ask_user`: a function of the question and the options to choose from.

Without options it answers in words; with options it may as well. None is no answer. A plain one runs in a thread.
"""
Watch = Callable[[Event], None]
"""Called with each event of a turn, in order, on the agent's own thread; it must not block."""


@frozen
class Caller:
    """`session.ports.Client` for a program: its answers, and nobody's editor."""

    approve: Approve
    watch: Watch | None = None
    clarify: Clarify | None = None

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
        """Those of the model go to `clarify`; without it nobody can be asked."""
        return NoQuestions() if self.clarify is None else _Clarifying(self.clarify)

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


@frozen
class _Clarifying:
    """Implements `tools.questions.Questions`."""

    clarify: Clarify

    def takes(self, options: Sequence[str]) -> bool:
        """Everything."""
        del options
        return True

    async def ask(self, call: CallKey, question: str, options: Sequence[str]) -> str | None:
        """See `Questions`."""
        del call
        return await _called(self.clarify, question, tuple(options))


async def _called(function: Callable[P, T | Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
    """The function's answer, on this loop when it is a coroutine function, else from a thread."""
    if inspect.iscoroutinefunction(function):
        said = function(*args, **kwargs)
    else:
        said = await anyio.to_thread.run_sync(
            partial(function, *args, **kwargs), abandon_on_cancel=True
        )
    return cast("T", await said if inspect.isawaitable(said) else said)
