"""`agent/edit/revert` and `agent/checkpoint/*` over LSP, on documents that are open in the editor."""

from pathlib import Path

import pytest

from tests.fakes.loop import Say
from tests.front.lsp.test_conversation import DONE, EDIT, NEW, OLD, file
from tests.front.lsp.world import served

pytestmark = pytest.mark.anyio


async def test_a_restored_document_is_changed_in_the_editor_and_not_beneath_it(
    tmp_path: Path,
) -> None:
    async with served(tmp_path, EDIT, DONE) as world:
        client, path = world.client, file(world)
        await client.open(path, OLD)
        session = await client.new(world.root)
        await client.prompt(session, "go")
        assert client.buffers[path.as_uri()][1] == NEW
        listed = await client.request("agent/checkpoint/list", {"sessionId": session})
        (checkpoint,) = listed["checkpoints"]
        done = await client.request(
            "agent/checkpoint/restore",
            {"sessionId": session, "id": checkpoint["id"], "dryRun": False},
        )
        assert client.buffers[path.as_uri()][1] == OLD
        undo = {"sessionId": session, "id": done["undo"], "dryRun": False}
        await client.request("agent/checkpoint/restore", undo)

    assert client.buffers[path.as_uri()][1] == NEW
    assert path.read_text() == OLD


async def test_an_edit_is_taken_back_beside_what_the_person_typed_since(tmp_path: Path) -> None:
    async with served(tmp_path, EDIT, DONE) as world:
        client, path = world.client, file(world)
        await client.open(path, OLD)
        session = await client.new(world.root)
        await client.prompt(session, "go")
        await client.type(path.as_uri(), NEW.replace("two\nthree\n", "two\nmine\nthree\n"))
        last = client.of("agent/edit/state")[-1]
        wanted = {"txn": last["txn"], "revision": last["revision"]}
        answer = await client.request("agent/edit/revert", wanted)

    assert answer["left"] == []
    assert client.buffers[path.as_uri()][1] == OLD.replace("two\nthree\n", "two\nmine\nthree\n")


async def test_a_session_without_edits_has_no_checkpoints(tmp_path: Path) -> None:
    async with served(tmp_path, Say("hello")) as world:
        session = await world.client.new(world.root)
        listed = await world.client.request("agent/checkpoint/list", {"sessionId": session})

    assert listed == {"checkpoints": []}
