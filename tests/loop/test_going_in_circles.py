"""Circles of calls, the question at the stop, plans and words beside a yes (R28, F56, spec §14)."""

import anyio
import pytest

from agent_server.loop.action import Answer, Decision
from agent_server.loop.events import CallFinished, CallPending, PlanChanged
from agent_server.loop.guard import cycle
from agent_server.loop.loop import run
from agent_server.loop.model import (
    DoneReason,
    JsonObject,
    PlanEntry,
    PlanItem,
    ResultEntry,
    ToolResult,
)
from agent_server.loop.ports import CallContext
from tests.fakes.loop import FakePerson, FakePolicy, FakeTool, Say, Stage, said, stage

pytestmark = pytest.mark.anyio

NO = Answer("reject")


async def play(s: Stage):
    with anyio.fail_after(5):
        return await run(s.turn(), said("go"))


def circling(times: int, *, answers: list[Answer | None]) -> Stage:
    async def same(context: CallContext, arguments: JsonObject) -> ToolResult:
        return ToolResult(True, "same")

    steps = [Say(calls=(("same", "{}"),)) for _ in range(times)]
    return stage(*steps, Say("enough"), tools=[FakeTool("same", same)], person=FakePerson(answers))


@pytest.mark.row("R28")
async def test_the_fifth_identical_call_asks_the_person_whether_to_go_on():
    s = circling(9, answers=[NO])
    done = await play(s)
    assert (done.reason, done.detail) == (DoneReason.LOOP_DETECTED, "same_call")
    assert len(s.model.requests) == 5
    (question,) = s.person.asked
    assert question.decision.floor
    assert question.scopes == ("once",)


async def test_with_a_yes_the_turn_goes_on_and_is_counted_anew():
    s = circling(7, answers=[Answer("allow_once"), NO])
    done = await play(s)
    assert done.reason is DoneReason.MODEL_STOP
    assert len(s.person.asked) == 1


async def test_the_question_is_shown_as_a_call_that_begins_and_ends():
    s = circling(9, answers=[NO])
    await play(s)
    key = s.person.asked[0].call_id
    assert [str(e.key) for e in s.events if isinstance(e, CallPending) if e.tool == "loop"] == [key]
    assert [str(e.key) for e in s.events if isinstance(e, CallFinished) if e.tool == "loop"] == [
        key
    ]


@pytest.mark.row("R28")
async def test_a_cycle_of_rounds_with_the_same_results_is_a_loop():
    rounds = [Say(calls=((name, "{}"),)) for name in ("read", "look") * 5]
    s = stage(*rounds, tools=[FakeTool("read"), FakeTool("look")], person=FakePerson([NO]))
    done = await play(s)
    assert done.reason is DoneReason.LOOP_DETECTED


@pytest.mark.parametrize(
    ("rounds", "period"),
    [
        ([1, 2] * 3, 2),
        ([9, 1, 2, 3, 1, 2, 3, 1, 2, 3], 3),
        ([1, 2, 1, 2, 1], None),
        ([1, 2, 1, 2, 1, 3], None),
        ([], None),
    ],
)
def test_a_pattern_counts_when_it_came_three_times_in_a_row(rounds: list[int], period: int | None):
    assert cycle(rounds) == period


async def test_a_plan_is_in_the_log_before_it_is_shown():
    items = (PlanItem("one", "in_progress"),)
    s = stage(Say(calls=(("todo", "{}"),)), Say("ok"))
    logged_when_shown: list[bool] = []

    async def todo(context: CallContext, arguments: JsonObject) -> ToolResult:
        context.emit(PlanChanged(context.turn, items))
        return ToolResult(True, "noted")

    s.tools["todo"] = FakeTool("todo", todo, read_only=False)
    turn = s.turn()

    def emit(event: object) -> None:
        if isinstance(event, PlanChanged):
            logged_when_shown.append(any(isinstance(e, PlanEntry) for e in s.log.entries))

    turn.emit = emit
    await run(turn, said("go"))
    assert logged_when_shown == [True]


async def test_words_beside_a_yes_reach_the_model():
    person = FakePerson([Answer("allow_once", feedback="and mind the tests")])
    policy = FakePolicy({"run": Decision("ask", "because")})
    s = stage(Say(calls=(("run", "{}"),)), Say("ok"), tools=[FakeTool("run", read_only=False)])
    s.policy, s.person = policy, person
    await play(s)
    (result,) = [e.result.output for e in s.log.entries if isinstance(e, ResultEntry)]
    assert "mind the tests" in result
