"""What comes before what: in a reply, in a call, in the log and on the way to the client (loop.md §1A, §1F, §1L)."""

import anyio
import pytest

from agent_server.loop.action import Action, Decision
from agent_server.loop.events import (
    CallFinished,
    CallPending,
    CallStarted,
    ConfirmationRequired,
    Event,
    StateChanged,
    StepFinished,
    ThoughtDelta,
    TurnDone,
)
from agent_server.loop.limits import Limits
from agent_server.loop.loop import run
from agent_server.loop.model import (
    CallKey,
    JsonObject,
    ReplyEntry,
    ResultEntry,
    StartedEntry,
    ToolResult,
    TurnEndEntry,
    TurnId,
)
from agent_server.loop.ports import AssistantMessage, CallContext, Prepared, ToolMessage
from tests.fakes.loop import FakePolicy, FakeTool, Say, Stage, said, stage

pytestmark = pytest.mark.anyio

ASK = FakePolicy({"ask": Decision("ask", "because")})


async def play(s: Stage) -> None:
    turn = s.turn()
    with anyio.fail_after(5):
        await run(turn, said("go"))


@pytest.mark.row("R3", "R131")
async def test_text_and_calls_of_one_reply_stay_in_one_message_and_results_follow_it():
    calls = (("read", '{"n": 1}'), ("read", '{"n": 2}'))
    s = stage(Say("I look.", calls), Say("done"), tools=[FakeTool("read")])
    await play(s)
    _, reply, *results = s.model.requests[1].messages
    assert isinstance(reply, AssistantMessage)
    assert (reply.text, len(reply.calls)) == ("I look.", 2)
    assert [m.call_id for m in results if isinstance(m, ToolMessage)] == [c.id for c in reply.calls]


@pytest.mark.row("R11", "R77")
async def test_a_call_that_needs_the_person_is_a_segment_of_its_own():
    s = stage(
        Say(calls=(("read", "{}"), ("ask", "{}"), ("read", '{"n": 2}'))),
        Say("done"),
        tools=[FakeTool("read"), FakeTool("ask")],
        policy=ASK,
        limits=Limits(start_early=False),
    )
    await play(s)
    states = [e.state for e in s.events if isinstance(e, StateChanged)]
    middle = states[states.index("executing") : states.index("thinking", 1)]
    assert middle == ["executing", "confirming", "executing"]
    started = [e.key.index for e in s.events if isinstance(e, CallStarted)]
    assert started == [0, 1, 2]


@pytest.mark.row("R83", "R84")
async def test_a_call_is_prepared_judged_asked_about_started_run_and_settled_in_this_order():
    steps: list[str] = []

    class Told(FakePolicy):
        def decide(self, action: Action) -> Decision:
            steps.append("judged")
            return super().decide(action)

    class Watched(FakeTool):
        async def prepare(self, arguments: JsonObject, key: CallKey) -> Prepared | ToolResult:
            steps.append("prepared")
            return await super().prepare(arguments, key)

    async def body(context: CallContext, arguments: JsonObject) -> ToolResult:
        begun = any(isinstance(e, StartedEntry) for e in s.log.entries)
        steps.append("run after started" if begun else "run before started")
        return ToolResult(True, "x")

    s = stage(Say(calls=(("ask", "{}"),)), Say("ok"), policy=Told(dict(ASK.verdicts)))
    s.tools["ask"] = Watched("ask", body, read_only=False)
    seen = s.turn()

    def emit(event: Event) -> None:
        if isinstance(event, ConfirmationRequired):
            steps.append("asked")
        if isinstance(event, CallFinished):
            steps.append("settled")

    seen.emit = emit
    with anyio.fail_after(5):
        await run(seen, said("go"))
    assert steps == ["prepared", "judged", "asked", "run after started", "settled"]


@pytest.mark.row("R35", "R105", "R106", "R149")
async def test_every_event_that_states_a_fact_comes_after_the_entry_of_the_fact():
    early: list[Event] = []
    s = stage(Say("hm", (("run", "{}"),)), Say("done"), tools=[FakeTool("run", read_only=False)])
    turn = s.turn()

    def emit(event: Event) -> None:
        kept = s.log.entries
        match event:
            case CallStarted(key=key):
                known = any(isinstance(e, StartedEntry) and e.key == key for e in kept)
                known = known and any(isinstance(e, ReplyEntry) for e in kept)
            case CallFinished(key=key):
                known = any(isinstance(e, ResultEntry) and e.key == key for e in kept)
            case TurnDone():
                known = isinstance(kept[-1], TurnEndEntry)
            case _:
                known = True
        if not known:
            early.append(event)
        s.events.append(event)

    turn.emit = emit
    with anyio.fail_after(5):
        await run(turn, said("go"))
    assert early == []
    assert isinstance(s.events[-1], TurnDone)


@pytest.mark.row("R140")
async def test_two_equal_tools_at_once_are_told_apart_by_their_keys():
    first_may_end = anyio.Event()

    async def body(context: CallContext, arguments: JsonObject) -> ToolResult:
        if arguments["n"] == 1:
            await first_may_end.wait()
        else:
            first_may_end.set()
        return ToolResult(True, f"result {arguments['n']}")

    calls = (("read", '{"n": 1}'), ("read", '{"n": 2}'))
    s = stage(
        Say(calls=calls),
        Say("ok"),
        tools=[FakeTool("read", body)],
        limits=Limits(start_early=False),
    )
    await play(s)
    ends = [(e.key.index, e.result.output) for e in s.events if isinstance(e, CallFinished)]
    assert ends == [(1, "result 2"), (0, "result 1")]


@pytest.mark.row("R142")
async def test_a_call_that_ends_the_turn_is_reported_finished_before_the_end():
    s = stage(Say(calls=(("finish", "{}"),)), tools=[FakeTool("finish", ends_turn=True)])
    await play(s)
    kinds = [type(e) for e in s.events]
    assert kinds.index(CallFinished) < kinds.index(TurnDone)


@pytest.mark.row("R142")
async def test_a_step_is_reported_finished_behind_its_calls_and_before_what_follows():
    """The reference systems tell it when the next step begins, so a turn that ends with calls never told it."""
    calls = (("read", "{}"), ("finish", "{}"))
    s = stage(
        Say(calls=calls[:1]), Say(calls=calls), tools=[FakeTool("read"), FakeTool("finish", ends_turn=True)]
    )  # fmt: skip
    await play(s)
    told = [e for e in s.events if isinstance(e, StepFinished | CallFinished | StateChanged)]
    assert [e for e in told if isinstance(e, StepFinished)] == [
        StepFinished(TurnId("t1"), 1, (CallKey(1, 0),)),
        StepFinished(TurnId("t1"), 2, (CallKey(2, 0), CallKey(2, 1))),
    ]
    for event in (e for e in told if isinstance(e, StepFinished)):
        before, after = told[: told.index(event)], told[told.index(event) + 1 :]
        finished = [e.key for e in before if isinstance(e, CallFinished)]
        assert set(event.calls) <= set(finished)
        assert isinstance(after[0], StateChanged)


@pytest.mark.row("R142")
async def test_a_step_without_calls_is_finished_with_its_answer():
    s = stage(Say("hello"))
    await play(s)
    assert s.of(StepFinished) == [StepFinished(TurnId("t1"), 1)]


@pytest.mark.row("R143")
async def test_what_the_model_thinks_is_shown_apart_from_what_it_says():
    s = stage(Say("answer", thinking="let me see"))
    await play(s)
    (thought,) = s.of(ThoughtDelta)
    assert isinstance(thought, ThoughtDelta)
    assert thought.text == "let me see"


@pytest.mark.row("R145")
async def test_a_call_is_announced_when_its_name_is_known_and_the_stream_goes_on():
    s = stage(Say(calls=(("run", "{}"),)), Say("ok"), tools=[FakeTool("run", read_only=False)])
    announced: list[bool] = []

    async def before_end() -> None:
        announced.append(any(isinstance(e, CallPending) for e in s.events))
        await anyio.lowlevel.checkpoint()

    s.model.before_end = before_end
    await play(s)
    assert announced == [True]


@pytest.mark.row("R148")
async def test_a_question_is_an_event_that_names_its_call():
    s = stage(Say(calls=(("ask", "{}"),)), Say("ok"), tools=[FakeTool("ask")], policy=ASK)
    await play(s)
    (asked,) = s.of(ConfirmationRequired)
    assert isinstance(asked, ConfirmationRequired)
    assert asked.question.call_id == "call-1-0"
    assert s.person.asked == [asked.question]
