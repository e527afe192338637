"""What the editor says of files that changed reaches the model before it edits (ED-15, ED-17)."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from agent_server.edits.outside import Marks
from agent_server.loop.model import Text
from agent_server.loop.ports import UserMessage
from tests.fakes.loop import Say
from tests.front.lsp.lsp_client import PLUGIN, LspClient, Message
from tests.front.lsp.world import World, served

pytestmark = pytest.mark.anyio

READ = Say("", (("read", json.dumps({"path": "a.py"})),))
STEPS = (READ, Say("Read."), Say("Hm."))
TOLD = (
    "(changed since you read it, not by an edit of yours: a.py. "
    "Read again before you rely on what you saw.)"
)
WATCHING: dict[str, Any] = {
    **PLUGIN,
    "workspace": {"didChangeWatchedFiles": {"dynamicRegistration": True}},
}


def heard(world: World) -> list[str]:
    message = world.equipment.script.requests[-1].messages[-1]
    assert isinstance(message, UserMessage)
    return [part.text for part in message.parts if isinstance(part, Text)]


async def read_first(world: World, text: str = "one\n") -> tuple[Path, str]:
    path = world.root / "a.py"
    path.write_text(text)
    session = await world.client.new(world.root)
    return path, session


async def test_what_the_person_types_into_a_file_the_model_read_is_told(tmp_path: Path) -> None:
    async with served(tmp_path, *STEPS) as world:
        path, session = await read_first(world)
        uri = await world.client.open(path, "unsaved\n")
        await world.client.prompt(session, "read it")
        await world.client.type(uri, "typed\n")
        await world.client.prompt(session, "go on")

    assert heard(world) == ["go on", TOLD]


async def test_a_document_closed_without_saving_is_the_disks_again(tmp_path: Path) -> None:
    async with served(tmp_path, *STEPS) as world:
        path, session = await read_first(world)
        uri = await world.client.open(path, "unsaved\n")
        await world.client.prompt(session, "read it")
        await world.client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        await world.client.prompt(session, "go on")

    assert heard(world) == ["go on", TOLD]


async def test_an_editor_that_watches_files_is_asked_to_and_heard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing_but_the_editor_tells(roots: Iterable[str], marks: Marks) -> None:
        marks.covers(tuple(roots))

    def registered(client: LspClient, message: Message) -> None:
        del client, message

    monkeypatch.setattr("agent_server.session.session.watch", nothing_but_the_editor_tells)
    async with served(tmp_path, *STEPS, capabilities=WATCHING) as world:
        world.client.answers["client/registerCapability"] = registered
        path, session = await read_first(world)
        [asked] = (await world.client.hears("client/registerCapability"))["registrations"]
        await world.client.prompt(session, "read it")
        path.write_text("two\n")
        changes = [{"uri": path.as_uri(), "type": 2}, {"uri": "untitled:1", "type": 1}]
        await world.client.notify("workspace/didChangeWatchedFiles", {"changes": changes})
        await world.client.prompt(session, "go on")

    assert asked["method"] == "workspace/didChangeWatchedFiles"
    assert heard(world) == ["go on", TOLD]


async def test_an_editor_that_cannot_watch_is_not_asked(tmp_path: Path) -> None:
    async with served(tmp_path, Say("Hi.")) as world:
        await world.client.prompt(await world.client.new(world.root), "hi")

    assert world.client.of("client/registerCapability") == []
