"""The way in: LSP on two descriptors. Imports little, so that what follows can be imported with the collector in check.

Building the protocol's 600 classes makes each of them twice and frees the first. Python's collector would look through
everything that there is again and again, a tenth of the time that the editor waits for the answer to `initialize`; with
none the garbage stays, 9 MB. So it looks at the young objects only, until the engine is imported too.
"""

import gc
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import TYPE_CHECKING, Final, Literal

import anyio

from agent_server.front.rpc.connection import connect
from agent_server.front.rpc.dialect import LSP
from agent_server.loop.model import JsonObject

if TYPE_CHECKING:  # the engine: not before `initialize` is answered
    from agent_server.session.sessions import Sessions


YOUNG: Final = 10_000
"""New objects between two looks at them."""
NEVER: Final = 1_000_000
"""Looks at the young before one at all others."""


async def serve(
    *,
    read_fd: int,
    write_fd: int,
    open_sessions: "Callable[[JsonObject, bool | None], AbstractAsyncContextManager[Sessions]]",
    received: bytes = b"",
    trace: Callable[[Literal["in", "out"], bytes], None] | None = None,
    stop: anyio.Event | None = None,
) -> int:
    """Serve until `exit`, the end of input, the editor's death or `stop`; the exit code: 1 for `exit` alone.

    `open_sessions` gets the client's settings, and whether it says that its workspace is trusted; the sessions are open
    as long as its context is.
    """
    usual = gc.get_threshold()
    gc.set_threshold(YOUNG, NEVER, NEVER)
    gc.enable()
    try:
        from agent_server.front.lsp.endpoint import Endpoint  # see the module

        server = Endpoint(open_sessions, started=partial(_collect_as, usual))
        connection = connect(
            read_fd=read_fd,
            write_fd=write_fd,
            dialect=LSP,
            dispatch=server.dispatch,
            received=received,
            trace=trace,
            stop=stop,
        )
        return await server.serve(connection)
    finally:
        gc.set_threshold(*usual)


def _collect_as(usual: tuple[int, int, int]) -> None:
    """What is there now stays, so it need not be looked at any more."""
    gc.freeze()
    gc.set_threshold(*usual)
