"""A whole server in memory behind an LSP connection: real sessions and store, a scripted model, fake tools."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from agent_server.front.lsp.endpoint import Endpoint
from agent_server.front.rpc.dialect import LSP
from agent_server.front.rpc.memory import MemoryPipe, over
from agent_server.loop.model import JsonObject
from agent_server.session.sessions import Sessions
from tests.fakes.loop import FakePolicy, FakeTool, Say
from tests.fakes.workbench import JournaledWorkbench
from tests.front.lsp.lsp_client import LspClient


@dataclass
class World:
    """A client, and what is behind it."""

    client: LspClient
    equipment: JournaledWorkbench
    root: Path
    server: Endpoint
    to_server: MemoryPipe
    from_server: MemoryPipe
    options: list[JsonObject]
    """What the sessions were opened with."""
    trusts: list[bool | None]
    """Whether the client said that the workspace is trusted."""
    exit_codes: list[int]
    """The exit code, once it is over."""
    ended: anyio.Event

    async def hang_up(self) -> int:
        """End the input and wait; the exit code."""
        self.to_server.close()
        await self.ended.wait()
        return self.exit_codes[0]


@asynccontextmanager
async def served(
    home: Path,
    *steps: Say,
    tools: Sequence[FakeTool] = (),
    policy: FakePolicy | None = None,
    initialize: bool = True,
    failing: Exception | None = None,
    opening: anyio.Event | None = None,
    seconds: float = 10,
    **client: Any,
) -> AsyncGenerator[World]:
    """A server on its own store, and an initialized client.

    The sessions open once `opening` is set, or fail with `failing`.
    """
    kit = JournaledWorkbench(home, *steps, policy=policy, tools=tools)
    there, back = MemoryPipe(), MemoryPipe()
    root = home / "w"
    root.mkdir(exist_ok=True)
    options: list[JsonObject] = []
    trusts: list[bool | None] = []

    @asynccontextmanager
    async def open_sessions(given: JsonObject, trusted: bool | None) -> AsyncGenerator[Sessions]:
        options.append(given)
        trusts.append(trusted)
        if opening is not None:
            await opening.wait()
        if failing is not None:
            raise failing
        async with kit.sessions() as sessions:
            yield sessions

    async def send(data: bytes) -> None:
        there.write_now(data)

    server = Endpoint(open_sessions)
    connection = over(there, back, server.dispatch, dialect=LSP)
    editor = LspClient(back.receive, send, **client)
    world = World(editor, kit, root, server, there, back, options, trusts, [], anyio.Event())

    async def run() -> None:
        world.exit_codes.append(await server.serve(connection))
        world.ended.set()

    with anyio.fail_after(seconds):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            tasks.start_soon(editor.read)
            if initialize:
                await editor.initialize(root)
            yield world
            await world.hang_up()
            back.close()
    assert editor.violations == []
