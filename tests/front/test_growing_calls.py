"""Arguments that still stream: a title as soon as there is one, pieces to clients of ours, never the whole again."""

from pathlib import Path
from typing import Any

import pytest

from agent_server.front.render.calls import first_object
from tests.fakes.acp_client import OURS, STOCK
from tests.fakes.front import served
from tests.fakes.loop import FakeTool, Say

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("beginning", "what"),
    [
        ('{"path": "src/a.py", "edits', "src/a.py"),
        ('{"command": "say \\"hi\\""', 'say "hi"'),
        ('{ "pattern":"x"', "x"),
        ('{"path": "src/a', None),
        ('{"edits": [{"path": "x"', None),
        ("", None),
    ],
)
def test_what_a_call_is_about_is_told_from_whole_first_arguments_only(
    beginning: str, what: str | None
):
    assert first_object(beginning) == what


async def updates_of(capabilities: dict[str, Any], tmp_path: Path) -> list[dict[str, Any]]:
    steps = (Say(calls=(("look", '{"path": "a.txt"}'),), piecewise=True), Say("ok"))
    async with served(
        tmp_path, *steps, tools=[FakeTool("look")], capabilities=capabilities
    ) as world:
        session = await world.client.new(str(tmp_path))
        await world.client.prompt(session, "go")
        return world.client.updates(session, "tool_call", "tool_call_update")


async def test_every_client_sees_an_early_title(tmp_path: Path):
    calls = [
        u for u in await updates_of(STOCK, tmp_path) if u["sessionUpdate"].startswith("tool_call")
    ]
    assert [u.get("title") for u in calls][:2] == ["look", "look a.txt"]


async def test_only_clients_of_ours_get_the_pieces_and_they_join_to_the_arguments(tmp_path: Path):
    def pieces(updates: list[dict[str, Any]]) -> str:
        return "".join(
            u.get("_meta", {}).get("agent-server", {}).get("argumentsDelta", "") for u in updates
        )

    assert pieces(await updates_of(OURS, tmp_path)).replace(" ", "") == '{"path":"a.txt"}'
    assert pieces(await updates_of(STOCK, tmp_path)) == ""
