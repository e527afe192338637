"""Commands that the server answers itself, over LSP: for a client of ours, and for one that has only `agent.prompt`."""

from pathlib import Path

import pytest

from tests.front.lsp.lsp_client import STOCK
from tests.front.lsp.test_conversation import DONE, EDIT, NEW, OLD, file
from tests.front.lsp.test_stock import ended, messages
from tests.front.lsp.world import served

pytestmark = pytest.mark.anyio


async def test_the_commands_are_told_and_undo_changes_the_open_document(tmp_path: Path) -> None:
    async with served(tmp_path, EDIT, DONE) as world:
        client, path = world.client, file(world)
        await client.open(path, OLD)
        session = await client.new(world.root)
        await client.prompt(session, "go")
        assert client.buffers[path.as_uri()][1] == NEW
        answer = await client.prompt(session, "/undo")
        updates = [one["update"] for one in client.of("agent/session/update")]
        last = client.of("agent/status")[-1]

    assert client.buffers[path.as_uri()][1] == OLD
    assert answer["stopReason"] == "end_turn"
    assert "available_commands_update" in [one["sessionUpdate"] for one in updates]
    assert "Taken back: `a.py`." in client.text()
    assert (last["state"], last["busy"]) == ("done", False)


async def test_a_stock_client_is_answered_by_a_message_and_told_of_no_update(
    tmp_path: Path,
) -> None:
    async with served(tmp_path, capabilities=STOCK) as world:
        await world.client.command("agent.prompt", "/undo")
        answer = await ended(world)
        await world.client.until(lambda m: m.get("method") == "window/showMessage")

        assert answer == "There is no edit of this session to take back."
        assert messages(world) == [answer]
        assert world.client.of("agent/session/update") == []
