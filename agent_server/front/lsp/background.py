"""What a command leaves to do after its answer: nobody waits for it, so what goes wrong is a message."""

import logging
from collections.abc import Awaitable, Callable
from typing import TypeVarTuple

from agent_server.front.lsp.messages import ERROR, show_message
from agent_server.front.rpc.connection import Connection
from agent_server.loop.errors import AgentServerError

logger = logging.getLogger(__name__)

Args = TypeVarTuple("Args")


async def finish(
    connection: Connection,
    work: Callable[[*Args], Awaitable[object]],
    *args: *Args,
) -> None:
    """Run it. A failure is told to the person and ends nothing else of the connection."""
    try:
        await work(*args)
    except AgentServerError as error:
        show_message(connection, ERROR, str(error))
    except Exception:  # background task
        logger.exception("what a command left to do failed")
        show_message(connection, ERROR, "The command failed; the server's log says more")
