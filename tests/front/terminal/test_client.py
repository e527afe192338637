from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
import pytest

from agent_server.front.rpc.errors import CONTENT_MODIFIED, INVALID_PARAMS, RemoteError, RpcError
from agent_server.front.terminal.client import CAPABILITIES, AcpClient
from agent_server.front.terminal.inbound import (
    Asked,
    Ended,
    Gone,
    Inbound,
    Proposed,
    Session,
    SessionInfo,
    TurnEnd,
    Updated,
    Withdrawn,
)
from agent_server.front.terminal.questions import Decided, Picked
from agent_server.front.terminal.review import accept, accept_some, reject
from agent_server.front.terminal.updates import Status, TextPiece
from tests.front.terminal.fakes import END, FakeServer, a_change

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def running(server: FakeServer) -> AsyncGenerator[tuple[AcpClient, list[Inbound]]]:
    received: list[Inbound] = []
    client = AcpClient(server.connect, received.append)
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.run)
            yield client, received
            client.connection.close()


async def at_once(server: FakeServer) -> Mapping[str, object]:
    del server
    return END


async def test_it_declares_that_it_reviews_edits_itself() -> None:
    server = FakeServer(at_once)
    async with running(server) as (client, _):
        assert await client.initialize() == "9.9"
    ((_, params),) = server.seen
    assert (params["protocolVersion"], params["clientCapabilities"]) == (1, CAPABILITIES)


async def test_a_session_opens_with_its_mode_and_model() -> None:
    async with running(FakeServer(at_once)) as (client, _):
        assert await client.new("/w") == Session("s1", "ask", "demo")


async def test_all_pages_of_sessions_are_listed_in_order() -> None:
    stored: list[dict[str, object]] = [
        {"sessionId": "s2", "title": "New", "updatedAt": "2026-11-29T10:00:00Z", "cwd": "/w"},
        {"sessionId": "s1", "cwd": "/w"},
    ]
    async with running(FakeServer(at_once, sessions=stored)) as (client, _):
        assert await client.sessions("/w") == [
            SessionInfo("s2", "New", "2026-11-29T10:00:00Z"),
            SessionInfo("s1", "", ""),
        ]


async def test_updates_arrive_before_the_end_of_their_turn() -> None:
    async def turn(server: FakeServer) -> Mapping[str, object]:
        server.status("streaming", "Writing")
        server.say("Hel")
        server.say("lo")
        return END

    async with running(FakeServer(turn)) as (client, received):
        await client.prompt("s1", "hi")
        assert received == [
            Updated(Status("streaming", "Writing")),
            Updated(TextPiece("m1", "Hel")),
            Updated(TextPiece("m1", "lo")),
            Ended(TurnEnd("end_turn", "model_stop", "text", 1234)),
        ]


async def test_a_turn_that_failed_ends_with_its_sentence() -> None:
    async def turn(server: FakeServer) -> Mapping[str, object]:
        raise RpcError(-32603, "openai/x answered 401", reason="provider")

    async with running(FakeServer(turn)) as (client, received):
        await client.prompt("s1", "hi")
        assert received == [Ended(TurnEnd("error", "error", error="openai/x answered 401"))]


async def test_a_permission_request_is_answered_with_the_option_and_the_words() -> None:
    answers: list[object] = []

    async def turn(server: FakeServer) -> Mapping[str, object]:
        answers.append(await server.permission())
        return END

    def answer(arrival: Inbound) -> None:
        if isinstance(arrival, Asked):
            arrival.slot.put(Picked(arrival.question.first("reject_once"), "use tabs"))

    server = FakeServer(turn)
    client = AcpClient(server.connect, answer)
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.run)
            await client.prompt("s1", "hi")
            client.connection.close()
    assert answers == [
        {
            "outcome": {
                "outcome": "selected",
                "optionId": "o4",
                "_meta": {"agent-server": {"feedback": "use tabs"}},
            }
        }
    ]


async def test_a_withdrawn_question_is_said_to_be_void() -> None:
    async def turn(server: FakeServer) -> Mapping[str, object]:
        with anyio.move_on_after(0.01):
            await server.permission()
        await server.cancelled.wait()
        return END

    server = FakeServer(turn)
    void = anyio.Event()

    def receive(arrival: Inbound) -> None:
        if arrival == Withdrawn("c1"):
            void.set()

    client = AcpClient(server.connect, receive)
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.run)
            tasks.start_soon(client.prompt, "s1", "hi")
            await void.wait()
            client.cancel("s1")
            await server.cancelled.wait()
            client.connection.close()


@pytest.mark.parametrize(
    ("accepted", "expected"),
    [
        ("all", [{"hunk": None, "verdict": "accept"}]),
        ("none", [{"hunk": None, "verdict": "reject"}]),
        ("first", [{"verdict": "accept"}, {"verdict": "reject"}]),
    ],
)
async def test_a_decision_names_the_whole_file_or_each_hunk(
    accepted: str, expected: list[dict[str, object]]
) -> None:
    change = a_change()

    async def turn(server: FakeServer) -> Mapping[str, object]:
        server.propose(change)
        await server.decided.wait()
        return END

    server = FakeServer(turn)
    async with running(server) as (client, received), anyio.create_task_group() as tasks:
        tasks.start_soon(client.prompt, "s1", "hi")
        while not received:
            await anyio.lowlevel.checkpoint()
        (proposed,) = received
        assert isinstance(proposed, Proposed)
        assert proposed.question.files[0].hunks == change.hunks
        file = {
            "all": accept(change),
            "none": reject(change),
            "first": accept_some(change, frozenset({change.hunks[0].id})),
        }[accepted]
        await client.resolve(proposed.question, Decided((file,), "session", "why"))
    (params,) = server.resolved
    assert (params["remember"], params["feedback"]) == ("session", "why")
    decisions = params["decisions"]
    assert isinstance(decisions, list)
    assert all(d["uri"] == "file:///w/a.py" for d in decisions)
    assert [{k: d[k] for k in e} for d, e in zip(decisions, expected, strict=True)] == expected


@pytest.mark.parametrize("reason", ["already_decided", "stale_revision", "unknown_txn"])
async def test_an_answer_that_is_not_needed_any_more_is_no_error(reason: str) -> None:
    code = CONTENT_MODIFIED if reason == "stale_revision" else INVALID_PARAMS
    server = FakeServer(at_once, refuse_resolve=RpcError(code, "too late", reason=reason))
    async with running(server) as (client, received):
        server.propose(a_change())
        while not received:
            await anyio.lowlevel.checkpoint()
        (proposed,) = received
        assert isinstance(proposed, Proposed)
        await client.resolve(proposed.question, Decided((reject(a_change()),)))


async def test_a_decision_that_makes_no_sense_is_an_error() -> None:
    server = FakeServer(at_once, refuse_resolve=RpcError(INVALID_PARAMS, "no", reason="invalid"))
    async with running(server) as (client, received):
        server.propose(a_change())
        while not received:
            await anyio.lowlevel.checkpoint()
        (proposed,) = received
        assert isinstance(proposed, Proposed)
        with pytest.raises(RemoteError):
            await client.resolve(proposed.question, Decided((reject(a_change()),)))


async def test_a_session_that_was_left_is_not_heard_any_more() -> None:
    server = FakeServer(at_once)
    async with running(server) as (client, received):
        await client.load("s1", "/w")
        await client.load("s0", "/w")
        server.say("of s1")
        await client.initialize()
        assert received == []


async def test_the_end_of_the_server_is_told() -> None:
    server = FakeServer(at_once)
    received: list[Inbound] = []
    client = AcpClient(server.connect, received.append)
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.run)
            await client.initialize()
            server.connection.close()
    assert received == [Gone()]
