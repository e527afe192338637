"""How often a client is told of a text that grows (decision 5). Timing only: pure, told the time, sends nothing.

Time is cut into windows; one begins with the first piece after the last one ended. In a *calm* window the first few
pieces leave at once. One with more makes the next a *flood*: its pieces are held and leave together when it ends, until
a window is calm again.
"""

from math import inf
from typing import Final

from agent_server.frozen import frozen


@frozen
class Rate:
    """What is at once, and what is a flood."""

    window_s: float
    free: int
    """Pieces of a calm window that leave at once; the others wait for its end."""
    calm: int
    """A flood is over with a window of at most so many pieces."""


NATURAL: Final = Rate(window_s=0.05, free=7, calm=7)
"""Up to 140 pieces a second, faster than anybody reads, nothing waits. In a flood there are 20 updates a second, and
never more than 7 + 20 in any second of it: below the 30 that an editor takes without stuttering."""


def at_most(per_second: int) -> Rate:
    """Never more than so many updates a second: the first at once, the others evenly."""
    return Rate(window_s=1 / per_second, free=1, calm=0)


class Pace:
    """Of one session's stream. Times are seconds of one monotonic clock."""

    __slots__ = ("_flood", "_pieces", "_rate", "ends")

    def __init__(self, rate: Rate) -> None:
        self._rate = rate
        self.ends = -inf
        """When the window ends, and what is held of it leaves."""
        self._pieces = 0
        self._flood = False

    def at_once(self, now: float) -> bool:
        """Count a piece; whether it leaves at once, else when the window `ends`."""
        if now >= self.ends:
            self._begin(now, 1, lull=now >= self.ends + self._rate.window_s)
        self._pieces += 1
        return not self._flood and self._pieces <= self._rate.free

    def left(self, now: float, updates: int) -> None:
        """What was held has left, as so many updates; each of them takes its time from the window that begins."""
        self._begin(now, updates, lull=False)

    def _begin(self, now: float, updates: int, *, lull: bool) -> None:
        limit = self._rate.calm if self._flood else self._rate.free
        self._flood = self._pieces > limit and not lull
        self.ends = now + self._rate.window_s * updates
        self._pieces = 0
