"""Invariants under random scripts, faults, answers and cancellation (loop.md §5, I1–I8).

Violations are collected outside the loop: an assertion inside a fake would be turned into a tool error and lost.
"""

import itertools
from collections import Counter

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_server.context.compact import legal_cuts
from agent_server.context.session_context import SessionContext
from agent_server.context.wire import Projection, messages
from agent_server.loop.action import Answer, Decision
from agent_server.loop.events import CallFinished, CallPending, CallStarted, Event, TurnDone
from agent_server.loop.faults import Fault
from agent_server.loop.limits import Limits
from agent_server.loop.loop import run
from agent_server.loop.model import (
    CallKey,
    Entry,
    JsonObject,
    ReplyEntry,
    ResultEntry,
    StartedEntry,
    ToolResult,
    TurnEndEntry,
    UserEntry,
)
from agent_server.loop.ports import AssistantMessage, CallContext, Message, ToolMessage, UserMessage
from agent_server.loop.turn import Turn
from agent_server.session.recovery import recover
from tests.fakes.loop import (
    FakePerson,
    FakePolicy,
    FakeTool,
    ListModel,
    MemoryLog,
    Say,
    Stage,
    said,
)

pytestmark = pytest.mark.anyio

LIMITS = Limits(max_turns=6, transient_retries=2, max_delay_s=0)
MOST_REQUESTS = 60
"""Per turn: every step may be preceded by every kind of retry, and each compaction is a request."""

calls = st.lists(
    st.tuples(
        st.sampled_from(["read", "run", "ask", "nope", "crash", "fail"]),
        st.sampled_from(["{}", '{"a":1}', "[", ""]),
    ),
    max_size=4,
).map(tuple)
steps = st.lists(
    st.builds(
        Say,
        text=st.sampled_from(["", " ", "words here", "ok"]),
        calls=calls,
        thinking=st.sampled_from(["", "hm"]),
        finish=st.sampled_from(["stop", "tool_calls", "length", "interrupted"]),
        fault=st.one_of(st.none(), st.none(), st.sampled_from(list(Fault))),
    ),
    max_size=8,
)
answers = st.lists(
    st.builds(
        Answer,
        st.sampled_from(["allow_once", "reject", "cancelled", "timed_out"]),
        feedback=st.none(),
    ),
    max_size=6,
)


def faults_of_request(sent: tuple[Message, ...]) -> list[str]:
    """Why a strict provider would refuse these messages (I1)."""
    wrong: list[str] = []
    if not sent or not isinstance(sent[0], UserMessage):
        wrong.append("does not start with the person")
    open_ids: list[str] = []
    for before, message in itertools.pairwise((None, *sent)):
        if isinstance(message, ToolMessage):
            if not open_ids or open_ids.pop(0) != message.call_id:
                wrong.append("a result without its call, or out of order")
            if not message.text:
                wrong.append("an empty result")
            continue
        if open_ids:
            wrong.append("a call without a result")
        if type(before) is type(message):
            wrong.append("two of one kind in a row")
        if isinstance(message, AssistantMessage):
            open_ids = [c.id for c in message.calls]
            if not message.text.strip() and not message.calls:
                wrong.append("an empty assistant message")
    return wrong + (["a call without a result at the end"] if open_ids else [])


def faults_of_log(entries: list[Entry]) -> list[str]:
    """What is wrong with a log at rest (I2, I3, I6)."""
    wrong: list[str] = []
    called = [c.key for e in entries if isinstance(e, ReplyEntry) for c in e.reply.calls]
    settled = Counter(e.key for e in entries if isinstance(e, ResultEntry))
    wrong += [f"{key} has {settled[key]} results" for key in called if settled[key] != 1]
    wrong += [f"{key} was never called" for key in settled if key not in called]
    turns = [e.turn for e in entries if isinstance(e, UserEntry) and e.origin == "prompt"]
    ends = Counter(e.turn for e in entries if isinstance(e, TurnEndEntry))
    wrong += [f"{turn} ends {ends[turn]} times" for turn in turns if ends[turn] != 1]
    started = {e.key for e in entries if isinstance(e, StartedEntry)}
    wrong += [
        f"{e.key} is unknown but never started"
        for e in entries
        if isinstance(e, ResultEntry) and e.effect == "unknown" and e.key not in started
    ]
    return wrong


def faults_of_events(events: list[Event], turns: int) -> list[str]:
    """What is wrong with what the person saw."""
    wrong: list[str] = []
    if sum(isinstance(e, TurnDone) for e in events) != turns or not isinstance(
        events[-1], TurnDone
    ):
        wrong.append("not exactly one end per turn, last")
    announced: set[CallKey] = set()
    finished: Counter[CallKey] = Counter()
    for event in events:
        match event:
            case CallPending(key=key):
                announced.add(key)
            case CallStarted(key=key) | CallFinished(key=key):
                if key not in announced:
                    wrong.append(f"{key} was never announced")
                if isinstance(event, CallFinished):
                    finished[key] += 1
            case _:
                pass
    return wrong + [
        f"{key} finished {finished[key]} times" for key in announced if finished[key] != 1
    ]


class World:
    """A stage with tools of every kind, whose code checks that `started` was durable before it ran."""

    def __init__(
        self, script: list[Say], replies: list[Answer], entries: list[Entry] | None = None
    ) -> None:
        self.violations: list[str] = []
        self.ticks = 0
        self.cancel_at: int | None = None
        self.scope: anyio.CancelScope | None = None
        self.turn_now: Turn | None = None
        log = MemoryLog(entries or [])
        self.stage = Stage(
            ListModel(*script),
            {},
            log=log,
            policy=FakePolicy({"ask": Decision("ask", "why not")}),
            person=FakePerson(list[Answer | None](replies)),
            limits=LIMITS,
        )
        for name, effectful in (
            ("read", False),
            ("run", True),
            ("ask", True),
            ("crash", True),
            ("fail", False),
        ):
            self.stage.tools[name] = FakeTool(name, self._body(name), read_only=not effectful)

    def _body(self, name: str):
        async def body(context: CallContext, arguments: JsonObject) -> ToolResult:
            started = {e.key for e in self.stage.log.entries if isinstance(e, StartedEntry)}
            if name not in ("read", "fail") and context.key not in started:
                self.violations.append(f"{name} ran before `started` was durable")
            await anyio.lowlevel.checkpoint()
            if name == "crash":
                raise RuntimeError("crash")
            return ToolResult(name != "fail", name, code=None if name != "fail" else "x")

        return body

    def emit(self, event: Event) -> None:
        self.stage.events.append(event)
        self.ticks += 1
        if self.ticks == self.cancel_at and self.scope is not None:
            self.scope.cancel()

    async def turn(self, name: str, first_number: int, *, cancel_at: int | None = None) -> None:
        self.cancel_at, self.ticks = cancel_at, 0
        turn = self.stage.turn(name, first_number=first_number)
        turn.emit = self.emit
        self.turn_now = turn
        with anyio.fail_after(5), anyio.CancelScope() as self.scope:
            await run(turn, said(f"prompt {name}"))

    def faults(self, turns: int) -> list[str]:
        stage = self.stage
        wrong = (
            self.violations
            + faults_of_log(list(stage.log.entries))
            + faults_of_events(stage.events, turns)
        )
        for request in stage.model.requests:
            wrong += faults_of_request(request.messages)
        if len(stage.model.requests) > MOST_REQUESTS * turns:
            wrong.append("too many requests")
        return wrong


COMMON = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@COMMON
@given(steps, answers, st.one_of(st.none(), st.integers(1, 40)))
@pytest.mark.row("R14", "R30", "R112", "R130", "R132", "R149")
async def test_two_turns_with_a_cancel_anywhere_leave_a_valid_log_and_whole_events(
    script: list[Say], replies: list[Answer], cancel_at: int | None
):
    world = World(script, replies)
    await world.turn("t1", 1, cancel_at=cancel_at)
    await world.turn("t2", 1_000)
    assert world.faults(2) == []
    assert faults_of_request(messages(world.stage.log.entries)) in (
        [],
        ["two of one kind in a row"],
    )


@COMMON
@given(steps, answers, st.data())
@pytest.mark.row("R105", "R107", "R109", "R110")
async def test_a_crash_after_any_commit_is_settled_once_and_the_next_turn_works(
    script: list[Say], replies: list[Answer], data: st.DataObject
):
    world = World(script, replies)
    await world.turn("t1", 1)
    commits = world.stage.log.commits
    kept = data.draw(st.integers(1, len(commits)))
    entries = [entry for commit in commits[:kept] for entry in commit]
    again = World([Say("back")], [], entries)
    await recover(again.stage.log, again.stage.tools, cause="the server stopped")
    size = len(again.stage.log.entries)
    await recover(again.stage.log, again.stage.tools, cause="the server stopped")
    assert len(again.stage.log.entries) == size
    await again.turn("t2", 1_000)
    assert again.faults(1) == []
    started = {e.key for e in entries if isinstance(e, StartedEntry)}
    had = {e.key for e in entries if isinstance(e, ResultEntry)}
    for entry in again.stage.log.entries:
        if isinstance(entry, ResultEntry) and entry.key not in had:
            assert (entry.effect == "unknown") is (entry.key in started)


@COMMON
@given(steps, answers)
@pytest.mark.row("R117")
async def test_a_request_without_its_last_message_is_a_prefix_of_the_next_one(
    script: list[Say], replies: list[Answer]
):
    world = World(script, replies)
    await world.turn("t1", 1)
    sent = [r.messages for r in world.stage.model.requests]
    if any(s.fault is Fault.OVERFLOW for s in script):
        return
    for one, two in itertools.pairwise(sent):
        assert two[: len(one) - 1] == one[:-1]


@COMMON
@given(steps, answers)
@pytest.mark.row("R73")
async def test_no_legal_cut_splits_a_batch(script: list[Say], replies: list[Answer]):
    world = World(script, replies)
    await world.turn("t1", 1)
    entries = world.stage.log.entries
    for cut in legal_cuts(entries):
        called = {c.key for e in entries[:cut] if isinstance(e, ReplyEntry) for c in e.reply.calls}
        assert called == {e.key for e in entries[:cut] if isinstance(e, ResultEntry)}
        request = SessionContext("s", ()).request(entries[cut:])
        assert [f for f in faults_of_request(request.messages) if "result" in f] == []


@COMMON
@given(steps, answers)
async def test_a_projection_that_grew_with_its_log_is_the_projection_of_the_log(
    script: list[Say], replies: list[Answer]
):
    world = World(script, replies)
    await world.turn("t1", 1)
    await world.turn("t2", 1_000)
    entries = list(world.stage.log.entries)
    growing = Projection()
    for size in range(len(entries) + 1):
        assert growing.of(entries[:size], nudge="go") == messages(entries[:size], nudge="go")
