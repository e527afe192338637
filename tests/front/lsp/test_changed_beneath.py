"""Files that are changed beneath open documents: reloaded there or said to differ, before they are relied on."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.fakes.loop import Say
from tests.front.lsp.lsp_client import PLUGIN, STOCK, LspClient
from tests.front.lsp.world import World, served

pytestmark = pytest.mark.anyio

OURS = json.loads(json.dumps(PLUGIN))
OURS["experimental"]["agent"].setdefault("editor", {})["reload"] = True
DONE = Say("Done.")
OLD, NEW = "one\ntwo\n", "ONE\ntwo\n"


def call(tool: str, **arguments: Any) -> Say:
    return Say("", ((tool, json.dumps(arguments)),))


SED = call("shell", command="sed -i s/one/ONE/ a.py")
READ = call("read", path="a.py")


async def reloads(client: LspClient, message: Any) -> Any:
    """What a plugin does: a buffer that was typed in is left alone."""
    documents: list[Any] = []
    for uri in message["params"]["uris"]:
        version, text = client.buffers[uri]
        if version > 1 and not text.startswith("on disk"):
            documents.append({"uri": uri, "outcome": "modified", "version": version})
            continue
        on_disk = await anyio.Path(uri.removeprefix("file://")).read_text()
        await client.type(uri, on_disk)
        documents.append({"uri": uri, "outcome": "reloaded", "version": client.buffers[uri][0]})
    return {"documents": documents}


def over(tmp_path: Path, *steps: Say, capabilities: Any = OURS) -> Any:
    answers = {"agent/editor/reload": reloads}
    return served(tmp_path, *steps, capabilities=capabilities, answers=answers)


async def begun(world: World, text: str = OLD) -> tuple[str, str]:
    """A document that is open, and a session."""
    path = world.root / "a.py"
    path.write_text(text)
    return await world.client.open(path, text), await world.client.new(world.root)


def heard(world: World, place: int) -> str:
    """The last result that the model had heard by its n-th request."""
    return str(world.equipment.script.requests[place].messages[-1])


async def test_a_document_whose_file_a_command_changed_is_reloaded_and_the_model_told(
    tmp_path: Path,
) -> None:
    edit = call("edit", path="a.py", edits=[{"old_text": "ONE", "new_text": "1"}])
    async with over(tmp_path, SED, edit, DONE) as world:
        uri, session = await begun(world)
        await world.client.prompt(session, "go")

    assert "open in the editor and changed by the command: a.py (reloaded there)" in heard(world, 1)
    assert world.client.buffers[uri][1] == "1\ntwo\n"
    assert len(world.client.of("agent/editor/reload")) == 1


async def test_one_with_unsaved_changes_is_left_alone_and_said_to_differ_once(
    tmp_path: Path,
) -> None:
    async with over(tmp_path, SED, READ, DONE) as world:
        uri, session = await begun(world)
        await world.client.type(uri, "one, typed\ntwo\n")
        await world.client.prompt(session, "go")

    assert "a.py (not reloaded, because it has unsaved changes" in heard(world, 1)
    assert "the editor and the disk differ" in heard(world, 1)
    assert "not reloaded" not in heard(world, 2)
    assert (world.client.buffers[uri][1], (world.root / "a.py").read_text()) == (
        "one, typed\ntwo\n", NEW,
    )  # fmt: skip


async def test_what_was_only_typed_is_no_change_on_disk(tmp_path: Path) -> None:
    async with over(tmp_path, READ, DONE) as world:
        uri, session = await begun(world)
        await world.client.type(uri, "typed\n")
        await world.client.prompt(session, "go")

    assert world.client.of("agent/editor/reload") == []
    assert "changed on disk" not in heard(world, 1)


async def test_a_file_that_somebody_else_changed_is_reloaded_before_it_is_read(
    tmp_path: Path,
) -> None:
    async with over(tmp_path, READ, DONE) as world:
        _, session = await begun(world)
        (world.root / "a.py").write_text("from git\n")
        await world.client.prompt(session, "go")

    assert "1\\tfrom git" in heard(world, 1)
    assert "open in the editor and changed on disk: a.py (reloaded there)" in heard(world, 1)


@pytest.mark.parametrize("answer", [lambda *_: {"documents": []}, lambda *_: "?", lambda *_: None])
async def test_an_answer_without_a_reload_is_told_as_a_difference(
    tmp_path: Path, answer: Any
) -> None:
    async with served(
        tmp_path, SED, DONE, capabilities=OURS, answers={"agent/editor/reload": answer}
    ) as world:
        _, session = await begun(world)
        await world.client.prompt(session, "go")

    assert "a.py (not reloaded: the editor still shows another text" in heard(world, 1)


async def test_a_client_that_cannot_be_asked_is_told_of_to_the_model(tmp_path: Path) -> None:
    async with over(tmp_path, SED, READ, DONE, capabilities=STOCK) as world:
        _, session = await begun(world)
        await world.client.prompt(session, "go")

    assert "a.py (not reloaded: the editor still shows another text" in heard(world, 1)
    assert "1\\tone" in heard(world, 2)
    assert world.client.of("agent/editor/reload") == []
