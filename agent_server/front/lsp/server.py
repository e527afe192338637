"""The way in: LSP on two descriptors. Imports little, so that what follows can be imported without collecting garbage.

Building the protocol's 600 classes allocates much and frees nothing; a collector that looks through it again and again
takes a tenth of the time that the editor waits for the answer to `initialize`.
"""

import gc
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Literal

import anyio

from agent_server.front.rpc.connection import connect
from agent_server.front.rpc.dialect import LSP
from agent_server.loop.model import JsonObject

if TYPE_CHECKING:  # the engine: not before `initialize` is answered
    from agent_server.session.sessions import Sessions


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
    gc.disable()
    try:
        from agent_server.front.lsp.endpoint import Endpoint  # see the module

        server = Endpoint(open_sessions, started=_collect_again)
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
        gc.enable()


def _collect_again() -> None:
    """What is there now stays, so it need not be looked at any more."""
    gc.freeze()
    gc.enable()
