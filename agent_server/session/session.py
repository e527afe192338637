"""One session: an actor with an ordered inbox of prompts, one turn at a time, and the scope that cancels it.

What is added to a running turn reaches the loop through its `Control`; what the turn did not hear any more becomes the
next prompt, or is handed back (loop.md R137).
"""

import itertools
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

import anyio

from agent_server.context.session_context import SessionContext
from agent_server.loop.action import Answer, Question
from agent_server.loop.errors import (
    AgentServerError,
    ClientMistake,
    SessionBusy,
    TurnMismatch,
    TurnRunning,
)
from agent_server.loop.events import (
    EditChanged,
    Event,
    Notice,
    StateChanged,
    TitleChanged,
    UsageChanged,
    UserSaid,
)
from agent_server.loop.loop import run
from agent_server.loop.model import (
    MODES,
    Detail,
    DoneReason,
    Entry,
    Mode,
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
from agent_server.session.prompts import Parts, Prompt, TurnResult, new_turn_id
from agent_server.session.steering import Steer, Steered
from agent_server.session.titles import first_words, found_title, given_title

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Profile:
    """What can be changed about a session between turns."""

    mode: Mode
    model: str | None = None
    """As the person chose it for this session; None: the default."""
    title: str | None = None
    named: bool = False
    """A person gave the title; it is never replaced."""


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
        aside: str | None = None,
        read_only: str | None = None,
    ) -> None:
        """`prepare` makes its tools, policy and prompt, once, before the first turn needs them.

        `aside` is said to the model with the next prompt. `read_only` says why nothing can be done with it here.
        """
        self.id = id
        self.cwd = cwd
        self.roots = roots
        self.client = client
        self.notices = notices
        self.left_open: tuple[EditChanged, ...] = ()
        """Edits that a dead process had left open, as they are now (session/edits.py)."""
        self.read_only = read_only
        self._aside = aside
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
        self.running: Turn | None = None
        """The turn that runs; sub-agents work under it."""
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

    @property
    def usage(self) -> UsageChanged | None:
        """The tokens that the conversation takes up and what it has cost, as of the last reply; None before one."""
        last = next((e for e in reversed(self.entries) if isinstance(e, ReplyEntry)), None)
        if last is None:
            return None
        used = last.reply.usage.input + last.reply.usage.output
        return UsageChanged(
            last.turn, used, self._equipment.model(self.model).window, self._spent()
        )

    def models(self) -> tuple[str, ...]:
        """Models to choose from, the current one among them."""
        known = self._equipment.models()
        return known if self.model in known else (self.model, *known)

    # ---- what a client does with it --------------------------------------------------------------------

    async def prompt(self, parts: Parts) -> TurnResult:
        """Ask; returns when the turn has settled and all its events were emitted. Prompts are answered in order.

        Cancelling this wait cancels the turn.
        """
        item = self.submit(parts)
        try:
            return await self.answer(item)
        except anyio.get_cancelled_exc_class():
            item.cancel("cancel")
            raise

    def submit(self, parts: Parts) -> Prompt:
        """Take a place in the inbox, at once. For callers that settle their own cancellation: `Prompt.cancel`.

        While a turn runs, the settings say whether it waits, is added to that turn, or is refused.

        Raises:
            SessionBusy: the session can only be read here.
            TurnRunning: a turn runs, and prompts do not wait.
            ClientMistake: the session is closed.
        """
        self._require_open()
        running = self._steerable()
        match self._equipment.prompt_while_busy:
            case "reject" if self.busy:
                raise TurnRunning(f"a turn of session {self.id!r} is running; cancel it, or wait")
            case "steer" if running is not None:
                item = Prompt(parts, running.turn, host=running)
                running.add(parts, by=item)
                return item
            case _:
                return self._enqueue(Prompt(parts, new_turn_id()))

    def queue(self, parts: Parts) -> Steered:
        """A prompt whose answer nobody waits for: its turn follows those before it, and tells its own end."""
        self._require_open()
        idle = not self.busy
        item = self._enqueue(Prompt(parts, new_turn_id(), asked=False))
        return Steered("started" if idle else "queued", item.turn)

    def steer(self, mode: Steer, parts: Parts, *, turn: TurnId) -> Steered:
        """Say something to the running turn `turn`; never begins a turn by accident (F21).

        Raises:
            TurnMismatch: that turn does not run, or is ending.
            SessionBusy, ClientMistake: as `submit`.
        """
        self._require_open()
        running = self._steerable()
        if running is None or running.turn != turn:
            raise TurnMismatch(f"turn {turn!r} of session {self.id!r} does not run")
        match mode:
            case "stop":
                running.control.soft_stop = True
                return Steered("stopping", turn)
            case "redirect" if running.control.request is not None:
                running.add(parts, now=True)
                return Steered("redirected", turn)
            case "steer" | "redirect":
                running.add(parts)
                return Steered("steered", turn)

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
        self._require_open()
        if mode not in MODES:
            raise ClientMistake(f"there is no mode {mode!r}; the modes are {', '.join(MODES)}")
        self._profile.mode = mode
        self.changed()

    async def set_model(self, model: str) -> None:
        """Use another model from the next turn on."""
        self._require_open()
        self._equipment.model(model)
        self._profile.model = model
        self.changed()

    def set_title(self, title: str) -> str:
        """Give it a name that nothing replaces but another one; the name as it is kept.

        Raises:
            ClientMistake: that is no title.
        """
        self._require_open()
        self._profile.title = given_title(title)
        self._profile.named = True
        self.changed()
        return self._profile.title

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
        async with anyio.create_task_group() as beside:
            while not self._closed:
                if not self._inbox:
                    self._arrived = anyio.Event()
                    await self._arrived.wait()
                    continue
                item = self._inbox[0]
                first = not self.entries
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
                    self._settle(item)
                self.changed()
                if first:
                    beside.start_soon(self._retitle, item)
            beside.cancel_scope.cancel()

    async def close(self) -> None:
        """Cancel what runs and what waits, stop the actor. Returns when the running turn has settled."""
        self._closed = True
        waiting = list(self._inbox)
        for item in waiting:
            item.cancel("shutdown")
        self._arrived.set()
        for item in waiting[:1]:
            await item.done.wait()
        for item in list(self._inbox):
            item.settle_cancelled("shutdown")
        self._inbox.clear()

    def _require_open(self) -> None:
        if self._closed:
            raise ClientMistake(f"session {self.id!r} is closed")
        if self.read_only is not None:
            raise SessionBusy(self.read_only)

    def _enqueue(self, item: Prompt) -> Prompt:
        self._inbox.append(item)
        self._arrived.set()
        return item

    def _steerable(self) -> Prompt | None:
        """The prompt whose turn runs or is about to, unless it is being cancelled."""
        head = self._inbox[0] if self._inbox else None
        return None if head is None or head.scope.cancel_called else head

    def _settle(self, item: Prompt) -> None:
        """Answer a prompt and those that became part of its turn; what the turn did not hear goes on without it.

        A prompt that a client waits for gets a turn of its own in any case; other words do when the turn ended well,
        and are handed back when it did not: after a stop or an error nobody wants the agent to begin anew.
        """
        result = item.result
        well = result is not None and result.reason is DoneReason.MODEL_STOP
        well = well and not item.control.soft_stop
        following: list[Prompt] = []
        unread: list[Parts] = []
        for parts, by in item.unheard():
            if by is not None:
                by.host, by.turn = None, new_turn_id()
                following.append(by)
            elif well:
                following.append(Prompt(parts, new_turn_id(), asked=False))
            else:
                unread.append(parts)
        if result is not None:
            item.result = replace(result, unread=tuple(unread))
        self._inbox.extendleft(reversed(following))
        for rider in item.heard():
            rider.host, rider.result, rider.error = None, item.result, item.error
            rider.done.set()
        item.done.set()
        if not item.asked:
            self._tell_failure(item)

    def _tell_failure(self, item: Prompt) -> None:
        """Nobody waits for the answer, so an error has no other way to a person."""
        failed = item.result is not None and item.result.reason is DoneReason.ERROR
        message = item.result.message if item.result is not None and failed else item.error
        if message is not None:
            self.emit(Notice("error", "The prompt could not be answered", str(message)))

    async def _answer(self, item: Prompt) -> TurnResult:
        kit, context = await self.ready()
        self._entitle(item.parts)
        aside, self._aside = self._aside, None
        parts = item.parts if aside is None else (Text(aside), *item.parts)
        turn = self.running = self._turn(item, kit, context)
        if not item.asked:
            turn.emit = self._announcing(item)
        with item.scope:
            done = await run(turn, parts)
            return TurnResult(
                item.turn, done.reason, done.detail, turn.usage, self._text(item.turn), done.message
            )
        return TurnResult(
            item.turn, DoneReason.USER_ABORT, item.control.abort, turn.usage, self._text(item.turn)
        )

    def _announcing(self, item: Prompt) -> Callable[[Event], None]:
        """Shows the prompt once its turn is seen to run: its client could not know when that would be."""
        shown = False

        def emit(event: Event) -> None:
            nonlocal shown
            self.emit(event)
            if not shown and isinstance(event, StateChanged) and event.state != "done":
                shown = True
                self.emit(UserSaid(item.turn, f"user-{item.turn}", item.parts))

        return emit

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
            before=self._spent(),
            control=item.control,
        )

    def emit(self, event: Event) -> None:
        """Show an event to whoever is connected."""
        self.client.emit(self.id, event)

    def _spent(self) -> Usage:
        return sum((e.usage for e in self.entries if isinstance(e, TurnEndEntry)), Usage())

    def _entitle(self, parts: Parts) -> None:
        """The first words of the first prompt name the session."""
        if self._profile.title is None:
            self._call_it(first_words(parts))

    async def _retitle(self, item: Prompt) -> None:
        """After the first turn, beside whatever comes next: a better name, unless a person gives one meanwhile."""
        model, before = self._equipment.titler(), self._profile.title
        if model is None or item.result is None or not item.result.text:
            return
        title = await found_title(model, item.parts, item.result.text)
        if self._profile.title == before and not self._profile.named:
            self._call_it(title)

    def _call_it(self, title: str | None) -> None:
        if title is not None and title != self._profile.title:
            self._profile.title = title
            self.emit(TitleChanged(title))
            self.changed()

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


def _last_reply_number(entries: Sequence[Entry]) -> int:
    return next((e.number for e in reversed(entries) if isinstance(e, ReplyEntry)), 0)
