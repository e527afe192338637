"""Which calls of a reply run together, and what a no does to the turn: `[tools] parallel`, `[approval] on_deny`."""

import anyio
import pytest

from agent_server.loop.action import Action, Answer, Decision
from agent_server.loop.limits import Limits
from agent_server.loop.loop import run
from agent_server.loop.model import CallKey, DoneReason, JsonObject, ResultEntry, ToolResult
from agent_server.loop.ports import CallContext, Prepared
from tests.fakes.loop import FakePerson, FakePolicy, FakeTool, Say, Stage, said, stage

pytestmark = pytest.mark.anyio

ASK = FakePolicy({"run": Decision("ask", "because")})


async def play(s: Stage):
    with anyio.fail_after(5):
        return await run(s.turn(), said("go"))


class Crowd:
    """Tools that count how many of them run at once."""

    def __init__(self) -> None:
        self.now: list[str] = []
        self.seen: list[tuple[str, ...]] = []

    async def body(self, context: CallContext, arguments: JsonObject) -> ToolResult:
        name = str(arguments["n"])
        self.now.append(name)
        self.seen.append(tuple(self.now))
        for _ in range(20):
            await anyio.lowlevel.checkpoint()
        self.now.remove(name)
        return ToolResult(True, name)

    @property
    def most(self) -> int:
        return max(map(len, self.seen))

    def tool(self, name: str, *, read_only: bool) -> FakeTool:
        return FakeTool(name, self.body, read_only=read_only)


class Interactive(FakeTool):
    """As `ask_user`: it reads nothing and changes nothing, and a person answers."""

    async def prepare(self, arguments: JsonObject, key: CallKey) -> Prepared | ToolResult:
        prepared = await super().prepare(arguments, key)
        assert isinstance(prepared, Prepared)
        return Prepared(Action("ask", self.name), prepared.title, prepared.run)


def calls(*names: str) -> Say:
    return Say(calls=tuple((name, f'{{"n": "{at}"}}') for at, name in enumerate(names)))


@pytest.mark.row("R76", "R78")
async def test_at_most_eight_reads_run_at_once():
    crowd = Crowd()
    s = stage(calls(*["read"] * 12), Say("ok"), tools=[crowd.tool("read", read_only=True)])
    s.limits = Limits(start_early=False)
    await play(s)
    assert crowd.most == 8
    assert len(crowd.seen) == 12


@pytest.mark.row("R76")
async def test_where_the_settings_say_so_calls_run_one_after_the_other():
    crowd = Crowd()
    s = stage(calls(*["read"] * 4), Say("ok"), tools=[crowd.tool("read", read_only=True)])
    s.limits = Limits(start_early=False, parallel=1)
    await play(s)
    assert crowd.seen == [("0",), ("1",), ("2",), ("3",)]


@pytest.mark.row("R76")
async def test_where_the_settings_say_so_calls_that_change_things_run_beside_others():
    crowd = Crowd()
    tools = [crowd.tool("read", read_only=True), crowd.tool("write", read_only=False)]
    s = stage(calls("write", "read", "write"), Say("ok"), tools=tools)
    s.limits = Limits(start_early=False, mixed=True)
    await play(s)
    assert crowd.most == 3
    results = [e.key.index for e in s.log.entries if isinstance(e, ResultEntry)]
    assert sorted(results) == [0, 1, 2]


@pytest.mark.row("R77")
@pytest.mark.parametrize("mixed", [False, True])
async def test_a_call_that_asks_the_person_runs_alone_whatever_the_settings_say(mixed: bool):
    crowd = Crowd()
    tools = [
        crowd.tool("read", read_only=True),
        Interactive("ask_user", crowd.body, read_only=True),
    ]
    s = stage(calls("read", "ask_user", "read", "read"), Say("ok"), tools=tools)
    s.limits = Limits(start_early=False, mixed=mixed)
    await play(s)
    assert crowd.seen[:3] == [("0",), ("1",), ("2",)]
    assert crowd.seen[3] == ("2", "3")


@pytest.mark.row("R77")
async def test_a_call_that_asks_the_person_does_not_start_early():
    crowd = Crowd()
    s = stage(calls("ask_user", "read"), Say("ok"), tools=[crowd.tool("read", read_only=True)])
    s.tools["ask_user"] = Interactive("ask_user", crowd.body, read_only=True)
    ran_before_the_end: list[int] = []

    async def look() -> None:
        for _ in range(9):
            await anyio.lowlevel.checkpoint()
        ran_before_the_end.append(len(s.tools["ask_user"].ran))

    s.model.before_end = look
    await play(s)
    assert (ran_before_the_end, len(s.tools["ask_user"].ran)) == ([0], 1)


@pytest.mark.row("R10")
async def test_a_read_that_has_to_be_asked_about_does_not_start_early():
    tool = FakeTool("run")
    s = stage(calls("run"), Say("ok"), tools=[tool], policy=ASK)
    ran_before_the_end: list[int] = []

    async def look() -> None:
        for _ in range(9):
            await anyio.lowlevel.checkpoint()
        ran_before_the_end.append(len(tool.ran))

    s.model.before_end = look
    await play(s)
    assert (ran_before_the_end, len(tool.ran)) == ([0], 1)


@pytest.mark.row("R112")
async def test_where_the_settings_say_so_a_no_ends_the_turn_and_every_call_has_a_result():
    tool = FakeTool("run", read_only=False)
    s = stage(calls("run", "run", "run"), tools=[tool], policy=ASK)
    s.person = FakePerson([Answer("allow_once"), Answer("reject")])
    s.limits = Limits(stop_on_deny=True)
    done = await play(s)
    assert (done.reason, done.detail) == (DoneReason.USER_ABORT, "approval_cancelled")
    assert tool.ran == [{"n": "0"}]
    assert len([e for e in s.log.entries if isinstance(e, ResultEntry)]) == 3


async def test_a_no_with_words_goes_on_also_then():
    s = stage(calls("run"), Say("ok"), tools=[FakeTool("run", read_only=False)], policy=ASK)
    s.person = FakePerson([Answer("reject", feedback="not that way")])
    s.limits = Limits(stop_on_deny=True)
    assert (await play(s)).reason is DoneReason.MODEL_STOP
    assert "not that way" in str(s.model.requests[1].messages)
