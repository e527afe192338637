"""After `kill -9` at any moment: the log is whole, what is unknown is said to be so, and the next request is valid."""

import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.support import WIRES, Place, Server, Wire, running
from tests.fakes.acp_client import NEVER, OURS, Refused, prompt_params
from tests.fakes.answers import Answer, call, hang, http, raw_call, say, think
from tests.fakes.model_server import ModelServer

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.timeout(60),
    pytest.mark.skipif(
        not Path("/proc/self/environ").exists(), reason="descendants are found there"
    ),
]
both_wires = pytest.mark.parametrize("wire", WIRES)


def loading(place: Place, session: str, **more: Any) -> dict[str, Any]:
    """Params of `session/load`."""
    return {"sessionId": session, "cwd": str(place.workspace), "mcpServers": [], **more}


async def killed(server: Server) -> None:
    """Nothing is settled: as if the machine had lost it. What it started goes too."""
    server.kill()
    await server.process.wait()
    server.place.kill_all()


@both_wires
@pytest.mark.row("R110")
async def test_killed_between_two_calls_the_first_result_is_kept_and_the_other_is_unknown(
    wire: Wire, tmp_path: Path
) -> None:
    """SE-03."""
    place = Place.at(tmp_path)
    batch = (
        say("Both.")
        + call("shell", command="echo fi''rst")
        + call("shell", command="touch started; echo sev''enth; exec sleep 30")
        + call("edit", path="a.py", edits=[{"old_text": "x = 1", "new_text": "x = 2"}])
    )
    async with ModelServer([batch, say("I see."), say("And on.")]) as model:
        async with running(place, wire, model=model) as server:
            client = server.client
            session = await client.new(str(place.workspace))
            await client.ask("session/prompt", prompt_params(session, "go"))
            await client.until(lambda m: "seventh" in str(m.get("params", {}).get("update", "")))
            await killed(server)
        async with running(place, wire, model=model) as server:
            client = server.client
            await client.request("session/load", loading(place, session))
            replayed = client.updates(session, "tool_call", "tool_call_update")
            assert {u["toolCallId"] for u in replayed} == {"call-1-0", "call-1-1", "call-1-2"}
            assert (await client.prompt(session, "what now?"))["stopReason"] == "end_turn"
            assert client.text(session) == "Both.I see."
        async with running(place, wire, model=model) as server:
            await server.client.request("session/load", loading(place, session))
            await server.client.prompt(session, "and?")

        results = [m["content"] for m in model.bodies[1]["messages"] if m["role"] == "tool"]
        assert "first" in results[0]
        assert "effects unknown" in results[1]
        assert "not run" in results[2]
        assert place.file.read_text() == "x = 1\n"
        again = [m["content"] for m in model.bodies[2]["messages"] if m["role"] == "tool"]
        assert again == results
        assert model.refused == []


async def test_a_command_dies_with_a_server_that_is_killed(tmp_path: Path) -> None:
    """Also one that has a session of its own; and nobody is left who would end them."""
    place = Place.at(tmp_path)
    command = "setsid sleep 300 & echo beg''un; exec sleep 301"
    async with (
        ModelServer([call("shell", command=command)]) as model,
        running(place, model=model) as server,
    ):
        session = await server.client.new(str(place.workspace))
        await server.client.ask("session/prompt", prompt_params(session, "go"))
        await server.client.until(lambda m: "begun" in str(m.get("params", {}).get("update")))
        server.kill()
        await server.process.wait()
        await place.alone()


Moment = Callable[[Server, ModelServer], Awaitable[object]]


async def asked(server: Server, model: ModelServer) -> None:
    await model.asked(1)


async def chunk(server: Server, model: ModelServer) -> None:
    await server.client.until(lambda m: "agent_message_chunk" in str(m))


async def question(server: Server, model: ModelServer) -> None:
    await server.client.until(lambda m: m.get("method") == "session/request_permission")


async def at_once(server: Server, model: ModelServer) -> None:
    """Whatever it has come to."""


@pytest.mark.parametrize(
    ("answer", "moment"),
    [
        (hang(), at_once),
        (hang(), asked),
        (think("hm") + say("half") + hang(), chunk),
        (
            say("Edit.") + call("edit", path="a.py", edits=[{"old_text": "x", "new_text": "y"}]),
            question,
        ),
        (raw_call("write", '{"path": "a.py", "content": "half') + hang(), asked),
        (http(503, retry_after="20"), asked),
    ],
    ids=["at once", "asked", "half said", "confirming", "half an argument", "backing off"],
)
@pytest.mark.row("R105", "R106", "R110")
async def test_killed_at_any_moment_the_session_goes_on(
    answer: Answer, moment: Moment, tmp_path: Path
) -> None:
    place = Place.at(tmp_path)
    before = place.file.stat()
    async with ModelServer([answer, say("again"), say("again")]) as model:
        async with running(place, model=model, answer=lambda c, m: NEVER) as server:
            session = await server.client.new(str(place.workspace))
            await server.client.ask("session/prompt", prompt_params(session, "go"))
            await moment(server, model)
            await killed(server)
        async with running(place, model=model) as server:
            await server.client.request("session/load", loading(place, session))
            model.script[:] = [say("again")]
            assert (await server.client.prompt(session, "next"))["stopReason"] == "end_turn"
            assert server.client.text(session).endswith("again")
        assert model.refused == []
    after = place.file.stat()
    assert place.file.read_text() == "x = 1\n"
    assert (after.st_mtime_ns, after.st_ino) == (before.st_mtime_ns, before.st_ino)


async def test_a_session_that_another_process_holds_can_only_be_read_until_that_one_dies(
    tmp_path: Path,
) -> None:
    """SE-07; spec §12."""
    place = Place.at(tmp_path)
    async with ModelServer([say("one"), say("two"), say("three")]) as model:
        async with running(place, model=model) as first:
            holder = str(first.process.pid)
            session = await first.client.new(str(place.workspace))
            await first.client.prompt(session, "1")
            async with second_of(place, model) as second:
                await second.client.request("session/load", loading(place, session))
                assert second.client.text(session) == "one"
                await second.client.until(
                    lambda m: "notice" in str(m.get("params")) and holder in str(m)
                )
                with pytest.raises(Refused) as refused:
                    await second.client.prompt(session, "into it")
                assert holder in str(refused.value)
                assert (await first.client.prompt(session, "2"))["stopReason"] == "end_turn"
                first.process.send_signal(signal.SIGSTOP)  # alive, if silent: it keeps its session
                await second.client.request("session/load", loading(place, session))
                with pytest.raises(Refused):
                    await second.client.prompt(session, "into it")
                first.kill()
                await first.process.wait()
                await second.client.request("session/load", loading(place, session))
                assert (await second.client.prompt(session, "3"))["stopReason"] == "end_turn"
                assert second.client.text(session).endswith("onetwothree")
        assert model.refused == []
        said = [m["content"] for m in model.bodies[-1]["messages"] if m["role"] == "user"]
        assert len(said) == 3


def second_of(place: Place, model: ModelServer) -> Any:
    """Another process in the same home, told apart by its own root."""
    other = Place(place.root / "second")
    other.root.mkdir()
    other.workspace.mkdir()
    other.home.mkdir()
    env = {"AGENT_SERVER_HOME": str(place.root / "state")}
    return running(other, model=model, env=env, capabilities={"session": {"notices": {}}})


async def test_a_session_loaded_twice_at_once_by_one_client_is_one_session(
    tmp_path: Path,
) -> None:
    place = Place.at(tmp_path)
    async with ModelServer([say("one"), say("two"), say("three")]) as model:
        async with running(place, model=model) as server:
            session = await server.client.new(str(place.workspace))
            await server.client.prompt(session, "1")
        async with running(place, "lsp", model=model) as server:
            client = server.client
            requests = range(500, 505)
            await client.tell(
                *(
                    {"id": r, "method": "session/load", "params": loading(place, session)}
                    for r in requests
                )
            )
            for request in requests:
                await client.response(request)
            prompts = [
                await client.ask("session/prompt", prompt_params(session, text)) for text in "23"
            ]
            for prompt in prompts:
                assert (await client.response(prompt))["stopReason"] == "end_turn"
        roles = [m["role"] for m in model.bodies[-1]["messages"]]
        assert roles[1:] == ["user", "assistant", "user", "assistant", "user"]
        assert model.refused == []


async def test_a_load_from_elsewhere_is_said_to_person_and_a_folder_that_is_gone_is_named(
    tmp_path: Path,
) -> None:
    """SE-06."""
    place = Place.at(tmp_path)
    other = place.root / "elsewhere"
    other.mkdir()
    notices = {"session": {"notices": {}}}
    async with ModelServer([say("one"), say("two")]) as model:
        async with running(place, model=model) as server:
            session = await server.client.new(str(place.workspace))
            await server.client.prompt(session, "1")
        async with running(place, model=model, capabilities=notices) as server:
            client = server.client
            for cwd in (str(place.root / "gone"), "relative"):
                with pytest.raises(Refused) as refused:
                    await client.request("session/load", loading(place, session, cwd=cwd))
                assert refused.value.code == -32602
                assert "cwd" in str(refused.value) or "gone" in str(refused.value)
            await client.request("session/load", loading(place, session, cwd=str(other)))
            await client.prompt(session, "2")
            told = str(client.updates(session, "notice"))
            assert str(place.workspace) in told
            assert str(other) in told
        assert str(other) in model.bodies[-1]["messages"][0]["content"]
        assert model.refused == []


async def test_a_load_shows_everything_once_in_order_before_its_response(tmp_path: Path) -> None:
    """SE-04."""
    place = Place.at(tmp_path)
    items = [{"text": "look", "status": "completed"}]
    script = [
        think("hm") + say("First.") + call("todo", items=items),
        say("Then.")
        + call("edit", path="a.py", edits=[{"old_text": "x = 1", "new_text": "x = 2"}]),
        say("Done."),
        say("More."),
    ]
    async with ModelServer(script) as model:
        async with running(place, model=model) as server:
            session = await server.client.new(str(place.workspace))
            await server.client.prompt(session, "go")
        async with running(place, model=model) as server:
            client = server.client
            request = await client.ask("session/load", loading(place, session))
            await client.response(request)
            answered = next(at for at, m in enumerate(client.received) if m.get("id") == request)
            shown = [
                m["params"]["update"]
                for m in client.received[:answered]
                if m.get("method") == "session/update"
            ]
            said = [u["content"]["text"] for u in shown if u["sessionUpdate"].endswith("_chunk")]
            assert said == ["go", "hm", "First.", "Then.", "Done."]
            assert [u["sessionUpdate"] for u in shown].count("plan") == 1
            assert "diff" in str(shown)
            await client.prompt(session, "more")
            assert client.text(session) == "First.Then.Done.More."
        assert model.refused == []


@pytest.mark.row("R35")
async def test_a_client_gone_in_the_middle_of_a_turn_finds_it_marked_as_interrupted(
    tmp_path: Path,
) -> None:
    """SE-10."""
    place = Place.at(tmp_path)
    async with ModelServer([say("half a thought") + hang(), say("again")]) as model:
        async with running(place, model=model) as server:
            session = await server.client.new(str(place.workspace))
            await server.client.ask("session/prompt", prompt_params(session, "go"))
            await chunk(server, model)
            await server.client.until(lambda m: server.client.text(session) == "half a thought")
        async with running(place, model=model) as server:
            client = server.client
            await client.request("session/load", loading(place, session))
            assert client.text(session).startswith("half a thought")
            assert client.text(session).endswith("(interrupted)*")
            await client.prompt(session, "next")
            assert "half a thought" not in str(model.bodies[-1]["messages"])
        assert model.refused == []


async def test_an_edit_whose_question_was_open_when_it_was_killed_is_decided_afterwards(
    tmp_path: Path,
) -> None:
    """It is fitted to what was typed meanwhile, and the model hears of it with the next prompt (protocol.md)."""
    place = Place.at(tmp_path)
    place.file.write_text("x = 1\n\ny = 1\n\nz = 1\n")
    asked_for = call("edit", path="a.py", edits=[{"old_text": "z = 1", "new_text": "z = 2"}])
    state, proposed = (f"_agent-server/edit/{name}" for name in ("state", "proposed"))
    async with ModelServer([say("Edit.") + asked_for, say("I see.")]) as model:
        async with running(place, model=model, capabilities=OURS) as server:
            session = await server.client.new(str(place.workspace))
            await server.client.ask("session/prompt", prompt_params(session, "go"))
            await server.client.until(lambda m: m.get("method") == proposed)
            await killed(server)
        place.file.write_text("x = 3\n\ny = 1\n\nz = 1\n")
        async with running(place, model=model, capabilities=OURS) as server:
            client = server.client
            await client.request("session/load", loading(place, session))
            left = (await client.until(lambda m: m.get("method") == state))["params"]
            verdict = {"txn": left["txn"], "revision": left["revision"]}
            decisions = [{"verdict": "accept"}]
            resolve = "_agent-server/edit/resolve"
            answer = await client.request(resolve, {**verdict, "decisions": decisions})
            await client.until(lambda m: "taken up as edit" in str(m))
            assert place.file.read_text() == "x = 3\n\ny = 1\n\nz = 2\n"
            await client.prompt(session, "and now?")
        assert (left["state"], answer["state"]) == ("abandoned", "approved")
        heard = str(model.bodies[-1]["messages"][-1])
        assert "open when the server stopped" in heard
        assert "+z = 2" in heard
        assert model.refused == []
