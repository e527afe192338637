"""A child with all its descendants: started in a session of its own, ended to the last one.

Descendants are the child's process group and session, its children and theirs, and whatever carries the mark that was
put into its environment: so one that daemonised itself (`setsid`, a double fork) is found too (CP-07). Only Linux tells
environments (/proc); elsewhere the process group is ended, and what left it is not found.
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from secrets import token_hex

import anyio
from anyio import to_thread
from anyio.abc import Process

from agent_server.frozen import frozen

MARK = "AGENT_CALL_MARK"
"""Name of the environment variable that marks descendants."""
GRACE_S = 1.0
"""Between TERM and KILL: long enough to remove lock files, short enough for somebody who pressed stop."""
POLL_S = 0.02
"""How often dying processes are looked for; no system announces the death of a grandchild."""
KILLED_WITHIN_S = 2.0
"""KILL cannot be refused; a process still there after that hangs in the kernel and is reported."""
_PROC = Path("/proc")


@frozen
class Child:
    """A running command."""

    process: Process
    mark: str


async def start(argv: list[str], *, cwd: str, env: Mapping[str, str], output: int) -> Child:
    """Run `argv` in its own session, its input empty, both its outputs on the descriptor `output`."""
    mark = token_hex(8)
    process = await anyio.open_process(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        cwd=cwd,
        env={**env, MARK: mark},
        start_new_session=True,
    )
    return Child(process, mark)


async def end(child: Child) -> tuple[int, ...]:
    """End the child and every descendant: TERM, a second, KILL. Gives the ids that survived even that.

    Shield the call where it runs in a cancelled scope.
    """
    with_term = await _signalled(child, signal.SIGTERM, within_s=GRACE_S)
    if not with_term:
        return ()
    return await _signalled(child, signal.SIGKILL, within_s=KILLED_WITHIN_S)


async def leftovers(child: Child) -> tuple[int, ...]:
    """Ids of the descendants that still run."""
    return tuple(sorted(await to_thread.run_sync(_alive, child)))


async def are_busy(child: Child) -> bool:
    """Whether a descendant runs, waits for a processor or for a disk. Elsewhere than on Linux: never known."""
    return await to_thread.run_sync(_is_busy, child)


async def _signalled(child: Child, signum: signal.Signals, *, within_s: float) -> tuple[int, ...]:
    """Signal all until none is left or the time is up; new ones that turn up meanwhile get it too."""
    deadline = time.monotonic() + within_s
    told: set[int] = set()
    while alive := await leftovers(child):
        for pid in set(alive) - told:
            _send(os.kill, pid, signum)
        if not told:
            _send(os.killpg, child.process.pid, signum)
        told |= set(alive)
        if time.monotonic() > deadline:
            return alive
        await anyio.sleep(POLL_S)
    return ()


def _send(send: Callable[[int, int], None], pid: int, signum: signal.Signals) -> None:
    try:
        send(pid, signum)
    except (ProcessLookupError, PermissionError):
        return  # gone, or it has become another user's


@frozen
class _Entry:
    state: bytes
    pid: int
    parent: int
    group: int
    session: int


def _alive(child: Child) -> set[int]:
    leader = child.process.pid
    if not _PROC.is_dir():
        return {leader} if _group_exists(leader) else set()
    entries = [e for name in os.listdir(_PROC) if name.isdigit() and (e := _entry(int(name)))]  # noqa: PTH208  hot
    found = {
        e.pid
        for e in entries
        if leader in (e.pid, e.group, e.session) or _is_marked(e.pid, child.mark)
    }
    while more := {e.pid for e in entries if e.parent in found} - found:
        found |= more
    return found - {os.getpid()}


def _is_busy(child: Child) -> bool:
    return any(e.state in (b"R", b"D") for pid in _alive(child) if (e := _entry(pid)))


def _group_exists(leader: int) -> bool:
    try:
        os.killpg(leader, 0)
    except (ProcessLookupError, PermissionError):  # macOS says EPERM of a group of zombies
        return False
    return True


def _entry(pid: int) -> _Entry | None:
    """One process from /proc (proc(5)); None when it is gone or only waits to be collected."""
    try:
        stat = (_PROC / str(pid) / "stat").read_bytes()
    except OSError:
        return None
    state, parent, group, session = stat.rpartition(b") ")[2].split(maxsplit=4)[:4]
    if state in (b"Z", b"X"):
        return None
    return _Entry(state, pid, int(parent), int(group), int(session))


def _is_marked(pid: int, mark: str) -> bool:
    try:
        environment = (_PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return False
    return f"{MARK}={mark}".encode() in environment.split(b"\0")
