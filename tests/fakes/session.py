"""Fakes for what a session needs: a client that records, and equipment around a model that follows a list."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import anyio

from agent_server.context.before_person import BeforePerson
from agent_server.edits.ports import Diagnostics, Editor, NoDiagnostics, NoEditor
from agent_server.loop.action import Answer, Question
from agent_server.loop.errors import ClientMistake
from agent_server.loop.events import Event
from agent_server.loop.limits import Limits
from agent_server.loop.model import Mode, Review, SessionId
from agent_server.loop.ports import Model
from agent_server.session.ports import Kit, Place, SubAgentTerms
from agent_server.session.steering import WhileBusy
from agent_server.tools.questions import NoQuestions, Questions
from tests.fakes.loop import FakePerson, FakePolicy, FakeTool, ListModel


@dataclass
class RecordingClient:
    """Keeps every event; answers by its `person`."""

    events: list[tuple[SessionId, Event]] = field(default_factory=list[tuple[SessionId, Event]])
    person: FakePerson = field(default_factory=FakePerson)
    editor: Editor = field(default_factory=NoEditor)
    diagnostics: Diagnostics = field(default_factory=NoDiagnostics)
    questions: Questions = field(default_factory=NoQuestions)
    before: BeforePerson | None = None
    on_event: Callable[[Event], None] = lambda event: None

    def emit(self, session: SessionId, event: Event) -> None:
        self.events.append((session, event))
        self.on_event(event)

    async def before_person(self) -> BeforePerson | None:
        return self.before

    async def ask(self, session: SessionId, question: Question) -> Answer:
        return await self.person.ask(question)

    def of(self, kind: type) -> list[Event]:
        """The events of one class."""
        return [event for _, event in self.events if isinstance(event, kind)]


@dataclass
class FakeEquipment:
    """Implements `session.ports.Equipment`; the same tools and model for every session."""

    script: ListModel
    tools: Sequence[FakeTool] = ()
    policy: FakePolicy = field(default_factory=FakePolicy)
    mode: Mode = "ask"
    model_name: str = "list/model"
    limits: Limits = field(default_factory=Limits)
    approval_timeout_s: float = 0
    subagents: SubAgentTerms = field(default_factory=SubAgentTerms)
    warnings: tuple[str, ...] = ()
    prompt_while_busy: WhileBusy = "queue"
    updates_per_second: int = 0
    receipts: bool = False
    review: Review = "each"
    small: Model | None = None
    short: Model | None = None
    protect_last_n: int = 20
    kits: int = 0

    def titler(self) -> Model | None:
        return self.small

    def summariser(self) -> Model | None:
        return self.short

    def models(self) -> tuple[str, ...]:
        return (self.model_name, "list/other")

    def model(self, name: str) -> Model:
        if name not in self.models():
            raise ClientMistake(f"there is no model {name!r}")
        return self.script

    def fallbacks(self, name: str, *, pinned: bool) -> tuple[Model, ...]:
        return ()

    async def warm(self, name: str) -> None:
        del name

    async def kit(self, place: Place) -> Kit:
        await anyio.lowlevel.checkpoint()
        self.kits += 1
        return Kit({tool.name: tool for tool in self.tools}, self.policy)

    def notices(self) -> tuple[str, ...]:
        return self.warnings
