"""`_agent-server/edit/revert` and `_agent-server/checkpoint/*`: what a client sees of going back (protocol.md)."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agent_server.loop.model import StartedEntry
from tests.fakes.acp_client import OURS, Refused
from tests.fakes.front import World, served
from tests.fakes.loop import Say
from tests.fakes.workbench import JournaledWorkbench
from tests.session.test_edits import KEY, TURN, left_open

pytestmark = pytest.mark.anyio

OLD, NEW = "one\ntwo\nthree\nfour\n", "ONE\ntwo\nthree\nFOUR\n"
PAIRS = [{"old_text": "one", "new_text": "ONE"}, {"old_text": "four", "new_text": "FOUR"}]
EDIT = Say("I edit.", (("edit", json.dumps({"path": "a.py", "edits": PAIRS})),))
WRITE = Say("I write.", (("write", json.dumps({"path": "b.py", "content": "b\n"})),))
DONE = Say("Done.")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "w"
    folder.mkdir()
    (folder / "a.py").write_text(OLD)
    return folder


@asynccontextmanager
async def over(work: Path, *steps: Say) -> AsyncGenerator[World]:
    bench = JournaledWorkbench(work.parent, *steps)
    async with served(work.parent, capabilities=OURS, around=bench, store=bench.store) as world:
        yield world


@asynccontextmanager
async def edited(work: Path, *steps: Say) -> AsyncGenerator[tuple[World, str, Any]]:
    """After a turn with one edit of a.py: the world, the session, the edit's last state."""
    async with over(work, EDIT, DONE, *steps) as world:
        session = await world.client.new(str(work))
        await world.client.prompt(session, "go")
        last = world.client.of("_agent-server/edit/state")[-1]
        assert (last["state"], (work / "a.py").read_text()) == ("applied", NEW)
        yield world, session, last


async def ask(world: World, name: str, **params: Any) -> Any:
    return await world.client.request(f"_agent-server/{name}", params)


async def test_an_edit_is_taken_back_whole(work: Path) -> None:
    async with edited(work) as (world, _, last):
        answer = await ask(world, "edit/revert", txn=last["txn"], revision=last["revision"])
        states = world.client.of("_agent-server/edit/state")[-2:]

    assert (work / "a.py").read_text() == OLD
    assert (answer["state"], answer["left"]) == ("applied", [])
    assert [(s["txn"], s["state"]) for s in states] == [
        (answer["txn"], "applied"), (last["txn"], "reverted"),
    ]  # fmt: skip


async def test_one_hunk_is_taken_back_and_then_the_taking_back(work: Path) -> None:
    async with edited(work) as (world, _, last):
        (file,) = last["files"]
        answer = await ask(
            world, "edit/revert", txn=last["txn"], revision=last["revision"], uri=file["uri"],
            hunk=file["hunks"][0]["id"],
        )  # fmt: skip
        assert (work / "a.py").read_text() == NEW.replace("ONE", "one")
        now = world.client.of("_agent-server/edit/state")[-1]
        assert [h["state"] for h in now["files"][0]["hunks"]] == ["rejected", "applied"]
        (own,) = [
            s for s in world.client.of("_agent-server/edit/state") if s["txn"] == answer["txn"]
        ]
        await ask(world, "edit/revert", txn=answer["txn"], revision=own["revision"])

    assert (work / "a.py").read_text() == NEW


async def test_a_hunk_that_somebody_changed_is_listed_and_stays(work: Path) -> None:
    async with edited(work) as (world, _, last):
        (work / "a.py").write_text(NEW.replace("ONE", "theirs"))
        answer = await ask(world, "edit/revert", txn=last["txn"], revision=last["revision"])

    (left,) = answer["left"]
    assert (left["uri"], "same place" in left["why"]) == ((work / "a.py").as_uri(), True)
    assert (work / "a.py").read_text() == OLD.replace("one", "theirs")


async def test_an_old_revision_is_refused_with_the_current_one(work: Path) -> None:
    async with edited(work) as (world, _, last):
        with pytest.raises(Refused) as refused:
            await ask(world, "edit/revert", txn=last["txn"], revision=1)

    assert refused.value.code == -32801
    assert (refused.value.data["reason"], refused.value.data["revision"]) == (
        "stale_revision", last["revision"],
    )  # fmt: skip
    assert (work / "a.py").read_text() == NEW


async def test_what_cannot_be_taken_back_is_refused_by_reason(work: Path) -> None:
    async with edited(work) as (world, _, last):
        with pytest.raises(Refused) as unknown:
            await ask(world, "edit/revert", txn="x0", revision=1)
        await ask(world, "edit/revert", txn=last["txn"], revision=last["revision"])
        now = world.client.of("_agent-server/edit/state")[-1]
        with pytest.raises(Refused) as twice:
            await ask(world, "edit/revert", txn=last["txn"], revision=now["revision"])

    assert [(e.value.code, e.value.data["reason"]) for e in (unknown, twice)] == [
        (-32602, "unknown_txn"), (-32602, "not_applied"),
    ]  # fmt: skip


async def test_checkpoints_are_listed_shown_restored_and_undone(work: Path) -> None:
    async with edited(work, WRITE, DONE) as (world, session, _):
        await world.client.prompt(session, "more")
        listed = (await ask(world, "checkpoint/list", sessionId=session))["checkpoints"]
        first = {"sessionId": session, "id": listed[0]["id"]}
        would = await ask(world, "checkpoint/restore", **first)
        assert (work / "b.py").exists()
        done = await ask(world, "checkpoint/restore", **first, dryRun=False)
        assert ((work / "a.py").read_text(), (work / "b.py").exists()) == (OLD, False)
        undo = {"sessionId": session, "id": done["undo"], "dryRun": False}
        await ask(world, "checkpoint/restore", **undo)
        after = (await ask(world, "checkpoint/list", sessionId=session))["checkpoints"]

    a, b = (work / "a.py").as_uri(), (work / "b.py").as_uri()
    assert [c["title"] for c in listed] == ["edit a.py", "create b.py"]
    assert listed[0]["files"] == [{"uri": a, "change": "edit"}]
    assert would["would"] == [{"uri": a, "change": "edit"}, {"uri": b, "change": "delete"}]
    assert [(d["uri"], d["kind"], d["baseText"], d["newText"]) for d in would["diffs"]] == [
        (a, "edit", NEW, OLD),
        (b, "delete", "b\n", None),
    ]
    assert (would["txn"], done["state"], done["left"], done["diffs"]) == (None, "applied", [], None)
    assert ((work / "a.py").read_text(), (work / "b.py").read_text()) == (NEW, "b\n")
    assert [c["turnId"] for c in after[2:]] == [None, None]


async def test_a_file_of_somebody_else_is_left_alone_unless_told(work: Path) -> None:
    async with edited(work) as (world, session, _):
        (work / "a.py").write_text("theirs\n")
        (checkpoint,) = (await ask(world, "checkpoint/list", sessionId=session))["checkpoints"]
        wanted = {"sessionId": session, "id": checkpoint["id"]}
        shown = await ask(world, "checkpoint/restore", **wanted)
        assert (shown["would"], [e["uri"] for e in shown["left"]]) == (
            [], [(work / "a.py").as_uri()],
        )  # fmt: skip
        await ask(world, "checkpoint/restore", **wanted, others=True, dryRun=False)

    assert (work / "a.py").read_text() == OLD


async def test_the_conversation_goes_back_apart_from_the_files_and_a_load_shows_what_stands(
    work: Path,
) -> None:
    async with edited(work) as (world, session, _):
        client = world.client
        await client.prompt(session, "more")
        more = (await ask(world, "checkpoint/list", sessionId=session))["checkpoints"][-1]
        wanted = {"sessionId": session, "id": more["id"], "files": False, "chat": True}
        would = await ask(world, "checkpoint/restore", **wanted)
        done = await ask(world, "checkpoint/restore", **wanted, dryRun=False)
        before = len(client.updates(session, "user_message_chunk"))
        params = {"sessionId": session, "cwd": str(work), "mcpServers": []}
        await client.request("session/load", params)
        again = client.updates(session, "user_message_chunk")[before:]

    assert (more["prompt"], more["files"], more["chat"]) == ("more", [], True)
    assert would["prompts"] == done["prompts"] == [{"text": "more", "change": "goes"}]
    assert (done["chat"], done["txn"], done["state"]) == (True, None, None)
    assert done["undo"].startswith("r-")
    assert "more" not in [one["content"]["text"] for one in again]
    assert (work / "a.py").read_text() != OLD


@pytest.mark.parametrize(
    ("params", "reason", "words"),
    [
        ({"id": "c-x0"}, "invalid_params", "no checkpoint"),
        ({"id": "c-x0", "chat": True}, "invalid_params", "no checkpoint"),
        ({"id": "c-x0", "files": False}, "invalid_params", "nothing to restore"),
        ({}, "invalid_params", "id: Field required"),
    ],
)
async def test_a_restore_that_makes_no_sense_is_refused(
    work: Path, params: dict[str, Any], reason: str, words: str
) -> None:
    async with edited(work) as (world, session, _):
        with pytest.raises(Refused, match=words) as refused:
            await ask(world, "checkpoint/restore", sessionId=session, **params)

    assert refused.value.data["reason"] == reason


async def test_an_edit_that_a_stopped_server_left_open_is_told_after_the_load(work: Path) -> None:
    (work / "a.py").write_text("one\n")
    session = await left_open(work, StartedEntry(TURN, KEY))
    async with over(work) as world:
        params = {"sessionId": session, "cwd": str(work), "mcpServers": []}
        await world.client.request("session/load", params)
        state = await world.client.until(lambda m: m.get("method") == "_agent-server/edit/state")

    assert (state["params"]["txn"], state["params"]["state"]) == ("x1", "abandoned")
    assert state["params"]["files"][0]["uri"] == (work / "a.py").as_uri()


# ---- what a stopped server had left open is decided after all ------------------------------------------


@asynccontextmanager
async def reopened(work: Path, text: str, *steps: Say) -> AsyncGenerator[tuple[World, str, Any]]:
    """A loaded session whose question about `one` → `two` in a.py was open; the file has `text` now."""
    session = await left_open(work, state="proposed")
    (work / "a.py").write_text(text)
    async with over(work, *steps) as world:
        params = {"sessionId": session, "cwd": str(work), "mcpServers": []}
        await world.client.request("session/load", params)
        told = await world.client.until(lambda m: m.get("method") == "_agent-server/edit/state")
        yield world, session, told["params"]


def everything(state: Any, verdict: str = "accept", **more: Any) -> Any:
    return {
        "txn": state["txn"], "revision": state["revision"],
        "decisions": [{"verdict": verdict}], **more,
    }  # fmt: skip


async def ended(world: World, txn: str) -> Any:
    """What is last said of the edit that was left open."""
    message = await world.client.until(
        lambda m: (
            m.get("method") == "_agent-server/edit/state"
            and m["params"]["txn"] == txn
            and m["params"]["files"][0]["message"] is not None
        )
    )
    return message["params"]


async def test_an_edit_that_was_left_open_is_taken_up(work: Path) -> None:
    async with reopened(work, "one\n", DONE) as (world, session, left):
        proposal = await ask(world, "edit/get", txn=left["txn"])
        assert proposal["toolCallId"] == str(KEY)
        answer = await ask(world, "edit/resolve", **everything(left))
        last = await ended(world, left["txn"])
        applied = world.client.of("_agent-server/edit/state")[-2]
        assert (work / "a.py").read_text() == "two\n"
        await world.client.prompt(session, "and now?")
        told = str(world.equipment.script.requests[-1].messages[-1])

    assert (left["state"], proposal["files"][0]["newText"]) == ("abandoned", "two\n")
    assert answer["state"] == "approved"
    assert (last["state"], applied["state"]) == ("abandoned", "applied")
    assert applied["txn"] != left["txn"]
    assert "accepted edit a.py, an edit that was open when the server stopped" in told
    assert "+two" in told


async def test_one_that_fits_no_more_is_a_conflict_and_the_model_hears_why(work: Path) -> None:
    async with reopened(work, "else\n", DONE) as (world, session, left):
        await ask(world, "edit/resolve", **everything(left))
        await ended(world, left["txn"])
        await world.client.prompt(session, "and now?")
        told = str(world.equipment.script.requests[-1].messages[-1])

    assert (work / "a.py").read_text() == "else\n"
    assert "could not be applied" in told


async def test_a_no_with_words_is_heard_and_changes_nothing(work: Path) -> None:
    async with reopened(work, "one\n", DONE) as (world, session, left):
        await ask(world, "edit/resolve", **everything(left, "reject", feedback="use tabs"))
        await ended(world, left["txn"])
        await world.client.prompt(session, "and now?")
        told = str(world.equipment.script.requests[-1].messages[-1])

    assert (work / "a.py").read_text() == "one\n"
    assert "The person says: use tabs" in told


async def test_it_is_decided_once_also_when_the_session_is_loaded_again(work: Path) -> None:
    async with reopened(work, "one\n") as (world, session, left):
        await ask(world, "edit/resolve", **everything(left))
        await ended(world, left["txn"])
        params = {"sessionId": session, "cwd": str(work), "mcpServers": []}
        await world.client.request("session/load", params)
        now = await ask(world, "edit/get", txn=left["txn"])
        with pytest.raises(Refused) as refused:
            await ask(world, "edit/resolve", **everything(now))

    assert refused.value.data["reason"] == "already_decided"


async def test_one_of_a_session_that_was_closed_is_not_decided_any_more(work: Path) -> None:
    async with reopened(work, "one\n") as (world, session, left):
        await world.client.request("session/close", {"sessionId": session})
        with pytest.raises(Refused) as refused:
            await ask(world, "edit/resolve", **everything(left))

    assert refused.value.data["reason"] == "unknown_txn"
    assert (work / "a.py").read_text() == "one\n"


async def test_one_of_a_session_that_was_deleted_is_known_to_nobody(work: Path) -> None:
    async with reopened(work, "one\n") as (world, session, left):
        await world.client.request("session/delete", {"sessionId": session})
        with pytest.raises(Refused) as refused:
            await ask(world, "edit/get", txn=left["txn"])

    assert refused.value.data["reason"] == "unknown_txn"


async def test_an_edit_that_was_taken_up_can_be_taken_back(work: Path) -> None:
    async with reopened(work, "one\n") as (world, _, left):
        await ask(world, "edit/resolve", **everything(left))
        await ended(world, left["txn"])
        applied = world.client.of("_agent-server/edit/state")[-2]
        await ask(world, "edit/revert", txn=applied["txn"], revision=applied["revision"])

    assert (work / "a.py").read_text() == "one\n"
