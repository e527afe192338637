"""What a session needs: the connection that drives it, and its equipment. Adapters are in front/ and app.py."""

from collections.abc import Callable
from dataclasses import field
from typing import Protocol

from agent_server.context.before_person import BeforePerson
from agent_server.edits.ports import Diagnostics, Editor, NoDiagnostics
from agent_server.edits.transaction import Transactions
from agent_server.frozen import frozen
from agent_server.loop.action import Answer, Question
from agent_server.loop.events import Event
from agent_server.loop.limits import Limits
from agent_server.loop.model import Mode, Review, SessionId
from agent_server.loop.ports import Model, NoStaging, Policy, Staging, Tools
from agent_server.session.steering import WhileBusy
from agent_server.tools.questions import NoQuestions, Questions
from agent_server.tools.subagents import SubAgents


class Client(Protocol):
    """The person's side of a session: sees events, answers questions, has an editor."""

    @property
    def editor(self) -> Editor:
        """Its documents; `NoEditor()` where there are none."""
        ...

    @property
    def diagnostics(self) -> Diagnostics:
        """What it knows to be wrong with files; `NoDiagnostics()` where nobody can be asked."""
        ...

    @property
    def questions(self) -> Questions:
        """Through which the model can ask the person; `NoQuestions()` where nobody is."""
        ...

    def emit(self, session: SessionId, event: Event) -> None:
        """Show an event. Never blocks, never raises; order is kept."""
        ...

    async def before_person(self) -> BeforePerson | None:
        """What the person has before them in the editor; None where nobody can be asked."""
        ...

    async def ask(self, session: SessionId, question: Question) -> Answer:
        """Put one question to the person and wait. Cancelling the wait withdraws the question."""
        ...


@frozen
class Place:
    """Where a session works, and how its tools reach what changes while it lives."""

    id: SessionId
    cwd: str
    roots: tuple[str, ...]
    editor: Callable[[], Editor]
    """The editor of whoever is connected now."""
    mode: Callable[[], Mode]
    root: SessionId | None = None
    """For a sub-agent: the person's session, whose rules and answers hold for it too."""
    subagents: SubAgents | None = None
    """Who does what it delegates; None: it may not."""
    diagnostics: Callable[[], Diagnostics] = NoDiagnostics
    """Of whoever is connected now."""
    questions: Callable[[], Questions] = NoQuestions
    """To whoever is connected now."""
    transactions: Transactions | None = None
    """For a sub-agent: those of the person's session, lent to it. None: its own."""
    review: Callable[[], Review] = lambda: "each"
    """When the person is asked about edits, as of now."""


@frozen
class SubAgentTerms:
    """What the settings say about sub-agents."""

    max_steps: int = 50
    """Of each one; the model cannot raise it."""
    max_depth: int = 1
    """1: sub-agents have none of their own. 0: there are none."""
    model: str | None = None
    """None: the model of whoever delegates."""


@frozen
class Kit:
    """What one session works with."""

    tools: Tools
    policy: Policy
    transactions: Transactions | None = None
    """Through which its tools change files; None when none of them does."""
    staging: Staging = field(default_factory=NoStaging)
    """Where edits wait for the review of the turn."""


class Equipment(Protocol):
    """Makes what the sessions of one workspace work with, from the settings that hold there."""

    @property
    def mode(self) -> Mode:
        """The mode in which a new session starts."""
        ...

    @property
    def model_name(self) -> str:
        """The model a new session gets."""
        ...

    @property
    def limits(self) -> Limits:
        """The bounds of a turn."""
        ...

    @property
    def subagents(self) -> SubAgentTerms:
        """The bounds of sub-agents."""
        ...

    @property
    def approval_timeout_s(self) -> float:
        """How long a question may stay open; 0 is without end."""
        ...

    @property
    def prompt_while_busy(self) -> WhileBusy:
        """What a prompt means that comes while a turn runs."""
        ...

    @property
    def updates_per_second(self) -> int:
        """Of a text that grows, for a client that does not say how many it wants; 0: as the front thinks best."""
        ...

    @property
    def review(self) -> Review:
        """When a new session's person is asked about edits."""
        ...

    @property
    def receipts(self) -> bool:
        """Whether effects are written down in the workspace too."""
        ...

    def titler(self) -> Model | None:
        """The small model that names sessions; None: their first words do."""
        ...

    def summariser(self) -> Model | None:
        """The model that summarises long conversations; None: the one that leads them."""
        ...

    @property
    def protect_last_n(self) -> int:
        """Entries of the log that a summary leaves as they are."""
        ...

    def models(self) -> tuple[str, ...]:
        """Models a person may pick from; the default is among them."""
        ...

    def model(self, name: str) -> Model:
        """The model of that name.

        Raises:
            ClientMistake: there is no such model.
        """
        ...

    def fallbacks(self, name: str, *, pinned: bool) -> tuple[Model, ...]:
        """Models to go on with when that one cannot, in order. `pinned`: the person picked it in this session (R53)."""
        ...

    async def warm(self, name: str) -> None:
        """Make ready what the first request to that model and the first calls would wait for; may take seconds."""
        ...

    async def kit(self, place: Place) -> Kit:
        """Tools and policy for a session at `place`."""
        ...

    def notices(self) -> tuple[str, ...]:
        """What a person should know about settings and model when a session begins; one sentence each."""
        ...
