"""Pieces of text on their way to a client: sent at once, or held and joined until their `Pace` lets them go.

The law: nothing is lost or said twice, and everything keeps its order; only neighbouring pieces of one text are joined.
Of a text that is shown anew each time (a tool's output) only the last state is kept. `flush` comes before whatever else
the client is told of the session.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Protocol

from agent_server.front.blocks import Json
from agent_server.front.pace import Pace, Rate
from agent_server.frozen import frozen

Cancel = Callable[[], object]


class Clock(Protocol):
    """What tells the time, and wakes."""

    def now(self) -> float:
        """Seconds, monotonic."""
        ...

    def later(self, at: float, wake: Callable[[], None]) -> Cancel:
        """Call `wake` at that time, unless cancelled before."""
        ...


class LoopClock:
    """Of the event loop that runs."""

    def now(self) -> float:
        """See `Clock`."""
        return time.monotonic()

    def later(self, at: float, wake: Callable[[], None]) -> Cancel:
        """See `Clock`."""
        return asyncio.get_running_loop().call_later(at - time.monotonic(), wake).cancel


@frozen
class Text:
    """A text that is shown while it grows."""

    chunk: Callable[[str, str], Json]
    """Makes the update of its id and the piece."""
    id: str
    turn: str
    whole: bool = False
    """A piece is the text as it is now, in place of what was shown before."""


Send = Callable[[Text, str], None]


class Paced:
    """One session's pieces for one client. All methods belong to the event loop's thread."""

    def __init__(self, send: Send, rate: Rate, clock: Clock) -> None:
        self.rate = rate
        """A change counts from the next `end` on."""
        self._send = send
        self._clock = clock
        self._pace = Pace(rate)
        self._held: list[tuple[Text, list[str]]] = []
        self._cancel: Cancel | None = None
        """Of the timer; there is one exactly while something is held."""

    def put(self, text: Text, piece: str) -> None:
        """One more piece."""
        now = self._clock.now()
        if self._held and now >= self._pace.ends:
            self._next_window()  # a loop that is busy wakes us late
        if self._pace.at_once(now):
            self._send(text, piece)
            return
        self._hold(text, piece)
        if self._cancel is None:
            self._cancel = self._clock.later(self._pace.ends, self._next_window)

    def flush(self) -> None:
        """Send what is held."""
        if self._held:
            self._let_go()

    def end(self) -> None:
        """Send what is held, and begin anew: the next piece leaves at once."""
        self.flush()
        self._pace = Pace(self.rate)

    def _next_window(self) -> None:
        self._pace.left(self._clock.now(), self._let_go())

    def _let_go(self) -> int:
        """The number of updates that it was."""
        if self._cancel is not None:
            self._cancel()
        held, self._held, self._cancel = self._held, [], None
        for text, pieces in held:
            self._send(text, "".join(pieces))
        return len(held)

    def _hold(self, text: Text, piece: str) -> None:
        if text.whole:
            self._held = [one for one in self._held if one[0] != text]
        if self._held and self._held[-1][0] == text:
            self._held[-1][1].append(piece)
        else:
            self._held.append((text, [piece]))
