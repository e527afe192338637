"""`_agent-server/session/steer`, and prompts that come while a turn runs (R133, R137, F21-F24, CP-14)."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from agent_server.loop.faults import Fault
from agent_server.loop.model import JsonObject, ToolResult
from agent_server.loop.ports import CallContext
from tests.fakes.acp_client import OURS, AcpClient, Message, Refused, prompt_params
from tests.fakes.front import World, served
from tests.fakes.loop import FakeTool, Say

pytestmark = pytest.mark.anyio

STEER = "_agent-server/session/steer"
Body = Callable[[CallContext, JsonObject], Awaitable[ToolResult]]


class Gate:
    """A tool that tells when it runs and waits until it may end."""

    def __init__(self) -> None:
        self.reached, self.leave = anyio.Event(), anyio.Event()
        self.tool = FakeTool("run", self._wait, read_only=False)

    async def _wait(self, context: CallContext, arguments: JsonObject) -> ToolResult:
        self.reached.set()
        await self.leave.wait()
        return ToolResult(True, "ran")


def steer(session: str, mode: str, text: str | None, turn: str | None) -> dict[str, Any]:
    prompt = [] if text is None else [{"type": "text", "text": text}]
    return {"sessionId": session, "mode": mode, "prompt": prompt, "expectedTurnId": turn}


async def running(client: AcpClient) -> str:
    """The id of the turn that runs."""
    status = await client.until(lambda m: _busy(m) is not None)
    return str(_busy(status))


def _busy(message: Message) -> str | None:
    params = message.get("params") or {}
    busy = message.get("method") == "_agent-server/status" and params["busy"]
    return params["turnId"] if busy else None


async def idle(client: AcpClient, turn: str) -> None:
    await client.until(
        lambda m: (
            m.get("method") == "_agent-server/status"
            and (m["params"]["turnId"], m["params"]["busy"]) == (turn, False)
        )
    )


def heard(world: World, request: int = -1) -> str:
    return repr(world.equipment.script.requests[request].messages)


def said(client: AcpClient, session: str) -> list[str]:
    return [u["content"]["text"] for u in client.updates(session, "user_message_chunk")]


@pytest.mark.row("R133")
async def test_steered_text_is_heard_after_the_running_calls(tmp_path: Path) -> None:
    gate = Gate()
    steps = (Say(calls=(("run", "{}"),)), Say("tabs it is"))
    async with served(tmp_path, *steps, tools=[gate.tool], capabilities=OURS) as world:
        client = world.client
        session = await client.new(str(tmp_path))
        prompt = await client.ask("session/prompt", prompt_params(session, "go"))
        await gate.reached.wait()
        turn = await running(client)
        answer = await client.request(STEER, steer(session, "steer", "use tabs", turn))
        gate.leave.set()
        result = await client.response(prompt)

        assert answer == {"outcome": "steered", "turnId": turn}
        assert result["_meta"]["agent-server"]["turnId"] == turn
        assert "unread" not in result["_meta"]["agent-server"]
        assert said(client, session) == ["use tabs"]
        assert "use tabs" in heard(world)


@pytest.mark.row("R133", "R136")
async def test_redirect_drops_the_answer_that_streams(tmp_path: Path) -> None:
    steps = (Say("spaces are", hang=True), Say("tabs it is"))
    async with served(tmp_path, *steps, capabilities=OURS) as world:
        client = world.client
        session = await client.new(str(tmp_path))
        prompt = await client.ask("session/prompt", prompt_params(session, "go"))
        await client.until(lambda m: "are" in str(m))
        answer = await client.request(
            STEER, steer(session, "redirect", "use tabs", await running(client))
        )

        assert answer["outcome"] == "redirected"
        assert (await client.response(prompt))["stopReason"] == "end_turn"
        assert "You were saying" in heard(world)
        assert "use tabs" in heard(world)
        assert said(client, session) == ["use tabs"]
        params = {"sessionId": session, "cwd": str(tmp_path), "mcpServers": []}
        await client.request("session/load", params)
        assert said(client, session) == ["use tabs", "go", "use tabs"]


async def test_redirect_during_a_call_waits_for_it(tmp_path: Path) -> None:
    """F23: what runs is never cut."""
    gate = Gate()
    steps = (Say(calls=(("run", "{}"),)), Say("fine"))
    async with served(tmp_path, *steps, tools=[gate.tool], capabilities=OURS) as world:
        session = await world.client.new(str(tmp_path))
        prompt = await world.client.ask("session/prompt", prompt_params(session, "go"))
        await gate.reached.wait()
        turn = await running(world.client)
        params = steer(session, "redirect", "use tabs", turn)
        assert (await world.client.request(STEER, params))["outcome"] == "steered"
        gate.leave.set()
        await world.client.response(prompt)

        assert "ran" in heard(world)
        assert "use tabs" in heard(world)


async def test_stop_ends_after_the_running_calls(tmp_path: Path) -> None:
    """F24."""
    gate = Gate()
    async with served(
        tmp_path, Say(calls=(("run", "{}"),)), tools=[gate.tool], capabilities=OURS
    ) as world:
        session = await world.client.new(str(tmp_path))
        prompt = await world.client.ask("session/prompt", prompt_params(session, "go"))
        await gate.reached.wait()
        turn = await running(world.client)
        answer = await world.client.request(STEER, steer(session, "stop", None, turn))
        gate.leave.set()
        result = await world.client.response(prompt)

        assert answer == {"outcome": "stopping", "turnId": turn}
        assert result["_meta"]["agent-server"]["detail"] == "soft_stop"
        assert len(world.equipment.script.requests) == 1


async def test_a_queued_prompt_has_a_turn_of_its_own_and_is_shown_in_it(tmp_path: Path) -> None:
    gate = Gate()
    steps = (Say(calls=(("run", "{}"),)), Say("first"), Say("second"), Say("third"))
    async with served(tmp_path, *steps, tools=[gate.tool], capabilities=OURS) as world:
        client = world.client
        session = await client.new(str(tmp_path))
        prompt = await client.ask("session/prompt", prompt_params(session, "one"))
        await gate.reached.wait()
        queued = await client.request(STEER, steer(session, "queue", "two", None))
        gate.leave.set()
        first = await client.response(prompt)
        await idle(client, queued["turnId"])
        started = await client.request(STEER, steer(session, "queue", "three", None))
        await idle(client, started["turnId"])

        assert (queued["outcome"], started["outcome"]) == ("queued", "started")
        assert first["_meta"]["agent-server"]["turnId"] != queued["turnId"]
        assert said(client, session) == ["two", "three"]
        assert client.text(session) == "first second third "


@pytest.mark.parametrize("mode", ["steer", "redirect", "stop"])
async def test_a_turn_that_does_not_run_is_a_mismatch_and_nothing_happens(
    tmp_path: Path, mode: str
) -> None:
    """F21: never a new turn by accident."""
    async with served(tmp_path, Say("hi"), capabilities=OURS) as world:
        session = await world.client.new(str(tmp_path))
        result = await world.client.prompt(session, "go")
        over = result["_meta"]["agent-server"]["turnId"]
        for turn in (over, "no-such-turn"):
            with pytest.raises(Refused) as refused:
                await world.client.request(STEER, steer(session, mode, "x", turn))
            assert (refused.value.code, refused.value.data["reason"]) == (-32801, "turn_mismatch")
        with pytest.raises(Refused, match="expectedTurnId is required") as refused:
            await world.client.request(STEER, steer(session, mode, "x", None))
        assert refused.value.code == -32602
        assert len(world.equipment.script.requests) == 1


@pytest.mark.row("R137")
async def test_text_that_came_too_late_becomes_the_next_turn(tmp_path: Path) -> None:
    """R137."""
    gate = Gate()
    gate.tool.ends_turn = True
    steps = (Say(calls=(("run", "{}"),)), Say("tabs it is"))
    async with served(tmp_path, *steps, tools=[gate.tool], capabilities=OURS) as world:
        client = world.client
        session = await client.new(str(tmp_path))
        prompt = await client.ask("session/prompt", prompt_params(session, "go"))
        await gate.reached.wait()
        turn = await running(client)
        await client.request(STEER, steer(session, "steer", "use tabs", turn))
        gate.leave.set()
        result = await client.response(prompt)
        await client.until(lambda m: "tabs it is" in str(m) or "tabs " in str(m))
        await client.until(lambda m: _busy(m) not in (None, turn))

        assert result["_meta"]["agent-server"]["detail"] == "tool_ended"
        assert "unread" not in result["_meta"]["agent-server"]
        assert said(client, session) == ["use tabs"]
        assert "use tabs" in heard(world)


@pytest.mark.row("R137")
async def test_text_that_a_cancelled_turn_did_not_hear_is_handed_back(tmp_path: Path) -> None:
    """R137: after a cancel nobody wants the agent to begin anew."""
    gate = Gate()
    async with served(
        tmp_path, Say(calls=(("run", "{}"),)), tools=[gate.tool], capabilities=OURS
    ) as world:
        session = await world.client.new(str(tmp_path))
        prompt = await world.client.ask("session/prompt", prompt_params(session, "go"))
        await gate.reached.wait()
        turn = await running(world.client)
        await world.client.request(STEER, steer(session, "steer", "use tabs", turn))
        await world.client.notify("session/cancel", {"sessionId": session})
        own = (await world.client.response(prompt))["_meta"]["agent-server"]

        assert own["unread"] == [[{"type": "text", "text": "use tabs"}]]
        assert len(world.equipment.script.requests) == 1


async def test_a_queued_turn_that_fails_tells_the_person(tmp_path: Path) -> None:
    failing = Say(fault=Fault.AUTH)
    capabilities = OURS | {"session": {"notices": {}}}
    async with served(tmp_path, failing, capabilities=capabilities) as world:
        session = await world.client.new(str(tmp_path))
        queued = await world.client.request(STEER, steer(session, "queue", "go", None))
        await idle(world.client, queued["turnId"])
        await world.client.until(lambda m: "could not be answered" in str(m))

        (notice,) = world.client.updates(session, "notice")
        assert (notice["severity"], "on purpose" in notice["description"]) == ("error", True)


# ---- [workspace] prompt_while_busy ---------------------------------------------------------------


async def test_with_steer_a_prompt_joins_the_running_turn_and_is_answered_with_it(
    tmp_path: Path,
) -> None:
    gate = Gate()
    steps = (Say(calls=(("run", "{}"),)), Say("both"))
    async with served(tmp_path, *steps, tools=[gate.tool], prompt_while_busy="steer") as world:
        session = await world.client.new(str(tmp_path))
        one = await world.client.ask("session/prompt", prompt_params(session, "one"))
        await gate.reached.wait()
        two = await world.client.ask("session/prompt", prompt_params(session, "two"))
        await world.client.request("session/list", {})
        gate.leave.set()
        results = [await world.client.response(each) for each in (one, two)]

        assert results[0] == results[1]
        assert "two" in heard(world)
        assert len(world.equipment.script.requests) == 2


async def test_with_steer_a_prompt_that_came_too_late_gets_its_own_turn(tmp_path: Path) -> None:
    gate = Gate()
    gate.tool.ends_turn = True
    steps = (Say(calls=(("run", "{}"),)), Say("second"))
    async with served(tmp_path, *steps, tools=[gate.tool], prompt_while_busy="steer") as world:
        session = await world.client.new(str(tmp_path))
        one = await world.client.ask("session/prompt", prompt_params(session, "one"))
        await gate.reached.wait()
        two = await world.client.ask("session/prompt", prompt_params(session, "two"))
        await world.client.request("session/list", {})
        gate.leave.set()
        turns = [
            (await world.client.response(each))["_meta"]["agent-server"]["turnId"]
            for each in (one, two)
        ]

        assert turns[0] != turns[1]
        assert world.client.text(session) == "second "


async def test_with_steer_a_prompt_can_be_taken_back_before_it_is_heard(tmp_path: Path) -> None:
    gate = Gate()
    steps = (Say(calls=(("run", "{}"),)), Say("only one"))
    async with served(tmp_path, *steps, tools=[gate.tool], prompt_while_busy="steer") as world:
        session = await world.client.new(str(tmp_path))
        one = await world.client.ask("session/prompt", prompt_params(session, "one"))
        await gate.reached.wait()
        two = await world.client.ask("session/prompt", prompt_params(session, "two"))
        await world.client.request("session/list", {})
        await world.client.notify("$/cancel_request", {"requestId": two})
        assert (await world.client.response(two))["stopReason"] == "cancelled"
        gate.leave.set()

        assert (await world.client.response(one))["stopReason"] == "end_turn"
        assert "two" not in heard(world)


async def test_with_reject_a_second_prompt_is_refused_and_the_first_goes_on(
    tmp_path: Path,
) -> None:
    gate = Gate()
    steps = (Say(calls=(("run", "{}"),)), Say("done"), Say("again"))
    async with served(tmp_path, *steps, tools=[gate.tool], prompt_while_busy="reject") as world:
        session = await world.client.new(str(tmp_path))
        one = await world.client.ask("session/prompt", prompt_params(session, "one"))
        await gate.reached.wait()
        with pytest.raises(Refused) as refused:
            await world.client.prompt(session, "two")
        assert (refused.value.code, refused.value.data["reason"]) == (-32600, "turn_running")
        gate.leave.set()

        assert (await world.client.response(one))["stopReason"] == "end_turn"
        assert (await world.client.prompt(session, "three"))["stopReason"] == "end_turn"
