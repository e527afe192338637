"""The gate over ACP: one question for each thing that needs a yes, and everything but a clear yes is no."""

from pathlib import Path
from typing import Any

import pytest

from tests.fakes.acp_client import (
    NEVER,
    AcpClient,
    Message,
    Refused,
    option_of,
    prompt_params,
    select,
)
from tests.fakes.edits import asking, change, edit_tool, proposal
from tests.fakes.front import World, served
from tests.fakes.loop import FakeTool, Say

pytestmark = pytest.mark.anyio

RUN = Say("I run it.", (("shell", '{"command": "ls"}'),))
EDIT = Say("I edit.", (("edit", "{}"),))


def shell() -> FakeTool:
    return FakeTool("shell", read_only=False, kind="execute")


def picks(kind: str, **more: Any) -> Any:
    return lambda client, message: select(option_of(message, kind), **more)


async def prompted(world: World, home: Path) -> tuple[str, Any]:
    session = await world.client.new(str(home))
    return session, await world.client.prompt(session, "go")


def questions(client: AcpClient) -> list[Message]:
    return client.of("session/request_permission")


def ends(client: AcpClient, session: str) -> list[str]:
    shown = client.updates(session, "tool_call_update")
    return [u["status"] for u in shown if u.get("status") in ("completed", "failed")]


async def test_an_edit_is_asked_with_its_diff_and_the_options_in_order(tmp_path: Path) -> None:
    async with served(
        tmp_path, EDIT, Say("Done."), tools=[edit_tool()], policy=asking("edit")
    ) as world:
        await prompted(world, tmp_path)

        (question,) = questions(world.client)
        call = question["toolCall"]
        assert call["content"][0] == {
            "type": "diff",
            "path": "/w/a.py",
            "oldText": "one\ntwo\nthree\nfour\n",
            "newText": "ONE\ntwo\nthree\nFOUR\n",
        }
        assert [o["kind"] for o in question["options"]] == [
            "allow_once",
            "allow_always",
            "reject_once",
        ]
        assert call["status"] == "pending"


async def test_nothing_is_offered_for_ever_on_the_floor(tmp_path: Path) -> None:
    policy = asking("shell", floor=True)
    async with served(tmp_path, RUN, Say("Done."), tools=[shell()], policy=policy) as world:
        await prompted(world, tmp_path)

        (question,) = questions(world.client)
        assert [o["kind"] for o in question["options"]] == ["allow_once", "reject_once"]


@pytest.mark.parametrize("kind", ["allow_once", "allow_always"])
@pytest.mark.row("R148")
async def test_a_yes_runs_the_call(tmp_path: Path, kind: str) -> None:
    tool = shell()
    async with served(tmp_path, RUN, Say("Done."), tools=[tool], policy=asking("shell")) as world:
        world.client.answer = picks(kind)
        session, result = await prompted(world, tmp_path)

        assert tool.ran == [{"command": "ls"}]
        assert ends(world.client, session) == ["completed"]
        assert result["stopReason"] == "end_turn"


def refuses(client: AcpClient, message: Message) -> Any:
    raise Refused({"code": -32601, "message": "what is that"})


@pytest.mark.parametrize(
    "answer",
    [
        picks("reject_once"),
        refuses,
        lambda client, message: None,
        lambda client, message: {},
        lambda client, message: {"outcome": {"outcome": "selected"}},
        lambda client, message: select("o99"),
        lambda client, message: {"outcome": "selected", "optionId": "o1"},
        lambda client, message: {"outcome": {"outcome": "maybe", "optionId": "o1"}},
    ],
)
async def test_whatever_is_not_a_clear_yes_is_no_and_the_turn_goes_on(
    tmp_path: Path, answer: Any
) -> None:
    tool = shell()
    async with served(tmp_path, RUN, Say("Well."), tools=[tool], policy=asking("shell")) as world:
        world.client.answer = answer
        session, result = await prompted(world, tmp_path)

        assert tool.ran == []
        assert ends(world.client, session) == ["failed"]
        assert result["stopReason"] == "end_turn"


async def test_the_outcome_cancelled_ends_the_turn(tmp_path: Path) -> None:
    """CP-09, second run."""
    tool = shell()
    steps = Say("", (("shell", '{"n": 1}'), ("shell", '{"n": 2}'), ("shell", '{"n": 3}')))
    answers = iter([select("o1"), {"outcome": {"outcome": "cancelled"}}])
    async with served(tmp_path, steps, tools=[tool], policy=asking("shell")) as world:
        world.client.answer = lambda client, message: next(answers)
        session, result = await prompted(world, tmp_path)

        assert tool.ran == [{"n": 1}]
        assert ends(world.client, session) == ["completed", "failed", "failed"]
        assert result["stopReason"] == "cancelled"


async def test_rejecting_one_of_three_calls_lets_the_others_run(tmp_path: Path) -> None:
    """CP-09, first run."""
    tool = shell()
    steps = Say("", (("shell", '{"n": 1}'), ("shell", '{"n": 2}'), ("shell", '{"n": 3}')))
    answers = iter(["allow_once", "reject_once", "allow_once"])
    async with served(tmp_path, steps, Say("Ok."), tools=[tool], policy=asking("shell")) as world:
        world.client.answer = lambda client, message: select(option_of(message, next(answers)))
        session, result = await prompted(world, tmp_path)

        assert tool.ran == [{"n": 1}, {"n": 3}]
        assert ends(world.client, session) == ["completed", "failed", "completed"]
        assert result["stopReason"] == "end_turn"


async def test_a_rejected_edit_keeps_its_diff_and_the_next_is_asked_anew(tmp_path: Path) -> None:
    """ED-27."""
    steps = (EDIT, Say("Again.", (("edit", '{"again": 1}'),)), Say("Done."))
    answers = iter(["reject_once", "allow_once"])
    async with served(tmp_path, *steps, tools=[edit_tool()], policy=asking("edit")) as world:
        world.client.answer = lambda client, message: select(option_of(message, next(answers)))
        session, _ = await prompted(world, tmp_path)

        assert len(questions(world.client)) == 2
        final = [
            u for u in world.client.updates(session) if u.get("status") in ("failed", "completed")
        ]
        assert [u["status"] for u in final] == ["failed", "completed"]
        assert [u["content"][0]["type"] for u in final] == ["diff", "diff"]
        assert "rejected" in final[0]["content"][1]["content"]["text"]


async def test_words_beside_a_no_reach_the_model(tmp_path: Path) -> None:
    meta = {"_meta": {"agent-server": {"feedback": "use tabs"}}}
    async with served(
        tmp_path, EDIT, Say("Ok."), tools=[edit_tool()], policy=asking("edit")
    ) as world:
        world.client.answer = picks("reject_once", **meta)
        await prompted(world, tmp_path)

        assert "use tabs" in str(world.equipment.script.requests[-1].messages[-1])


async def test_a_waiting_session_does_not_hold_up_another(tmp_path: Path) -> None:
    """CP-13, rule 21."""
    tool = shell()
    steps = (RUN, Say("B speaks."), Say("A is done."))
    async with served(tmp_path, *steps, tools=[tool], policy=asking("shell")) as world:
        world.client.answer = lambda client, message: NEVER
        first = await world.client.new(str(tmp_path))
        waiting = await world.client.ask("session/prompt", prompt_params(first, "go"))
        question = await world.client.until(
            lambda m: m.get("method") == "session/request_permission"
        )
        second = await world.client.new(str(tmp_path))
        assert (await world.client.prompt(second, "hi"))["stopReason"] == "end_turn"

        await world.client.tell({"id": question["id"], "result": select("o1")})
        assert (await world.client.response(waiting))["stopReason"] == "end_turn"
        assert tool.ran


async def test_one_question_shows_every_file_of_a_proposal(tmp_path: Path) -> None:
    both = proposal("x1", change("/w/a.py"), change("/w/b.py"))
    async with served(
        tmp_path, EDIT, Say("Ok."), tools=[edit_tool(both)], policy=asking("edit")
    ) as world:
        await prompted(world, tmp_path)

        (question,) = questions(world.client)
        paths = [c["path"] for c in question["toolCall"]["content"]]
        assert paths == ["/w/a.py", "/w/b.py"]
