"""Cancelling over ACP: the prompt is answered once, by a result, and the next one works (rules 19, 20, 22)."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from agent_server.loop.model import JsonObject, ToolResult
from agent_server.loop.ports import CallContext
from tests.fakes.acp_client import NEVER, prompt_params, select
from tests.fakes.edits import asking
from tests.fakes.front import World, served
from tests.fakes.loop import FakeTool, Say

pytestmark = pytest.mark.anyio

HANG = Say("I think", hang=True)


def message(method: str, params: Any, request_id: int | None = None) -> dict[str, Any]:
    return {"method": method, "params": params} | ({"id": request_id} if request_id else {})


async def speaking(world: World, session: str) -> None:
    await world.client.until(lambda m: "agent_message_chunk" in str(m))


async def test_a_cancel_while_the_model_speaks_answers_cancelled(tmp_path: Path) -> None:
    async with served(tmp_path, HANG, Say("again")) as world:
        session = await world.client.new(str(tmp_path))
        prompt = await world.client.ask("session/prompt", prompt_params(session, "go"))
        await speaking(world, session)
        await world.client.notify("session/cancel", {"sessionId": session})

        result = await world.client.response(prompt)
        assert result["stopReason"] == "cancelled"
        assert result["_meta"]["agent-server"]["reason"] == "user_abort"
        assert (await world.client.prompt(session, "next"))["stopReason"] == "end_turn"


async def test_a_cancel_in_the_packet_of_the_prompt_finds_it(tmp_path: Path) -> None:
    """CP-01: no chunk is seen, and the next prompt works."""
    async with served(tmp_path, HANG, Say("again")) as world:
        session = await world.client.new(str(tmp_path))
        await world.client.tell(
            message("session/prompt", prompt_params(session, "go"), 900),
            message("session/cancel", {"sessionId": session}),
        )

        assert (await world.client.response(900))["stopReason"] == "cancelled"
        assert world.client.text(session) == ""
        assert (await world.client.prompt(session, "next"))["stopReason"] == "end_turn"


@pytest.mark.parametrize("late", [None, "o1", "cancelled"])
async def test_a_cancel_while_a_question_is_open_runs_nothing(
    tmp_path: Path, late: str | None
) -> None:
    """CP-03: the question is withdrawn at once; an answer that comes late, or never, changes nothing."""
    tool = FakeTool("shell", read_only=False)
    steps = (Say("", (("shell", "{}"),)), Say("again"))
    async with served(tmp_path, *steps, tools=[tool], policy=asking("shell")) as world:
        world.client.answer = lambda client, message: NEVER
        session = await world.client.new(str(tmp_path))
        prompt = await world.client.ask("session/prompt", prompt_params(session, "go"))
        question = await world.client.until(
            lambda m: m.get("method") == "session/request_permission"
        )
        await world.client.notify("session/cancel", {"sessionId": session})
        assert (await world.client.response(prompt))["stopReason"] == "cancelled"
        assert world.client.of("$/cancel_request") == [{"requestId": question["id"]}]
        if late is not None:
            outcome = {"outcome": {"outcome": late}} if late == "cancelled" else select(late)
            await world.client.tell({"id": question["id"], "result": outcome})

        assert (await world.client.prompt(session, "next"))["stopReason"] == "end_turn"
        assert tool.ran == []


async def test_a_withdrawn_prompt_is_answered_by_a_result(tmp_path: Path) -> None:
    """Rule 20: one client tore its runtime down on -32800."""
    async with served(tmp_path, HANG) as world:
        session = await world.client.new(str(tmp_path))
        prompt = await world.client.ask("session/prompt", prompt_params(session, "go"))
        await speaking(world, session)
        await world.client.notify("$/cancel_request", {"requestId": prompt})

        assert (await world.client.response(prompt))["stopReason"] == "cancelled"


async def test_a_withdrawn_prompt_in_the_queue_leaves_the_running_one_alone(tmp_path: Path) -> None:
    finish = anyio.Event()

    async def wait(context: CallContext, arguments: JsonObject) -> ToolResult:
        await finish.wait()
        return ToolResult(True, "done")

    steps = (Say("", (("wait", "{}"),)), Say("first"), Say("third"))
    async with served(tmp_path, *steps, tools=[FakeTool("wait", wait)]) as world:
        session = await world.client.new(str(tmp_path))
        first = await world.client.ask("session/prompt", prompt_params(session, "1"))
        second = await world.client.ask("session/prompt", prompt_params(session, "2"))
        third = await world.client.ask("session/prompt", prompt_params(session, "3"))
        await world.client.until(lambda m: "in_progress" in str(m))
        await world.client.notify("$/cancel_request", {"requestId": second})
        finish.set()

        reasons = [
            (await world.client.response(one))["stopReason"] for one in (first, second, third)
        ]
        assert reasons == ["end_turn", "cancelled", "end_turn"]


async def test_cancel_ends_the_running_turn_and_leaves_what_is_queued(tmp_path: Path) -> None:
    """CP-14, spec §14."""
    async with served(tmp_path, HANG, Say("second")) as world:
        session = await world.client.new(str(tmp_path))
        first = await world.client.ask("session/prompt", prompt_params(session, "1"))
        second = await world.client.ask("session/prompt", prompt_params(session, "2"))
        await speaking(world, session)
        await world.client.notify("session/cancel", {"sessionId": session})

        assert (await world.client.response(first))["stopReason"] == "cancelled"
        assert (await world.client.response(second))["stopReason"] == "end_turn"


@pytest.mark.row("R36")
async def test_a_second_cancel_does_not_reach_what_was_queued_before_the_first(
    tmp_path: Path,
) -> None:
    """CP-14: a key pressed twice."""
    async with served(tmp_path, HANG, Say("second")) as world:
        session = await world.client.new(str(tmp_path))
        first = await world.client.ask("session/prompt", prompt_params(session, "1"))
        second = await world.client.ask("session/prompt", prompt_params(session, "2"))
        await speaking(world, session)
        cancel = message("session/cancel", {"sessionId": session})
        await world.client.tell(cancel, cancel)

        assert (await world.client.response(first))["stopReason"] == "cancelled"
        assert (await world.client.response(second))["stopReason"] == "end_turn"


async def test_prompt_and_cancel_ten_times_without_waiting_answers_each_in_order(
    tmp_path: Path,
) -> None:
    """CP-05."""
    async with served(tmp_path, *[HANG] * 10, Say("last")) as world:
        session = await world.client.new(str(tmp_path))
        for number in range(10):
            await world.client.tell(
                message("session/prompt", prompt_params(session, str(number)), 900 + number),
                message("session/cancel", {"sessionId": session}),
            )
        await world.client.prompt(session, "last")

        answers = [m for m in world.client.received if "method" not in m and m["id"] >= 900]
        assert [m["id"] for m in answers] == list(range(900, 910))
        assert world.client.text(session).endswith("last ")


async def test_a_running_tool_is_reported_failed_before_the_prompt_is_answered(
    tmp_path: Path,
) -> None:
    async def hang(context: CallContext, arguments: JsonObject) -> ToolResult:
        await anyio.sleep_forever()
        raise AssertionError

    tool = FakeTool("shell", hang, read_only=False, kind="execute")
    async with served(tmp_path, Say("", (("shell", "{}"),)), tools=[tool]) as world:
        session = await world.client.new(str(tmp_path))
        prompt = await world.client.ask("session/prompt", prompt_params(session, "go"))
        await world.client.until(lambda m: "in_progress" in str(m))
        await world.client.notify("session/cancel", {"sessionId": session})
        await world.client.response(prompt)

        last = world.client.updates(session, "tool_call_update")[-1]
        assert last["status"] == "failed"
        assert last["_meta"]["agent-server"]["effect"] == "unknown"


@pytest.mark.row("R36")
async def test_a_cancel_of_nothing_is_nothing(tmp_path: Path) -> None:
    async with served(tmp_path, Say("hi")) as world:
        session = await world.client.new(str(tmp_path))
        await world.client.notify("session/cancel", {"sessionId": session})
        await world.client.notify("session/cancel", {})
        assert (await world.client.prompt(session, "hi"))["stopReason"] == "end_turn"
