"""Titles: the first words at once, a small model's after the first turn, a person's for good."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from agent_server.loop.errors import ClientMistake
from agent_server.loop.events import Event, TitleChanged, TurnDone
from agent_server.loop.faults import Fault
from agent_server.loop.limits import Limits
from agent_server.loop.model import DoneReason, Reply, SpentEntry, Usage
from agent_server.loop.ports import Piece, Request
from agent_server.session.session import Session
from agent_server.session.sessions import Sessions
from agent_server.session.titles import first_words, found_title, given_title
from agent_server.store.sessions import SessionStore
from tests.fakes.loop import ListModel, Say, said
from tests.fakes.session import FakeEquipment, RecordingClient

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def begun(
    home: Path,
    small: ListModel | None,
    client: RecordingClient,
    *,
    limits: Limits | None = None,
) -> AsyncGenerator[tuple[Sessions, Session]]:
    script = ListModel(Say("answer"), Say("more"))
    equipment = FakeEquipment(script, small=small, limits=limits or Limits())
    with anyio.fail_after(5):
        async with Sessions(SessionStore(home / "s.db"), lambda cwd: equipment) as sessions:
            yield sessions, await sessions.new(cwd=str(home), client=client)


def telling(wanted: Callable[[Event], bool]) -> tuple[RecordingClient, anyio.Event]:
    """A client, and an event that is set when it is told what is wanted."""
    told = anyio.Event()
    return RecordingClient(on_event=lambda e: told.set() if wanted(e) else None), told


async def test_a_small_model_names_the_session_after_its_first_turn_only(tmp_path: Path) -> None:
    small = ListModel(Say('**"Parser: fix  the loop"**\nbecause'), Say("never"))
    found = "Parser: fix the loop"
    client, told = telling(lambda e: e == TitleChanged(found))
    async with begun(tmp_path, small, client) as (sessions, session):
        await session.prompt(said("please fix the parser"))
        await told.wait()
        await session.prompt(said("and more"))
        assert session.title == found
        assert [e.title for e in client.of(TitleChanged)] == ["please fix the parser", found]  # pyright: ignore[reportAttributeAccessIssue]
        assert len(small.requests) == 1
        assert "please fix the parser" in str(small.requests[0])
        await sessions.close(session.id)
        (summary,), _ = await sessions.list()
        assert summary.title == found


@pytest.mark.row("R25")
async def test_what_a_title_uses_is_charged_to_the_session_and_kept(tmp_path: Path) -> None:
    """A budget that the first turn and its title have used up: the next prompt asks nobody."""
    small = ListModel(Say("A title", usage=Usage(80, 10)))
    client, told = telling(lambda e: e == TitleChanged("A title"))
    async with begun(tmp_path, small, client, limits=Limits(max_session_tokens=100)) as (
        sessions,
        session,
    ):
        await session.prompt(said("first"))
        await told.wait()
        used = session.usage
        assert used is not None
        assert used.session == Usage(90, 15)
        ended = await session.prompt(said("second"))
        assert (ended.reason, ended.detail) == (DoneReason.BUDGET_EXCEEDED, "tokens")
        assert ended.usage == Usage()
        await sessions.close(session.id)
        again = await sessions.load(session.id, cwd=str(tmp_path), client=RecordingClient())
        assert list(again.entries) == list(session.entries), "nothing had to be settled"
        assert again.usage is not None
        assert again.usage.session == Usage(90, 15)
        assert [e.what for e in again.entries if isinstance(e, SpentEntry)] == ["title"]


@pytest.mark.row("R25")
async def test_a_session_without_budget_left_is_not_named_by_a_model(tmp_path: Path) -> None:
    small = ListModel(Say("A title"))
    client, _ = telling(lambda e: False)
    async with begun(tmp_path, small, client, limits=Limits(max_session_tokens=15)) as (_, session):
        await session.prompt(said("first"))
        assert (await session.prompt(said("second"))).detail == "tokens"
    assert small.requests == []


class Waiting(ListModel):
    """A model that takes for ever."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = anyio.Event()

    async def stream(self, request: Request, receive: Callable[[Piece], None]) -> Reply:
        self.asked.set()
        await anyio.sleep_forever()
        raise AssertionError


async def test_a_title_that_takes_for_ever_delays_no_turn_and_no_end(tmp_path: Path) -> None:
    small = Waiting()
    client, _ = telling(lambda e: False)
    async with begun(tmp_path, small, client) as (_, session):
        await session.prompt(said("first"))
        await small.asked.wait()
        await session.prompt(said("second"))
        assert len(client.of(TurnDone)) == 2
        assert session.title == "first"


async def test_a_model_that_fails_costs_nothing_but_the_title(tmp_path: Path) -> None:
    for step in (Say(fault=Fault.AUTH), Say(" \n"), Say('"*"')):
        title, _ = await found_title(ListModel(step), said("hello"), "hi")
        assert title is None


async def test_a_person_who_names_the_session_meanwhile_is_right(tmp_path: Path) -> None:
    class Slow(ListModel):
        async def stream(self, request: Request, receive: Callable[[Piece], None]) -> Reply:
            session.set_title("Mine")
            tried.set()
            return await super().stream(request, receive)

    tried = anyio.Event()
    client, _ = telling(lambda e: False)
    async with begun(tmp_path, Slow(Say("Theirs")), client) as (_, session):
        await session.prompt(said("first"))
        await tried.wait()
        await session.prompt(said("second"))
        assert session.title == "Mine"


async def test_without_a_small_model_the_first_words_stay(tmp_path: Path) -> None:
    client, _ = telling(lambda e: False)
    async with begun(tmp_path, None, client) as (_, session):
        await session.prompt(said("x" * 80))
        assert session.title == "x" * 59 + "…"


def test_titles_are_one_line() -> None:
    assert first_words(said(" fix\n the\tparser ")) == "fix the parser"
    assert first_words(()) is None
    assert given_title(" a\nb ") == "a b"
    with pytest.raises(ClientMistake, match="words"):
        given_title("\n")
