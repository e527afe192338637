"""Both wires show the same facts of the same turns (loop.md §5, I15): a random script, through both fronts in memory.

The envelopes are removed (method names, session, where `seq` and `turnId` stand), and ids that are made anew by each
server are numbered in the order in which they come.
"""

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_server.loop.action import Decision
from agent_server.loop.faults import Fault
from agent_server.loop.limits import Limits
from agent_server.loop.model import JsonObject, ToolResult
from agent_server.loop.ports import CallContext
from tests.fakes.acp_client import OURS
from tests.fakes.front import served as acp
from tests.fakes.loop import FakePolicy, FakeTool, Say
from tests.fakes.workbench import JournaledWorkbench
from tests.front.lsp.lsp_client import LspClient, Message
from tests.front.lsp.world import served as lsp

pytestmark = pytest.mark.anyio

Fact = tuple[str, Any]
"""What kind of message, and what it says."""
_ANEW = re.compile(r"turn-[0-9a-f]{12}")
FEW = Limits(max_turns=5, transient_retries=1, max_delay_s=0)

scripts = st.lists(
    st.builds(
        Say,
        text=st.sampled_from(["", "words here", "ok"]),
        calls=st.lists(
            st.tuples(
                st.sampled_from(["read", "run", "deny", "nope", "crash", "todo"]),
                st.sampled_from(["{}", '{"a": 1}', "[", '{"items": []}']),
            ),
            max_size=3,
        ).map(tuple),
        thinking=st.sampled_from(["", "hm"]),
        finish=st.sampled_from(["stop", "tool_calls", "length"]),
        fault=st.one_of(st.none(), st.none(), st.sampled_from(list(Fault))),
        piecewise=st.booleans(),
    ),
    max_size=5,
)
picks = st.lists(st.sampled_from(["allow_once", "reject_once", "none"]), max_size=4)


async def _crash(context: CallContext, arguments: JsonObject) -> ToolResult:
    raise RuntimeError("crash")


def bench_parts() -> dict[str, Any]:
    return {
        "tools": (
            FakeTool("read"),
            FakeTool("run", read_only=False),
            FakeTool("deny", read_only=False),
            FakeTool("crash", _crash, read_only=False),
        ),
        "policy": FakePolicy({"run": Decision("ask", "why not"), "deny": Decision("block", "no")}),
    }


class Person:
    """Answers the same questions alike on both wires."""

    def __init__(self, picked: list[str]) -> None:
        self._left = list(picked)

    def answer(self, client: object, message: Message) -> Any:
        del client
        kind = self._left.pop(0) if self._left else "allow_once"
        for option in message["params"]["options"]:
            if option["kind"] == kind:
                return {"outcome": {"outcome": "selected", "optionId": option["optionId"]}}
        return {"outcome": {"outcome": "cancelled"}}


def facts(received: list[Message], result: Any) -> list[Fact]:
    """What a client was shown and asked, in order, and how its prompt ended.

    In how many updates a text came is a matter of pace, not a fact: neighbouring pieces are joined.
    """
    seen: list[Fact] = []
    numbers: list[int] = []
    for message in received:
        method = message.get("method", "").removeprefix("agent/").removeprefix("_agent-server/")
        params = {k: v for k, v in message.get("params", {}).items() if k != "sessionId"}
        match method:
            case "session/update":
                own = params.get("_meta", {}).get("agent-server", params)
                numbers.append(own["seq"])
                _say(seen, method, own["turnId"], params["update"])
            case "status" | "session/request_permission":
                seen.append((method, params))
            case _:
                pass
    assert numbers == list(range(1, len(numbers) + 1))
    return [*seen, ("result", result)]


def _say(seen: list[Fact], method: str, turn: Any, update: Any) -> None:
    piece = _piece(update)
    last: Any = seen[-1][1][1] if seen and seen[-1][0] == method else None
    so_far = _piece(last)
    if piece is not None and so_far is not None and piece[0] == so_far[0]:
        name, text = piece
        seen[-1] = (method, (turn, {"piece": name, "text": so_far[1] + text}))
        return
    shown = update if piece is None else {"piece": piece[0], "text": piece[1]}
    seen.append((method, (turn, shown)))


def _piece(update: Any) -> tuple[str, str] | None:
    """Which text an update is a piece of, and the piece; None for anything else."""
    match update:
        case {"piece": str(name), "text": str(text)}:
            return name, text
        case {
            "sessionUpdate": "agent_message_chunk" | "agent_thought_chunk" as kind,
            "messageId": str(name),
            "content": {"text": str(text)},
        }:
            return f"{kind} {name}", text
        case {"toolCallId": str(name), "_meta": {"agent-server": {"argumentsDelta": str(text)}}}:
            return f"arguments {name}", text
        case _:
            return None


def alike(value: Any, names: dict[str, str] | None = None) -> Any:
    """With the names of turns numbered in the order in which they come."""
    known = {} if names is None else names
    match value:
        case str():
            return _ANEW.sub(lambda m: known.setdefault(m[0], f"turn {len(known)}"), value)
        case dict():
            return {
                k: alike(v, known)
                for k, v in value.items()
                if k != "seconds"  # how long a call took is no fact of the script
            }
        case list() | tuple():
            return [alike(one, known) for one in value]
        case _:
            return value


async def over_acp(home: Path, script: list[Say], picked: list[str]) -> list[Fact]:
    (home / "w").mkdir()
    bench = JournaledWorkbench(home, *script, **bench_parts())
    bench.limits = FEW
    async with acp(home, around=bench, store=bench.store, capabilities=OURS) as world:
        world.client.answer = Person(picked).answer
        session = await world.client.new(str(home / "w"))
        result = await ended(world.client.prompt(session, "go"))
        return alike(facts(world.client.received, result))


async def over_lsp(home: Path, script: list[Say], picked: list[str]) -> list[Fact]:
    person = Person(picked)

    def answer(client: LspClient, message: Message) -> Any:
        return person.answer(client, message)

    answers = {"agent/session/request_permission": answer}
    async with lsp(home, *script, answers=answers, **bench_parts()) as world:
        world.equipment.limits = FEW
        session = await world.client.new(world.root)
        result = await ended(world.client.prompt(session, "go"))
        return alike(facts(world.client.received, result))


async def ended(prompt: Any) -> Any:
    """The prompt's result, or the error that it is answered with: its code and sentence."""
    try:
        return await prompt
    except Exception as refused:  # noqa: BLE001  each client has its own kind of refusal
        return (getattr(refused, "code", None), str(refused))


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(scripts, picks)
@pytest.mark.row("R18", "R150")
async def test_both_wires_show_the_same_facts_of_the_same_script(
    script: list[Say], picked: list[str]
) -> None:
    with TemporaryDirectory() as one, TemporaryDirectory() as two:
        shown = await over_acp(Path(one), script, picked)
        also = await over_lsp(Path(two), script, picked)

    assert shown == also
