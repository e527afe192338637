"""A whole server in memory behind an ACP connection: real sessions and store, a scripted model, fake tools."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from agent_server.front.acp.server import acp_connection
from agent_server.front.rpc.connection import Connection
from agent_server.front.rpc.dispatch import Dispatch
from agent_server.front.rpc.memory import MemoryPipe, over
from agent_server.session.sessions import Sessions
from agent_server.store.sessions import SessionStore
from tests.fakes.acp_client import AcpClient
from tests.fakes.loop import FakePolicy, FakeTool, ListModel, Say
from tests.fakes.session import FakeEquipment


@dataclass
class World:
    """A client, and what is behind it."""

    client: AcpClient
    equipment: FakeEquipment
    sessions: Sessions
    connection: Connection
    output: MemoryPipe
    """From the agent to the client; can be stalled."""


@asynccontextmanager
async def served(
    home: Path,
    *steps: Say,
    tools: Sequence[FakeTool] = (),
    policy: FakePolicy | None = None,
    capabilities: dict[str, Any] | None = None,
    initialize: bool = True,
    strict: bool = True,
    around: FakeEquipment | None = None,
    store: SessionStore | None = None,
    **equipment: Any,
) -> AsyncGenerator[World]:
    """A server on its own store, and an initialized client; at the end the oracle has nothing to say.

    `around` replaces the equipment that the other arguments would make, `store` the one in `home`.
    """
    kit = around or FakeEquipment(ListModel(*steps), tools, policy or FakePolicy(), **equipment)
    there, back = MemoryPipe(), MemoryPipe()

    def connect(dispatch: Dispatch) -> Connection:
        return over(there, back, dispatch)

    async def send(data: bytes) -> None:
        there.write_now(data)

    client = AcpClient(back.receive, send, capabilities if capabilities is not None else {})
    with anyio.fail_after(10):
        opened = store or SessionStore(home / "sessions.db")
        async with Sessions(opened, lambda _: kit) as sessions:
            connection = acp_connection(
                sessions, connect, initialize_result=lambda: {"protocolVersion": 1}
            )
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(connection.serve)
                tasks.start_soon(client.read)
                if initialize:
                    await client.initialize()
                yield World(client, kit, sessions, connection, back)
                there.close()
                await connection.closed.wait()
    client.oracle.finish()
    if strict:
        assert client.oracle.violations == [], client.oracle.violations
