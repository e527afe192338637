"""What a turn used is what its replies and its sub-agents used, whatever became of them (loop.md §5, I16)."""

from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent_server.loop.action import Answer
from agent_server.loop.events import Event, TurnDone
from agent_server.loop.faults import Fault
from agent_server.loop.loop import run
from agent_server.loop.model import JsonObject, Reply, ToolResult, TurnEndEntry, Usage
from agent_server.loop.ports import CallContext, Piece, Request
from agent_server.loop.turn import Turn
from tests.fakes.loop import FakeTool, ListModel, Say, said, stage
from tests.loop.test_invariants import COMMON, World, answers

pytestmark = pytest.mark.anyio

spending = st.lists(
    st.builds(
        Say,
        text=st.sampled_from(["", "words here", "ok"]),
        calls=st.lists(
            st.tuples(st.sampled_from(["read", "ask", "delegate"]), st.sampled_from(["{}", "["])),
            max_size=3,
        ).map(tuple),
        finish=st.sampled_from(["stop", "length"]),
        fault=st.one_of(st.none(), st.none(), st.sampled_from(list(Fault))),
        fault_last=st.booleans(),
        usage=st.builds(Usage, st.integers(0, 99), st.integers(0, 99)),
    ),
    max_size=6,
)


class Meter(ListModel):
    """Keeps what each reply used that it gave."""

    def __init__(self, *steps: Say) -> None:
        super().__init__(*steps)
        self.given: list[Usage] = []

    async def stream(self, request: Request, receive: Callable[[Piece], None]) -> Reply:
        reply = await super().stream(request, receive)
        self.given.append(reply.usage)
        return reply


class Spending(World):
    """A world whose calls of `delegate` are turns of their own, under the one that runs."""

    def __init__(self, script: list[Say], below: list[Say], replies: list[Answer]) -> None:
        super().__init__(script, replies)
        self.above, self.below = Meter(*script), Meter(*below)
        self.stage.model = self.above
        self.children: list[Turn] = []
        self.redirect_at: int | None = None
        self.stage.tools["delegate"] = FakeTool("delegate", self._delegate, read_only=False)

    def emit(self, event: Event) -> None:
        super().emit(event)
        if self.ticks == self.redirect_at and self.turn_now is not None:
            self.turn_now.control.redirect(said("no, like this"))

    async def _delegate(self, context: CallContext, arguments: JsonObject) -> ToolResult:
        read = FakeTool("read")
        around = stage(tools=[read])
        around.model = self.below
        child = around.turn(f"child-{len(self.children)}")
        child.parent = self.turn_now
        self.children.append(child)
        done = await run(child, said("do it"))
        return ToolResult(True, str(done.reason))


def total(*used: Usage) -> Usage:
    return sum(used, Usage())


moments = st.one_of(st.none(), st.integers(1, 60))


WHILE_A_READ_RUNS = [Say("x", (("read", "{}"),), usage=Usage(7, 1))]
"""Event 5 comes when the reply is whole, and a call of it that started early still runs."""


@settings(COMMON, max_examples=80)
@example(WHILE_A_READ_RUNS, [], [], 5, None)
@example(WHILE_A_READ_RUNS, [], [], None, 5)
@given(spending, spending, answers, moments, moments)
@pytest.mark.row("R149")
async def test_a_turn_used_what_its_replies_and_its_children_used(
    script: list[Say],
    below: list[Say],
    replies: list[Answer],
    cancel_at: int | None,
    redirect_at: int | None,
):
    world = Spending(script, below, replies)
    world.redirect_at = redirect_at
    await world.turn("t1", 1, cancel_at=cancel_at)

    used = total(*world.above.given, *world.below.given)
    [told] = [e.usage for e in world.stage.events if isinstance(e, TurnDone)]
    [kept] = [e.usage for e in world.stage.log.entries if isinstance(e, TurnEndEntry)]
    assert (told, kept) == (used, used)
    assert total(*(child.usage for child in world.children)) == total(*world.below.given)
