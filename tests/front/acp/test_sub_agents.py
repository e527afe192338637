"""Sub-agents as an ACP client sees them: one call, one session, every question answerable (CP-12)."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from agent_server.session.ports import SubAgentTerms
from tests.fakes.acp_client import NEVER, AcpClient, Message, option_of, select
from tests.fakes.edits import asking, edit_tool
from tests.fakes.front import served
from tests.fakes.loop import FakeTool, Say
from tests.fakes.team import team

pytestmark = pytest.mark.anyio

PLAN = Say("I delegate.", (("delegate", '{"task": "plan"}'),))
DEEP = SubAgentTerms(max_depth=2, model="list/child")


def yes(client: AcpClient, message: Message) -> Any:
    return select(option_of(message, "allow_once"))


async def test_a_child_and_a_grandchild_ask_in_the_persons_session_about_its_call(tmp_path: Path):
    tasks = {
        "plan": (Say("", (("edit", "{}"), ("delegate", '{"task": "run"}'))), Say("planned")),
        "run": (Say("", (("shell", "{}"),)), Say("ran")),
    }
    shell = FakeTool("shell", read_only=False, kind="execute")
    policy = asking("edit", "shell")
    tools = (edit_tool(), shell)
    around = team(PLAN, Say("done"), tasks=tasks, tools=tools, policy=policy, terms=DEEP)
    async with served(tmp_path, around=around) as world:
        world.client.answer = yes
        session = await world.client.new(str(tmp_path))
        assert (await world.client.prompt(session, "go"))["stopReason"] == "end_turn"

        one, two = world.client.of("session/request_permission")
        assert {one["sessionId"], two["sessionId"]} == {session}
        sent, *cards = [c["toolCallId"] for c in world.client.updates(session, "tool_call")]
        assert cards == [one["toolCall"]["toolCallId"], two["toolCall"]["toolCallId"]]
        lineage = [q["_meta"]["agent-server"]["within"] for q in (one, two)]
        assert lineage == [sent, sent]
        assert one["toolCall"]["title"].startswith("sub-agent “plan”: edit")
        assert two["toolCall"]["title"].startswith("sub-agent “plan”: sub-agent “run”: shell")
        assert one["toolCall"]["content"][0]["type"] == "diff"
        assert len(shell.ran) == 1


async def test_a_cancel_withdraws_a_sub_agents_question_and_ends_everything(tmp_path: Path):
    tasks = {"plan": (Say("", (("shell", "{}"),)), Say("never"))}
    shell = FakeTool("shell", read_only=False, kind="execute")
    around = team(PLAN, tasks=tasks, tools=(shell,), policy=asking("shell"))
    async with served(tmp_path, around=around) as world:
        world.client.answer = lambda client, message: NEVER
        session = await world.client.new(str(tmp_path))
        async with anyio.create_task_group() as group:

            async def cancel() -> None:
                await world.client.until(lambda m: m.get("method") == "session/request_permission")
                await world.client.notify("session/cancel", {"sessionId": session})

            group.start_soon(cancel)
            assert (await world.client.prompt(session, "go"))["stopReason"] == "cancelled"
        assert shell.ran == []
        statuses = [u.get("status") for u in world.client.updates(session, "tool_call_update")]
        assert statuses.count("failed") == 2


async def test_a_listing_and_the_updates_know_only_the_persons_session(tmp_path: Path):
    tasks = {"plan": (Say("planned"),)}
    async with served(tmp_path, around=team(PLAN, Say("done"), tasks=tasks)) as world:
        session = await world.client.new(str(tmp_path))
        await world.client.prompt(session, "go")
        listed = await world.client.request("session/list", {})
        assert [s["sessionId"] for s in listed["sessions"]] == [session]
        assert {m["sessionId"] for m in world.client.of("session/update")} == {session}
