"""The prompts of one session in their order: which runs, which wait, which a cancel means, and how each is answered."""

from collections import deque
from dataclasses import replace

import anyio

from agent_server.loop.errors import TurnMismatch, TurnRunning
from agent_server.loop.model import Detail, DoneReason, TurnId
from agent_server.session.prompts import Parts, Prompt, new_turn_id
from agent_server.session.steering import Steer, Steered, WhileBusy


class Inbox:
    """Filled by clients, emptied by the session's actor; the first prompt is the one whose turn runs."""

    def __init__(self) -> None:
        self._prompts: deque[Prompt] = deque()
        self._arrived = anyio.Event()
        self.closed = False

    def __bool__(self) -> bool:
        """Whether a turn runs or waits to run."""
        return bool(self._prompts)

    @property
    def head(self) -> Prompt | None:
        """The prompt whose turn runs, or is about to."""
        return self._prompts[0] if self._prompts else None

    @property
    def steerable(self) -> Prompt | None:
        """The same, unless it is being cancelled."""
        head = self.head
        return None if head is None or head.scope.cancel_called else head

    def submit(self, parts: Parts, while_busy: WhileBusy) -> Prompt:
        """A prompt somebody waits for: it waits while a turn runs, is added to that turn, or is refused.

        Raises:
            TurnRunning: a turn runs, and prompts do not wait.
        """
        running = self.steerable
        match while_busy:
            case "reject" if self:
                raise TurnRunning("a turn of this session is running; cancel it, or wait")
            case "steer" if running is not None:
                item = Prompt(parts, running.turn, host=running)
                running.add(parts, by=item)
                return item
            case _:
                return self.put(Prompt(parts, new_turn_id()))

    def queue(self, parts: Parts) -> Steered:
        """A prompt nobody waits for."""
        idle = not self
        item = self.put(Prompt(parts, new_turn_id(), asked=False))
        return Steered("started" if idle else "queued", item.turn)

    def steer(self, mode: Steer, parts: Parts, turn: TurnId) -> Steered:
        """Say something to the running turn `turn`.

        Raises:
            TurnMismatch: that turn does not run, or is ending.
        """
        running = self.steerable
        if running is None or running.turn != turn:
            raise TurnMismatch(f"turn {turn!r} does not run in this session")
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

    def put(self, prompt: Prompt) -> Prompt:
        """Behind all others."""
        self._prompts.append(prompt)
        self._arrived.set()
        return prompt

    async def next(self) -> Prompt | None:
        """The prompt to answer now, once there is one; None when closed. It stays here until it is `settle`d."""
        while not self._prompts and not self.closed:
            self._arrived = anyio.Event()
            await self._arrived.wait()
        return None if self.closed else self._prompts[0]

    def settle(self, prompt: Prompt) -> None:
        """Answer the first prompt and those that became part of its turn; what the turn did not hear goes on alone.

        A prompt that a client waits for gets a turn of its own in any case; other words do when the turn ended well,
        and are handed back when it did not: after a stop or an error nobody wants the agent to begin anew.
        """
        result = prompt.result
        well = result is not None and result.reason is DoneReason.MODEL_STOP
        well = well and not prompt.control.soft_stop
        following: list[Prompt] = []
        unread: list[Parts] = []
        for parts, by in prompt.unheard():
            if by is not None:
                by.host, by.turn = None, new_turn_id()
                following.append(by)
            elif well:
                following.append(Prompt(parts, new_turn_id(), asked=False))
            else:
                unread.append(parts)
        if result is not None:
            prompt.result = replace(result, unread=tuple(unread))
        self._prompts.popleft()
        self._prompts.extendleft(reversed(following))
        for rider in prompt.heard():
            rider.host, rider.result, rider.error = None, prompt.result, prompt.error
            rider.done.set()
        prompt.done.set()

    def cancel(self, why: Detail) -> None:
        """End the running turn; what is queued behind it stays (spec §14). Idempotent, harmless when idle.

        While that turn is ending already, a cancel means the first prompt that came since the last one: who cancels,
        prompts and cancels again means what they just asked (CP-05).
        """
        head = self.head
        if head is None:
            return
        since = (prompt for prompt in self._prompts if not prompt.spared)
        meant = next(since, head) if head.scope.cancel_called else head
        for prompt in self._prompts:
            prompt.spared = True
        meant.cancel(why)

    async def close(self) -> None:
        """Take nothing more; cancel and answer everything. Returns when the running turn has settled."""
        self.closed = True
        for prompt in self._prompts:
            prompt.cancel("shutdown")
        self._arrived.set()
        if (head := self.head) is not None:
            await head.done.wait()
        for prompt in self._prompts:
            prompt.settle_cancelled("shutdown")
        self._prompts.clear()
