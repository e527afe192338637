"""One session: an actor with an ordered inbox of prompts, one turn at a time, and the scope that cancels it."""

import itertools
import logging
import secrets
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import anyio

from agent_server.context.session_context import SessionContext
from agent_server.loop.action import Answer, Question
from agent_server.loop.control import Control
from agent_server.loop.errors import AgentServerError, ClientMistake
from agent_server.loop.events import Event, Notice, TitleChanged
from agent_server.loop.loop import run
from agent_server.loop.model import (
    MODES,
    Detail,
    DoneReason,
    Entry,
    Mode,
    Part,
    ReplyEntry,
    SessionId,
    Text,
    TurnEndEntry,
    TurnId,
    Usage,
)
from agent_server.loop.ports import Log, Tools
from agent_server.loop.turn import Gate, Turn
from agent_server.session.ports import Client, Equipment, Kit

log = logging.getLogger(__name__)

TITLE_CHARS = 60


@dataclass(frozen=True, slots=True)
class TurnResult:
    """How a prompt was answered."""

    turn: TurnId
    reason: DoneReason
    detail: Detail
    usage: Usage
    text: str
    """The last visible text of the turn."""
    message: str | None = None
    """A sentence for the person when the turn did not end normally."""


@dataclass(slots=True)
class Prompt:
    """A prompt in the inbox, and the scope of its turn: cancelling works before the turn begins as well as later."""

    parts: tuple[Part, ...]
    turn: TurnId
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    done: anyio.Event = field(default_factory=anyio.Event)
    result: TurnResult | None = None
    error: AgentServerError | None = None
    """Why there is no result."""
    control: Control = field(default_factory=Control)
    """What is said to its turn while that runs."""
    spared: bool = False
    """A cancel came while it was in the inbox."""

    def cancel(self, why: Detail) -> None:
        """End its turn, whether that runs already or not; the first reason counts."""
        if self.scope.cancel_called:
            return
        self.control.abort = why
        self.scope.cancel()


@dataclass(slots=True)
class Profile:
    """What can be changed about a session between turns."""

    mode: Mode
    model: str | None = None
    """As the person chose it for this session; None: the default."""
    title: str | None = None


class Session:
    """A conversation in one workspace. Every method but `prompt` returns without waiting for the model."""

    def __init__(
        self,
        id: SessionId,
        cwd: str,
        roots: tuple[str, ...],
        *,
        profile: Profile,
        log: Log,
        client: Client,
        equipment: Equipment,
        prepare: Callable[[], Awaitable[tuple[Kit, SessionContext]]],
        notices: tuple[Notice, ...] = (),
    ) -> None:
        """`prepare` makes its tools, policy and prompt, once, before the first turn needs them."""
        self.id = id
        self.cwd = cwd
        self.roots = roots
        self.client = client
        self.notices = notices
        self._profile = profile
        self.log = log
        self.system_prompt: str | None = None
        """Its bytes, once built; they stay (I7)."""
        self._equipment = equipment
        self._inbox: deque[Prompt] = deque()
        self._arrived = anyio.Event()
        self._closed = False
        self._numbers = itertools.count(_last_reply_number(log.entries) + 1)
        self._prepare = prepare
        self._prepared: tuple[Kit, SessionContext] | None = None
        self.changed: Callable[[], None] = lambda: None
        """Called when title, mode or model changed, or a turn ended; the owner keeps the record."""

    # ---- what it is ------------------------------------------------------------------------------------

    @property
    def mode(self) -> Mode:
        """The permission mode."""
        return self._profile.mode

    @property
    def model(self) -> str:
        """The name of the model that answers the next request."""
        return self._profile.model or self._equipment.model_name

    @property
    def chosen_model(self) -> str | None:
        """The model the person chose in this session; it is never replaced silently (R53)."""
        return self._profile.model

    @property
    def title(self) -> str | None:
        """The title, once there is one."""
        return self._profile.title

    @property
    def entries(self) -> Sequence[Entry]:
        """The log, oldest first."""
        return self.log.entries

    @property
    def busy(self) -> bool:
        """Whether a turn runs or waits to run."""
        return bool(self._inbox)

    def models(self) -> tuple[str, ...]:
        """Models to choose from, the current one among them."""
        known = self._equipment.models()
        return known if self.model in known else (self.model, *known)

    # ---- what a client does with it --------------------------------------------------------------------

    async def prompt(self, parts: tuple[Part, ...]) -> TurnResult:
        """Ask; returns when the turn has settled and all its events were emitted. Prompts are answered in order.

        Cancelling this wait cancels the turn.
        """
        item = self.submit(parts)
        try:
            return await self.answer(item)
        except anyio.get_cancelled_exc_class():
            item.cancel("cancel")
            raise

    def submit(self, parts: tuple[Part, ...]) -> Prompt:
        """Take a place in the inbox, at once. For callers that settle their own cancellation: `Prompt.cancel`."""
        if self._closed:
            raise ClientMistake(f"session {self.id!r} is closed")
        item = Prompt(parts, new_turn_id())
        self._inbox.append(item)
        self._arrived.set()
        return item

    async def answer(self, item: Prompt) -> TurnResult:
        """What a submitted prompt came to; also after its `cancel`. Cancelling this wait cancels nothing."""
        await item.done.wait()
        if item.result is None:
            raise item.error or ClientMistake(f"session {self.id!r} was closed before it answered")
        return item.result

    @property
    def turn(self) -> TurnId | None:
        """The turn that runs, or is about to."""
        return self._inbox[0].turn if self._inbox else None

    def cancel(self, why: Detail = "cancel") -> None:
        """End the running turn; what is queued behind it stays (spec §14). Idempotent, harmless when idle.

        While that turn is ending already, a cancel means the first prompt that came since the last one: who cancels,
        prompts and cancels again means what they just asked (CP-05).
        """
        if not self._inbox:
            return
        head = self._inbox[0]
        since = (item for item in self._inbox if not item.spared)
        meant = next(since, head) if head.scope.cancel_called else head
        for item in self._inbox:
            item.spared = True
        meant.cancel(why)

    async def set_mode(self, mode: Mode) -> None:
        """Change the permission mode, at once, also for the running turn."""
        if mode not in MODES:
            raise ClientMistake(f"there is no mode {mode!r}; the modes are {', '.join(MODES)}")
        self._profile.mode = mode
        self.changed()

    async def set_model(self, model: str) -> None:
        """Use another model from the next turn on."""
        self._equipment.model(model)
        self._profile.model = model
        self.changed()

    # ---- the actor -------------------------------------------------------------------------------------

    async def ready(self) -> tuple[Kit, SessionContext]:
        """Its tools, policy and context; made at the first use, so that a new session costs nothing."""
        if self._prepared is None:
            self._prepared = await self._prepare()
        return self._prepared

    @property
    def tools(self) -> Tools:
        """Its tools; none before it is ready."""
        return {} if self._prepared is None else self._prepared[0].tools

    async def serve(self) -> None:
        """Answer prompts until closed; run by whoever owns the session."""
        while not self._closed:
            if not self._inbox:
                self._arrived = anyio.Event()
                await self._arrived.wait()
                continue
            item = self._inbox[0]
            try:
                item.result = await self._answer(item)
            except AgentServerError as error:
                item.error = error
            except Exception as error:
                log.exception("session %s: a prompt could not be answered", self.id)
                item.error = AgentServerError(
                    f"the prompt could not be answered: {type(error).__name__}: {error}"
                )
            finally:
                self._inbox.popleft()
                item.done.set()
            self.changed()

    async def close(self) -> None:
        """Cancel what runs, drop what waits, stop the actor. Returns when the running turn has settled."""
        self._closed = True
        waiting = list(self._inbox)
        for item in waiting:
            item.cancel("shutdown")
        self._arrived.set()
        for item in waiting[:1]:
            await item.done.wait()
        for item in waiting[1:]:
            item.done.set()

    async def _answer(self, item: Prompt) -> TurnResult:
        kit, context = await self.ready()
        self._entitle(item.parts)
        turn = self._turn(item, kit, context)
        with item.scope:
            done = await run(turn, item.parts)
            return TurnResult(
                item.turn, done.reason, done.detail, turn.usage, self._text(item.turn), done.message
            )
        return TurnResult(
            item.turn, DoneReason.USER_ABORT, item.control.abort, turn.usage, self._text(item.turn)
        )

    def _turn(self, item: Prompt, kit: Kit, context: SessionContext) -> Turn:
        limits = self._equipment.limits
        deadline = None if limits.max_wall_s is None else anyio.current_time() + limits.max_wall_s
        return Turn(
            id=item.turn,
            log=self.log,
            model=self._equipment.model(self.model),
            tools=kit.tools,
            gate=Gate(kit.policy, Asking(self, self._equipment.approval_timeout_s)),
            context=context,
            emit=self.emit,
            limits=limits,
            numbers=self._numbers,
            fallbacks=deque(() if self.chosen_model else self._equipment.fallbacks(self.model)),
            deadline=deadline,
            before=sum((e.usage for e in self.entries if isinstance(e, TurnEndEntry)), Usage()),
            control=item.control,
        )

    def emit(self, event: Event) -> None:
        """Show an event to whoever is connected."""
        self.client.emit(self.id, event)

    def _entitle(self, parts: tuple[Part, ...]) -> None:
        """The first words of the first prompt name the session."""
        if self._profile.title is not None:
            return
        words = " ".join(" ".join(p.text for p in parts if isinstance(p, Text)).split())
        if not words:
            return
        self._profile.title = (
            words if len(words) <= TITLE_CHARS else words[: TITLE_CHARS - 1].rstrip() + "…"
        )
        self.emit(TitleChanged(self._profile.title))

    def _text(self, turn: TurnId) -> str:
        for entry in reversed(self.entries):
            if isinstance(entry, ReplyEntry) and entry.turn == turn and entry.reply.text:
                return entry.reply.text
        return ""


@dataclass(frozen=True, slots=True)
class Asking:
    """Asks through the session's client (loop.ports.Approver), with a bound where one is set."""

    session: Session
    timeout_s: float

    async def ask(self, question: Question) -> Answer:
        """One question; out of time is no."""
        with anyio.move_on_after(self.timeout_s or None):
            return await self.session.client.ask(self.session.id, question)
        return Answer("timed_out", by="clock")


def new_turn_id() -> TurnId:
    """Unguessable and short."""
    return TurnId(f"turn-{secrets.token_hex(6)}")


def _last_reply_number(entries: Sequence[Entry]) -> int:
    return next((e.number for e in reversed(entries) if isinstance(e, ReplyEntry)), 0)
