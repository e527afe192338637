"""New, load, list and options over ACP: what is answered, what follows the answer, and in which order."""

from pathlib import Path
from typing import Any

import pytest

from tests.fakes.acp_client import OURS, STOCK, AcpClient, Refused
from tests.fakes.edits import edit_tool
from tests.fakes.front import served
from tests.fakes.loop import Say

pytestmark = pytest.mark.anyio

NOTICES: dict[str, Any] = {"session": {"notices": {}}}


def kinds(client: AcpClient, session: str) -> list[str]:
    return [update["sessionUpdate"] for update in client.updates(session)]


async def test_the_response_is_the_first_line_that_mentions_a_new_session(tmp_path: Path) -> None:
    """PR-06, rule 14; the oracle judges the order of all two hundred."""
    async with served(tmp_path, capabilities=OURS | NOTICES, warnings=("no model",)) as world:
        ids = [
            await world.client.ask("session/new", {"cwd": str(tmp_path), "mcpServers": []})
            for _ in range(200)
        ]
        sessions = {(await world.client.response(one))["sessionId"] for one in ids}

        assert len(sessions) == 200
        for session in sessions:
            assert kinds(world.client, session) == ["notice", "available_commands_update"]


async def test_a_new_session_offers_modes_and_the_same_choices_as_options(tmp_path: Path) -> None:
    async with served(tmp_path) as world:
        answer = await world.client.request("session/new", {"cwd": str(tmp_path), "mcpServers": []})

        assert answer["modes"]["currentModeId"] == "ask"
        assert [o["id"] for o in answer["configOptions"]] == ["mode", "model", "review"]
        assert [o["currentValue"] for o in answer["configOptions"]] == ["ask", "list/model", "each"]


@pytest.mark.parametrize(
    "params",
    [
        {"cwd": 5, "mcpServers": []},
        {"cwd": "relative", "mcpServers": []},
        {"mcpServers": []},
        {"cwd": None, "_meta": {"cwd": "/"}},
    ],
)
async def test_a_cwd_that_is_no_absolute_path_is_refused(
    tmp_path: Path, params: dict[str, Any]
) -> None:
    async with served(tmp_path) as world:
        with pytest.raises(Refused, match="cwd must be an absolute path") as refused:
            await world.client.request("session/new", params)
        assert refused.value.code == -32602


async def test_meta_never_overrides_a_parameter(tmp_path: Path) -> None:
    async with served(tmp_path) as world:
        meta = {"cwd": "/etc", "sessionId": "x"}
        session = await world.client.new(str(tmp_path), _meta=meta)

        assert world.sessions.get(session).cwd == str(tmp_path)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("servers", [None, {}, []])
async def test_absent_mcp_servers_come_in_many_forms(tmp_path: Path, servers: object) -> None:
    async with served(tmp_path) as world:
        assert await world.client.new(str(tmp_path), mcpServers=servers)


async def test_extra_roots_are_used_and_bad_ones_named(tmp_path: Path) -> None:
    """PR-14."""
    extra = tmp_path / "b"
    extra.mkdir()
    roots = [str(extra), str(tmp_path / "missing"), str(tmp_path), "relative"]
    async with served(tmp_path, capabilities=NOTICES) as world:
        session = await world.client.new(str(tmp_path), additionalDirectories=roots)

        assert world.sessions.get(session).roots == (str(extra),)  # pyright: ignore[reportArgumentType]
        titles = " ".join(u["title"] for u in world.client.updates(session, "notice"))
        assert "relative" in titles
        assert "missing" in titles


async def test_a_client_without_notices_reads_them_in_its_first_turn(tmp_path: Path) -> None:
    async with served(
        tmp_path, Say("hi"), capabilities=STOCK, warnings=("no model is set",)
    ) as world:
        session = await world.client.new(str(tmp_path))
        assert world.client.told(session) == []
        await world.client.prompt(session, "hello")

        assert world.client.text(session) == "> no model is set\n\nhi "


async def test_load_shows_everything_once_in_order_and_then_answers(tmp_path: Path) -> None:
    """SE-04, rule 15: the oracle refuses a late chunk; the golden list is what a client saw."""
    steps = (
        Say("I edit.", (("edit", '{"path": "a.py"}'),), thinking="hm"),
        Say("Done."),
    )
    async with served(tmp_path, *steps, tools=[edit_tool()]) as world:
        session = await world.client.new(str(tmp_path))
        await world.client.prompt(session, "go")
    async with served(tmp_path, tools=[edit_tool()]) as world:
        params = {"sessionId": session, "cwd": str(tmp_path), "mcpServers": []}
        answer = await world.client.request("session/load", params)
        shown = world.client.told(session)

        assert answer["modes"]["currentModeId"] == "ask"
        assert [u["sessionUpdate"] for u in shown] == [
            "user_message_chunk",
            "agent_thought_chunk",
            "agent_message_chunk",
            "tool_call",
            "agent_message_chunk",
            "session_info_update",
            "usage_update",
        ]
        assert shown[0]["content"] == {"type": "text", "text": "go"}
        call = shown[3]
        assert (call["status"], call["kind"], call["title"]) == ("completed", "edit", "edit a.py")
        assert call["content"][0]["type"] == "diff"
        assert shown[-2]["title"] == "go"
        assert (shown[-1]["used"], shown[-1]["size"]) == (15, 100_000)


async def test_a_loaded_session_goes_on(tmp_path: Path) -> None:
    async with served(tmp_path, Say("one")) as world:
        session = await world.client.new(str(tmp_path))
        await world.client.prompt(session, "first")
    async with served(tmp_path, Say("two")) as world:
        params = {"sessionId": session, "cwd": str(tmp_path), "mcpServers": []}
        await world.client.request("session/load", params)
        await world.client.prompt(session, "second")

        assert world.client.text(session) == "onetwo "


@pytest.mark.parametrize("method", ["session/load", "session/prompt", "session/set_mode"])
async def test_an_unknown_session_is_an_explicit_error(tmp_path: Path, method: str) -> None:
    """Rule 23."""
    params = {
        "sessionId": "nope",
        "cwd": str(tmp_path),
        "prompt": [{"type": "text", "text": "x"}],
        "modeId": "plan",
    }
    async with served(tmp_path) as world:
        with pytest.raises(Refused) as refused:
            await world.client.request(method, params)
        assert refused.value.code == -32002
        assert refused.value.data["reason"] == "unknown_session"


async def test_sessions_are_listed_with_title_and_time(tmp_path: Path) -> None:
    async with served(tmp_path, Say("hi")) as world:
        session = await world.client.new(str(tmp_path))
        await world.client.prompt(session, "name me")
        page = await world.client.request("session/list", {"cwd": str(tmp_path)})

        (one,) = page["sessions"]
        assert (one["sessionId"], one["cwd"], one["title"]) == (session, str(tmp_path), "name me")
        assert one["updatedAt"]


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("session/set_mode", {"modeId": "plan"}),
        ("session/set_config_option", {"configId": "mode", "value": "plan"}),
        ("session/set_config_option", {"configId": "mode", "type": "select", "value": "plan"}),
    ],
)
async def test_a_mode_set_through_one_door_is_told_to_both(
    tmp_path: Path, method: str, params: dict[str, Any]
) -> None:
    """Rules 31 and 32."""
    async with served(tmp_path, capabilities=OURS) as world:
        session = await world.client.new(str(tmp_path))
        answer = await world.client.request(method, {"sessionId": session, **params})
        await world.client.until(lambda m: "config_option_update" in str(m))

        mode, options = world.client.told(session)
        assert mode == {"sessionUpdate": "current_mode_update", "currentModeId": "plan"}
        assert options["configOptions"][0]["currentValue"] == "plan"
        if "configId" in params:
            assert answer["configOptions"] == options["configOptions"]


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"configId": "mode", "value": "yolo"}, "value must be one of ask,"),
        ({"configId": "model", "value": "no/such"}, "value must be one of list/model,"),
        ({"configId": "colour", "value": "red"}, "configId must be one of mode, model"),
        ({"configId": "mode", "type": "boolean", "value": True}, "value must be a string"),
    ],
)
async def test_an_impossible_choice_is_refused_by_name(
    tmp_path: Path, params: dict[str, Any], sentence: str
) -> None:
    async with served(tmp_path) as world:
        session = await world.client.new(str(tmp_path))
        with pytest.raises(Refused, match=sentence) as refused:
            await world.client.request(
                "session/set_config_option", {"sessionId": session, **params}
            )
        assert refused.value.code == -32602


async def test_authenticate_succeeds_whatever_method_a_client_picks(tmp_path: Path) -> None:
    """Rule 11."""
    async with served(tmp_path) as world:
        assert await world.client.request("authenticate", {"methodId": "config"}) == {}


async def test_a_second_initialize_is_answered_and_counts_from_then_on(tmp_path: Path) -> None:
    async with served(tmp_path, capabilities=STOCK) as world:
        world.client.capabilities = OURS
        assert (await world.client.initialize())["protocolVersion"] == 1
        session = await world.client.new(str(tmp_path))
        await world.client.until(lambda m: m.get("method") == "_agent-server/status")

        (status,) = world.client.of("_agent-server/status")
        assert status == {
            "sessionId": session,
            "turnId": None,
            "state": "done",
            "label": "Done",
            "busy": False,
        }


async def test_unknown_methods_are_refused_and_unknown_notifications_ignored(
    tmp_path: Path,
) -> None:
    async with served(tmp_path) as world:
        await world.client.notify("_nobody/knows", {})
        await world.client.notify("$/progress", {})
        await world.client.notify("session/cancel", {"sessionId": "nope"})
        for method in ("session/definitely_not", "_nope/x"):
            with pytest.raises(Refused) as refused:
                await world.client.request(method, {})
            assert refused.value.code == -32601
