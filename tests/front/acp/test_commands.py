"""Commands that the server answers itself, for a client that has nothing but a prompt (docs/acp.md, "Commands")."""

import json
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import anyio
import pytest

from agent_server.loop.limits import Limits
from agent_server.loop.model import JsonObject, SessionId, ToolResult, Usage
from agent_server.loop.ports import CallContext
from agent_server.store.sessions import SessionStore
from tests.fakes.acp_client import STOCK, prompt_params
from tests.fakes.front import World, served
from tests.fakes.loop import FakeTool, Say
from tests.fakes.workbench import JournaledWorkbench

pytestmark = pytest.mark.anyio

OLD, NEW = "one\n", "two\n"
PAIRS = [{"old_text": "one", "new_text": "two"}]
EDIT = Say("I edit.", (("edit", json.dumps({"path": "a.py", "edits": PAIRS})),))
DONE = Say("Done.")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "w"
    folder.mkdir()
    (folder / "a.py").write_text(OLD)
    return folder


@asynccontextmanager
async def over(work: Path, *steps: Say) -> AsyncGenerator[tuple[World, str]]:
    """A stock client's session on real files."""
    bench = JournaledWorkbench(work.parent, *steps)
    async with served(work.parent, capabilities=STOCK, around=bench, store=bench.store) as world:
        yield world, await world.client.new(str(work))


@asynccontextmanager
async def edited(work: Path, *steps: Say) -> AsyncGenerator[tuple[World, str]]:
    """The same, after a turn that edited a.py."""
    async with over(work, EDIT, DONE, *steps) as (world, session):
        await world.client.prompt(session, "make it two")
        assert (work / "a.py").read_text() == NEW
        yield world, session


async def said(world: World, session: str, command: str) -> str:
    """What the server answers; nothing of it goes to a model."""
    asked, before = len(world.equipment.script.requests), len(world.client.text(session))
    answer = await world.client.prompt(session, command)
    assert answer["stopReason"] == "end_turn"
    assert len(world.equipment.script.requests) == asked
    return world.client.text(session)[before:]


def heard(world: World) -> str:
    return repr(world.equipment.script.requests[-1].messages)


@pytest.mark.parametrize(
    "method", ["session/new", "session/load", "session/resume", "session/fork"]
)
async def test_the_commands_are_told_once_behind_each_beginning(work: Path, method: str) -> None:
    async with over(work, DONE) as (world, session):
        await world.client.prompt(session, "hello")
        told = len(world.client.updates(session, "available_commands_update"))
        params: dict[str, Any] = {"cwd": str(work), "mcpServers": []}
        if method != "session/new":
            params["sessionId"] = session
        answer = await world.client.request(method, params)
        begun = answer.get("sessionId", session)
        await world.client.prompt(begun, "/help")
        commands = world.client.updates(begun, "available_commands_update")

    assert told == 1
    assert len(commands) == (2 if begun == session else 1)
    names = [one["name"] for one in commands[-1]["availableCommands"]]
    assert names == ["undo", "rewind", "cost", "compact", "help"]


async def test_undo_takes_the_last_turn_back_and_can_be_undone(work: Path) -> None:
    async with edited(work, DONE) as (world, session):
        undone = await said(world, session, "/undo")
        assert (work / "a.py").read_text() == OLD
        again = await said(world, session, "/undo")
        (redo,) = re.findall(r"`(/rewind [^`]+ apply)` undoes it", undone)
        await said(world, session, redo)
        assert (work / "a.py").read_text() == NEW
        await world.client.prompt(session, "go on")

    assert undone.startswith("Taken back: `a.py`.")
    assert again == "There is no edit of this session to take back."
    assert "The person took back the edits of the last turn: a.py" in heard(world)
    assert "/undo" not in heard(world)


async def test_undo_leaves_alone_what_somebody_changed_since_and_says_so(work: Path) -> None:
    async with edited(work) as (world, session):
        (work / "a.py").write_text("theirs\n")
        answer = await said(world, session, "/undo")

    assert answer.startswith("Nothing was taken back.\n\n- left alone: `a.py`: ")
    assert (work / "a.py").read_text() == "theirs\n"


async def test_rewind_lists_then_shows_and_does_only_what_it_showed(work: Path) -> None:
    async with edited(work) as (world, session):
        listed = await said(world, session, "/rewind")
        first = await said(world, session, "/rewind 1 apply")
        assert (work / "a.py").read_text() == NEW
        other = await said(world, session, "/rewind 1 files apply")
        assert (work / "a.py").read_text() == NEW
        done = await said(world, session, "/rewind 1 files apply")
        assert (work / "a.py").read_text() == OLD

    assert re.fullmatch(r"1\. \d\d:\d\d before “make it two” · `a.py`", listed.splitlines()[0])
    assert "-two\n+one" in first
    assert "goes, with its answer: “make it two”" in first
    assert "`/rewind 1 both apply` does it" in first
    assert "goes, with its answer" not in other
    assert done.startswith("Taken back: `a.py`.")


async def test_a_number_that_means_another_place_since_is_shown_and_not_done(work: Path) -> None:
    async with edited(work, DONE) as (world, session):
        await said(world, session, "/rewind 1")
        await world.client.prompt(session, "something else")
        shown = await said(world, session, "/rewind 1 both apply")

    assert "before “something else”" in shown
    assert (work / "a.py").read_text() == NEW


async def test_files_and_conversation_go_back_together_and_come_back(work: Path) -> None:
    async with edited(work, DONE, DONE) as (world, session):
        await said(world, session, "/rewind 1")
        done = await said(world, session, "/rewind 1 apply")
        assert (work / "a.py").read_text() == OLD
        await world.client.prompt(session, "what was said?")
        forgot = "make it two" not in heard(world)
        (undo,) = re.findall(r"`(/rewind [^`]+ apply)` undoes it", done)
        shown = await said(world, session, undo)  # a prompt came between, which would go too
        assert (work / "a.py").read_text() == OLD
        await said(world, session, undo)

        assert forgot
        assert "goes, with its answer: “what was said?”" in shown
        assert (work / "a.py").read_text() == NEW
        await world.client.prompt(session, "and now?")
        assert "make it two" in heard(world)


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("/rewind 9", "there is no checkpoint '9'; /rewind lists them"),
        ("/rewind 1 all", "'all' cannot go back; say files, chat or both"),
        ("/undo it all", "`/undo` takes nothing behind it"),
    ],
)
async def test_a_command_that_cannot_be_done_is_a_sentence(
    work: Path, command: str, sentence: str
) -> None:
    async with edited(work) as (world, session):
        assert sentence in await said(world, session, command)
        assert (work / "a.py").read_text() == NEW


async def test_cost_counts_what_was_used(tmp_path: Path) -> None:
    step = Say("hi", usage=Usage(1200, 30, cached=1000, cost=Decimal("0.0123")))
    async with served(tmp_path, step) as world:
        session = await world.client.new(str(tmp_path))
        nothing = await said(world, session, "/cost")
        await world.client.prompt(session, "hello")
        counted = await said(world, session, "/cost")

    assert nothing == "No model was asked in this session yet."
    assert counted.splitlines() == [
        "- context: 1,230 of 100,000 tokens (1 %), list/model",
        "- session: 1,200 tokens in (1,000 of them cached), 30 out",
        "- cost: $0.0123",
    ]


async def test_compact_shortens_the_past_and_counts_what_that_used(tmp_path: Path) -> None:
    long = "a long story " * 400
    steps = (Say(long), Say("yes"), Say("In short.", usage=Usage(50, 7)), Say("on we go"))
    async with served(tmp_path, *steps) as world:
        session = await world.client.new(str(tmp_path))
        for prompt in ("tell me", "really?"):
            await world.client.prompt(session, prompt)
        before = world.sessions.get(SessionId(session)).spent
        await world.client.prompt(session, "/compact")
        answer = world.client.text(session)
        spent = world.sessions.get(SessionId(session)).spent
        await world.client.prompt(session, "go on")

    assert re.search(
        r"The conversation was summarised: about [\d,]+ tokens became [\d,]+\.", answer
    )
    assert "In short." in heard(world)
    assert "a long story" not in heard(world)
    assert (spent.input - before.input, spent.output - before.output) == (50, 7)


async def test_a_compacted_session_is_loaded_as_one_at_rest(tmp_path: Path) -> None:
    async with served(tmp_path, Say("a long story " * 400), Say("yes"), Say("In short.")) as world:
        session = await world.client.new(str(tmp_path))
        for prompt in ("tell me", "really?", "/compact"):
            await world.client.prompt(session, prompt)
        kept = len(world.sessions.get(SessionId(session)).entries)
    async with served(tmp_path) as world:
        await world.client.request(
            "session/load", {"sessionId": session, "cwd": str(tmp_path), "mcpServers": []}
        )
        assert len(world.sessions.get(SessionId(session)).entries) == kept


async def test_compact_asks_no_model_when_the_session_has_used_what_it_may(tmp_path: Path) -> None:
    steps = (Say("a long story " * 400, usage=Usage(10, 10)), Say("yes", usage=Usage(10, 10)))
    async with served(tmp_path, *steps, limits=Limits(max_session_tokens=40)) as world:
        session = await world.client.new(str(tmp_path))
        for prompt in ("tell me", "really?"):
            await world.client.prompt(session, prompt)
        answer = await said(world, session, "/compact")

    assert answer.startswith("`/compact` was not done: ")


async def test_compact_says_when_there_is_nothing_to_shorten(tmp_path: Path) -> None:
    async with served(tmp_path, Say("hi")) as world:
        session = await world.client.new(str(tmp_path))
        answer = await said(world, session, "/compact")

    assert answer == "There is nothing that a summary would make shorter yet."


async def test_a_cancel_ends_a_running_command_as_it_ends_a_turn(tmp_path: Path) -> None:
    steps = (Say("a long story " * 400), Say("yes"), Say("In short", hang=True))
    async with served(tmp_path, *steps) as world:
        session = await world.client.new(str(tmp_path))
        for prompt in ("tell me", "really?"):
            await world.client.prompt(session, prompt)
        running = await world.client.ask("session/prompt", prompt_params(session, "/compact"))
        while len(world.equipment.script.requests) < 3:
            await anyio.lowlevel.checkpoint()
        await world.client.notify("session/cancel", {"sessionId": session})

        assert (await world.client.response(running))["stopReason"] == "cancelled"


async def test_an_undo_that_was_cancelled_while_it_waited_changes_nothing(work: Path) -> None:
    async with edited(work, Say("hm", hang=True)) as (world, session):
        turn = await world.client.ask("session/prompt", prompt_params(session, "go"))
        await world.client.until(lambda m: "hm" in str(m))
        undo = await world.client.ask("session/prompt", prompt_params(session, "/undo"))
        await world.client.notify("$/cancel_request", {"requestId": undo})
        await world.client.notify("session/cancel", {"sessionId": session})

        assert (await world.client.response(turn))["stopReason"] == "cancelled"
        assert (await world.client.response(undo))["stopReason"] == "cancelled"
        assert (work / "a.py").read_text() == NEW


@pytest.mark.parametrize("while_busy", ["queue", "steer"])
async def test_a_command_waits_behind_the_running_turn(tmp_path: Path, while_busy: str) -> None:
    """Also where the settings add a prompt to that turn: its model would read the command."""
    reached, leave = anyio.Event(), anyio.Event()

    async def wait(context: CallContext, arguments: JsonObject) -> ToolResult:
        reached.set()
        await leave.wait()
        return ToolResult(True, "ran")

    steps = (Say(calls=(("run", "{}"),)), Say("Done."))
    tools = [FakeTool("run", wait, read_only=False)]
    async with served(tmp_path, *steps, tools=tools, prompt_while_busy=while_busy) as world:
        session = await world.client.new(str(tmp_path))
        turn = await world.client.ask("session/prompt", prompt_params(session, "go"))
        await reached.wait()
        command = await world.client.ask("session/prompt", prompt_params(session, "/help"))
        leave.set()
        await world.client.response(command)

        assert (await world.client.response(turn))["stopReason"] == "end_turn"
        assert world.client.text(session).startswith("Done. - `/undo`")
        assert "/help" not in heard(world)


@pytest.mark.parametrize(
    "prompt", ["/unknown thing", "/etc/hosts is what?", "what does /undo do?", "/undoing"]
)
async def test_what_is_no_command_goes_to_the_model(tmp_path: Path, prompt: str) -> None:
    async with served(tmp_path, Say("hi")) as world:
        session = await world.client.new(str(tmp_path))
        await world.client.prompt(session, prompt)

        assert prompt in heard(world)


async def test_neither_a_replay_nor_the_title_knows_of_a_command(tmp_path: Path) -> None:
    async with served(tmp_path, Say("hi")) as world:
        session = await world.client.new(str(tmp_path))
        await said(world, session, "/help")
        await world.client.prompt(session, "greet me")
        seen = len(world.client.received)
        await world.client.request(
            "session/load", {"sessionId": session, "cwd": str(tmp_path), "mcpServers": []}
        )
        replayed = str(world.client.received[seen:])
        title = world.sessions.get(SessionId(session)).title

    assert "greet me" in replayed
    assert "/undo`" not in replayed
    assert title == "greet me"


@pytest.mark.parametrize("command", ["/undo", "/rewind", "/compact"])
async def test_what_changes_something_says_that_a_session_can_only_be_read(
    tmp_path: Path, command: str
) -> None:
    async with served(tmp_path, Say("hi")) as first:
        session = await first.client.new(str(tmp_path))
        await first.client.prompt(session, "hello")
        other = SessionStore(tmp_path / "sessions.db")
        async with served(tmp_path, store=other) as second:
            await second.client.request(
                "session/load", {"sessionId": session, "cwd": str(tmp_path), "mcpServers": []}
            )
            refused = await said(second, session, command)
            helped = await said(second, session, "/help")

    assert f"`{command}` cannot be done here: session" in refused
    assert "`/undo`: take back" in helped
