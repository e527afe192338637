"""The tool `delegate`: what the model may say, and who is offered it."""

from dataclasses import replace
from typing import cast

import pytest

from agent_server.loop.action import Action
from agent_server.loop.errors import BadArguments
from agent_server.loop.model import ToolResult, TurnId
from agent_server.loop.ports import CallContext, Prepared
from agent_server.tools.registry import build
from agent_server.tools.subagents import Errand
from tests.tools.desk import KEY, Desk

pytestmark = pytest.mark.anyio


class Runner:
    """Keeps the errands it is sent on."""

    def __init__(self) -> None:
        self.errands: list[Errand] = []

    async def run(self, errand: Errand, context: CallContext) -> ToolResult:
        self.errands.append(errand)
        return ToolResult(True, "done")


async def test_a_call_becomes_an_errand_and_is_an_action_of_its_own_kind(desk: Desk):
    runner = Runner()
    delegate = build(replace(desk.services, subagents=runner))["delegate"]
    given = {"task": " find\nthe  parser ", "tools": '["read"]', "model": "a/b"}
    prepared = cast("Prepared", await delegate.prepare(given, KEY))
    assert (prepared.title, prepared.action) == (
        "delegate: find the parser",
        Action("agent", "delegate"),
    )
    await prepared.run(CallContext(TurnId("t"), KEY, desk.hear), None)
    assert runner.errands == [Errand("find\nthe  parser", ("read",), "a/b")]


@pytest.mark.parametrize("given", [{}, {"task": "  "}, {"task": "x", "max_iterations": 999}])
async def test_a_task_is_needed_and_nothing_can_be_asked_beyond_it(
    desk: Desk, given: dict[str, object]
):
    delegate = build(replace(desk.services, subagents=Runner()))["delegate"]
    with pytest.raises(BadArguments):
        await delegate.prepare(given, KEY)


def test_it_is_offered_only_to_an_agent_that_may_have_sub_agents(desk: Desk):
    assert "delegate" not in desk.tools
    tool = build(replace(desk.services, subagents=Runner()))["delegate"]
    assert (tool.read_only, tool.parallel) == (False, 4)
    assert set(cast("dict[str, object]", tool.spec.parameters["properties"])) == {
        "task",
        "tools",
        "model",
    }


def test_sending_one_is_not_asked_about_because_each_of_its_calls_is_judged(desk: Desk):
    assert desk.policy.decide(Action("agent", "delegate")).verdict == "allow"
