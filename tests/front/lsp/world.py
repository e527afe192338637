"""A whole server in memory behind an LSP connection: real sessions and store, a scripted model, fake tools."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from agent_server.edits.documents import Documents
from agent_server.front.lsp.endpoint import Endpoint
from agent_server.front.rpc.dialect import LSP
from agent_server.front.rpc.memory import MemoryPipe, over
from agent_server.loop.model import JsonObject
from agent_server.session.ports import Kit, Place
from agent_server.session.sessions import Sessions
from agent_server.store.sessions import SessionStore
from agent_server.tools.registry import build
from agent_server.tools.services import Services
from tests.fakes.journal import transactions
from tests.fakes.loop import FakePolicy, FakeTool, ListModel, Say
from tests.fakes.session import FakeEquipment
from tests.front.lsp.lsp_client import LspClient


class Open:
    """A policy on reading that has no secrets."""

    def conceals(self, path: str) -> bool:
        return False

    def reads_freely(self, path: str) -> bool:
        return True


class Workbench(FakeEquipment):
    """Equipment with the real tools over the connected editor."""

    async def kit(self, place: Place) -> Kit:
        services = Services(place.cwd, transactions(Documents(place.editor)), Open())
        return Kit({**build(services), **{tool.name: tool for tool in self.tools}}, self.policy)


@dataclass
class World:
    """A client, and what is behind it."""

    client: LspClient
    equipment: FakeEquipment
    root: Path
    to_server: MemoryPipe
    from_server: MemoryPipe
    options: list[JsonObject]
    """What the sessions were opened with."""
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
    **client: Any,
) -> AsyncGenerator[World]:
    """A server on its own store, and an initialized client.

    The sessions open once `opening` is set, or fail with `failing`.
    """
    kit = Workbench(ListModel(*steps), tools, policy or FakePolicy())
    there, back = MemoryPipe(), MemoryPipe()
    root = home / "w"
    root.mkdir(exist_ok=True)
    options: list[JsonObject] = []

    @asynccontextmanager
    async def open_sessions(given: JsonObject) -> AsyncGenerator[Sessions]:
        options.append(given)
        if opening is not None:
            await opening.wait()
        if failing is not None:
            raise failing
        async with Sessions(SessionStore(home / "sessions.db"), lambda _: kit) as sessions:
            yield sessions

    async def send(data: bytes) -> None:
        there.write_now(data)

    server = Endpoint(open_sessions)
    connection = over(there, back, server.dispatch, dialect=LSP)
    editor = LspClient(back.receive, send, **client)
    world = World(editor, kit, root, there, back, options, [], anyio.Event())

    async def run() -> None:
        world.exit_codes.append(await server.serve(connection))
        world.ended.set()

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            tasks.start_soon(editor.read)
            if initialize:
                await editor.initialize(root)
            yield world
            await world.hang_up()
            back.close()
    assert editor.violations == []
