"""One session: an actor with an ordered inbox of prompts, one turn at a time, and the scope that cancels it.

What is added to a running turn reaches the loop through its `Control`; what the turn did not hear any more becomes the
next prompt, or is handed back (loop.md R137).
"""

import itertools
import logging
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
import anyio.to_thread

from agent_server.context.session_context import SessionContext
from agent_server.edits.outside import Marks
from agent_server.edits.transaction import Transactions
from agent_server.loop.action import Answer, Question
from agent_server.loop.errors import (
    AgentServerError,
    ClientMistake,
    EditRefused,
    SessionBusy,
    StoreFailure,
    TurnMismatch,
    TurnRunning,
)
from agent_server.loop.events import (
    EditChanged,
    Event,
    Notice,
    TitleChanged,
    UsageChanged,
)
from agent_server.loop.guard import over_limit
from agent_server.loop.loop import run
from agent_server.loop.model import (
    MODES,
    AsideEntry,
    Detail,
    DoneReason,
    Entry,
    Mode,
    ReplyEntry,
    Review,
    SessionId,
    SpentEntry,
    TurnId,
    Usage,
)
from agent_server.loop.ports import Log, Model, Tools
from agent_server.loop.standing import standing
from agent_server.loop.states import Done
from agent_server.loop.turn import Turn
from agent_server.session.asking import Asking
from agent_server.session.hearing import Hearing
from agent_server.session.inbox import Inbox
from agent_server.session.ports import Client, Equipment, Kit
from agent_server.session.prompts import Parts, Prompt, TurnResult, new_turn_id
from agent_server.session.spending import Spending
from agent_server.session.steering import Steer, Steered
from agent_server.session.titles import Title
from agent_server.session.turning import Ground, new_turn, result_of
from agent_server.session.watch import watch

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Profile:
    """What can be changed about a session between turns."""

    mode: Mode
    model: str | None = None
    """As the person chose it for this session; None: the default."""
    title: str | None = None
    review: Review | None = None
    """As the person chose it for this session; None: the default."""


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
        read_only: str | None = None,
    ) -> None:
        """`prepare` makes its tools, policy and prompt, once, before the first turn needs them.

        `read_only` says why nothing can be done with it here.
        """
        self.id = id
        self.cwd = cwd
        self.roots = roots
        self.client = client
        self.notices = notices
        self.left_open: tuple[EditChanged, ...] = ()
        """Edits that a dead process had left open, as they are now (session/edits.py)."""
        self.read_only = read_only
        self._profile = profile
        self.log = log
        self.system_prompt: str | None = None
        """Its bytes, once built; they stay (I7)."""
        self._equipment = equipment
        self._inbox = Inbox()
        self._title = Title(profile.title)
        self._numbers = itertools.count(_last_reply_number(log.entries) + 1)
        self._prepare = prepare
        self._prepared: tuple[Kit, SessionContext] | None = None
        self._hearing = Hearing(cwd, log.entries)
        self._resting = anyio.Lock()
        """Held by whoever needs that no turn runs, and by each turn."""
        self._spending = Spending()
        self._watching = False
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
    def review(self) -> Review:
        """When the person is asked about edits."""
        return self._profile.review or self._equipment.review

    @property
    def chosen_review(self) -> Review | None:
        """The same as the person chose it in this session."""
        return self._profile.review

    @property
    def updates_per_second(self) -> int:
        """Of a text that grows, for a client that does not say how many it wants; 0: as the front thinks best."""
        return self._equipment.updates_per_second

    @property
    def model(self) -> str:
        """The name of the model that answers the next request."""
        return self._profile.model or self._equipment.model_name

    @property
    def chosen_model(self) -> str | None:
        """The model the person chose in this session; it is replaced only where the settings say so (R53)."""
        return self._profile.model

    @property
    def title(self) -> str | None:
        """The title, once there is one."""
        return self._title.text

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
        """What the conversation takes up and has cost, as of the last reply; None without a reply or its model."""
        stands = reversed(standing(self.entries))
        last = next((e for e in stands if isinstance(e, ReplyEntry)), None)
        if last is None:
            return None
        try:
            window = self._equipment.model(self.model).window
        except AgentServerError:  # it is gone from the settings; a prompt will say so
            return None
        used = last.reply.usage.input + last.reply.usage.output
        return UsageChanged(last.turn, used, window, self._spending.of(self.entries))

    @property
    def marks(self) -> Marks:
        """Files that may have changed; whoever notices may add to them."""
        return self._hearing.marks

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
        running = self._inbox.steerable
        match self._equipment.prompt_while_busy:
            case "reject" if self.busy:
                raise TurnRunning(f"a turn of session {self.id!r} is running; cancel it, or wait")
            case "steer" if running is not None:
                item = Prompt(parts, running.turn, host=running)
                running.add(parts, by=item)
                return item
            case _:
                return self._inbox.put(Prompt(parts, new_turn_id()))

    def queue(self, parts: Parts) -> Steered:
        """A prompt whose answer nobody waits for: its turn follows those before it, and tells its own end."""
        self._require_open()
        idle = not self.busy
        item = self._inbox.put(Prompt(parts, new_turn_id(), asked=False))
        return Steered("started" if idle else "queued", item.turn)

    def steer(self, mode: Steer, parts: Parts, *, turn: TurnId) -> Steered:
        """Say something to the running turn `turn`; never begins a turn by accident (F21).

        Raises:
            TurnMismatch: that turn does not run, or is ending.
            SessionBusy, ClientMistake: as `submit`.
        """
        self._require_open()
        running = self._inbox.steerable
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

    async def say_aside(self, sentence: str, *, about: str | None = None) -> None:
        """Let the model hear this with the next prompt, or before the next request of a turn that runs.

        Kept in the log until it was heard. `about` is the transaction that it tells of.
        """
        try:
            await self.log.append(AsideEntry(self.turn or TurnId(""), sentence, about))
        except StoreFailure as failure:  # what it tells of is done all the same
            log.warning("session %s: what was said aside is not kept: %s", self.id, failure)
        self._hearing.say(sentence)

    @asynccontextmanager
    async def at_rest(self, what: str) -> AsyncGenerator[None]:
        """No turn runs meanwhile; a prompt that comes waits. `what` is to be done, for the message.

        Raises:
            EditRefused: `turn_running`.
            SessionBusy, ClientMistake: as `submit`.
        """
        self._require_open()
        if self.busy:
            raise EditRefused(
                f"session {self.id!r} is answering a prompt; cancel it, then {what}",
                reason="turn_running",
            )
        async with self._resting:
            yield

    async def rewind(self, *entries: Entry) -> None:
        """Take the conversation back, while it is `at_rest`; `entries` say to where, and what the model has to hear.

        Raises:
            StoreFailure: it was not.
        """
        await self.log.append(*entries)
        self._hearing.recall(self.entries)
        if (transactions := self.transactions) is not None:
            transactions.documents.forget()
        told = "The conversation was taken back"
        self.emit(Notice("info", told, "Load the session again to see it as it stands now."))
        if (used := self.usage) is not None:
            self.emit(used)

    async def answer(self, item: Prompt) -> TurnResult:
        """What a submitted prompt came to; also after its `cancel`. Cancelling this wait cancels nothing."""
        await item.done.wait()
        if item.result is None:
            raise item.error or ClientMistake(f"session {self.id!r} was closed before it answered")
        return item.result

    @property
    def turn(self) -> TurnId | None:
        """The turn that runs, or is about to."""
        head = self._inbox.head
        return None if head is None else head.turn

    def cancel(self, why: Detail = "cancel") -> None:
        """End the running turn; what is queued behind it stays. Idempotent, harmless when idle."""
        self._inbox.cancel(why)

    async def set_mode(self, mode: Mode) -> None:
        """Change the permission mode, at once, also for the running turn."""
        self._require_open()
        if mode not in MODES:
            raise ClientMistake(f"there is no mode {mode!r}; the modes are {', '.join(MODES)}")
        self._profile.mode = mode
        self.changed()

    async def set_review(self, review: Review) -> None:
        """Ask about each edit, or about all of a turn together; what is staged already stays so until its review."""
        self._require_open()
        self._profile.review = review
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
        given = self._title.give(title)
        self.changed()
        return given

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

    @property
    def transactions(self) -> Transactions | None:
        """Through which its tools change files; None when none does, or before it is ready."""
        return None if self._prepared is None else self._prepared[0].transactions

    async def serve(self) -> None:
        """Answer prompts until closed; run by whoever owns the session."""
        async with anyio.create_task_group() as beside:
            while (item := await self._inbox.next()) is not None:
                first = not self.entries
                if not self._watching:
                    self._watching = True
                    beside.start_soon(watch, (self.cwd, *self.roots), self.marks)
                try:
                    async with self._resting:
                        item.result = await self._answer(item)
                except AgentServerError as error:
                    item.error = error
                except Exception as error:
                    log.exception("session %s: a prompt could not be answered", self.id)
                    item.error = AgentServerError(
                        f"the prompt could not be answered: {type(error).__name__}: {error}"
                    )
                finally:
                    self._inbox.settle(item)
                self._tell_failure(item)
                self.changed()
                if first:
                    beside.start_soon(self._retitle, item)
            beside.cancel_scope.cancel()

    async def close(self) -> None:
        """Cancel what runs and what waits, stop the actor. Returns when the running turn has settled."""
        await self._inbox.close()

    def _require_open(self) -> None:
        if self._inbox.closed:
            raise ClientMistake(f"session {self.id!r} is closed")
        if self.read_only is not None:
            raise SessionBusy(self.read_only)

    def _tell_failure(self, item: Prompt) -> None:
        """Where nobody waits for the answer, an error has no other way to a person."""
        if item.asked:
            return
        failed = item.result is not None and item.result.reason is DoneReason.ERROR
        message = item.result.message if item.result is not None and failed else item.error
        if message is not None:
            self.emit(Notice("error", "The prompt could not be answered", str(message)))

    async def _answer(self, item: Prompt) -> TurnResult:
        kit, context = await self.ready()
        if self._title.begin(item.parts):
            self._show_title()
        parts = await self._hearing.with_prompt(item.parts, self.client, kit.policy, self.entries)
        item.control.news = lambda: self._hearing.news(self.transactions)
        models = await anyio.to_thread.run_sync(self._models)
        approver = Asking(self.ask, self._equipment.approval_timeout_s)
        ground = Ground(
            self.log, self._equipment, approver, self.emit, self._numbers, self._spending
        )
        turn = self.running = new_turn(item, ground, kit, context, models)
        done: Done | None = None
        with item.scope:
            done = await run(turn, parts)
        return result_of(item, turn, done)

    def _models(self) -> deque[Model]:
        """The model, and those that may go on when it cannot. Blocks: tables and scripts may have to be read."""
        pinned = self.chosen_model is not None
        others = self._equipment.fallbacks(self.model, pinned=pinned)
        return deque((self._equipment.model(self.model), *others))

    def emit(self, event: Event) -> None:
        """Show an event to whoever is connected."""
        self.client.emit(self.id, event)

    async def ask(self, question: Question) -> Answer:
        """Put a question to whoever is connected."""
        return await self.client.ask(self.id, question)

    async def _retitle(self, item: Prompt) -> None:
        """After the first turn, beside whatever comes next: a better title."""
        answer = "" if item.result is None else item.result.text
        titler = self._equipment.titler() if answer and self._may_spend() else None
        if await self._title.improve(titler, item.parts, answer, self._spent_on_title):
            self._show_title()

    def _may_spend(self) -> bool:
        return self.running is None or over_limit(self.running) is None

    async def _spent_on_title(self, usage: Usage) -> None:
        """Charged to the session, whose next turns have that much less (R25)."""
        try:
            await self.log.append(SpentEntry(self.turn or TurnId(""), usage, "title"))
        except StoreFailure as failure:
            log.warning("session %s: what its title cost is not kept: %s", self.id, failure)
        if self.running is not None:
            self.running.before = self._spending.of(self.entries)

    def _show_title(self) -> None:
        if self._title.text is not None:
            self.emit(TitleChanged(self._title.text))
            self.changed()


def _last_reply_number(entries: Sequence[Entry]) -> int:
    return next((e.number for e in reversed(entries) if isinstance(e, ReplyEntry)), 0)
