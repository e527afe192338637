"""Output of a running call on its way to the person: merged, so that a flood becomes a few updates a second."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio

from agent_server.loop.events import CallProgress
from agent_server.loop.ports import CallContext
from agent_server.tools.output import middle_cut

INTERVAL_S = 1 / 30
"""Between two updates; more often only costs the client time (ST-21)."""
UPDATE_CHARS = 8_000
"""Of one update. What a person cannot read anyway is left out; the result has the whole."""


class Progress:
    """Collects text and emits it as `CallProgress`."""

    def __init__(self, ctx: CallContext) -> None:
        """For one call."""
        self._ctx = ctx
        self._pending: list[str] = []
        self._arrived = anyio.Event()

    def add(self, text: str) -> None:
        """Take new output."""
        if text:
            self._pending.append(text)
            self._arrived.set()

    def flush(self) -> None:
        """Emit what has been collected."""
        text = "".join(self._pending)
        self._pending.clear()
        if text:
            self._ctx.emit(
                CallProgress(self._ctx.turn, self._ctx.key, middle_cut(text, UPDATE_CHARS))
            )

    async def run(self) -> None:
        """Emit for ever: at once when something comes after silence, then at most once per interval."""
        while True:
            await self._arrived.wait()
            self._arrived = anyio.Event()
            self.flush()
            await anyio.sleep(INTERVAL_S)


@asynccontextmanager
async def reporting(ctx: CallContext) -> AsyncGenerator[Progress, None]:
    """A `Progress` that emits while the block runs, and what is left when it ends."""
    progress = Progress(ctx)
    async with anyio.create_task_group() as group:
        group.start_soon(progress.run)
        yield progress
        group.cancel_scope.cancel()
    progress.flush()
