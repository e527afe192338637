"""One prompt through the loop: states, endings, settling (loop.md §1A, §1B, §1F)."""

import anyio
import pytest

from agent_server.loop.action import Answer, Decision
from agent_server.loop.events import (
    CallFinished,
    CallPending,
    Event,
    StateChanged,
    TextDelta,
    TextDiscarded,
    TurnDone,
)
from agent_server.loop.faults import Fault
from agent_server.loop.limits import Limits
from agent_server.loop.loop import run
from agent_server.loop.model import (
    DoneReason,
    Finish,
    JsonObject,
    PartialEntry,
    ReplyEntry,
    ResultEntry,
    StartedEntry,
    ToolResult,
    TurnEndEntry,
)
from agent_server.loop.ports import CallContext, ToolMessage, UserMessage
from tests.fakes.loop import FakePerson, FakePolicy, FakeTool, MemoryLog, Say, Stage, said, stage

pytestmark = pytest.mark.anyio


async def play(s: Stage, prompt: str = "hello"):
    with anyio.fail_after(5):
        return await run(s.turn(), said(prompt))


def results(s: Stage) -> list[str]:
    return [e.result.output for e in s.log.entries if isinstance(e, ResultEntry)]


def states(s: Stage) -> list[str]:
    return [e.state for e in s.events if isinstance(e, StateChanged)]


@pytest.mark.row("R2", "R4", "R7", "R32")
async def test_a_text_without_calls_ends_the_turn_after_one_request():
    s = stage(Say("hi there"))
    done = await play(s)
    assert (done.reason, done.detail) == (DoneReason.MODEL_STOP, "text")
    assert len(s.model.requests) == 1
    assert "".join(e.text for e in s.events if isinstance(e, TextDelta)).strip() == "hi there"


@pytest.mark.row("R8", "R141", "R147")
async def test_states_are_visited_in_the_order_of_the_reference():
    s = stage(Say(calls=(("read", "{}"),)), Say("done"), tools=[FakeTool("read")])
    await play(s)
    assert states(s) == ["thinking", "streaming", "executing", "thinking", "streaming", "done"]


@pytest.mark.parametrize("finish", ["stop", "tool_calls"])
@pytest.mark.row("R5", "R6", "R7")
async def test_calls_run_whatever_the_finish_label_says(finish: Finish):
    tool = FakeTool("read")
    s = stage(Say(calls=(("read", "{}"),), finish=finish), Say("done"), tools=[tool])
    await play(s)
    assert len(tool.ran) == 1
    assert len(s.model.requests) == 2


@pytest.mark.row("R79")
async def test_results_reach_the_model_in_call_order_whatever_finished_first():
    slow_may_end = anyio.Event()

    async def slow(context: CallContext, arguments: JsonObject) -> ToolResult:
        await slow_may_end.wait()
        return ToolResult(True, "slow")

    async def fast(context: CallContext, arguments: JsonObject) -> ToolResult:
        slow_may_end.set()
        return ToolResult(True, "fast")

    s = stage(
        Say(calls=(("slow", "{}"), ("fast", "{}"))),
        Say("done"),
        tools=[FakeTool("slow", slow), FakeTool("fast", fast)],
        limits=Limits(start_early=False),
    )
    await play(s)
    assert [m.text for m in s.model.requests[1].messages if isinstance(m, ToolMessage)] == [
        "slow",
        "fast",
    ]
    assert results(s) == ["fast", "slow"]


@pytest.mark.row("R11", "R76", "R78")
async def test_an_effectful_call_is_a_barrier_between_reads():
    running: list[str] = []
    overlaps: list[tuple[str, ...]] = []

    async def note(context: CallContext, arguments: JsonObject) -> ToolResult:
        running.append(str(arguments["n"]))
        overlaps.append(tuple(running))
        await anyio.lowlevel.checkpoint()
        await anyio.lowlevel.checkpoint()
        running.remove(str(arguments["n"]))
        return ToolResult(True, "x")

    read, write = FakeTool("read", note), FakeTool("write", note, read_only=False)
    calls = tuple(
        (name, f'{{"n": "{i}"}}') for i, name in enumerate(["read", "read", "write", "read"])
    )
    await play(stage(Say(calls=calls), Say("done"), tools=[read, write]))
    assert ("0", "1") in overlaps
    assert all("2" not in seen or seen == ("2",) for seen in overlaps)


@pytest.mark.row("R106")
async def test_started_is_logged_before_an_effectful_tool_runs_and_not_for_reads():
    seen: list[bool] = []
    s = stage(Say(calls=(("write", "{}"), ("read", "{}"))), Say("ok"))

    async def body(context: CallContext, arguments: JsonObject) -> ToolResult:
        seen.append(
            any(isinstance(e, StartedEntry) and e.key == context.key for e in s.log.entries)
        )
        return ToolResult(True, "x")

    s.tools |= {"write": FakeTool("write", body, read_only=False), "read": FakeTool("read", body)}
    await play(s)
    assert seen == [True, False]


@pytest.mark.row("R84", "R91")
async def test_an_unknown_tool_is_answered_with_the_nearest_name():
    s = stage(Say(calls=(("raed", "{}"),)), Say("ok"), tools=[FakeTool("read")])
    await play(s)
    assert "did you mean read?" in results(s)[0]


@pytest.mark.parametrize("raw", ["[]", '"x"', '{"a": 1,}', '{"{"a":1}', '{"a": "cut'])
@pytest.mark.row("R84", "R91")
async def test_malformed_arguments_are_a_result_and_the_sibling_still_runs(raw: str):
    tool = FakeTool("read")
    s = stage(Say(calls=(("read", raw), ("read", '{"p": 1}'))), Say("ok"), tools=[tool])
    await play(s)
    assert tool.ran == [{"p": 1}]
    assert "arguments" in results(s)[0]


@pytest.mark.parametrize("raw", ["", "null", "{}"])
async def test_empty_arguments_mean_none(raw: str):
    tool = FakeTool("read")
    await play(stage(Say(calls=(("read", raw),)), Say("ok"), tools=[tool]))
    assert tool.ran == [{}]


@pytest.mark.row("R82")
async def test_the_second_of_two_identical_calls_in_a_reply_is_not_run():
    tool = FakeTool("read")
    s = stage(Say(calls=(("read", "{}"), ("read", "{}"))), Say("ok"), tools=[tool])
    await play(s)
    assert len(tool.ran) == 1
    assert any("identical to call 1" in r for r in results(s))


@pytest.mark.row("R80")
async def test_a_tool_that_raises_gives_a_result_and_the_turn_goes_on():
    async def broken(context: CallContext, arguments: JsonObject) -> ToolResult:
        raise ValueError("boom")

    s = stage(Say(calls=(("bad", "{}"),)), Say("ok"), tools=[FakeTool("bad", broken)])
    done = await play(s)
    assert done.reason is DoneReason.MODEL_STOP
    assert "boom" in results(s)[0]


async def test_a_policy_that_breaks_blocks():
    tool = FakeTool("read")
    s = stage(Say(calls=(("read", "{}"),)), Say("ok"), tools=[tool], policy=FakePolicy(broken=True))
    await play(s)
    assert tool.ran == []
    assert "policy is unavailable" in results(s)[0]


ASK = FakePolicy({"run": Decision("ask", "because")})


@pytest.mark.row("R12", "R112")
async def test_after_a_rejection_the_siblings_go_on_and_every_call_has_a_result():
    run_, read = FakeTool("run", read_only=False), FakeTool("read")
    person = FakePerson(
        [Answer("allow_once"), Answer("reject", feedback="use tabs"), Answer("allow_once")]
    )
    calls = (("run", '{"n": 1}'), ("run", '{"n": 2}'), ("run", '{"n": 3}'), ("read", "{}"))
    s = stage(Say(calls=calls), Say("ok"), tools=[run_, read], policy=ASK, person=person)
    done = await play(s)
    assert done.reason is DoneReason.MODEL_STOP
    assert run_.ran == [{"n": 1}, {"n": 3}]
    assert len(results(s)) == 4
    assert "use tabs" in results(s)[1]


@pytest.mark.row("R12", "R112")
async def test_an_answer_cancelled_ends_the_turn_and_runs_nothing_more():
    tool = FakeTool("run", read_only=False)
    person = FakePerson([Answer("allow_once"), Answer("cancelled")])
    calls = (("run", '{"n": 1}'), ("run", '{"n": 2}'), ("run", '{"n": 3}'))
    s = stage(Say(calls=calls), tools=[tool], policy=ASK, person=person)
    done = await play(s)
    assert (done.reason, done.detail) == (DoneReason.USER_ABORT, "approval_cancelled")
    assert tool.ran == [{"n": 1}]
    assert len(results(s)) == 3


async def cancelled_when(s: Stage, reached: anyio.Event) -> None:
    """Run the turn and cancel it as soon as `reached`."""
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:

            async def turn() -> None:
                with anyio.CancelScope() as scope:
                    scopes.append(scope)
                    await run(s.turn(), said("go"))

            scopes: list[anyio.CancelScope] = []
            group.start_soon(turn)
            await reached.wait()
            scopes[0].cancel()


@pytest.mark.row("R30", "R109")
async def test_cancel_while_an_effectful_tool_runs_settles_it_as_unknown():
    reached = anyio.Event()

    async def forever(context: CallContext, arguments: JsonObject) -> ToolResult:
        reached.set()
        await anyio.sleep_forever()
        raise AssertionError

    s = stage(
        Say(calls=(("run", "{}"), ("read", "{}"))),
        tools=[FakeTool("run", forever, False), FakeTool("read")],
    )
    await cancelled_when(s, reached)
    assert [e.effect for e in s.log.entries if isinstance(e, ResultEntry)] == ["unknown", "none"]
    end = s.log.entries[-1]
    assert isinstance(end, TurnEndEntry)
    assert end.reason is DoneReason.USER_ABORT
    assert isinstance(s.events[-1], TurnDone)


@pytest.mark.row("R30", "R32", "R134", "R136")
async def test_cancel_while_streaming_keeps_the_text_for_people_only():
    reached = anyio.Event()
    s = stage(Say("one two", hang=True))
    turn = s.turn()

    def emit(event: Event) -> None:
        s.events.append(event)
        if isinstance(event, TextDelta) and "two" in event.text:
            reached.set()

    turn.emit = emit
    with anyio.fail_after(5), anyio.CancelScope() as scope:
        async with anyio.create_task_group() as group:

            async def stop() -> None:
                await reached.wait()
                scope.cancel()

            group.start_soon(stop)
            await run(turn, said("go"))
    assert not [e for e in s.log.entries if isinstance(e, ReplyEntry)]
    assert [e.text.strip() for e in s.log.entries if isinstance(e, PartialEntry)] == ["one two"]


@pytest.mark.row("R30", "R107")
async def test_cancel_while_a_question_is_open_settles_the_call_as_not_run():
    reached = anyio.Event()
    tool = FakeTool("run", read_only=False)
    person = FakePerson([None], opened=reached)
    s = stage(Say(calls=(("run", "{}"),)), tools=[tool], policy=ASK, person=person)
    await cancelled_when(s, reached)
    assert tool.ran == []
    assert [e.effect for e in s.log.entries if isinstance(e, ResultEntry)] == ["none"]


@pytest.mark.row("R9", "R20", "R22", "R32")
async def test_at_the_step_limit_one_summary_is_asked_for_without_tools():
    s = stage(*[Say(calls=(("read", f'{{"n": {i}}}'),)) for i in range(2)], Say("so far so good"))
    s.tools["read"] = FakeTool("read")
    s.limits = Limits(max_turns=2)
    done = await play(s)
    assert (done.reason, done.detail) == (DoneReason.MAX_TURNS, "summary")
    assert len(s.model.requests) == 3
    assert s.model.requests[2].tools == ()


@pytest.mark.row("R15", "R25")
async def test_the_token_budget_of_the_session_ends_the_turn_between_steps():
    s = stage(
        *[Say(calls=(("read", f'{{"n": {i}}}'),)) for i in range(9)], tools=[FakeTool("read")]
    )
    s.limits = Limits(max_session_tokens=30)
    done = await play(s)
    assert (done.reason, done.detail) == (DoneReason.BUDGET_EXCEEDED, "tokens")
    assert len(s.model.requests) == 2


@pytest.mark.row("R51")
async def test_a_transient_fault_is_retried_and_its_text_declared_void():
    s = stage(Say("half an", fault=Fault.TRANSIENT), Say("whole"), limits=Limits(max_delay_s=0))
    done = await play(s)
    assert done.reason is DoneReason.MODEL_STOP
    assert len(s.of(TextDiscarded)) == 1
    assert len({e.message_id for e in s.events if isinstance(e, TextDelta)}) == 2
    assert [e.reply.text for e in s.log.entries if isinstance(e, ReplyEntry)] == ["whole"]


@pytest.mark.row("R31")
async def test_an_invalid_request_is_not_repeated():
    s = stage(Say(fault=Fault.INVALID), Say("never"))
    done = await play(s)
    assert (done.reason, done.detail) == (DoneReason.ERROR, "invalid")
    assert len(s.model.requests) == 1


@pytest.mark.row("R39", "R42")
async def test_an_empty_reply_is_asked_for_once_more_with_the_same_messages():
    s = stage(Say(), Say("now"))
    done = await play(s)
    assert done.reason is DoneReason.MODEL_STOP
    assert s.model.requests[0].messages == s.model.requests[1].messages


@pytest.mark.parametrize("nothing", ["", " \n\t"])
@pytest.mark.row("R39", "R40", "R41", "R42")
async def test_two_empty_replies_without_tools_end_the_turn(nothing: str):
    """White space is nothing."""
    s = stage(Say(nothing), Say(nothing), Say("late"))
    done = await play(s)
    assert (done.reason, done.detail) == (DoneReason.ERROR, "empty_response")
    assert len(s.model.requests) == 2


@pytest.mark.row("R40", "R41", "R42")
async def test_after_tools_a_second_empty_reply_is_nudged_once():
    s = stage(Say(calls=(("read", "{}"),)), Say(), Say(), Say("ok"), tools=[FakeTool("read")])
    done = await play(s)
    assert done.reason is DoneReason.MODEL_STOP
    last = s.model.requests[-1].messages[-1]
    assert isinstance(last, UserMessage)
    assert "empty" in str(last.parts[0])
    assert not any("empty" in str(e) for e in s.log.entries)


@pytest.mark.row("R41")
async def test_a_turn_has_one_nudge_after_empty_replies_however_long_it_is():
    read = [Say(calls=(("read", f'{{"n": {n}}}'),)) for n in range(2)]
    s = stage(read[0], Say(), Say(), read[1], Say(), Say(), Say("late"), tools=[FakeTool("read")])
    done = await play(s)
    assert (done.reason, done.detail) == (DoneReason.ERROR, "empty_response")
    nudged = [r for r in s.model.requests if "was empty" in str(r.messages[-1])]
    assert (len(nudged), len(s.model.requests)) == (1, 6)


@pytest.mark.row("R26", "R32", "R90")
async def test_the_same_error_ends_the_turn_at_its_fourth_time():
    async def bad(context: CallContext, arguments: JsonObject) -> ToolResult:
        return ToolResult(False, f"line {len(tool.ran)} is wrong", code="x")

    tool = FakeTool("bad", bad)
    s = stage(*[Say(calls=(("bad", f'{{"n": {i}}}'),)) for i in range(9)], tools=[tool])
    done = await play(s)
    assert (done.reason, done.detail) == (DoneReason.ERROR, "same_error_cap")
    assert len(s.model.requests) == 4


@pytest.mark.row("R90")
async def test_four_equal_failures_in_one_reply_are_one_attempt():
    async def bad(context: CallContext, arguments: JsonObject) -> ToolResult:
        return ToolResult(False, "wrong", code="x")

    calls = tuple(("bad", f'{{"n": {i}}}') for i in range(4))
    s = stage(Say(calls=calls), Say("I see"), tools=[FakeTool("bad", bad)])
    assert (await play(s)).reason is DoneReason.MODEL_STOP


@pytest.mark.parametrize("ok", [True, False])
@pytest.mark.row("R28")
async def test_the_identical_call_is_warned_then_refused_then_ends_the_turn(ok: bool):
    """ST-19: whether it fails or succeeds."""

    async def same(context: CallContext, arguments: JsonObject) -> ToolResult:
        return ToolResult(ok, "same", code=None if ok else "x")

    tool = FakeTool("same", same)
    person = FakePerson([Answer("reject")])
    s = stage(*[Say(calls=(("same", "{}"),)) for _ in range(9)], tools=[tool], person=person)
    done = await play(s)
    ended = (DoneReason.LOOP_DETECTED, "same_call") if ok else (DoneReason.ERROR, "same_error_cap")
    assert (done.reason, done.detail) == ended
    assert done.message is not None
    assert "same" in done.message
    assert len(tool.ran) == 3
    assert "will not be run again" in results(s)[2]
    assert len(s.model.requests) <= 5


@pytest.mark.row("R28")
async def test_polling_with_changing_results_is_no_loop():
    async def poll(context: CallContext, arguments: JsonObject) -> ToolResult:
        return ToolResult(True, f"{len(tool.ran)} done")

    tool = FakeTool("poll", poll)
    s = stage(*[Say(calls=(("poll", "{}"),)) for _ in range(8)], Say("finished"), tools=[tool])
    assert (await play(s)).reason is DoneReason.MODEL_STOP
    assert len(tool.ran) == 8


@pytest.mark.row("R27")
async def test_three_empty_tool_outputs_end_the_turn():
    async def nothing(context: CallContext, arguments: JsonObject) -> ToolResult:
        return ToolResult(True, "")

    s = stage(
        *[Say(calls=(("e", f'{{"n": {i}}}'),)) for i in range(5)], tools=[FakeTool("e", nothing)]
    )
    done = await play(s)
    assert (done.reason, done.detail) == (DoneReason.LOOP_DETECTED, "empty_results")


@pytest.mark.row("R29")
async def test_a_tool_that_ends_the_turn_needs_no_second_request():
    s = stage(Say(calls=(("finish", "{}"),)), tools=[FakeTool("finish", ends_turn=True)])
    done = await play(s)
    assert (done.reason, done.detail) == (DoneReason.MODEL_STOP, "tool_ended")
    assert len(s.model.requests) == 1


@pytest.mark.parametrize("commits", range(6))
@pytest.mark.row("R113")
async def test_a_store_that_fails_ends_the_turn_before_the_next_effect(commits: int):
    tool = FakeTool("run", read_only=False)
    s = stage(Say(calls=(("run", "{}"),)), Say("ok"), tools=[tool], log=MemoryLog(fail_at=commits))
    done = await play(s)
    ended_well = commits > 4
    assert (done.detail == "persistence") is not ended_well
    assert isinstance(s.events[-1], TurnDone)
    if commits < 3:
        assert tool.ran == []
    announced = {e.key for e in s.events if isinstance(e, CallPending)}
    assert announced == {e.key for e in s.events if isinstance(e, CallFinished)}


@pytest.mark.row("R133")
async def test_what_the_person_adds_joins_after_the_batch():
    s = stage(Say(calls=(("read", "{}"),)), Say("ok"))
    turn = s.turn()

    async def steer(context: CallContext, arguments: JsonObject) -> ToolResult:
        turn.control.inbox.append(said("also the tests"))
        return ToolResult(True, "x")

    turn.tools = {"read": FakeTool("read", steer)}
    await run(turn, said("go"))
    kinds = [type(m).__name__ for m in s.model.requests[1].messages]
    assert kinds == ["UserMessage", "AssistantMessage", "ToolMessage", "UserMessage"]


@pytest.mark.row("R13", "R62", "R66")
async def test_an_overflow_is_answered_by_one_forced_compaction():
    s = stage(Say("long ago " * 99), tools=[])
    await play(s, "first task")
    s.model.steps = [Say(fault=Fault.OVERFLOW), Say("the summary"), Say("done")]
    with anyio.fail_after(5):
        done = await run(s.turn("t2", first_number=50), said("second task"))
    assert done.reason is DoneReason.MODEL_STOP
    first = s.model.requests[-1].messages[0]
    assert "the summary" in str(first)
    assert "second task" in str(s.model.requests[-1].messages)
