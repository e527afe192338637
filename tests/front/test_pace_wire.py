"""The pace of updates as clients see it, on both wires (decision 5): who gets how many, and what stays exact."""

from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from agent_server.front import stream
from agent_server.loop.model import PartialEntry, SessionId
from tests.fakes.acp_client import OURS, STOCK, prompt_params
from tests.fakes.front import served
from tests.fakes.loop import FakeTool, Say
from tests.front.lsp.lsp_client import PLUGIN
from tests.front.lsp.world import served as served_lsp
from tests.front.test_pace import FakeClock

pytestmark = pytest.mark.anyio

LONG = "word " * 100


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    """The streams' clock, which stands still: everything comes in one moment."""
    clock = FakeClock()
    monkeypatch.setattr(stream, "LoopClock", lambda: clock)
    return clock


def chunks(updates: list[dict[str, Any]]) -> list[str]:
    return [u["content"]["text"] for u in updates if u["sessionUpdate"] == "agent_message_chunk"]


def wanting(per_second: Any) -> dict[str, Any]:
    meta = OURS["_meta"]["agent-server"] | {"updatesPerSecond": per_second}
    return OURS | {"_meta": {"agent-server": meta}}


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize(
    ("capabilities", "setting", "at_once"),
    [
        (STOCK, 0, 7),
        (OURS, 0, 7),
        (wanting(30), 0, 1),
        (STOCK, 10, 1),
        (wanting(None), 10, 1),
        (wanting(0), 0, 7),
        (wanting("many"), 0, 7),
    ],
)
async def test_what_comes_in_one_moment_is_a_few_updates_and_the_rest_with_the_end(
    tmp_path: Path, capabilities: dict[str, Any], setting: int, at_once: int
) -> None:
    async with served(
        tmp_path, Say(LONG), capabilities=capabilities, updates_per_second=setting
    ) as world:
        session = await world.client.new(str(tmp_path))
        await world.client.prompt(session, "go")
        came = chunks(world.client.updates(session))

        assert len(came) == at_once + 1
        assert "".join(came).split() == LONG.split()


@pytest.mark.usefixtures("clock")
async def test_a_client_over_lsp_says_it_where_it_says_everything(tmp_path: Path) -> None:
    own = PLUGIN["experimental"]["agent"] | {"updatesPerSecond": 30}
    capabilities = PLUGIN | {"experimental": {"agent": own}}
    async with served_lsp(tmp_path, Say(LONG), capabilities=capabilities) as world:
        session = await world.client.new(world.root)
        await world.client.prompt(session, "go")
        updates = [params["update"] for params in world.client.of("agent/session/update")]

        assert len(chunks(updates)) == 2
        assert world.client.text().split() == LONG.split()


@pytest.mark.usefixtures("clock")
async def test_a_call_comes_behind_all_that_was_said_before_it(tmp_path: Path) -> None:
    steps = (Say(LONG, calls=(("look", "{}"),)), Say("done"))
    async with served(tmp_path, *steps, tools=[FakeTool("look")], capabilities=STOCK) as world:
        session = await world.client.new(str(tmp_path))
        await world.client.prompt(session, "go")
        updates = world.client.updates(session)

        kinds = [u["sessionUpdate"] for u in updates]
        before = updates[: kinds.index("tool_call")]
        assert "".join(chunks(before)).split() == LONG.split()


@pytest.mark.parametrize("end", ["cancel", "close"])
async def test_what_is_held_is_said_before_a_turn_that_is_ended_is_answered(
    tmp_path: Path, clock: FakeClock, end: str
) -> None:
    async with served(tmp_path, Say(LONG, hang=True), capabilities=OURS) as world:
        session = await world.client.new(str(tmp_path))
        prompt = await world.client.ask("session/prompt", prompt_params(session, "go"))
        log = world.sessions.get(SessionId(session)).log
        while not clock.timers:
            await anyio.lowlevel.checkpoint()
        if end == "cancel":
            await world.client.notify("session/cancel", {"sessionId": session})
        else:
            await world.client.ask("session/close", {"sessionId": session})
        assert (await world.client.response(prompt))["stopReason"] == "cancelled"

        [said] = [entry.text for entry in log.entries if isinstance(entry, PartialEntry)]
        assert "".join(chunks(world.client.updates(session))) == said
        assert said.startswith("word " * 8)


async def test_neither_the_end_of_a_turn_nor_a_client_that_vanishes_leaves_a_timer(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with served(tmp_path, Say(LONG), Say(LONG, hang=True)) as world:
        session = await world.client.new(str(tmp_path))
        await world.client.prompt(session, "go")
        after_a_turn = list(clock.timers)
        await world.client.ask("session/prompt", prompt_params(session, "go on"))
        while not clock.timers:
            await anyio.lowlevel.checkpoint()

    assert (after_a_turn, clock.timers) == ([], [])
