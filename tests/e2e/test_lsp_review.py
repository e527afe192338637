"""Reviews over LSP through the real program: files that come, go and move, and texts too large to be sent along."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agent_server.edits.hashes import content_hash
from tests.front.lsp.lsp_client import PLUGIN, LspClient, prompt_params
from tests.front.lsp.lsp_process import Running, Step, edit_step, running

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]

DONE: Step = {"text": "Done."}
PATCH = """*** Begin Patch
*** Add File: new.py
+fresh
*** Delete File: gone.py
*** Update File: old.py
*** Move to: moved/new_name.py
@@
-one
+ONE
 two
*** Update File: stays.py
@@
-three
+THREE
*** End Patch"""
STEP: Step = {"text": "I change it.", "calls": [{"name": "patch", "arguments": {"patch": PATCH}}]}
BEFORE = {"gone.py": "gone\n", "old.py": "one\ntwo\n", "stays.py": "three\n"}
LINE = "a line of some length, so that a megabyte is not too many of them {}\n"
LARGE = "".join(LINE.format(number) for number in range(20_000))


@asynccontextmanager
async def asked(home: Path, files: dict[str, str], step: Step) -> AsyncGenerator[Any]:
    """A turn that waits for the review of one proposal: server, the prompt's id, the proposal."""
    async with running(home, step, DONE, capabilities=PLUGIN) as server:
        for name, text in files.items():
            (server.root / name).write_bytes(text.encode())
        await server.client.initialize(server.root)
        session = await server.client.new(server.root)
        turn = await server.client.ask("agent/session/prompt", prompt_params(session, "go"))
        yield server, turn, await server.client.hears("agent/edit/proposed")


def names(server: Running) -> dict[str, str]:
    """The files that there are, and their texts; not those of our own."""
    found = (path for path in server.root.rglob("*.py") if path.is_file())
    return {str(path.relative_to(server.root)): path.read_text() for path in found}


def by_name(server: Running, proposed: Any) -> dict[str, Any]:
    root = server.root.as_uri() + "/"
    return {file["uri"].removeprefix(root): file for file in proposed["files"]}


async def last_state(client: LspClient, turn: int) -> Any:
    """What is said last of the edit, once the turn is over."""
    await client.response(turn)
    return client.of("agent/edit/state")[-1]


async def test_files_that_come_go_and_move_are_shown_as_such_and_made_as_one(
    tmp_path: Path,
) -> None:
    async with asked(tmp_path, BEFORE, STEP) as (server, turn, proposed):
        shown = by_name(server, proposed)
        new, gone = shown["new.py"], shown["gone.py"]
        moved, stays = shown["moved/new_name.py"], shown["stays.py"]
        assert [one["kind"] for one in (new, gone, moved, stays)] == [
            "create",
            "delete",
            "rename",
            "edit",
        ]
        assert (new["baseText"], new["newText"]) == (None, "fresh\n")
        assert (gone["baseText"], gone["newText"]) == ("gone\n", None)
        assert moved["oldUri"] == (server.root / "old.py").as_uri()
        await server.client.resolve(proposed, {"verdict": "accept"})
        state = await last_state(server.client, turn)

        assert names(server) == {
            "new.py": "fresh\n",
            "moved/new_name.py": "ONE\ntwo\n",
            "stays.py": "THREE\n",
        }
        hashes = {name: file["hash"] for name, file in by_name(server, state).items()}
        assert state["state"] == "applied"
        assert hashes == {
            "new.py": content_hash("fresh\n"),
            "gone.py": None,
            "moved/new_name.py": content_hash("ONE\ntwo\n"),
            "stays.py": content_hash("THREE\n"),
        }


async def test_each_of_them_can_be_refused_alone(tmp_path: Path) -> None:
    async with asked(tmp_path, BEFORE, STEP) as (server, turn, proposed):
        shown = by_name(server, proposed)
        verdicts = {"new.py": "accept", "gone.py": "reject", "moved/new_name.py": "reject"}
        first = [{"uri": shown[name]["uri"], "verdict": said} for name, said in verdicts.items()]
        half = await server.client.resolve(proposed, *first)
        assert (half["state"], names(server)) == ("proposed", BEFORE)
        again = await server.client.request("agent/edit/get", {"txn": proposed["txn"]})
        rest = {"uri": shown["stays.py"]["uri"], "verdict": "accept"}
        await server.client.resolve(again, rest)
        state = await last_state(server.client, turn)

        assert state["state"] == "applied"
        assert names(server) == {**BEFORE, "new.py": "fresh\n", "stays.py": "THREE\n"}


async def test_all_of_them_refused_leaves_everything_as_it_was(tmp_path: Path) -> None:
    async with asked(tmp_path, BEFORE, STEP) as (server, turn, proposed):
        await server.client.resolve(proposed, {"verdict": "reject"}, feedback="not now")
        state = await last_state(server.client, turn)

        assert (state["state"], names(server)) == ("rejected", BEFORE)


async def test_texts_above_a_megabyte_are_fetched_and_their_hunks_decided(tmp_path: Path) -> None:
    old = LINE.format(7_000)
    step = edit_step("large.py", old.strip(), "changed")
    async with asked(tmp_path, {"large.py": LARGE}, step) as (server, turn, proposed):
        [file] = proposed["files"]
        [hunk] = file["hunks"]
        assert len(LARGE) > 1024 * 1024
        assert (file["baseText"], file["newText"]) == (None, None)
        assert (hunk["range"]["start"]["line"], hunk["oldText"]) == (7_000, old)
        texts = {
            side: await server.client.request(
                "agent/edit/content", {"txn": proposed["txn"], "uri": file["uri"], "side": side}
            )
            for side in ("base", "new")
        }
        assert texts["base"] == {"text": LARGE}
        assert content_hash(LARGE) == file["baseHash"]
        decision = {"uri": file["uri"], "hunk": hunk["id"], "verdict": "accept"}
        await server.client.resolve(proposed, decision)
        state = await last_state(server.client, turn)

        assert (server.root / "large.py").read_text() == texts["new"]["text"]
        assert state["files"][0]["hash"] == content_hash(texts["new"]["text"])


async def test_an_open_document_above_a_megabyte_is_edited_in_the_editor(tmp_path: Path) -> None:
    step = edit_step("large.py", LINE.format(7_000).strip(), "changed")
    async with running(tmp_path, step, DONE, capabilities=PLUGIN) as server:
        path = server.root / "large.py"
        path.write_text("on disk\n")
        await server.client.initialize(server.root)
        uri = await server.client.open(path, LARGE, version=4)
        session = await server.client.new(server.root)
        turn = await server.client.ask("agent/session/prompt", prompt_params(session, "go"))
        proposed = await server.client.hears("agent/edit/proposed")
        await server.client.resolve(proposed, {"verdict": "accept"})
        state = await last_state(server.client, turn)

        version, text = server.client.buffers[uri]
        assert text == LARGE.replace(LINE.format(7_000), "changed\n")
        assert path.read_text() == "on disk\n"
        [file] = state["files"]
        assert (file["version"], file["hash"]) == (version, content_hash(text))
