"""An edit whose question is open when the client goes, or the server dies: kept with what was decided (protocol.md)."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agent_server.loop.action import Decision
from tests.fakes.acp_client import NEVER, OURS, prompt_params
from tests.fakes.front import World, served
from tests.fakes.loop import FakePolicy, Say
from tests.fakes.workbench import JournaledWorkbench

pytestmark = pytest.mark.anyio

OLD = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"
PAIRS = [{"old_text": old, "new_text": old.upper()} for old in ("one", "four", "seven")]
EDIT = Say("I edit.", (("edit", json.dumps({"path": "a.py", "edits": PAIRS})),))
DONE = Say("Done.")
ASKING = {name: Decision("ask", "why not") for name in ("edit", "patch", "shell")}
STATE, PROPOSED = "_agent-server/edit/state", "_agent-server/edit/proposed"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "w"
    folder.mkdir()
    (folder / "a.py").write_text(OLD)
    return folder


@asynccontextmanager
async def over(
    work: Path, *steps: Say, capabilities: Any = OURS, eof: bool = False
) -> AsyncGenerator[World]:
    """A server until it is told to stop, or, with `eof`, until its client is gone."""
    bench = JournaledWorkbench(work.parent, *steps, policy=FakePolicy(ASKING))
    async with served(
        work.parent, capabilities=capabilities, around=bench, store=bench.store, strict=not eof
    ) as world:
        yield world
        if not eof:
            world.connection.close()


async def resolve(world: World, shown: Any, *decisions: Any) -> Any:
    params = {"txn": shown["txn"], "revision": shown["revision"], "decisions": decisions}
    return await world.client.request("_agent-server/edit/resolve", params)


async def begun(world: World, work: Path, *, review: str = "each") -> tuple[str, Any]:
    """A prompt whose edit is being asked about: the session and the proposal."""
    session = await world.client.new(str(work))
    if review != "each":
        option = {"sessionId": session, "configId": "review", "value": review}
        await world.client.request("session/set_config_option", option)
    await world.client.ask("session/prompt", prompt_params(session, "go"))
    shown = await world.client.until(
        lambda m: m.get("method") == PROPOSED and m["params"]["review"] == "ask"
    )
    return session, shown["params"]


async def back(world: World, work: Path, session: str, how: str = "load") -> Any:
    """The state of the edit that was left open, as told behind the answer."""
    params = {"sessionId": session, "cwd": str(work), "mcpServers": []}
    await world.client.request(f"session/{how}", params)
    return (await world.client.until(lambda m: m.get("method") == STATE))["params"]


def hunks(state: Any) -> list[str]:
    return [hunk["state"] for file in state["files"] for hunk in file["hunks"]]


def some_of(shown: Any) -> list[Any]:
    """Yes to the first hunk and no to the second; nothing about the third."""
    (file,) = shown["files"]
    return [
        {"uri": file["uri"], "hunk": file["hunks"][0]["id"], "verdict": "accept"},
        {"uri": file["uri"], "hunk": file["hunks"][1]["id"], "verdict": "reject"},
    ]


@pytest.mark.parametrize("how", ["load", "resume"])
async def test_decided_hunks_of_an_edit_that_waits_survive_the_client(work: Path, how: str) -> None:
    async with over(work, EDIT) as world:
        session, shown = await begun(world, work)
        await resolve(world, shown, *some_of(shown))
    async with over(work) as world:
        left = await back(world, work, session, how)
        calls = world.client.updates(session, "tool_call", "tool_call_update")

    assert (left["txn"], left["state"]) == (shown["txn"], "abandoned")
    assert hunks(left) == ["accepted", "rejected", "pending"]
    [ended] = [c for c in calls if c["toolCallId"] == shown["toolCallId"]]
    assert ended["status"] == "failed"
    assert "not run: the question was open" in str(ended["content"])
    assert (work / "a.py").read_text() == OLD


async def test_a_later_decision_adds_to_those_that_were_kept(work: Path) -> None:
    async with over(work, EDIT) as world:
        session, shown = await begun(world, work)
        await resolve(world, shown, *some_of(shown))
    async with over(work, DONE) as world:
        left = await back(world, work, session)
        last = {"uri": left["files"][0]["uri"], "hunk": shown["files"][0]["hunks"][2]["id"]}
        answer = await resolve(world, left, {**last, "verdict": "accept"})
        await world.client.until(lambda m: "taken up as edit" in str(m))
        await world.client.prompt(session, "and now?")
        heard = str(world.equipment.script.requests[-1].messages)

    assert answer["state"] == "approved"
    assert (work / "a.py").read_text() == OLD.replace("one", "ONE").replace("seven", "SEVEN")
    assert "+SEVEN" in heard
    assert "+FOUR" not in heard


async def test_it_waits_over_any_number_of_restarts_until_it_is_decided(work: Path) -> None:
    async with over(work, EDIT) as world:
        session, shown = await begun(world, work)
    for verdict in some_of(shown):
        async with over(work) as world:
            left = await back(world, work, session)
            await resolve(world, left, verdict)
    async with over(work) as world:
        left = await back(world, work, session)
        await resolve(world, left, {"verdict": "reject"})
        await world.client.until(
            lambda m: m.get("method") == STATE and m["params"]["files"][0]["message"] == "rejected"
        )
    async with over(work, DONE) as world:
        params = {"sessionId": session, "cwd": str(work), "mcpServers": []}
        await world.client.request("session/load", params)
        await world.client.prompt(session, "and now?")
        told = world.client.of(STATE)

    assert hunks(left) == ["accepted", "rejected", "pending"]
    assert told == []
    assert (work / "a.py").read_text() == OLD


async def test_a_text_that_the_user_wrote_for_one_file_is_kept(work: Path) -> None:
    (work / "b.py").write_text("b\n")
    given = "".join(
        f"*** Update File: {name}\n@@\n-{old}\n+{old.upper()}\n"
        for name, old in (("a.py", "one"), ("b.py", "b"))
    )
    patch = Say("", (("patch", json.dumps({"patch": f"*** Begin Patch\n{given}*** End Patch"})),))
    async with over(work, patch) as world:
        session, shown = await begun(world, work)
        first, second = (file["uri"] for file in shown["files"])
        mine = {"uri": first, "verdict": "accept", "editedText": "mine\n"}
        await resolve(world, shown, mine)
    async with over(work) as world:
        left = await back(world, work, session)
        await resolve(world, left, {"uri": second, "verdict": "reject"})
        await world.client.until(lambda m: "taken up as edit" in str(m))

    assert ((work / "a.py").read_text(), (work / "b.py").read_text()) == ("mine\n", "b\n")


async def test_a_cancel_by_the_user_is_still_a_rejection(work: Path) -> None:
    async with over(work, EDIT) as world:
        session, shown = await begun(world, work)
        await resolve(world, shown, *some_of(shown))
        await world.client.notify("session/cancel", {"sessionId": session})
        told = await world.client.until(
            lambda m: m.get("method") == STATE and m["params"]["state"] == "rejected"
        )
    async with over(work, DONE) as world:
        params = {"sessionId": session, "cwd": str(work), "mcpServers": []}
        await world.client.request("session/load", params)
        await world.client.prompt(session, "and now?")
        assert world.client.of(STATE) == []

    assert told["params"]["txn"] == shown["txn"]


async def test_the_review_of_a_turn_is_left_open_once_and_staged_edits_are_part_of_it(
    work: Path,
) -> None:
    """Never applied by itself, and never as two edits of the same."""
    async with over(work, EDIT, DONE) as world:
        session, shown = await begun(world, work, review="turn")
        await resolve(world, shown, *some_of(shown))
    async with over(work, DONE) as world:
        left = await back(world, work, session)
        last = {"uri": left["files"][0]["uri"], "hunk": shown["files"][0]["hunks"][2]["id"]}
        told = len(world.client.of(STATE))
        before = (work / "a.py").read_text()
        await resolve(world, left, {**last, "verdict": "reject"})
        await world.client.until(lambda m: "taken up as edit" in str(m))

    assert (left["txn"], hunks(left)) == (shown["txn"], ["accepted", "rejected", "pending"])
    assert (told, before) == (1, OLD)
    assert (work / "a.py").read_text() == OLD.replace("one", "ONE")


async def test_a_plain_client_that_goes_while_it_is_asked_has_decided_nothing(work: Path) -> None:
    async with over(work, EDIT, capabilities={}, eof=True) as world:
        world.client.answer = lambda *_: NEVER
        session = await world.client.new(str(work))
        await world.client.ask("session/prompt", prompt_params(session, "go"))
        await world.client.until(lambda m: m.get("method") == "session/request_permission")
    async with over(work) as world:
        left = await back(world, work, session)

    assert (left["state"], set(hunks(left))) == ("abandoned", {"pending"})


async def test_a_command_that_was_asked_about_is_told_as_not_run_and_never_asked_again(
    work: Path,
) -> None:
    shell = Say("", (("shell", json.dumps({"command": "touch ran"})),))
    async with over(work, shell, capabilities={}, eof=True) as world:
        world.client.answer = lambda *_: NEVER
        session = await world.client.new(str(work))
        await world.client.ask("session/prompt", prompt_params(session, "go"))
        await world.client.until(lambda m: m.get("method") == "session/request_permission")
    async with over(work, DONE, capabilities={}) as world:
        params = {"sessionId": session, "cwd": str(work), "mcpServers": []}
        await world.client.request("session/load", params)
        [ended] = world.client.updates(session, "tool_call")
        await world.client.prompt(session, "and now?")
        asked = world.client.of("session/request_permission")

    assert "not run: the question was open when the client went away" in str(ended["content"])
    assert (ended["status"], asked) == ("failed", [])
    assert not (work / "ran").exists()
