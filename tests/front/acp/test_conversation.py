"""Whole conversations over ACP, in memory; the client's oracle judges every message."""

from pathlib import Path

import pytest

from tests.fakes.acp_client import Refused
from tests.fakes.front import served
from tests.fakes.loop import FakeTool, Say

pytestmark = pytest.mark.anyio


async def test_a_prompt_streams_text_and_ends(tmp_path: Path) -> None:
    async with served(tmp_path, Say("hello there")) as world:
        session = await world.client.new(str(tmp_path))
        result = await world.client.prompt(session, "hi")

        assert world.client.text(session) == "hello there "
        assert result["stopReason"] == "end_turn"
        own = result["_meta"]["agent-server"]
        assert (own["reason"], own["detail"]) == ("model_stop", "text")


async def test_a_tool_call_goes_from_pending_to_completed(tmp_path: Path) -> None:
    look = FakeTool("look")
    steps = (Say("I look.", (("look", '{"at": "x"}'),)), Say("Done."))
    async with served(tmp_path, *steps, tools=[look]) as world:
        session = await world.client.new(str(tmp_path))
        await world.client.prompt(session, "go")

        shown = world.client.updates(session, "tool_call", "tool_call_update")
        assert [u.get("status") for u in shown][-2:] == ["in_progress", "completed"]
        assert shown[0]["status"] == "pending"
        assert {u["toolCallId"] for u in shown} == {"call-1-0"}


async def test_nothing_is_served_before_initialize(tmp_path: Path) -> None:
    async with served(tmp_path, initialize=False) as world:
        with pytest.raises(Refused) as refused:
            await world.client.new(str(tmp_path))
        assert refused.value.code == -32600
