"""Ends commands whose agent is gone: a process of its own, run beside the agent by `lifeline`.

It is told on its standard input which commands run, and waits for the end of that: the agent holds the only writing
end, so the kernel closes it however the agent dies, by KILL too. What runs then is ended, TERM first.

Not by `PR_SET_PDEATHSIG`: that reaches the child and none of its children, is to be asked for between fork and exec,
and fires when the *thread* dies that forked.
"""

import signal
import sys
import time
from collections.abc import Iterable

from agent_server.tools.descendants import (
    GRACE_S,
    KILLED_WITHIN_S,
    POLL_S,
    Family,
    alive,
    signal_all,
)


def main() -> None:
    """Until the agent is gone."""
    for ignored in (signal.SIGINT, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    end_all(still_running(sys.stdin))


def still_running(lines: Iterable[str]) -> list[Family]:
    """What runs at the end of the lines: `+ mark`, `= mark pid` and `- mark` begin, name and end a command."""
    running: dict[str, Family] = {}
    for line in lines:
        match line.split():
            case ["+", mark]:
                running[mark] = Family(mark, None)
            case ["=", mark, pid]:
                running[mark] = Family(mark, int(pid))
            case ["-", mark]:
                running.pop(mark, None)
            case _:  # torn: the agent died while it wrote
                continue
    return list(running.values())


def end_all(families: list[Family]) -> None:
    """TERM, a second, KILL."""
    for signum, within_s in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, KILLED_WITHIN_S)):
        deadline = time.monotonic() + within_s
        told: dict[str, set[int]] = {}
        while families and time.monotonic() < deadline:
            for family in families:
                found, known = alive(family), told.get(family.mark, set[int]())
                signal_all(family, found - known, signum, group=not known)
                told[family.mark] = known | found
            families = [family for family in families if alive(family)]
            time.sleep(POLL_S)
