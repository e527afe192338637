"""One session: an actor with an ordered inbox of prompts, one turn at a time, and the scope that cancels it.

What is added to a running turn reaches the loop through its `Control`; what the turn did not hear any more becomes the
next prompt, or is handed back (loop.md R137).
"""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

import anyio

from agent_server.context.session_context import SessionContext
from agent_server.edits.outside import Marks
from agent_server.edits.transaction import Transactions
from agent_server.loop.errors import (
    AgentServerError,
    ClientMistake,
    EditRefused,
    SessionBusy,
    StoreFailure,
)
from agent_server.loop.events import EditChanged, Event, Notice, TitleChanged, UsageChanged
from agent_server.loop.model import (
    AsideEntry,
    Detail,
    Entry,
    Mode,
    Review,
    SessionId,
    TurnId,
    Usage,
)
from agent_server.loop.ports import Log, Tools
from agent_server.loop.turn import Turn
from agent_server.session.answering import Answering
from agent_server.session.commanded import Commands, NoCommands
from agent_server.session.connected import Connected
from agent_server.session.hearing import Hearing
from agent_server.session.inbox import Inbox
from agent_server.session.naming import Naming
from agent_server.session.ports import Client, Equipment, Kit
from agent_server.session.profile import Profile
from agent_server.session.prompts import Parts, Prompt, TurnResult
from agent_server.session.spending import Spending
from agent_server.session.steering import Steer, Steered
from agent_server.session.watch import watch

log = logging.getLogger(__name__)


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
        commands: Callable[["Session"], Commands] = lambda _: NoCommands(),
    ) -> None:
        """`prepare` makes its tools, policy and prompt, once, before the first turn needs them.

        `read_only` says why the session can only be read here; `commands` makes the slash commands that it answers.
        """
        self.id = id
        self.cwd = cwd
        self.roots = roots
        self._connected = Connected(id, client)
        self.notices = notices
        self.left_open: tuple[EditChanged, ...] = ()
        """Edits that a dead process had left open, as they are now (session/edits.py)."""
        self.read_only = read_only
        self.profile = profile
        self.log = log
        self.system_prompt: str | None = None
        """Its bytes, once built; they stay (I7)."""
        self._equipment = equipment
        self._inbox = Inbox()
        self._prepare = prepare
        self._prepared: tuple[Kit, SessionContext] | None = None
        self._hearing = Hearing(cwd, log.entries)
        self._resting = anyio.Lock()
        """Held by whoever needs that no turn runs, and by each turn."""
        self._spending = Spending()
        self._naming = Naming(id, profile.title, log, equipment, self._spending, self._show_title)
        self._commands = commands(self)
        self._answering = Answering(
            log,
            equipment,
            profile,
            self._connected,
            hearing=self._hearing,
            spending=self._spending,
            ready=self.ready,
            commands=self._commands,
        )
        self._watching = False
        self.changed: Callable[[], None] = lambda: None
        """Called when title, mode or model changed, or a turn ended; the owner keeps the record."""

    @property
    def client(self) -> Client:
        """Who is connected to it now."""
        return self._connected.client

    def hand_to(self, client: Client) -> None:
        """Somebody else is connected from here on."""
        self._connected.client = client

    @property
    def running(self) -> Turn | None:
        """The turn that runs, or ran last; sub-agents work under it."""
        return self._answering.running

    @property
    def mode(self) -> Mode:
        """The permission mode."""
        return self.profile.mode

    @property
    def model(self) -> str:
        """The name of the model that answers the next request."""
        return self.profile.model

    @property
    def title(self) -> str | None:
        """The title, once there is one."""
        return self.profile.title.text

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
        try:
            window = self._equipment.model(self.model).window
        except AgentServerError:  # it is gone from the settings; a prompt will say so
            return None
        return self._spending.shown(self.entries, window)

    @property
    def spent(self) -> Usage:
        """What it has used so far, what was taken back included."""
        return self._spending.of(self.entries)

    @property
    def marks(self) -> Marks:
        """Files that may have changed; whoever notices may add to them."""
        return self._hearing.marks

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
        """Put a prompt into the inbox and return at once. Whoever cancels it does so by `Prompt.cancel`.

        While a turn runs, the settings say whether the prompt waits, is added to that turn, or is refused. A slash
        command is never added to a turn: it waits. It is also answered where the session can only be read.

        Raises:
            SessionBusy: the session can only be read here.
            TurnRunning: a turn runs, and prompts do not wait.
            ClientMistake: the session is closed.
        """
        while_busy = self._equipment.prompt_while_busy
        if self._commands.named(parts) is None:
            self._require_open()
        else:
            self._require_not_closed()
            while_busy = "queue" if while_busy == "steer" else while_busy
        return self._inbox.submit(parts, while_busy)

    def queue(self, parts: Parts) -> Steered:
        """Put in a prompt whose answer its caller does not wait for; the events of its turn tell how it ended."""
        self._require_open()
        return self._inbox.queue(parts)

    def steer(self, mode: Steer, parts: Parts, *, turn: TurnId) -> Steered:
        """Say something to the running turn `turn`; never begins a turn by accident (F21).

        Raises:
            TurnMismatch: that turn does not run, or is ending.
            SessionBusy, ClientMistake: as `submit`.
        """
        self._require_open()
        return self._inbox.steer(mode, parts, turn)

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
        """Inside this block no turn runs, and prompts that come wait. `what` ends the refusal: "cancel it, then …".

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
            StoreFailure: nothing was taken back.
        """
        await self.log.append(*entries)
        self._hearing.recall(self.entries)
        if (transactions := self.transactions) is not None:
            transactions.documents.forget()
        told = "The conversation was taken back"
        self.emit(Notice("info", told, "Load the session again to see it as it stands now."))
        if (used := self.usage) is not None:
            self.emit(used)

    async def summarise(self, item: Prompt) -> tuple[int, int] | None:
        """Shorten the past, for a command that is `item`; see `Answering.summarise`."""
        return await self._answering.summarise(item)

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
        self.profile.choose_mode(mode)
        self.changed()

    async def set_review(self, review: Review) -> None:
        """Ask about each edit, or about all of a turn together; what is staged already stays so until its review."""
        self._require_open()
        self.profile.chosen_review = review
        self.changed()

    async def set_model(self, model: str) -> None:
        """Use another model from the next turn on."""
        self._require_open()
        self.profile.choose_model(model)
        self.changed()

    def set_title(self, title: str) -> str:
        """Give it a name that nothing replaces but another one; the name as it is kept.

        Raises:
            ClientMistake: that is no title.
        """
        self._require_open()
        given = self.profile.title.give(title)
        self.changed()
        return given

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
                        await self._answering.answer(item, self._naming)
                finally:
                    self._inbox.settle(item)
                self._answering.tell_failure(item)
                self.changed()
                if first:
                    beside.start_soon(self._naming.improve, item, lambda: self.running)
            beside.cancel_scope.cancel()

    async def close(self) -> None:
        """Cancel what runs and what waits, stop the actor. Returns when the running turn has settled."""
        await self._inbox.close()

    def _require_not_closed(self) -> None:
        if self._inbox.closed:
            raise ClientMistake(f"session {self.id!r} is closed")

    def _require_open(self) -> None:
        self._require_not_closed()
        if self.read_only is not None:
            raise SessionBusy(self.read_only)

    def emit(self, event: Event) -> None:
        """Show an event to whoever is connected."""
        self._connected.emit(event)

    def _show_title(self, title: str) -> None:
        self.emit(TitleChanged(title))
        self.changed()
