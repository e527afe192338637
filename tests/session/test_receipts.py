"""Receipts in the workspace (R111, spec §14): six fields, metadata only, beginning with the first effect."""

import json
import stat
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_server.loop.action import Decision
from agent_server.loop.model import (
    CallKey,
    Effect,
    JsonObject,
    Reply,
    ReplyEntry,
    ResultEntry,
    SessionId,
    StartedEntry,
    ToolCall,
    ToolResult,
    TurnId,
    Usage,
)
from agent_server.loop.ports import CallContext
from agent_server.session.receipts import WithReceipts
from agent_server.session.sessions import Sessions
from agent_server.store.sessions import SessionStore
from tests.fakes.loop import FakePolicy, FakeTool, ListModel, MemoryLog, Say, said
from tests.fakes.session import FakeEquipment, RecordingClient

pytestmark = pytest.mark.anyio

TURN = TurnId("t1")
SIX = ["at", "sessionId", "toolCallId", "tool", "transition", "disposition"]


def written(workspace: Path) -> list[dict[str, Any]]:
    """The lines of the file; none when there is no file."""
    file = workspace / ".agent" / "tool-effects.jsonl"
    if not file.exists():
        return []
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def steps(workspace: Path) -> list[tuple[str, str, str | None]]:
    return [
        (one["toolCallId"], one["transition"], one["disposition"]) for one in written(workspace)
    ]


async def worked(
    root: Path,
    *script: Say,
    tools: Sequence[FakeTool],
    policy: FakePolicy | None = None,
    receipts: bool = True,
) -> str:
    """A session of one turn; its workspace is `root/w`."""
    workspace = root / "w"
    workspace.mkdir(exist_ok=True)
    equipment = FakeEquipment(ListModel(*script), tools, policy or FakePolicy(), receipts=receipts)
    with anyio.fail_after(5):
        async with Sessions(SessionStore(root / "sessions.db"), lambda cwd: equipment) as sessions:
            session = await sessions.new(cwd=str(workspace), client=RecordingClient())
            await session.prompt(said("go"))
    return session.id


@pytest.mark.row("R111")
async def test_each_step_of_an_effectful_call_has_a_line_of_six_fields(tmp_path: Path) -> None:
    tools = [FakeTool("run", read_only=False), FakeTool("look")]
    calls = (("look", "{}"), ("run", '{"secret": "hunter2"}'))
    session = await worked(tmp_path, Say(calls=calls), Say("done"), tools=tools)

    lines = written(tmp_path / "w")
    assert [list(line) for line in lines] == [SIX] * 3
    assert steps(tmp_path / "w") == [
        ("call-1-1", "pending", None),
        ("call-1-1", "started", None),
        ("call-1-1", "settled", "confirmed"),
    ]
    assert {line["sessionId"] for line in lines} == {session}
    assert {line["tool"] for line in lines} == {"run"}
    assert all(datetime.fromisoformat(line["at"]).tzinfo for line in lines)


async def test_a_session_without_effects_leaves_nothing_in_the_workspace(tmp_path: Path) -> None:
    tools = [FakeTool("run", read_only=False), FakeTool("look")]
    policy = FakePolicy({"run": Decision("block", "no")})
    calls = (("look", "{}"), ("run", "{}"), ("nobody", "{}"))
    await worked(tmp_path, Say(calls=calls), Say("done"), tools=tools, policy=policy)

    assert list((tmp_path / "w").iterdir()) == []


async def test_once_begun_the_file_has_refused_calls_too(tmp_path: Path) -> None:
    tools = [FakeTool("run", read_only=False), FakeTool("other", read_only=False)]
    policy = FakePolicy({"other": Decision("block", "no")})
    calls = (("run", "{}"), ("other", "{}"))
    await worked(tmp_path, Say(calls=calls), Say("done"), tools=tools, policy=policy)

    assert ("call-1-1", "pending", None) in steps(tmp_path / "w")
    assert ("call-1-1", "settled", "none") in steps(tmp_path / "w")


@pytest.mark.row("R109")
async def test_an_interrupted_call_is_settled_as_unknown(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    reached = anyio.Event()

    async def forever(context: CallContext, arguments: JsonObject) -> ToolResult:
        reached.set()
        await anyio.sleep_forever()
        raise AssertionError

    tool = FakeTool("run", forever, read_only=False)
    equipment = FakeEquipment(ListModel(Say(calls=(("run", "{}"),))), [tool], receipts=True)
    with anyio.fail_after(5):
        async with Sessions(SessionStore(tmp_path / "s.db"), lambda cwd: equipment) as sessions:
            session = await sessions.new(cwd=str(tmp_path / "w"), client=RecordingClient())
            session.submit(said("go"))
            await reached.wait()

    assert steps(tmp_path / "w")[-1] == ("call-1-0", "settled", "unknown")


async def test_the_setting_switches_them_off(tmp_path: Path) -> None:
    tools = [FakeTool("run", read_only=False)]
    script = (Say(calls=(("run", "{}"),)), Say("done"))
    await worked(tmp_path, *script, tools=tools, receipts=False)

    assert list((tmp_path / "w").iterdir()) == []


async def test_the_file_is_its_owners_and_git_does_not_see_it(tmp_path: Path) -> None:
    tools = [FakeTool("run", read_only=False)]
    await worked(tmp_path, Say(calls=(("run", "{}"),)), Say("done"), tools=tools)

    folder = tmp_path / "w" / ".agent"
    assert stat.S_IMODE((folder / "tool-effects.jsonl").stat().st_mode) == 0o600
    assert "tool-effects.jsonl" in (folder / ".gitignore").read_text("utf-8").splitlines()


@pytest.mark.parametrize("name", [".agent", ".agent/tool-effects.jsonl", ".agent/.gitignore"])
async def test_a_link_in_the_way_is_not_followed_and_costs_only_the_receipts(
    tmp_path: Path, name: str
) -> None:
    target = tmp_path / "outside"
    link = tmp_path / "w" / name
    link.parent.mkdir(parents=True)
    if name == ".agent":
        target.mkdir()
    link.symlink_to(target)
    tool = FakeTool("run", read_only=False)
    await worked(tmp_path, Say(calls=(("run", "{}"),)), Say("done"), tools=[tool])

    assert len(tool.ran) == 1
    assert not target.exists() or list(target.iterdir()) == []


async def test_calls_that_a_crash_cut_off_are_settled_in_the_file_of_the_next_process(
    tmp_path: Path,
) -> None:
    inner = MemoryLog()
    tools = {"run": FakeTool("run", read_only=False)}
    before = WithReceipts(inner, SessionId("s"), str(tmp_path), lambda: tools)
    call = ToolCall(CallKey(1, 0), "c", "run", "{}")
    await before.append(ReplyEntry(TURN, 1, Reply("", (call,), "tool_calls", "m", Usage())))
    await before.append(StartedEntry(TURN, call.key))
    after = WithReceipts(inner, SessionId("s"), str(tmp_path), lambda: tools)
    await after.append(ResultEntry(TURN, call.key, ToolResult(False, "?"), "unknown"))

    assert [one[1:] for one in steps(tmp_path)] == [
        ("pending", None),
        ("started", None),
        ("settled", "unknown"),
    ]


SECRET = st.text(st.characters(min_codepoint=0x100, exclude_categories=["Cs"]), min_size=3)
"""Nothing that we write has such characters, in clear or escaped, unless it came from outside."""
EFFECTS = st.sampled_from(["none", "confirmed", "unknown"])


@settings(
    deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(arguments=SECRET, output=SECRET, label=SECRET, effect=EFFECTS, name=SECRET)
@pytest.mark.row("R111", "R151")
def test_no_byte_of_arguments_or_outputs_is_in_the_file(
    tmp_path_factory: pytest.TempPathFactory,
    arguments: str,
    output: str,
    label: str,
    effect: Effect,
    name: str,
) -> None:
    """I12; a tool that does not exist has a name that a model made up."""
    workspace = tmp_path_factory.mktemp("w")
    tools = {"run": FakeTool("run", read_only=False)}

    async def work() -> None:
        log = WithReceipts(MemoryLog(), SessionId("s"), str(workspace), lambda: tools)
        calls = tuple(
            ToolCall(CallKey(1, i), label, tool, json.dumps({"text": arguments}))
            for i, tool in enumerate(("run", name))
        )
        await log.append(ReplyEntry(TURN, 1, Reply(output, calls, "tool_calls", label, Usage())))
        await log.append(StartedEntry(TURN, calls[0].key))
        for call in calls:
            result = ToolResult(False, output, code=output, summary=output)
            await log.append(ResultEntry(TURN, call.key, result, effect))

    anyio.run(work)
    text = (workspace / ".agent" / "tool-effects.jsonl").read_text("utf-8")
    assert len(text.splitlines()) == 3
    for outside in {*arguments, *output, *label, *name}:
        assert outside not in text
        assert json.dumps(outside)[1:-1] not in text
