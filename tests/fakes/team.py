"""An agent with sub-agents around it: the real `delegate`, a script for each task, fake tools for the rest."""

import sqlite3
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio

from agent_server.loop.errors import ClientMistake
from agent_server.loop.model import Entry, Reply, ResultEntry, SessionId, Text, ToolResult
from agent_server.loop.ports import Model, Piece, Request, UserMessage
from agent_server.session.ports import Kit, Place, SubAgentTerms
from agent_server.session.session import Session
from agent_server.session.sessions import Sessions
from agent_server.store.connection import open_for_writing
from agent_server.store.sessions import SessionStore
from agent_server.tools.delegate import Delegate
from tests.fakes.loop import FakePolicy, FakeTool, ListModel, Say
from tests.fakes.session import FakeEquipment, RecordingClient
from tests.tools.desk import Desk


class TaskModel:
    """Answers by the script of the task that its conversation began with."""

    window = 100_000

    def __init__(self, scripts: dict[str, ListModel], name: str = "list/child") -> None:
        self.name = name
        self.scripts = scripts

    async def refresh_auth(self) -> bool:
        return False

    async def stream(self, request: Request, receive: Callable[[Piece], None]) -> Reply:
        first = request.messages[0]
        assert isinstance(first, UserMessage)
        (task,) = [part.text for part in first.parts if isinstance(part, Text)]
        return await self.scripts[task].stream(request, receive)


@dataclass
class Team(FakeEquipment):
    """The person's agent follows `script`, a sub-agent the script of its task."""

    tasks: dict[str, ListModel] = field(default_factory=dict[str, ListModel])
    places: list[Place] = field(default_factory=list[Place])

    def models(self) -> tuple[str, ...]:
        return ("list/model", "list/child", "list/dear")

    def model(self, name: str) -> Model:
        if name not in self.models():
            raise ClientMistake(f"there is no model {name!r}")
        return self.script if name == "list/model" else TaskModel(self.tasks, name)

    async def kit(self, place: Place) -> Kit:
        kit = await super().kit(place)
        self.places.append(place)
        services = replace(Desk(Path(place.cwd)).services, subagents=place.subagents)
        delegate = {} if place.subagents is None else {"delegate": Delegate(services)}
        return Kit({**kit.tools, **delegate}, kit.policy)


def team(
    *steps: Say,
    tasks: dict[str, tuple[Say, ...]],
    tools: tuple[FakeTool, ...] = (),
    policy: FakePolicy | None = None,
    terms: SubAgentTerms | None = None,
    **more: object,
) -> Team:
    """A person's agent that follows `steps`, and the scripts of the tasks it may delegate."""
    return Team(
        ListModel(*steps),
        tools,
        policy or FakePolicy(),
        subagents=terms or SubAgentTerms(model="list/child"),
        tasks={task: ListModel(*script) for task, script in tasks.items()},
        **more,  # pyright: ignore[reportArgumentType]
    )


@dataclass
class Office:
    """A session of that team, and what is around it."""

    team: Team
    sessions: Sessions
    store: SessionStore
    client: RecordingClient
    session: Session

    @property
    def children(self) -> list[SessionId]:
        """The sub-agents' sessions, in the order in which they began."""
        return [place.id for place in self.team.places if place.root is not None]

    async def log_of(self, child: int) -> list[Entry]:
        """Everything in a sub-agent's log, by its place among them."""
        return list((await self.store.open_log(self.children[child])).entries)

    def results(self) -> list[ToolResult]:
        """What the person's agent got from its calls, in the order they ended."""
        return [e.result for e in self.session.entries if isinstance(e, ResultEntry)]


def unsynced(path: Path) -> sqlite3.Connection:
    """For tests that make hundreds of commits and pull no plug: a disk that others keep busy syncs in seconds."""
    connection = open_for_writing(path)
    connection.execute("PRAGMA synchronous = OFF")
    return connection


@asynccontextmanager
async def office(home: Path, *steps: Say, **more: Any) -> AsyncGenerator[Office]:
    """A session of `team(*steps, **more)`."""
    at_work = team(*steps, **more)
    store = SessionStore(home / "sessions.db", connect=unsynced)
    with anyio.fail_after(30):
        async with Sessions(store, lambda cwd: at_work) as sessions:
            client = RecordingClient()
            session = await sessions.new(cwd=str(home), client=client)
            yield Office(at_work, sessions, store, client, session)
