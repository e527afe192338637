"""One prompt of a session answered: what the model hears with it, the turn, and what is done after the first one."""

import itertools
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

import anyio.to_thread

from agent_server.context.session_context import SessionContext
from agent_server.loop.errors import AgentServerError, unexpected
from agent_server.loop.events import Notice
from agent_server.loop.loop import run
from agent_server.loop.model import DoneReason, Entry, ReplyEntry
from agent_server.loop.ports import Log, Model
from agent_server.loop.states import Done
from agent_server.loop.turn import Turn
from agent_server.session.asking import Asking
from agent_server.session.commanded import Commands, commanded
from agent_server.session.connected import Connected
from agent_server.session.hearing import Hearing
from agent_server.session.naming import Naming
from agent_server.session.ports import Equipment, Kit
from agent_server.session.profile import Profile
from agent_server.session.prompts import Prompt, TurnResult
from agent_server.session.recovery import recover
from agent_server.session.spending import Spending
from agent_server.session.summarising import summarised
from agent_server.session.turning import Ground, new_turn, result_of

log = logging.getLogger(__name__)

NOT_KEPT = "the session could not be kept"
"""Why calls of an earlier turn have no results, where its end could not be written down."""
Ready = Callable[[], Awaitable[tuple[Kit, SessionContext]]]
"""Makes tools, policy and context, at the first call."""


class Answering:
    """The turns of one session; whoever owns it runs one at a time."""

    def __init__(
        self,
        log: Log,
        equipment: Equipment,
        profile: Profile,
        connected: Connected,
        *,
        hearing: Hearing,
        spending: Spending,
        ready: Ready,
        commands: Commands,
    ) -> None:
        """Nothing runs yet. `commands` answer the prompts that are theirs."""
        self._log = log
        self._equipment = equipment
        self._profile = profile
        self._connected = connected
        self._hearing = hearing
        self._ready = ready
        self._commands = commands
        self._numbers = itertools.count(_last_reply_number(log.entries) + 1)
        self._spending = spending
        self.running: Turn | None = None
        """The turn that runs, or ran last; sub-agents work under it."""

    async def answer(self, item: Prompt, naming: Naming) -> None:
        """Give a prompt its result, or an error when there could be no turn."""
        try:
            name = self._commands.named(item.parts)
            if name is not None:
                item.result = await commanded(item, name, self._commands, self._connected.emit)
            else:
                item.result = await self._result(item, naming)
        except AgentServerError as error:
            item.error = error
        except Exception as error:
            log.exception("a prompt could not be answered")
            item.error = AgentServerError(f"the prompt could not be answered: {unexpected(error)}")

    async def _result(self, item: Prompt, naming: Naming) -> TurnResult:
        """The turn, to its end; a cancel of its scope is an end like another."""
        kit, context = await self._ready()
        await recover(self._log, kit.tools, cause=NOT_KEPT)
        naming.begin(item.parts)
        client, entries = self._connected.client, self._log.entries
        parts = await self._hearing.with_prompt(item.parts, client, kit.policy, entries)
        item.control.news = lambda: self._hearing.news(kit.transactions)
        models = await anyio.to_thread.run_sync(self._models)
        turn = self.running = new_turn(item, self._ground(), kit, context, models)
        done: Done | None = None
        with item.scope:
            done = await run(turn, parts)
        return result_of(item, turn, done)

    async def summarise(self, item: Prompt) -> tuple[int, int] | None:
        """The past becomes a summary, in the place of `item`'s turn. Tokens before and after; None: nothing did.

        Raises:
            StoreFailure: it could not be kept.
        """
        kit, context = await self._ready()
        models = await anyio.to_thread.run_sync(self._models)
        turn = new_turn(item, self._ground(), kit, context, models)
        return await summarised(turn)

    def tell_failure(self, item: Prompt) -> None:
        """Where nobody waits for the answer, an error has no other way to a person."""
        if item.asked:
            return
        failed = item.result is not None and item.result.reason is DoneReason.ERROR
        message = item.result.message if item.result is not None and failed else item.error
        if message is not None:
            notice = Notice("error", "The prompt could not be answered", str(message))
            self._connected.emit(notice)

    def _ground(self) -> Ground:
        timeout_s = self._equipment.approval_timeout_s
        approver = Asking(self._connected.ask, timeout_s, self._note_refusal)
        emit = self._connected.emit
        return Ground(self._log, self._equipment, approver, emit, self._numbers, self._spending)

    async def _note_refusal(self, txn: str) -> None:
        kit, _ = await self._ready()
        if kit.transactions is not None and await kit.transactions.find(txn) is not None:
            await kit.transactions.move(txn, "rejected", since="proposed")

    def _models(self) -> deque[Model]:
        """The model, and those that may go on when it cannot. Blocks: tables and scripts may have to be read."""
        pinned = self._profile.chosen_model is not None
        others = self._equipment.fallbacks(self._profile.model, pinned=pinned)
        return deque((self._equipment.model(self._profile.model), *others))


def _last_reply_number(entries: Sequence[Entry]) -> int:
    return next((e.number for e in reversed(entries) if isinstance(e, ReplyEntry)), 0)
