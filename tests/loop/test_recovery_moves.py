"""What the loop does about failures, cuts and interruptions of a request (loop.md §2.4, R10, R43–R54, F21–F24)."""

import anyio
import pytest

from agent_server.loop.events import CallStarted, ModelSwitched, TextDelta
from agent_server.loop.faults import Fault
from agent_server.loop.limits import Limits
from agent_server.loop.loop import run
from agent_server.loop.model import (
    DoneReason,
    JsonObject,
    PartialEntry,
    ReplyEntry,
    ResultEntry,
    ToolResult,
    Usage,
    UserEntry,
)
from agent_server.loop.ports import CallContext, UserMessage
from tests.fakes.loop import FakeTool, ListModel, Say, Stage, said, stage

pytestmark = pytest.mark.anyio

QUICK = Limits(max_delay_s=0)


async def play(s: Stage, *fallbacks: ListModel):
    turn = s.turn()
    turn.fallbacks.extend(fallbacks)
    with anyio.fail_after(5):
        return await run(turn, said("go"))


def results(s: Stage) -> list[str]:
    return [e.result.output for e in s.log.entries if isinstance(e, ResultEntry)]


@pytest.mark.parametrize(
    ("fault", "asked"),
    [
        (Fault.TRANSIENT, 2),
        (Fault.RATE_LIMIT, 2),
        (Fault.AUTH, 1),
        (Fault.BILLING, 1),
        (Fault.REFUSAL, 1),
    ],
)
@pytest.mark.row("R45", "R50", "R51")
async def test_the_next_model_goes_on_when_the_first_cannot(fault: Fault, asked: int):
    s = stage(*[Say("half", fault=fault)] * 5, limits=QUICK)
    other = ListModel(Say("whole"))
    done = await play(s, other)
    assert done.reason is DoneReason.MODEL_STOP
    assert (len(s.model.requests), len(other.requests)) == (asked, 1)
    assert [e.reply.text for e in s.log.entries if isinstance(e, ReplyEntry)] == ["whole"]
    assert len(s.of(ModelSwitched)) == 1


@pytest.mark.parametrize(
    ("fault", "detail", "asked"),
    [
        (Fault.TRANSIENT, "provider", 4),
        (Fault.RATE_LIMIT, "provider", 4),
        (Fault.AUTH, "auth", 1),
        (Fault.BILLING, "billing", 1),
        (Fault.INVALID, "invalid", 1),
        (Fault.EMPTY, "empty_response", 2),
        (Fault.REASONING_ONLY, "incomplete_response", 3),
    ],
)
@pytest.mark.row("R31", "R32", "R43", "R52")
async def test_without_another_model_the_turn_ends_with_what_was_wrong(
    fault: Fault, detail: str, asked: int
):
    s = stage(*[Say(fault=fault)] * 9, limits=QUICK)
    done = await play(s)
    assert (done.reason, done.detail) == (DoneReason.ERROR, detail)
    assert len(s.model.requests) == asked


async def test_a_rate_limit_that_lasts_longer_than_our_patience_is_not_slept_through():
    s = stage(Say(fault=Fault.RATE_LIMIT, retry_after_s=3600), limits=Limits(max_delay_s=30))
    done = await play(s)
    assert done.detail == "provider"
    assert len(s.model.requests) == 1


@pytest.mark.row("R43")
async def test_three_replies_that_only_think_fail_over_as_incomplete():
    s = stage(*[Say(thinking="hm")] * 3)
    other = ListModel(Say("at last"))
    await play(s, other)
    (switched,) = s.of(ModelSwitched)
    assert isinstance(switched, ModelSwitched)
    assert switched.reason == "incomplete_response"
    bare, again, nudged = (request.messages for request in s.model.requests)
    assert again == bare
    assert "Go on" in str(nudged[-1])
    assert other.requests[0].messages == bare


@pytest.mark.row("R43")
async def test_an_answer_after_two_thoughts_needs_no_other_model():
    s = stage(Say(thinking="hm"), Say(thinking="hm"), Say("now"))
    other = ListModel()
    assert (await play(s, other)).reason is DoneReason.MODEL_STOP
    assert other.requests == []


@pytest.mark.row("R44")
async def test_a_call_cut_by_the_output_limit_is_asked_for_again_with_a_larger_one():
    tool = FakeTool("write", read_only=False)
    cut = Say(calls=(("write", '{"path": "README.md", "content": "half'),), finish="length")
    s = stage(cut, Say(calls=(("write", '{"path": "a"}'),)), Say("ok"), tools=[tool])
    await play(s)
    assert tool.ran == [{"path": "a"}]
    assert [r.max_output for r in s.model.requests] == [None, 16_384, None]


@pytest.mark.row("R44")
@pytest.mark.parametrize(
    ("used", "asked"), [(500, [None, 16_384, 32_768, None]), (20_000, [None, 32_768, None]), (40_000, [None, None])]
)  # fmt: skip
async def test_no_try_after_a_cut_call_has_less_room_than_the_one_that_was_cut(
    used: int, asked: list[int | None]
):
    cut = Say(calls=(("write", '{"a": "ha'),), finish="length", usage=Usage(10, used))
    s = stage(
        *[cut] * (len(asked) - 1), Say("less then"), tools=[FakeTool("write", read_only=False)]
    )
    s.model.steps[-1] = Say("less then")
    assert (await play(s)).reason is DoneReason.MODEL_STOP
    assert [r.max_output for r in s.model.requests] == asked
    assert "send less" in results(s)[0]


@pytest.mark.row("R44")
async def test_a_model_that_refuses_a_larger_output_is_asked_to_send_less():
    tool = FakeTool("write", read_only=False)
    cut = Say(calls=(("write", '{"a": "ha'),), finish="length")
    short = Say(calls=(("write", '{"a": 1}'),))
    s = stage(cut, Say(fault=Fault.INVALID), short, Say("done"), tools=[tool])
    assert (await play(s)).reason is DoneReason.MODEL_STOP
    assert tool.ran == [{"a": 1}]
    assert "Send less at once" in str(s.model.requests[2].messages[-1])
    assert s.model.requests[2].max_output is None


async def test_a_model_that_refuses_a_larger_output_and_is_cut_again_hears_it_as_a_result():
    cut = Say(calls=(("write", '{"a": "ha'),), finish="length")
    s = stage(cut, Say(fault=Fault.INVALID), cut, Say("I see"))
    s.tools["write"] = FakeTool("write", read_only=False)
    assert (await play(s)).reason is DoneReason.MODEL_STOP
    assert "send less" in results(s)[0]
    assert len(s.model.requests) == 4


@pytest.mark.row("R44")
async def test_a_call_that_stays_cut_is_never_run_and_the_model_is_told_to_send_less():
    tool = FakeTool("write", read_only=False)
    cut = Say(calls=(("write", '{"path": "README.md", "content": "half'),), finish="length")
    s = stage(cut, cut, cut, Say("I will send less"), tools=[tool])
    done = await play(s)
    assert done.reason is DoneReason.MODEL_STOP
    assert tool.ran == []
    assert "send less" in results(s)[0]
    assert len(s.model.requests) == 4


@pytest.mark.row("R44")
async def test_a_text_cut_by_the_output_limit_is_continued_twice_and_then_accepted():
    s = stage(*[Say("part", finish="length")] * 5)
    done = await play(s)
    assert (done.reason, done.detail) == (DoneReason.MODEL_STOP, "truncated")
    assert len(s.model.requests) == 3
    last = s.model.requests[-1].messages[-1]
    assert isinstance(last, UserMessage)
    assert "cut" in str(last)


@pytest.mark.row("R10", "R78")
async def test_a_read_starts_while_the_reply_still_streams():
    began = anyio.Event()

    async def read(context: CallContext, arguments: JsonObject) -> ToolResult:
        began.set()
        return ToolResult(True, "x")

    s = stage(Say(calls=(("read", "{}"), ("write", "{}"))), Say("ok"))
    s.tools |= {"read": FakeTool("read", read), "write": FakeTool("write", read_only=False)}
    s.model.before_end = began.wait
    assert (await play(s)).reason is DoneReason.MODEL_STOP
    assert len(s.tools["read"].ran) == 1
    assert len(results(s)) == 2


@pytest.mark.row("R10", "R78")
async def test_nothing_behind_an_effectful_call_starts_early():
    read, write = FakeTool("read"), FakeTool("write", read_only=False)
    s = stage(Say(calls=(("write", "{}"), ("read", "{}"))), Say("ok"), tools=[read, write])
    ran_before_the_end: list[int] = []

    async def look() -> None:
        for _ in range(5):
            await anyio.lowlevel.checkpoint()
        ran_before_the_end.append(len(read.ran) + len(write.ran))

    s.model.before_end = look
    await play(s)
    assert ran_before_the_end[0] == 0


async def test_a_read_that_ran_for_a_reply_that_failed_leaves_no_trace_in_the_log():
    s = stage(
        Say(calls=(("read", "{}"),), fault=Fault.TRANSIENT, fault_last=True),
        Say("ok"),
        limits=QUICK,
    )
    s.tools["read"] = FakeTool("read")
    assert (await play(s)).reason is DoneReason.MODEL_STOP
    assert results(s) == []


@pytest.mark.row("R50")
async def test_fallbacks_are_tried_in_their_order():
    s = stage(*[Say(fault=Fault.TRANSIENT)] * 3, limits=QUICK)
    second, third = ListModel(*[Say(fault=Fault.BILLING)] * 2), ListModel(Say("here"))
    done = await play(s, second, third)
    assert done.reason is DoneReason.MODEL_STOP
    assert (len(second.requests), len(third.requests)) == (1, 1)
    assert [e.reply.text for e in s.log.entries if isinstance(e, ReplyEntry)] == ["here"]


@pytest.mark.row("R81")
async def test_only_reads_are_tried_again():
    async def failing(context: CallContext, arguments: JsonObject) -> ToolResult:
        return ToolResult(False, "busy", code="transient")

    tool = FakeTool("write", failing, read_only=False)
    await play(stage(Say(calls=(("write", "{}"),)), Say("ok"), tools=[tool]))
    assert len(tool.ran) == 1


@pytest.mark.row("R81")
async def test_a_read_that_fails_for_a_passing_reason_is_tried_once_more():
    async def flaky(context: CallContext, arguments: JsonObject) -> ToolResult:
        passing = len(tool.ran) == 1
        return ToolResult(
            not passing, "again" if passing else "fine", code="transient" if passing else None
        )

    tool = FakeTool("read", flaky)
    s = stage(Say(calls=(("read", "{}"),)), Say("ok"), tools=[tool])
    await play(s)
    assert results(s) == ["fine"]
    assert len(s.of(CallStarted)) == 1


@pytest.mark.row("R133", "R136")
async def test_a_redirect_drops_the_answer_and_quotes_it_in_the_correction():
    s = stage(Say("I will use spaces", hang=True), Say("tabs then"))
    turn = s.turn()

    def emit(event: object) -> None:
        s.events.append(event)  # pyright: ignore[reportArgumentType]
        if isinstance(event, TextDelta) and "spaces" in event.text:
            turn.control.redirect(said("use tabs"))

    turn.emit = emit
    with anyio.fail_after(5):
        done = await run(turn, said("go"))
    assert done.reason is DoneReason.MODEL_STOP
    assert [e.text.strip() for e in s.log.entries if isinstance(e, PartialEntry)] == [
        "I will use spaces"
    ]
    steered = [e for e in s.log.entries if isinstance(e, UserEntry) and e.origin == "steer"]
    assert "I will use spaces" in str(steered[0].parts)
    assert "use tabs" in str(steered[0].parts)
    assert [e.reply.text for e in s.log.entries if isinstance(e, ReplyEntry)] == ["tabs then"]


@pytest.mark.row("R133")
async def test_a_soft_stop_lets_the_running_batch_end():
    s = stage(
        Say(calls=(("read", "{}"), ("read", '{"n": 1}'))),
        Say("never"),
        limits=Limits(start_early=False),
    )
    turn = s.turn()

    async def stop(context: CallContext, arguments: JsonObject) -> ToolResult:
        turn.control.soft_stop = True
        return ToolResult(True, "x")

    turn.tools = {"read": FakeTool("read", stop)}
    done = await run(turn, said("go"))
    assert (done.reason, done.detail) == (DoneReason.MODEL_STOP, "soft_stop")
    assert len(results(s)) == 2
    assert len(s.model.requests) == 1
