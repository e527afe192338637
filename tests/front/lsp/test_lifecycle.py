"""The life of a session and steering over LSP: the same table, judged by our own schema."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from agent_server.loop.model import JsonObject, ToolResult
from agent_server.loop.ports import CallContext
from tests.fakes.loop import FakeTool, Say
from tests.front.lsp.lsp_client import Refused, prompt_params
from tests.front.lsp.world import served

pytestmark = pytest.mark.anyio


def place(session: str, root: Path) -> dict[str, Any]:
    return {"sessionId": session, "uri": root.as_uri(), "mcpServers": []}


async def test_a_session_is_forked_named_closed_resumed_and_deleted(tmp_path: Path) -> None:
    async with served(tmp_path, Say("one"), Say("two"), Say("three")) as world:
        client, root = world.client, world.root
        session = await client.new(root)
        await client.prompt(session, "remember the harbour")
        forked = (await client.request("agent/session/fork", place(session, root)))["sessionId"]
        named = {"sessionId": forked, "title": "A fork"}
        assert await client.request("agent/session/set_title", named) == {"title": "A fork"}
        await client.prompt(forked, "what was it?")
        assert "remember the harbour" in repr(world.equipment.script.requests[-1])
        await client.request("agent/session/close", {"sessionId": forked})
        shown = len(client.of("agent/session/update"))
        await client.request("agent/session/resume", place(forked, root))
        since = [
            one["update"]["sessionUpdate"] for one in client.of("agent/session/update")[shown:]
        ]
        assert since in ([], ["available_commands_update"])  # which follows the answer
        await client.prompt(forked, "still there?")
        await client.request("agent/session/delete", {"sessionId": session})

        page = await client.request("agent/session/list", {})
        assert [(one["sessionId"], one["title"]) for one in page["sessions"]] == [
            (forked, "A fork")
        ]
        with pytest.raises(Refused) as refused:
            await client.request("agent/session/load", place(session, root))
        assert refused.value.code == -32602


async def test_a_running_turn_is_steered_and_stopped(tmp_path: Path) -> None:
    reached, leave = anyio.Event(), anyio.Event()

    async def wait(context: CallContext, arguments: JsonObject) -> ToolResult:
        reached.set()
        await leave.wait()
        return ToolResult(True, "ran")

    tool = FakeTool("run", wait, read_only=False)
    async with served(tmp_path, Say(calls=(("run", "{}"),)), Say("hm"), tools=[tool]) as world:
        client = world.client
        session = await client.new(world.root)
        turn = await client.ask("agent/session/prompt", prompt_params(session, "go"))
        await reached.wait()
        running = next(s["turnId"] for s in client.of("agent/status") if s["busy"])
        steer: dict[str, Any] = {
            "sessionId": session,
            "mode": "steer",
            "prompt": [{"type": "text", "text": "use tabs"}],
            "expectedTurnId": running,
        }
        answer = await client.request("agent/session/steer", steer)
        assert answer == {"outcome": "steered", "turnId": running}
        stop = {**steer, "mode": "stop", "prompt": []}
        assert (await client.request("agent/session/steer", stop))["outcome"] == "stopping"
        with pytest.raises(Refused) as refused:
            await client.request("agent/session/steer", {**stop, "expectedTurnId": "other"})
        assert (refused.value.code, (refused.value.data or {}).get("reason")) == (
            -32801,
            "turn_mismatch",
        )
        leave.set()
        result = await client.response(turn)
        own: Any = result["_meta"]["agent-server"]
        assert own["detail"] == "soft_stop"
        assert own["unread"] == [steer["prompt"]]
