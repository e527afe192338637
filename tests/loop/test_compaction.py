"""The past replaced by a summary, in a turn (loop.md R13, R58-R69)."""

import anyio
import pytest

from agent_server.context.session_context import SessionContext
from agent_server.loop.events import StateChanged
from agent_server.loop.faults import Fault
from agent_server.loop.limits import Limits
from agent_server.loop.loop import run
from agent_server.loop.model import DoneReason, SummaryEntry, Usage
from agent_server.loop.ports import Message
from tests.fakes.loop import FakeTool, ListModel, MemoryLog, Say, Stage, said, stage

pytestmark = pytest.mark.anyio


async def play(s: Stage, turn: str, first_number: int, prompt: str):
    with anyio.fail_after(5):
        return await run(s.turn(turn, first_number=first_number), said(prompt))


async def long_ago(*steps: Say, window: int = 10_000) -> Stage:
    """A stage whose log holds a turn of many calls, the first of them asked for as `first task`."""
    calls = [Say(calls=(("read", f'{{"n": {n}}}'),)) for n in range(20)]
    s = stage(*calls, Say("that was it"), tools=[FakeTool("read")])
    await play(s, "t1", 1, "first task")
    s.model = ListModel(*steps, window=window)
    s.events.clear()
    return s


def summaries(s: Stage) -> list[SummaryEntry]:
    return [e for e in s.log.entries if isinstance(e, SummaryEntry)]


def text(messages: tuple[Message, ...]) -> str:
    return str(messages)


FULL = Say(calls=(("read", '{"last": 1}'),), usage=Usage(6_900, 10))


@pytest.mark.row("R13", "R60")
async def test_past_its_share_of_the_window_the_past_is_summarised_before_the_next_request():
    s = await long_ago(FULL, Say("the summary"), Say("done"))
    done = await play(s, "t2", 100, "second task")
    assert done.reason is DoneReason.MODEL_STOP
    states = [e.state for e in s.events if isinstance(e, StateChanged)]
    at = states.index("compacting")
    assert states[at - 1 : at + 2] == ["thinking", "compacting", "thinking"]
    _, asked, after = s.model.requests
    assert len(after.messages) < len(asked.messages)


@pytest.mark.row("R68")
async def test_the_first_prompt_stands_in_the_summary_word_for_word():
    s = await long_ago(Say(fault=Fault.OVERFLOW), Say("the summary"), Say("done"))
    await play(s, "t2", 100, "second task")
    head = text(s.model.requests[-1].messages[:1])
    assert "for reference only" in head
    assert "first task" in head
    assert "the summary" in head


async def test_a_summary_that_is_longer_than_the_past_is_replaced_by_the_extract():
    s = await long_ago(Say(fault=Fault.OVERFLOW), Say("blah " * 9_999), Say("done"))
    done = await play(s, "t2", 100, "second task")
    assert done.reason is DoneReason.MODEL_STOP
    (made,) = summaries(s)
    assert "blah" not in made.text
    assert "first task" in made.text


async def test_what_no_summary_makes_shorter_stays_and_the_turn_ends():
    s = stage(Say("a"))
    await play(s, "t1", 1, "first")
    s.model = ListModel(Say(fault=Fault.OVERFLOW), Say("a summary of no use"), Say("never"))
    done = await play(s, "t2", 100, "second task")
    assert (done.reason, done.detail) == (DoneReason.ERROR, "context_full")
    assert summaries(s) == []


async def test_the_model_for_summaries_is_asked_first_and_the_turns_own_if_it_fails():
    for small, own in (([Say("short")], []), ([Say(fault=Fault.TRANSIENT)], [Say("own")])):
        s = await long_ago(Say(fault=Fault.OVERFLOW), *own, Say("done"))
        summariser = ListModel(*small)
        turn = s.turn("t2", first_number=100)
        turn.context = SessionContext("be good", (), summariser=summariser)
        with anyio.fail_after(5):
            done = await run(turn, said("second task"))
        assert done.reason is DoneReason.MODEL_STOP
        assert len(summariser.requests) == 1
        assert (own[0].text if own else "short") in summaries(s)[0].text


async def test_before_the_first_request_of_a_turn_another_share_may_hold():
    s = await long_ago(Say("the summary"), Say("done"), window=10_000)
    s.limits = Limits(between_turns_at=0.001, max_compactions=1)
    await play(s, "t2", 100, "second task")
    assert len(summaries(s)) == 1
    assert "the summary" in text(s.model.requests[-1].messages)


@pytest.mark.row("R66")
async def test_what_the_person_said_last_stays_word_for_word():
    s = await long_ago(FULL, Say("the summary"), Say("done"))
    await play(s, "t2", 100, "second task, exactly so")
    assert "second task, exactly so" in text(s.model.requests[-1].messages)


@pytest.mark.row("R68")
async def test_there_is_one_summary_and_a_later_one_replaces_it():
    s = await long_ago(
        Say(fault=Fault.OVERFLOW), Say("summary one"), *[FULL] * 3, Say("a"),
    )  # fmt: skip
    await play(s, "t2", 100, "second task")
    s.model = ListModel(Say(fault=Fault.OVERFLOW), Say("summary two"), Say("b"))
    await play(s, "t3", 200, "third task")
    sent = text(s.model.requests[-1].messages)
    assert "summary two" in sent
    assert "summary one" not in sent
    assert [one.generation for one in summaries(s)] == list(range(1, len(summaries(s)) + 1))


@pytest.mark.row("R69")
async def test_a_summary_that_fails_is_replaced_by_an_extract_and_the_turn_goes_on():
    s = await long_ago(Say(fault=Fault.OVERFLOW), Say(fault=Fault.TRANSIENT), Say("done"))
    done = await play(s, "t2", 100, "second task")
    assert done.reason is DoneReason.MODEL_STOP
    (made,) = summaries(s)
    assert "first task" in made.text


@pytest.mark.row("R13", "R62")
async def test_an_overflow_with_nothing_to_leave_out_ends_the_turn():
    s = stage(Say(fault=Fault.OVERFLOW), log=MemoryLog())
    done = await play(s, "t1", 1, "one huge prompt")
    assert (done.reason, done.detail) == (DoneReason.ERROR, "context_full")
    assert len(s.model.requests) == 1


@pytest.mark.row("R62")
async def test_a_second_overflow_in_a_row_is_not_answered_by_a_second_summary():
    small = [Say(calls=(("read", f'{{"m": {n}}}'),)) for n in range(4)]
    overflow = Say(fault=Fault.OVERFLOW)
    s = await long_ago(*small, overflow, Say("the summary"), overflow, Say("never"))
    done = await play(s, "t2", 100, "second task")
    assert (done.reason, done.detail) == (DoneReason.ERROR, "context_full")
    assert len(summaries(s)) == 1
