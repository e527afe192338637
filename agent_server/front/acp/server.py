"""ACP served on two descriptors: the one table, a connection, and the sessions of the process.

Owns the wiring only. `initialize` is usually answered before this module is imported (`first_stage.py`); what the
client said then comes in as `initialized`.
"""

from collections.abc import Callable

import anyio

from agent_server.front.acp.editor import AcpEditor
from agent_server.front.capabilities import Capabilities
from agent_server.front.front import Front
from agent_server.front.handlers.handshake import take_initialize
from agent_server.front.methods import dispatch
from agent_server.front.peer import PERMISSION, REVIEW, Peer
from agent_server.front.rpc.connection import Connection, connect
from agent_server.front.rpc.dialect import ACP
from agent_server.front.rpc.dispatch import Dispatch
from agent_server.front.rpc.outbound import Trace
from agent_server.front.vocabulary import Vocabulary
from agent_server.loop.model import JsonObject
from agent_server.session.sessions import Sessions

Connect = Callable[[Dispatch], Connection]
"""Makes the connection of a table; over descriptors, or in memory for tests."""


def acp_connection(
    sessions: Sessions,
    connect: Connect,
    *,
    initialize_result: Callable[[], JsonObject],
    initialized: JsonObject | None = None,
) -> Connection:
    """A connection that serves `sessions` over ACP once it is run with `Connection.serve`.

    `initialized` are the params of an `initialize` that was answered already, `initialize_result` answers a second.
    """
    connection = connect(dispatch(lambda: front, Vocabulary.ACP))
    peer = Peer(
        connection,
        Vocabulary.ACP,
        capabilities=Capabilities(),
        editor=AcpEditor,
        askers=(REVIEW, PERMISSION),
    )
    peer.proposals.keep = sessions.keep_decisions
    front = Front(peer, sessions, initialize_result)
    if initialized is not None:
        take_initialize(front, initialized)
    return connection


async def serve(
    sessions: Sessions,
    *,
    read_fd: int,
    write_fd: int,
    received: bytes,
    initialized: JsonObject | None,
    initialize_result: Callable[[], JsonObject],
    trace: Trace | None = None,
    stop: anyio.Event | None = None,
) -> None:
    """Serve until the input ends, the client reads no more, or `stop`. The caller opens and closes `sessions`."""

    def over_descriptors(table: Dispatch) -> Connection:
        return connect(
            read_fd=read_fd,
            write_fd=write_fd,
            dialect=ACP,
            dispatch=table,
            received=received,
            trace=trace,
            stop=stop,
        )

    connection = acp_connection(
        sessions,
        over_descriptors,
        initialize_result=initialize_result,
        initialized=initialized,
    )
    await connection.serve()
