"""Which processes descend from a command, and signals to all of them.

Descendants are the command's process group and session, its children and theirs, and whatever carries the mark that was
put into its environment: so one that daemonised itself (`setsid`, a double fork) is found too (CP-07). Only Linux tells
environments (/proc); elsewhere the process group is ended, and what left it is not found.

Standard library only: the watchdog runs without the rest of the program.
"""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

MARK = "AGENT_CALL_MARK"
"""Name of the environment variable that marks descendants."""
GRACE_S = 1.0
"""Between TERM and KILL: long enough to remove lock files, short enough for somebody who pressed stop."""
POLL_S = 0.02
"""How often dying processes are looked for; no system announces the death of a grandchild."""
KILLED_WITHIN_S = 2.0
"""KILL cannot be refused; a process still there after that hangs in the kernel and is reported."""
_PROC = Path("/proc")


class Family(NamedTuple):
    """A command's processes."""

    mark: str
    leader: int | None
    """Id of the first, which leads its group and session; None: not known yet."""


class _Entry(NamedTuple):
    state: bytes
    pid: int
    parent: int
    group: int
    session: int


def alive(family: Family) -> set[int]:
    """Ids of those that run."""
    mark, leader = family
    if not _PROC.is_dir():
        return {leader} if leader is not None and _group_exists(leader) else set()
    entries = [e for name in os.listdir(_PROC) if name.isdigit() and (e := _entry(int(name)))]  # noqa: PTH208  hot
    found = {
        e.pid for e in entries if leader in (e.pid, e.group, e.session) or _is_marked(e.pid, mark)
    }
    while more := {e.pid for e in entries if e.parent in found} - found:
        found |= more
    return found - {os.getpid()}


def is_busy(family: Family) -> bool:
    """Whether one of them runs, waits for a processor or for a disk. Elsewhere than on Linux: never known."""
    return any(e.state in (b"R", b"D") for pid in alive(family) if (e := _entry(pid)))


def signal_all(family: Family, pids: set[int], signum: signal.Signals, *, group: bool) -> None:
    """Signal these; with `group`, the group of the first as well, which may have grown meanwhile."""
    for pid in pids:
        _send(os.kill, pid, signum)
    if group and family.leader is not None:
        _send(os.killpg, family.leader, signum)


def _send(send: Callable[[int, int], None], pid: int, signum: signal.Signals) -> None:
    try:
        send(pid, signum)
    except (ProcessLookupError, PermissionError):
        return  # gone, or it has become another user's


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
