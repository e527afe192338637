"""Resume, fork, close, delete, set_title over ACP, and a session that another process holds."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest

from agent_server.loop.model import JsonObject, ToolResult, Usage
from agent_server.loop.ports import CallContext, Message, Request
from agent_server.session.sessions import Sessions
from agent_server.store.sessions import SessionStore
from tests.fakes.acp_client import OURS, Refused, prompt_params
from tests.fakes.front import World, served
from tests.fakes.loop import FakeTool, ListModel, Say
from tests.fakes.session import FakeEquipment, RecordingClient

pytestmark = pytest.mark.anyio

NOTICES: dict[str, Any] = {"session": {"notices": {}}}


def place(session: str, cwd: Path) -> dict[str, Any]:
    return {"sessionId": session, "cwd": str(cwd), "mcpServers": []}


def heard(world: World) -> str:
    """Everything the model was sent with its last request."""
    return repr(world.equipment.script.requests[-1])


async def talked(home: Path, *steps: Say, **more: Any) -> str:
    """A session of one turn, left behind by a process that has ended."""
    async with served(home, *steps, **more) as world:
        session = await world.client.new(str(home))
        await world.client.prompt(session, "remember the harbour")
    return session


@pytest.mark.row("R115")
async def test_resume_shows_nothing_and_the_model_is_sent_the_same_as_after_load(
    tmp_path: Path,
) -> None:
    """SE-04, rule 16."""
    session = await talked(
        tmp_path,
        Say("Let me look.", (("look", "{}"),), thinking="hm"),
        Say("Seen."),
        tools=[FakeTool("look")],
    )
    requests: list[tuple[Message, ...]] = []
    for method in ("session/load", "session/resume"):
        async with served(tmp_path, Say("yes"), tools=[FakeTool("look")]) as world:
            before = await world.client.request(method, place(session, tmp_path))
            shown = world.client.told(session)
            await world.client.prompt(session, "and now")
            request: Request = world.equipment.script.requests[0]
            requests.append(request.messages[:4])

        assert before["modes"]["currentModeId"] == "ask"
        assert bool(shown) == (method == "session/load")
    assert requests[0] == requests[1]
    assert "remember the harbour" in repr(requests[0])


@pytest.mark.parametrize(("capabilities", "told"), [(OURS, True), ({}, False)])
async def test_a_loaded_conversation_says_to_clients_of_ours_how_each_turn_ended(
    tmp_path: Path, capabilities: dict[str, Any], told: bool
) -> None:
    session = await talked(tmp_path, Say("Seen.", usage=Usage(12, 7, 3)))
    async with served(tmp_path, capabilities=capabilities) as world:
        await world.client.request("session/load", place(session, tmp_path))
        kinds = [update["sessionUpdate"] for update in world.client.updates(session)]
        metas = [update.get("_meta") for update in world.client.updates(session)]

        ends = [meta["agent-server"]["turnEnd"] for meta in metas if meta is not None]
        assert len(ends) == told
        if told:
            [end] = ends
            assert kinds[:3] == [
                "user_message_chunk",
                "agent_message_chunk",
                "session_info_update",
            ]
            assert (end["reason"], end["detail"]) == ("model_stop", "text")
            assert end["usage"] == {
                "inputTokens": 12,
                "outputTokens": 7,
                "cachedReadTokens": 3,
                "cost": None,
            }


async def test_close_cancels_what_runs_and_what_waits_and_answers_each_prompt_once(
    tmp_path: Path,
) -> None:
    async with served(tmp_path, Say("thinking about it", hang=True)) as world:
        session = await world.client.new(str(tmp_path))
        prompts = [
            await world.client.ask("session/prompt", prompt_params(session, text))
            for text in ("one", "two")
        ]
        await world.client.until(lambda m: "thinking" in str(m))

        assert await world.client.request("session/close", {"sessionId": session}) == {}

        answers = [await world.client.response(one) for one in prompts]
        assert [a["stopReason"] for a in answers] == ["cancelled", "cancelled"]
        with pytest.raises(Refused) as refused:
            await world.client.prompt(session, "three")
        assert refused.value.code == -32002
        await world.client.request("session/load", place(session, tmp_path))
        assert (await world.client.prompt(session, "four"))["stopReason"] == "end_turn"


async def test_delete_forgets_an_open_session_and_knows_no_unknown_one(tmp_path: Path) -> None:
    async with served(tmp_path, Say("hi")) as world:
        session = await world.client.new(str(tmp_path))
        await world.client.prompt(session, "hello")
        for _ in range(2):
            assert await world.client.request("session/delete", {"sessionId": session}) == {}
        assert await world.client.request("session/delete", {"sessionId": "né"}) == {}

        assert (await world.client.request("session/list", {}))["sessions"] == []
        with pytest.raises(Refused) as refused:
            await world.client.request("session/load", place(session, tmp_path))
        assert refused.value.code == -32002


async def test_a_fork_knows_the_past_and_leaves_the_original_alone(tmp_path: Path) -> None:
    """F31."""
    session = await talked(tmp_path, Say("I will."))
    async with served(tmp_path, Say("it was the harbour"), Say("just this")) as world:
        answer = await world.client.request("session/fork", place(session, tmp_path))
        forked = answer["sessionId"]
        assert world.client.told(forked) == []
        await world.client.prompt(forked, "what was it?")
        assert "remember the harbour" in heard(world)
        await world.client.request("session/load", place(session, tmp_path))
        await world.client.prompt(session, "and you?")
        assert "what was it?" not in heard(world)

        page = await world.client.request("session/list", {})
        titles = {one["sessionId"]: one["title"] for one in page["sessions"]}
        assert titles == {
            session: "remember the harbour",
            forked: "remember the harbour (fork)",
        }
        await world.client.request("session/delete", {"sessionId": session})
        await world.client.request("session/close", {"sessionId": forked})
        await world.client.request("session/load", place(forked, tmp_path))
        assert "it was the harbour" in world.client.text(forked)


async def test_a_fork_in_the_middle_of_a_call_does_not_know_how_it_ends(tmp_path: Path) -> None:
    reached, leave = anyio.Event(), anyio.Event()

    async def wait(context: CallContext, arguments: JsonObject) -> ToolResult:
        reached.set()
        await leave.wait()
        return ToolResult(True, "it is done")

    tool = FakeTool("run", wait, read_only=False)
    steps = (Say(calls=(("run", "{}"),)), Say("in the fork"), Say("in the original"))
    async with served(tmp_path, *steps, tools=[tool]) as world:
        session = await world.client.new(str(tmp_path))
        turn = await world.client.ask("session/prompt", prompt_params(session, "go"))
        await reached.wait()
        answer = await world.client.request("session/fork", place(session, tmp_path))
        await world.client.prompt(answer["sessionId"], "how did it go?")
        assert "effects unknown: this conversation was forked" in heard(world)
        leave.set()

        assert (await world.client.response(turn))["stopReason"] == "end_turn"
        assert "it is done" in heard(world)
        assert len(tool.ran) == 1


@pytest.mark.parametrize("method", ["session/fork", "session/resume", "session/close"])
async def test_what_does_not_exist_is_refused_by_name(tmp_path: Path, method: str) -> None:
    """Rule 23."""
    async with served(tmp_path) as world:
        with pytest.raises(Refused, match="nope") as refused:
            await world.client.request(method, place("nope", tmp_path))
        assert refused.value.code == -32002


async def test_a_given_title_is_kept_on_one_line_and_never_replaced(tmp_path: Path) -> None:
    async with served(tmp_path, Say("hi"), small=ListModel(Say("Found by a model"))) as world:
        session = await world.client.new(str(tmp_path))
        params = {"sessionId": session, "title": " My\n title "}
        assert await world.client.request("session/set_title", params) == {"title": "My title"}
        await world.client.prompt(session, "hello")
        await world.client.request("session/close", {"sessionId": session})
        again = {"sessionId": session, "title": "Another"}
        await world.client.request("session/set_title", again)

        titles = [u["title"] for u in world.client.updates(session, "session_info_update")]
        assert titles == ["My title"]
        (listed,) = (await world.client.request("session/list", {}))["sessions"]
        assert listed["title"] == "Another"


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"title": "x"}, -32602),
        ({"sessionId": "nope", "title": "x"}, -32002),
        ({"sessionId": "nope", "title": ""}, -32602),
        ({"sessionId": "nope", "title": " \n "}, -32602),
        ({"sessionId": "nope", "title": "x" * 201}, -32602),
        ({"sessionId": "nope", "title": None}, -32602),
    ],
)
async def test_an_impossible_title_is_refused(
    tmp_path: Path, params: dict[str, Any], code: int
) -> None:
    async with served(tmp_path) as world:
        with pytest.raises(Refused) as refused:
            await world.client.request("session/set_title", params)
        assert refused.value.code == code


async def test_a_session_of_a_living_process_is_shown_and_not_prompted(tmp_path: Path) -> None:
    """SE-07, F63."""
    session = await talked(tmp_path, Say("aye"))
    store = SessionStore(tmp_path / "sessions.db")
    async with (
        Sessions(store, lambda _: FakeEquipment(ListModel())) as elsewhere,
        served(tmp_path, Say("mine now"), capabilities=OURS | NOTICES) as world,
    ):
        holder = await elsewhere.load(
            session,  # pyright: ignore[reportArgumentType]
            cwd=str(tmp_path),
            client=RecordingClient(),
        )
        answer = await world.client.request("session/load", place(session, tmp_path))
        assert str(os.getpid()) in answer["_meta"]["agent-server"]["readOnly"]
        assert world.client.text(session) == "aye"
        with pytest.raises(Refused, match=f"held by process {os.getpid()}") as refused:
            await world.client.prompt(session, "hello")
        assert (refused.value.code, refused.value.data["reason"]) == (-32602, "session_busy")
        with pytest.raises(Refused, match="held by process"):
            await world.client.request("session/delete", {"sessionId": session})
        await elsewhere.close(holder.id)
        again = await world.client.request("session/resume", place(session, tmp_path))
        assert "_meta" not in again
        assert (await world.client.prompt(session, "hello"))["stopReason"] == "end_turn"


async def test_a_session_in_another_folder_tells_the_person_and_the_model(tmp_path: Path) -> None:
    """SE-06."""
    session = await talked(tmp_path, Say("aye"))
    other = tmp_path / "other"
    other.mkdir()
    async with served(tmp_path, Say("ok"), capabilities=NOTICES) as world:
        await world.client.request("session/load", place(session, other))
        await world.client.prompt(session, "where are we?")
        moved = f"this session was made in {tmp_path} and now works in {other}"
        assert [n["title"] for n in world.client.updates(session, "notice")] == [moved]
        assert moved in heard(world)


@pytest.mark.parametrize(("cwd", "named"), [("gone", "gone"), ("relative", "relative")])
async def test_a_folder_that_is_none_is_refused_by_name(
    tmp_path: Path, cwd: str, named: str
) -> None:
    """SE-06."""
    session = await talked(tmp_path, Say("aye"))
    given = str(tmp_path / cwd) if cwd == "gone" else cwd
    async with served(tmp_path) as world:
        for method in ("session/load", "session/resume", "session/fork"):
            with pytest.raises(Refused, match=named) as refused:
                await world.client.request(method, {"sessionId": session, "cwd": given})
            assert refused.value.code == -32602


async def test_every_listed_session_loads_or_says_why_not(tmp_path: Path) -> None:
    """SE-12; opening them changes no date."""
    good, bad = [await talked(tmp_path, Say("aye")) for _ in range(2)]
    async with served(tmp_path, Say("a long story " * 400), Say("yes"), Say("In short.")) as world:
        short = await world.client.new(str(tmp_path))
        for prompt in ("tell me", "really?", "/compact"):
            await world.client.prompt(short, prompt)
        assert "was summarised" in world.client.text(short)
    with closing(sqlite3.connect(tmp_path / "sessions.db")) as connection, connection:
        connection.execute("UPDATE entry SET body = '{}' WHERE session = ? AND place = 1", (bad,))
    connection.close()
    async with served(tmp_path) as world:
        page = (await world.client.request("session/list", {}))["sessions"]
        damage = {one["sessionId"]: one.get("_meta") for one in page}
        assert "damaged" in damage[bad]["agent-server"]["damaged"]
        for one in (good, short):
            assert damage[one] is None
            await world.client.request("session/load", place(one, tmp_path))
        for method in ("session/load", "session/fork"):
            with pytest.raises(Refused) as refused:
                await world.client.request(method, place(bad, tmp_path))
            assert refused.value.data["reason"] == "store"
        again = (await world.client.request("session/list", {}))["sessions"]
        for kept in ("updatedAt", "title"):
            assert [one.get(kept) for one in again] == [one.get(kept) for one in page]
        assert len(again) == 3


async def test_two_loads_at_once_give_one_session(tmp_path: Path) -> None:
    session = await talked(tmp_path, Say("aye"))
    async with served(tmp_path, Say("one"), Say("two")) as world:
        loads = [
            await world.client.ask("session/resume", place(session, tmp_path)) for _ in range(3)
        ]
        for one in loads:
            await world.client.response(one)
        turns = [
            await world.client.ask("session/prompt", prompt_params(session, text))
            for text in ("a", "b")
        ]
        for one in turns:
            await world.client.response(one)

        opened = world.sessions.get(session)  # pyright: ignore[reportArgumentType]
        assert world.equipment.kits == 1
        assert len(opened.entries) == 9
