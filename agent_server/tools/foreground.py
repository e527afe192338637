"""Runs one command to its end and collects what it says. Nothing of it is alive afterwards, however it ends."""

import os

import anyio
from anyio import to_thread

from agent_server.frozen import frozen, mutable
from agent_server.tools.capture import Capture, Spill
from agent_server.tools.descendants import POLL_S
from agent_server.tools.processes import Child, are_busy, end, leftovers
from agent_server.tools.progress import Progress

READ_BYTES = 65_536
"""A pipe's capacity."""
LINGER_S = 0.2
"""For what the shell does not wait for but is about to end, such as `> >(tee log)`: this long it may idle. Time in
which it works, or waits for a processor of a busy machine, does not count."""
LINGER_AT_MOST_S = 3.0
"""Then it is ended though it works: it may never stop."""
EXITING_S = 0.2
"""A process that has closed its output may still be on its way out; what only seems to stay gets this long."""
DRAIN_S = 1.0
"""For the last output of a dead command; only a survivor of KILL can hold the pipe open longer."""


@frozen
class Ending:
    """How a command ended."""

    code: int | None
    """As `wait` gives it: minus the signal; None when the time was up."""
    timeout_s: float
    left: int = 0
    """Descendants that were still running, and were ended."""
    survivors: tuple[int, ...] = ()
    """Processes that could not be ended."""


@mutable
class Output:
    """What a command says, on its way to the person, the model and the file."""

    capture: Capture
    spill: Spill
    progress: Progress
    _early: str = ""
    """What came before the output was long enough for a file."""

    async def take(self, data: bytes, *, final: bool = False) -> None:
        """More of it."""
        text = self.capture.add(data, final=final)
        self.progress.add(text)
        self._early += text
        if self.capture.is_long:
            text, self._early = self._early, ""
            await to_thread.run_sync(self.spill.write, text)


async def watched(child: Child, receiving: int, output: Output, *, timeout_s: float) -> Ending:
    """Wait for the child while its output comes in on `receiving`, a descriptor that does not block."""
    ending = Ending(None, timeout_s)
    try:
        async with anyio.create_task_group() as group:
            drained = anyio.Event()
            group.start_soon(_drain, receiving, output, drained)
            ending = await _ended(child, drained, timeout_s)
            with anyio.move_on_after(DRAIN_S):
                await drained.wait()
            group.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            if not ending.survivors:
                await end(child)
                await child.process.wait()
    await output.take(b"", final=True)
    return ending


async def _ended(child: Child, drained: anyio.Event, timeout_s: float) -> Ending:
    code: int | None = None
    with anyio.move_on_after(timeout_s):
        code = await child.process.wait()
    if code is None:
        return Ending(None, timeout_s, survivors=await end(child))
    await _linger(child, drained)
    left = await leftovers(child)
    if left and drained.is_set():
        left = await _left(child)
    return Ending(code, timeout_s, len(left), await end(child) if left else ())


async def _linger(child: Child, drained: anyio.Event) -> None:
    idle_s = 0.0
    with anyio.move_on_after(LINGER_AT_MOST_S):
        while idle_s < LINGER_S:
            with anyio.move_on_after(POLL_S):
                await drained.wait()
                return
            idle_s += 0.0 if await are_busy(child) else POLL_S


async def _left(child: Child) -> tuple[int, ...]:
    """Who stays, once those who are on their way out are gone."""
    with anyio.move_on_after(EXITING_S):
        while await are_busy(child):  # noqa: ASYNC110 - no system announces the death of a grandchild
            await anyio.sleep(POLL_S)
    return await leftovers(child)


async def _drain(receiving: int, output: Output, drained: anyio.Event) -> None:
    while True:
        await anyio.wait_readable(receiving)
        try:
            data = os.read(receiving, READ_BYTES)
        except BlockingIOError:  # woken for nothing
            continue
        if not data:
            drained.set()
            return
        await output.take(data)
