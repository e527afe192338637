"""Budgets, streaks and error keys: what ends a turn that would not end by itself (loop.md §1B, §1F)."""

from decimal import Decimal

import anyio
import pytest

from agent_server.loop.guard import error_key
from agent_server.loop.limits import Limits
from agent_server.loop.loop import run
from agent_server.loop.model import DoneReason, JsonObject, ResultEntry, ToolResult, Usage
from agent_server.loop.ports import CallContext
from tests.fakes.loop import FakeTool, ListModel, Say, Stage, said, stage

pytestmark = pytest.mark.anyio


async def play(s: Stage):
    with anyio.fail_after(5):
        return await run(s.turn(), said("go"))


def reading(number: int, **more: object) -> list[Say]:
    return [Say(calls=(("read", f'{{"n": {n}}}'),), **more) for n in range(number)]  # pyright: ignore[reportArgumentType]


@pytest.mark.row("R9", "R15", "R20")
@pytest.mark.parametrize("steps", [1, 2, 5])
async def test_a_turn_at_its_limit_makes_exactly_that_many_requests(steps: int):
    s = stage(
        *reading(9),
        tools=[FakeTool("read")],
        limits=Limits(max_turns=steps, on_max_turns="stop"),
    )
    done = await play(s)
    assert (done.reason, done.detail) == (DoneReason.MAX_TURNS, "no_summary")
    assert len(s.model.requests) == steps


@pytest.mark.row("R24")
async def test_a_stall_of_reasoning_that_failed_over_leaves_the_next_model_a_step():
    s = stage(*[Say(thinking="hm")] * 3, limits=Limits(max_turns=1))
    other = ListModel(Say("the answer"))
    turn = s.turn()
    turn.fallbacks.append(other)
    with anyio.fail_after(5):
        done = await run(turn, said("go"))
    assert (done.reason, done.detail) == (DoneReason.MODEL_STOP, "text")
    assert (len(s.model.requests), len(other.requests)) == (3, 1)


@pytest.mark.row("R25")
async def test_what_the_session_may_cost_ends_the_turn():
    s = stage(
        *reading(9, usage=Usage(1, 1, cost=Decimal("0.4"))),
        tools=[FakeTool("read")],
        limits=Limits(max_cost_usd=Decimal(1)),
    )
    done = await play(s)
    assert (done.reason, done.detail) == (DoneReason.BUDGET_EXCEEDED, "cost")
    assert len(s.model.requests) == 3


@pytest.mark.row("R25")
async def test_the_time_of_a_turn_ends_it_between_its_steps():
    s = stage(*reading(9), tools=[FakeTool("read")])
    turn = s.turn()

    async def late(context: CallContext, arguments: JsonObject) -> ToolResult:
        turn.deadline = anyio.current_time()
        return ToolResult(True, "x")

    turn.tools = {"read": FakeTool("read", late)}
    with anyio.fail_after(5):
        done = await run(turn, said("go"))
    assert (done.reason, done.detail) == (DoneReason.BUDGET_EXCEEDED, "wall_time")
    assert len(s.model.requests) == 1


@pytest.mark.row("R37", "R88")
async def test_the_model_is_told_the_attempt_and_the_person_what_failed_how_often():
    async def bad(context: CallContext, arguments: JsonObject) -> ToolResult:
        return ToolResult(False, "no such column: age", code="sql")

    calls = [Say(calls=(("query", f'{{"n": {n}}}'),)) for n in range(9)]
    s = stage(*calls, tools=[FakeTool("query", bad)])
    done = await play(s)
    outputs = [e.result.output for e in s.log.entries if isinstance(e, ResultEntry)]
    assert outputs[1].endswith("(attempt 2 of 4 with this error)")
    assert done.message == "query failed 4 times with the same error: no such column: age"


@pytest.mark.row("R89")
@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        ("a.py:12: bad indent", "a.py:99: bad indent", True),
        ("no object at 0x7f3a", "no object at 0xBEEF", True),
        ("cannot open /tmp/x1/y", "cannot open /tmp/q/z", True),
        ("first\nsecond", "first\nother", True),
        ("no such file: a", "no such file: b", False),
    ],
)
def test_numbers_addresses_and_temporary_paths_do_not_make_another_error(
    one: str, two: str, same: bool
):
    keys = {error_key("t", ToolResult(False, text, code="x")) for text in (one, two)}
    assert (len(keys) == 1) is same


@pytest.mark.row("R89")
def test_the_tool_and_the_code_are_part_of_an_error():
    failed = ToolResult(False, "x", code="a")
    assert error_key("t", failed) != error_key("u", failed)
    assert error_key("t", failed) != error_key("t", ToolResult(False, "x", code="b"))


@pytest.mark.row("R90")
async def test_different_errors_are_counted_apart():
    async def bad(context: CallContext, arguments: JsonObject) -> ToolResult:
        return ToolResult(False, f"problem {'abcdefghij'[int(str(arguments['n']))]}", code="x")

    s = stage(*reading(10), Say("enough"), tools=[FakeTool("read", bad)])
    assert (await play(s)).reason is DoneReason.MODEL_STOP


@pytest.mark.row("R91")
async def test_three_replies_of_nothing_but_bad_calls_end_the_turn_and_a_good_one_between_does_not():
    bad = [Say(calls=((f"nope{n}", "{}"), ("read", "[" * (n + 1)))) for n in range(9)]
    done = await play(s := stage(*bad, tools=[FakeTool("read")]))
    assert (done.reason, done.detail) == (DoneReason.ERROR, "same_error_cap")
    assert len(s.model.requests) == 3
    mixed = stage(*bad[:2], *reading(1), *bad[2:4], Say("fine"), tools=[FakeTool("read")])
    mixed.limits = Limits(same_error=99)
    assert (await play(mixed)).reason is DoneReason.MODEL_STOP


@pytest.mark.row("R45")
@pytest.mark.parametrize("said_before", ["", "I must not"])
async def test_a_refusal_is_asked_for_once_and_is_an_end_of_its_own(said_before: str):
    s = stage(Say(said_before, finish="content_filter"), Say("never"))
    done = await play(s)
    assert (done.reason, done.detail) == (DoneReason.MODEL_STOP, "refusal")
    assert len(s.model.requests) == 1
