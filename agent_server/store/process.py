"""Which process is which: a pid alone is reused, and means something only on its own machine."""

import os
import platform
import subprocess
import sys
from functools import cache
from pathlib import Path

from agent_server.frozen import frozen

PS_TIMEOUT_S = 2.0
"""`ps` answers in milliseconds; one that hangs must not hold up a session."""


@frozen
class Process:
    """A process, told apart from every other one that ever had its pid."""

    pid: int
    started: str
    """When it started; only good for comparing."""
    place: str
    """Machine, boot and pid namespace; empty where processes cannot be looked up (Windows)."""


def this_process() -> Process:
    """The one we are. May run `ps`, once."""
    return _look_up(os.getpid())


@cache
def _look_up(pid: int) -> Process:
    return Process(pid, _started(pid) or "", _place())


def is_alive(process: Process) -> bool | None:
    """Whether it still runs; None when that cannot be known from here (another machine, another container)."""
    if not process.place or process.place != this_process().place:
        return None
    return _started(process.pid) == process.started


def _place() -> str:
    if sys.platform == "linux":
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    return "" if sys.platform == "win32" else platform.node()


def _started(pid: int) -> str | None:
    """None when there is no such process, or only its remains that nobody has waited for."""
    if sys.platform == "win32":
        return None
    return _started_on_linux(pid) if sys.platform == "linux" else _started_by_ps(pid)


def _started_on_linux(pid: int) -> str | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return None
    # After the name in parentheses, which may hold anything: state is the first field, start time the twentieth.
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else fields[19]


def _started_by_ps(pid: int) -> str | None:
    answer = subprocess.run(
        ["ps", "-o", "stat=,lstart=", "-p", str(pid)],
        env={**os.environ, "LC_ALL": "C", "TZ": "UTC"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PS_TIMEOUT_S,
        check=False,
    )
    state, _, started = answer.stdout.strip().partition(" ")
    return None if not started or state.startswith("Z") else started.strip()
