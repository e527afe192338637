"""Leases: while one transaction changes a file, no other one of this process does (lsp.md §4.5).

Compare-and-swap on disk leaves a moment between comparing and renaming; two sessions of one process must not meet in
it. The second one finds a changed text then, and its change is fitted to it.
"""

from collections.abc import AsyncGenerator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from weakref import WeakValueDictionary

import anyio
from anyio import to_thread

from agent_server.edits.files import real_path


class Leases:
    """One for all sessions of the process."""

    def __init__(self) -> None:
        """None is held."""
        self._locks: WeakValueDictionary[str, anyio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def hold(self, paths: Iterable[str]) -> AsyncGenerator[None]:
        """Wait for these files, links resolved; always in one order, so that nobody waits in a circle."""
        real = {str(await to_thread.run_sync(real_path, path)) for path in paths}
        async with AsyncExitStack() as held:
            for path in sorted(real):
                lock = self._locks.setdefault(path, anyio.Lock())
                await held.enter_async_context(lock)
            yield
