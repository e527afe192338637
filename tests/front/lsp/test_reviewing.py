"""Deciding on edits, looking at them and taking them back by command, however the client is asked."""

import json
from pathlib import Path
from typing import Any

import pytest

from agent_server.loop.action import Decision
from agent_server.session.edits import SessionEdits
from tests.fakes.edits import asking
from tests.fakes.loop import FakePolicy, Say
from tests.front.lsp.lsp_client import PLUGIN, STOCK, Refused
from tests.front.lsp.test_conversation import DONE, EDIT, NEW, OLD, file
from tests.front.lsp.test_stock import ended, page_of, picking
from tests.front.lsp.world import World, served

pytestmark = pytest.mark.anyio

HALF = "ONE\ntwo\nthree\nfour\n"
OWN: dict[str, Any] = PLUGIN["experimental"]["agent"]
DIFFS: dict[str, Any] = {
    "experimental": {"agent": {**OWN, "editor": {"save": True, "openDiff": True}}}
}


async def decide(world: World, accepted: int, *, revision: int | None = 1) -> None:
    """Accept one hunk and reject the other."""
    [entry] = [
        m["params"] for m in world.client.received if m.get("method") == "agent/edit/proposed"
    ]
    [changed] = entry["files"]
    for number, hunk in enumerate(changed["hunks"]):
        name = "agent.acceptHunk" if number == accepted else "agent.rejectHunk"
        named = {"txn": entry["txn"], "uri": changed["uri"], "hunk": hunk["id"]}
        if revision is not None:
            named["revision"] = revision + number
        await world.client.command(name, named)


async def test_hunks_are_decided_by_command_one_by_one(tmp_path: Path) -> None:
    async with served(tmp_path, EDIT, DONE, policy=asking("edit")) as world:
        path = file(world)
        session = await world.client.new(world.root)
        params = {"sessionId": session, "prompt": [{"type": "text", "text": "go"}]}
        asked = await world.client.ask("agent/session/prompt", params)
        await world.client.hears("agent/edit/proposed")
        await decide(world, 0)
        await world.client.response(asked)

        assert path.read_text() == HALF


async def test_a_hunk_seen_at_an_older_revision_is_not_decided(tmp_path: Path) -> None:
    async with served(tmp_path, EDIT, DONE, policy=asking("edit")) as world:
        path = file(world)
        await world.client.command("agent.prompt", "go")
        await world.client.hears("agent/edit/proposed")
        with pytest.raises(Refused) as refused:
            await decide(world, 0, revision=0)
        await world.client.command("agent.rejectAll")

        assert refused.value.code == -32801
        assert path.read_text() == OLD


async def test_what_the_message_accepts_is_what_no_command_decided(tmp_path: Path) -> None:
    """A stock client: the first hunk is rejected by its code lens, then the message is accepted."""
    async with served(
        tmp_path, EDIT, DONE, policy=asking("edit"), capabilities=STOCK, answers=picking()
    ) as world:
        path = file(world)
        await world.client.command("agent.prompt", "go")
        question = await world.client.until(
            lambda m: m.get("method") == "window/showMessageRequest"
        )
        lenses = await world.client.request(
            "textDocument/codeLens", {"textDocument": {"uri": path.as_uri()}}
        )
        [reject, _] = [lens["command"] for lens in lenses if lens["command"]["title"] == "Reject"]
        await world.client.command(reject["command"], *reject["arguments"])
        await world.client.tell({"id": question["id"], "result": {"title": "Accept"}})
        await ended(world)

        assert path.read_text() == "one\ntwo\nthree\nFOUR\n"


async def test_an_edit_that_nobody_proposed_is_unknown(tmp_path: Path) -> None:
    async with served(tmp_path, capabilities=STOCK) as world:
        for name in ("acceptHunk", "rejectHunk"):
            with pytest.raises(Refused) as refused:
                await world.client.command(
                    f"agent.{name}", {"txn": "x", "uri": "file:///w/a.py", "hunk": "h"}
                )
            assert (refused.value.data or {})["reason"] == "unknown_txn"


async def test_the_last_edit_is_shown_as_a_diff(tmp_path: Path) -> None:
    async with served(tmp_path, EDIT, DONE, capabilities=STOCK) as world:
        file(world)
        await world.client.command("agent.prompt", "go")
        await ended(world)
        await world.client.command("agent.showChanges")
        shown = page_of(await world.client.hears("window/showDocument"))

        assert "-one\n+ONE" in shown.read_text()


async def test_a_client_with_a_diff_view_is_asked_to_open_it(tmp_path: Path) -> None:
    shows: dict[str, Any] = {"agent/editor/openDiff": lambda *_: {"shown": True}}
    async with served(
        tmp_path, EDIT, DONE, policy=asking("edit"), capabilities=DIFFS, answers=shows
    ) as world:
        path = file(world)
        await world.client.command("agent.prompt", "go")
        proposed = await world.client.hears("agent/edit/proposed")
        await world.client.command("agent.showChanges")
        opened = await world.client.hears("agent/editor/openDiff")
        await world.client.command("agent.rejectAll")

        assert (opened["txn"], [f["uri"] for f in opened["files"]]) == (
            proposed["txn"],
            [path.as_uri()],
        )


async def test_where_nothing_was_proposed_there_is_nothing_to_show(tmp_path: Path) -> None:
    async with served(tmp_path, capabilities=STOCK) as world:
        await world.client.command("agent.showChanges")

        assert await ended(world) == "There is no change of the agent's to show"


async def test_the_last_edit_is_taken_back(tmp_path: Path) -> None:
    async with served(tmp_path, EDIT, DONE, capabilities=STOCK) as world:
        path = file(world)
        await world.client.command("agent.prompt", "go")
        await ended(world)
        assert path.read_text() == NEW
        await world.client.command("agent.undo")
        await world.client.until(lambda m: "Taken back: a.py" in str(m))

        assert path.read_text() == OLD


async def test_the_last_turn_is_taken_back_in_a_client_of_ours(tmp_path: Path) -> None:
    async with served(tmp_path, EDIT, DONE) as world:
        path = file(world)
        session = await world.client.new(world.root)
        await world.client.prompt(session, "go")
        await world.client.command("agent.undo", {"sessionId": session, "turn": True})
        await world.client.until(lambda m: "Taken back: a.py" in str(m))

        assert path.read_text() == OLD
        states = [s["state"] for s in world.client.of("agent/edit/state")]
        assert states[-1] == "applied"  # taking back is an edit of its own


async def test_where_nothing_was_edited_undo_says_so(tmp_path: Path) -> None:
    async with served(tmp_path, capabilities=STOCK) as world:
        await world.client.command("agent.undo")

        assert await ended(world) == "there is no edit to take back"


async def test_an_edit_of_a_session_that_was_closed_is_not_shown(tmp_path: Path) -> None:
    async with served(tmp_path, EDIT, DONE, capabilities=STOCK) as world:
        file(world)
        started = await world.client.command("agent.prompt", "go")
        await ended(world)
        closed = {"sessionId": started["sessionId"]}
        await world.client.request("agent/session/close", closed)
        await world.client.command("agent.showChanges")

        await world.client.until(lambda m: "There is no change of the agent's" in str(m))


async def test_what_a_command_breaks_afterwards_breaks_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(self: SessionEdits, *, turn: bool) -> None:
        raise RuntimeError("/home/me/secret")

    monkeypatch.setattr(SessionEdits, "undo", broken)
    async with served(tmp_path, capabilities=STOCK) as world:
        await world.client.command("agent.undo")

        assert await ended(world) == "The command failed; the server's log says more"
        assert await world.client.command("agent.cancel") is None


async def test_accepting_all_leaves_out_what_is_asked_about_by_itself(tmp_path: Path) -> None:
    """An edit on the floor (outside the workspace, say) is accepted by its name, or when it is the only one."""
    outside = Decision("ask", "outside the workspace: /x/b.py", floor=True, scopes=("once",))
    policy = FakePolicy({"edit": Decision("ask", "why not"), "write": outside})
    write = Say("", (("write", json.dumps({"path": "b.py", "content": "b\n"})),))
    async with served(tmp_path, EDIT, write, DONE, DONE, policy=policy) as world:
        client, path = world.client, file(world)
        turns: list[int] = []
        for count in (1, 2):
            session = await client.new(world.root)
            params = {"sessionId": session, "prompt": [{"type": "text", "text": "go"}]}
            turns.append(await client.ask("agent/session/prompt", params))
            await client.until(lambda _, n=count: len(client.of("agent/edit/proposed")) == n)
        await client.command("agent.acceptAll")
        await client.response(turns[0])
        said = await client.hears("window/showMessage")
        waiting = not (world.root / "b.py").exists()
        await client.command("agent.acceptAll")
        await client.response(turns[1])

        assert (path.read_text(), waiting) == (NEW, True)
        assert said["message"] == "b.py is asked about by itself: outside the workspace: /x/b.py"
        assert (world.root / "b.py").read_text() == "b\n"
