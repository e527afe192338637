"""Fakes for the loop's ports: a log in memory, a model that follows a list, tools, a policy and a person."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import anyio

from agent_server.context.session_context import SessionContext
from agent_server.loop.action import Action, Answer, Decision, Question
from agent_server.loop.errors import ModelFailure, StoreFailure
from agent_server.loop.events import Event
from agent_server.loop.faults import Fault
from agent_server.loop.limits import Limits
from agent_server.loop.model import (
    CallKey,
    Entry,
    Finish,
    JsonObject,
    Reasoning,
    Reply,
    Text,
    ToolCall,
    ToolKind,
    ToolResult,
    TurnId,
    Usage,
)
from agent_server.loop.ports import (
    CallClosed,
    CallContext,
    CallOpened,
    CallPiece,
    Piece,
    Prepared,
    ReasoningPiece,
    Request,
    TextPiece,
    Tools,
    ToolSpec,
)
from agent_server.loop.proposal import Proposal, Resolution
from agent_server.loop.turn import Gate, Turn


class MemoryLog:
    """A log that is durable at once; `fail_at` breaks the append with that number, `before` runs ahead of each."""

    def __init__(self, entries: Sequence[Entry] = (), *, fail_at: int | None = None) -> None:
        self._entries = list(entries)
        self.commits: list[tuple[Entry, ...]] = []
        self.fail_at = fail_at

    @property
    def entries(self) -> Sequence[Entry]:
        return self._entries

    async def append(self, *entries: Entry) -> None:
        await anyio.lowlevel.checkpoint()
        if self.fail_at is not None and len(self.commits) >= self.fail_at:
            raise StoreFailure("the disk is full")
        self.commits.append(entries)
        self._entries.extend(entries)

    async def times(self) -> Sequence[datetime]:
        await anyio.lowlevel.checkpoint()
        began = datetime(2026, 1, 1, tzinfo=UTC)
        return [began + timedelta(seconds=place) for place in range(len(self._entries))]


@dataclass
class Say:
    """One step of the model: what it answers, or how it fails."""

    text: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    """(tool, raw arguments)."""
    thinking: str = ""
    finish: Finish = "stop"
    fault: Fault | None = None
    hang: bool = False
    piecewise: bool = False
    """The arguments of calls come in pieces of five characters."""
    fault_last: bool = False
    """The fault comes after the calls, not before them."""
    retry_after_s: float | None = None
    usage: Usage = field(default_factory=lambda: Usage(10, 5))


class ListModel:
    """Answers with the steps of a list, in order; keeps every request."""

    name = "list/model"

    def __init__(self, *steps: Say, window: int = 100_000) -> None:
        self.steps = list(steps)
        self.requests: list[Request] = []
        self.window = window
        self.before_end: Callable[[], Awaitable[None]] | None = None
        """Awaited when all calls of a reply are out and the stream has not ended."""

    async def refresh_auth(self) -> bool:
        return False

    async def stream(self, request: Request, receive: Callable[[Piece], None]) -> Reply:
        self.requests.append(request)
        step = self.steps.pop(0) if self.steps else Say("nothing is left to say")
        await anyio.lowlevel.checkpoint()
        if step.thinking:
            receive(ReasoningPiece(step.thinking))
        for word in step.text.split(" ") if step.text else ():
            receive(TextPiece(word + " "))
            await anyio.lowlevel.checkpoint()
        if step.hang:
            await anyio.sleep_forever()
        if step.fault is not None and not step.fault_last:
            raise _failure(step)
        calls = tuple(
            ToolCall(CallKey(request.reply_number, i), f"c{i}", name, raw)
            for i, (name, raw) in enumerate(step.calls)
        )
        for call in calls:
            receive(CallOpened(call.key.index, call.name))
            await anyio.lowlevel.checkpoint()
            if step.piecewise:
                for at in range(0, len(call.arguments), 5):
                    receive(CallPiece(call.key.index, call.arguments[at : at + 5]))
            receive(CallClosed(call))
        if self.before_end is not None and calls:
            await self.before_end()
        if step.fault is not None:
            await anyio.lowlevel.checkpoint()
            raise _failure(step)
        reasoning = (Reasoning(step.thinking, self.name),) if step.thinking else ()
        return Reply(step.text, calls, step.finish, self.name, step.usage, reasoning)


def _failure(step: Say) -> ModelFailure:
    fault = step.fault or Fault.TRANSIENT
    return ModelFailure(f"{fault} on purpose", fault=fault, retry_after_s=step.retry_after_s)


Body = Callable[[CallContext, JsonObject], Awaitable[ToolResult]]


@dataclass
class FakeTool:
    """A tool whose code is `body`; every run is kept in `ran`."""

    name: str
    body: Body | None = None
    read_only: bool = True
    parallel: int = 1
    ends_turn: bool = False
    kind: ToolKind = "read"
    proposal: Proposal | None = None
    ran: list[JsonObject] = field(default_factory=list[JsonObject])

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, f"the tool {self.name}", {"type": "object"})

    async def prepare(self, arguments: JsonObject, key: CallKey) -> Prepared | ToolResult:
        async def run(context: CallContext, resolution: Resolution | None) -> ToolResult:
            self.ran.append(arguments)
            if self.body is None:
                return ToolResult(True, f"{self.name} {sorted(arguments.items())}")
            return await self.body(context, arguments)

        action = Action("read" if self.read_only else "exec", self.name)
        return Prepared(action, f"{self.name} {dict(arguments)}", run, proposal=self.proposal)


@dataclass
class FakePolicy:
    """Says the verdict listed for a tool, else allow."""

    verdicts: dict[str, Decision] = field(default_factory=dict[str, Decision])
    broken: bool = False

    def decide(self, action: Action) -> Decision:
        if self.broken:
            raise RuntimeError("no policy today")
        return self.verdicts.get(action.tool, Decision("allow", "fine"))

    async def remember(self, question: Question, answer: Answer) -> None:
        await anyio.lowlevel.checkpoint()


@dataclass
class FakePerson:
    """Answers questions from a list, then yes; waits for ever where the list says None."""

    answers: list[Answer | None] = field(default_factory=list[Answer | None])
    asked: list[Question] = field(default_factory=list[Question])
    opened: anyio.Event | None = None
    """Set when a question is open."""

    async def ask(self, question: Question) -> Answer:
        self.asked.append(question)
        if self.opened is not None:
            self.opened.set()
        answer = self.answers.pop(0) if self.answers else Answer("allow_once")
        if answer is None:
            await anyio.sleep_forever()
            raise AssertionError
        await anyio.lowlevel.checkpoint()
        return answer


@dataclass
class Stage:
    """A turn with everything around it faked, ready to run."""

    model: ListModel
    tools: dict[str, FakeTool]
    log: MemoryLog = field(default_factory=MemoryLog)
    policy: FakePolicy = field(default_factory=FakePolicy)
    person: FakePerson = field(default_factory=FakePerson)
    limits: Limits = field(default_factory=Limits)
    events: list[Event] = field(default_factory=list[Event])

    def turn(self, name: str = "t1", *, first_number: int = 1) -> Turn:
        tools: Tools = dict(self.tools)
        return Turn(
            id=TurnId(name),
            log=self.log,
            model=self.model,
            tools=tools,
            gate=Gate(self.policy, self.person),
            context=SessionContext("be good", tuple(t.spec for t in tools.values())),
            emit=self.events.append,
            limits=self.limits,
            numbers=iter(range(first_number, first_number + 10_000)),
        )

    def of(self, kind: type) -> list[Event]:
        """The events of one class."""
        return [e for e in self.events if isinstance(e, kind)]


def stage(*steps: Say, tools: Sequence[FakeTool] = (), **more: object) -> Stage:
    """A stage on which the model follows `steps`."""
    return Stage(ListModel(*steps), {t.name: t for t in tools}, **more)  # pyright: ignore[reportArgumentType]


def said(text: str) -> tuple[Text, ...]:
    """A prompt."""
    return (Text(text),)
