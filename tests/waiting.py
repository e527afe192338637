"""Bounded waits for what nobody tells a test of: what an editor has drawn, a page, a file, another process.

    screen = wait_until(nvim.screen, lambda shown: "applied" in shown)

Where there is an event (a message of the server, the end of a process), wait for that instead.
"""

import time
from collections.abc import Callable
from typing import TypeVar

import anyio

T = TypeVar("T")
LIMIT_S = 40.0
"""A hang, not a slow machine: they are shared."""
POLL_S = 0.01


def wait_until(
    look: Callable[[], T], holds: Callable[[T], object] = bool, *, limit_s: float = LIMIT_S
) -> T:
    """Look again and again until it holds, and return what was seen then; a failure shows what was seen last."""
    give_up = time.monotonic() + limit_s
    while not holds(seen := look()):
        assert time.monotonic() < give_up, f"not so after {limit_s:.0f} s:\n{seen}"
        time.sleep(POLL_S)
    return seen


async def wait_until_async(
    look: Callable[[], T], holds: Callable[[T], object] = bool, *, limit_s: float = LIMIT_S
) -> T:
    """Do the same in an async test; everything else in it goes on meanwhile."""
    give_up = time.monotonic() + limit_s
    while not holds(seen := look()):
        assert time.monotonic() < give_up, f"not so after {limit_s:.0f} s:\n{seen}"
        await anyio.sleep(POLL_S)
    return seen
