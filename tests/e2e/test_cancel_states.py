"""A cancel in each state of a turn answers the prompt once, `cancelled`, and the next prompt works (CP-01 … CP-08)."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.e2e.support import WIRES, Place, Server, Wire, ends_of, running
from tests.fakes.acp_client import NEVER, prompt_params, select
from tests.fakes.answers import Answer, call, hang, http, say, tick
from tests.fakes.model_server import ModelServer

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.timeout(60),
    pytest.mark.skipif(
        not Path("/proc/self/environ").exists(), reason="descendants are found there"
    ),
]
both_wires = pytest.mark.parametrize("wire", WIRES)

RESISTING = (
    "trap '' TERM INT HUP; (trap '' TERM; while :; do touch alive; sleep 0.05; done) & "
    "setsid sleep 300 & setsid sh -c 'trap \"\" TERM; sleep 301' & echo re''ady; wait; sleep 302"
)
OVERFLOW: dict[str, Any] = {
    "error": {"message": "maximum context length exceeded", "code": "context_length_exceeded"}
}
Moment = Callable[[Server, str, ModelServer], Awaitable[object]]
"""Waits until the turn is where it is to be cancelled."""


async def cancelled(
    server: Server, model: ModelServer, moment: Moment, *, session: str | None = None
) -> str:
    """A prompt that is cancelled at a moment, and another one that is answered; the session's id."""
    client = server.client
    session = session or await client.new(str(server.place.workspace))
    prompt = await client.ask("session/prompt", prompt_params(session, "go"))
    await moment(server, session, model)
    await client.notify("session/cancel", {"sessionId": session})

    assert (await client.response(prompt))["stopReason"] == "cancelled"
    await works(server, session)
    assert len(ends_of(client, prompt)) == 1
    return session


async def works(server: Server, session: str) -> None:
    """The next prompt is answered by the model's `again`."""
    before = len(server.client.text(session))
    assert (await server.client.prompt(session, "next"))["stopReason"] == "end_turn"
    assert server.client.text(session)[before:].endswith("again")


async def at_first_chunk(server: Server, session: str, model: ModelServer) -> None:
    await server.client.until(lambda m: "agent_message_chunk" in str(m))


async def when_ready(server: Server, session: str, model: ModelServer) -> None:
    await server.client.until(lambda m: "ready" in str(m.get("params", {}).get("update", "")))


async def when_asked(server: Server, session: str, model: ModelServer) -> None:
    await server.client.until(lambda m: m.get("method") == "session/request_permission")


@both_wires
async def test_a_cancel_in_the_packet_of_its_prompt_ends_it_before_it_says_a_word(
    wire: Wire, tmp_path: Path
) -> None:
    place = Place.at(tmp_path)
    async with ModelServer([say("again")]) as model, running(place, wire, model=model) as server:
        client = server.client
        session = await client.new(str(place.workspace))
        asked = {"id": "p1", "method": "session/prompt", "params": prompt_params(session, "go")}
        withdrawn = asked | {"id": "p2"}
        await client.tell(
            asked, {"method": "session/cancel", "params": {"sessionId": session}},
            withdrawn, {"method": "$/cancel_request", "params": {"requestId": "p2"}},
        )  # fmt: skip
        for request in ("p1", "p2"):
            answer = await client.until(lambda m, r=request: m.get("id") == r)
            assert answer["result"]["stopReason"] == "cancelled"

        assert client.updates(session, "agent_message_chunk") == []
        await works(server, session)
        assert [len(ends_of(client, r)) for r in ("p1", "p2")] == [1, 1]  # pyright: ignore[reportArgumentType]
        assert model.refused == []


@both_wires
@pytest.mark.parametrize(
    ("answer", "moment"),
    [
        pytest.param(tick(100_000, 5), at_first_chunk, id="deltas flow"),
        pytest.param(say("I think") + hang(), at_first_chunk, id="fell silent"),
        pytest.param(hang(), lambda s, i, model: model.asked(1), id="never spoke"),
    ],
)
@pytest.mark.row("R30", "R134")
async def test_a_cancel_while_the_model_answers_closes_its_socket(
    wire: Wire, answer: Answer, moment: Moment, tmp_path: Path
) -> None:
    place = Place.at(tmp_path)
    script = [answer, say("again")]
    async with ModelServer(script) as model, running(place, wire, model=model) as server:
        await cancelled(server, model, moment)

        with anyio.fail_after(5):
            await model.exchanges[0].peer_closed.wait()
        assert model.refused == []


@both_wires
async def test_a_cancel_while_a_command_resists_leaves_none_of_its_processes(
    wire: Wire, tmp_path: Path
) -> None:
    place = Place.at(tmp_path)
    script = [say("Run.") + call("shell", command=RESISTING), say("again")]
    async with ModelServer(script) as model, running(place, wire, model=model) as server:
        session = await cancelled(server, model, when_ready)

        assert list(place.processes()) == [server.process.pid]
        result = model.bodies[1]["messages"][-2]
        assert "interrupted, effects unknown" in result["content"]
        assert server.client.updates(session, "tool_call_update")
        assert model.refused == []


@both_wires
@pytest.mark.parametrize("answer", ["late", "never", "cancelled", "twice"])
async def test_a_cancel_while_a_question_is_open_runs_nothing_whatever_is_answered(
    wire: Wire, answer: str, tmp_path: Path
) -> None:
    place = Place.at(tmp_path)
    script = [say("Run.") + call("shell", command="touch ran"), say("again")]
    async with (
        ModelServer(script) as model,
        running(place, wire, model=model, answer=lambda client, message: NEVER) as server,
    ):
        client = server.client
        session = await client.new(str(place.workspace))
        prompt = await client.ask("session/prompt", prompt_params(session, "go"))
        question = await client.until(lambda m: m.get("method") == "session/request_permission")
        await client.notify("session/cancel", {"sessionId": session})
        yes = {"id": question["id"], "result": select(question["params"]["options"][0]["optionId"])}
        no = {"id": question["id"], "result": {"outcome": {"outcome": "cancelled"}}}
        if answer == "cancelled":
            await client.tell(no)
        assert (await client.response(prompt))["stopReason"] == "cancelled"
        if answer in ("late", "twice"):
            await client.tell(*[yes] * (1 if answer == "late" else 2))
        await works(server, session)

        assert not (place.workspace / "ran").exists()
        withdrawn = client.of("$/cancel_request") + client.of("$/cancelRequest")
        ids = [w.get("requestId", w.get("id")) for w in withdrawn]
        assert ids == [question["id"]] or (answer == "cancelled" and ids == [])
        assert model.refused == []


@both_wires
@pytest.mark.row("R30")
async def test_a_cancel_between_two_tries_is_not_kept_waiting(wire: Wire, tmp_path: Path) -> None:
    async def backing_off(server: Server, session: str, model: ModelServer) -> None:
        await model.asked(1)
        await model.exchanges[0].answered.wait()
        await server.client.request("session/list", {})

    place = Place.at(tmp_path)
    script = [http(503, retry_after="29"), say("again")]
    async with ModelServer(script) as model, running(place, wire, model=model) as server:
        await cancelled(server, model, backing_off)

        assert len(model.exchanges) == 2
        assert model.refused == []


@pytest.mark.row("R30")
async def test_a_cancel_while_the_past_is_summarised_keeps_the_past(tmp_path: Path) -> None:
    async def summarising(server: Server, session: str, model: ModelServer) -> None:
        await model.asked(4)

    place = Place.at(tmp_path)
    script = [say("one"), say("two"), http(400, body=OVERFLOW), hang(), say("again")]
    async with ModelServer(script) as model, running(place, model=model) as server:
        client = server.client
        session = await client.new(str(place.workspace))
        await client.prompt(session, "first")
        await client.prompt(session, "second")
        await cancelled(server, model, summarising, session=session)

        with anyio.fail_after(5):
            await model.exchanges[3].peer_closed.wait()
        assert "first" in str(model.bodies[4]["messages"])
        assert model.refused == []


@both_wires
async def test_ten_cancels_and_prompts_in_a_row_are_each_answered_once_and_the_last_completes(
    wire: Wire, tmp_path: Path
) -> None:
    place = Place.at(tmp_path)
    script = [tick(20, 20) for _ in range(30)]
    async with ModelServer(script) as model, running(place, wire, model=model) as server:
        client = server.client
        session = await client.new(str(place.workspace))
        prompts = list[int]()
        for _ in range(10):
            prompts.append(await client.ask("session/prompt", prompt_params(session, "go")))
            await client.notify("session/cancel", {"sessionId": session})
        last = await client.ask("session/prompt", prompt_params(session, "last"))

        assert (await client.response(last))["stopReason"] == "end_turn"
        ends = [[m["result"]["stopReason"] for m in ends_of(client, p)] for p in prompts]
        assert ends == [["cancelled"]] * 10
        answered = [m["id"] for m in client.received if m.get("id") in {*prompts, last}]
        assert answered == [*prompts, last]
        assert model.refused == []


async def test_cancelling_fifty_streams_leaves_no_socket_open(tmp_path: Path) -> None:
    """CP-08."""
    place = Place.at(tmp_path)
    script = [tick(100_000, 5) for _ in range(50)]
    async with ModelServer(script) as model, running(place, model=model) as server:
        client = server.client
        session = await client.new(str(place.workspace))
        for count in range(1, 51):
            prompt = await client.ask("session/prompt", prompt_params(session, "go"))
            await model.asked(count)
            await client.notify("session/cancel", {"sessionId": session})
            assert (await client.response(prompt))["stopReason"] == "cancelled"
            with anyio.fail_after(5):
                await model.exchanges[-1].peer_closed.wait()

        assert model.refused == []
