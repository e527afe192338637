"""What can be said to a running turn from outside: add, correct, stop after this, stop now (loop.md R133, F21–F24)."""

from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import field

import anyio

from agent_server.frozen import mutable
from agent_server.loop.model import Detail, Part


async def no_news() -> str | None:
    """Nothing."""
    return None


@mutable
class Control:
    """Written by the session, read by the loop at its boundaries."""

    inbox: deque[tuple[Part, ...]] = field(default_factory=deque[tuple[Part, ...]])
    """What the person added; heard between batches, never between a call and its result (F60)."""
    soft_stop: bool = False
    """End after the running batch."""
    abort: Detail = "cancel"
    """Why the turn is cancelled, set by who cancels it."""
    news: Callable[[], Awaitable[str | None]] = no_news
    """What the model should hear before its next request and nobody said: files that changed meanwhile."""
    request: anyio.CancelScope | None = None
    """The scope of the request that streams now."""

    def redirect(self, parts: tuple[Part, ...]) -> None:
        """Drop the answer that streams now and go on with a correction; while tools run it waits for them."""
        self.inbox.append(parts)
        if self.request is not None:
            self.request.cancel()
