"""A child with all its descendants (`descendants`): started in a session of its own, ended to the last one."""

import signal
import subprocess
import time
from collections.abc import Mapping
from secrets import token_hex

import anyio
from anyio import to_thread
from anyio.abc import Process

from agent_server.frozen import frozen
from agent_server.tools.descendants import (
    GRACE_S,
    KILLED_WITHIN_S,
    MARK,
    POLL_S,
    Family,
    alive,
    is_busy,
    signal_all,
)
from agent_server.tools.lifeline import Lifeline


@frozen
class Child:
    """A running command."""

    process: Process
    family: Family
    lifeline: Lifeline


async def start(
    argv: list[str], *, cwd: str, env: Mapping[str, str], output: int, lifeline: Lifeline
) -> Child:
    """Run `argv` in its own session, its input empty, both its outputs on the descriptor `output`.

    From here to `end` it dies with this process.
    """
    mark = token_hex(8)
    await to_thread.run_sync(lifeline.begin, mark)
    try:
        process = await anyio.open_process(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=cwd,
            env={**env, MARK: mark},
            start_new_session=True,
        )
    except BaseException:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(lifeline.over, mark)
        raise
    with anyio.CancelScope(shield=True):  # a cancel in between would leave it to nobody
        await to_thread.run_sync(lifeline.leads, mark, process.pid)
    return Child(process, Family(mark, process.pid), lifeline)


async def end(child: Child) -> tuple[int, ...]:
    """End the child and every descendant: TERM, a second, KILL. Gives the ids that survived even that.

    Shield the call where it runs in a cancelled scope.
    """
    try:
        if not await _signalled(child, signal.SIGTERM, within_s=GRACE_S):
            return ()
        return await _signalled(child, signal.SIGKILL, within_s=KILLED_WITHIN_S)
    finally:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(child.lifeline.over, child.family.mark)


async def leftovers(child: Child) -> tuple[int, ...]:
    """Ids of the descendants that still run."""
    return tuple(sorted(await to_thread.run_sync(alive, child.family)))


async def are_busy(child: Child) -> bool:
    """Whether a descendant runs, waits for a processor or for a disk. Elsewhere than on Linux: never known."""
    return await to_thread.run_sync(is_busy, child.family)


async def _signalled(child: Child, signum: signal.Signals, *, within_s: float) -> tuple[int, ...]:
    """Signal all until none is left or the time is up; new ones that turn up meanwhile get it too."""
    deadline = time.monotonic() + within_s
    told: set[int] = set()
    while found := await leftovers(child):
        signal_all(child.family, set(found) - told, signum, group=not told)
        told |= set(found)
        if time.monotonic() > deadline:
            return found
        await anyio.sleep(POLL_S)
    return ()
