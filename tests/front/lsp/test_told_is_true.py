"""Random sequences over an editor that reports late, in parts, before or after its answer, or not at all.

After each turn: what the model was told = what the editor shows = what the disk has. `SEQUENCES=500` runs more.
"""

import json
import os
import random
import re
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import TaskGroup

from agent_server.edits.hashes import content_hash
from agent_server.front.lsp import editor as lsp_editor
from agent_server.loop.action import Decision
from tests.fakes.acp_client import prompt_params
from tests.fakes.loop import FakePolicy, Say
from tests.front.lsp.lsp_client import PLUGIN, LspClient, apply_text_edits, text_edit
from tests.front.lsp.world import World, served

pytestmark = pytest.mark.anyio

SEQUENCES = int(os.environ.get("SEQUENCES", "4"))
STEPS = 8
ASKING = FakePolicy({"edit": Decision("ask", "why not")})
CAPABLE = json.loads(json.dumps(PLUGIN))
CAPABLE["experimental"]["agent"]["editor"]["reload"] = True
MANNERS = ("prompt", "late", "split", "answer_first", "typed_before", "lies", "never")
OFTEN = (8, 6, 8, 6, 4, 2, 1)
DECISIONS = ("all", "some", "none", "edited", "leave")


class Hands:
    """A user, an editor and an agent over three files, as a seed has them act."""

    def __init__(self, root: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self.root = root
        self.paths = [root / f"{name}.txt" for name in "abc"]
        self.dirty: set[str] = set()
        self.words = 0
        self.manner = "prompt"
        self.done: list[str] = []
        self.later: TaskGroup
        """Reports what comes after its answer."""

    def word(self) -> str:
        self.words += 1
        return f"word{self.words}"

    def changed(self, text: str, count: int) -> tuple[str, list[dict[str, str]]]:
        """The text with some of its lines replaced, and the edits that a model would make for it."""
        lines = text.split("\n")[:-1]
        places = sorted(self.chance.sample(range(len(lines)), min(count, len(lines))))
        pairs = [{"old_text": f"{lines[n]}\n", "new_text": f"{self.word()}\n"} for n in places]
        for place, pair in zip(places, pairs, strict=True):
            lines[place] = pair["new_text"][:-1]
        return "".join(f"{line}\n" for line in lines), pairs

    # ---- the editor --------------------------------------------------------------------------------

    async def apply(self, client: LspClient, message: Any) -> Any:
        params = message["params"]
        uri, manner = params["uri"], self.manner
        if manner == "typed_before":
            self.manner = "prompt"  # once
            await self.type(client, uri)
        if uri not in client.buffers:
            return {"outcome": "failed", "reason": "not open"}
        version, base = client.buffers[uri]
        if version != params["version"] or content_hash(base) != params["baseHash"]:
            return {"outcome": "stale", "version": version, "hash": content_hash(base)}
        if manner == "lies":
            return {"outcome": "applied", "version": version}
        edits = [text_edit(edit) for edit in params["edits"]]
        wanted = apply_text_edits(base, edits, client.encoding)
        self.dirty.add(uri)
        count = len(edits) if manner == "split" else 1
        client.buffers[uri] = (version + count, wanted)
        said = {"outcome": "applied", "version": version + count}
        if manner == "never":
            return said
        parts = [
            apply_text_edits(base, edits[len(edits) - n :], client.encoding)
            for n in range(1, count)
        ]
        report = self.report(client, uri, version, [*parts, wanted])
        if manner in ("late", "split", "answer_first"):
            self.later.start_soon(report)
        else:
            await report()
        return {**said, "hash": content_hash(wanted)} if self.chance.random() < 0.5 else said

    def report(self, client: LspClient, uri: str, version: int, texts: list[str]) -> Any:
        """The notifications of a change, one for each text, as the manner has them."""
        pause = {"late": 0.06, "split": 0.02}.get(self.manner, 0.0)

        async def send() -> None:
            for n, text in enumerate(texts, 1):
                await anyio.sleep(pause)
                document = {"uri": uri, "version": version + n}
                changes = {"textDocument": document, "contentChanges": [{"text": text}]}
                await client.notify("textDocument/didChange", changes)

        return send

    async def reload(self, client: LspClient, message: Any) -> Any:
        documents: list[Any] = []
        for uri in message["params"]["uris"]:
            if uri in self.dirty:
                documents.append({"uri": uri, "outcome": "modified"})
                continue
            await client.type(uri, await anyio.Path(path_of(uri)).read_text())
            version = client.buffers[uri][0]
            documents.append({"uri": uri, "outcome": "reloaded", "version": version})
        return {"documents": documents}

    # ---- the user ----------------------------------------------------------------------------------

    async def type(self, client: LspClient, uri: str) -> None:
        text, _ = self.changed(client.buffers[uri][1], 1)
        self.dirty.add(uri)
        await client.type(uri, text)

    async def something(self, client: LspClient) -> None:
        """What users do between turns."""
        path = self.chance.choice(self.paths)
        uri = path.as_uri()
        if uri not in client.buffers:
            if self.chance.random() < 0.7:
                await client.open(path, path.read_text())
            return
        match self.chance.choice(("type", "type", "save", "close", "nothing")):
            case "type":
                await self.type(client, uri)
            case "save":
                path.write_text(client.buffers[uri][1])
                self.dirty.discard(uri)
                await client.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
            case "close":
                del client.buffers[uri]
                self.dirty.discard(uri)
                await client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
            case _:
                pass

    # ---- turns -------------------------------------------------------------------------------------

    def truth(self, client: LspClient, path: Path) -> str:
        """What the user sees of a file."""
        uri = path.as_uri()
        return client.buffers[uri][1] if uri in client.buffers else path.read_text()

    async def edits(self, world: World, session: str) -> bool:
        """A turn with an edit; whether it was left open."""
        client, path = world.client, self.chance.choice(self.paths)
        base = self.truth(client, path)
        _, pairs = self.changed(base, self.chance.randint(1, 4))
        self.manner = self.chance.choices(MANNERS, OFTEN)[0]
        decision = self.chance.choice(DECISIONS)
        self.done.append(f"edit {path.name} {len(pairs)} {self.manner} {decision}")
        call = ("edit", json.dumps({"path": path.name, "edits": pairs}))
        world.equipment.script.steps[:] = [Say("", (call,)), Say("Done.")]
        seen = {shown["txn"] for shown in client.of("agent/edit/proposed")}
        turn = await client.ask("agent/session/prompt", prompt_params(session, "go"))
        message = await client.until(
            lambda m: m.get("method") == "agent/edit/proposed" and m["params"]["txn"] not in seen
        )
        shown = message["params"]
        await self.decide(client, shown, decision, pairs)
        if decision == "leave":
            return True
        await client.response(turn)
        result = world.equipment.script.requests[-1].messages[-1]
        await self.judge(client, path, base, shown["txn"], str(result))
        return False

    async def decide(
        self, client: LspClient, shown: Any, decision: str, pairs: list[dict[str, str]]
    ) -> None:
        (file,) = shown["files"]
        uri, ids = file["uri"], [hunk["id"] for hunk in file["hunks"]]
        match decision:
            case "some" | "leave":
                verdicts = [
                    {"uri": uri, "hunk": id, "verdict": self.chance.choice(("accept", "reject"))}
                    for id in (ids if decision == "some" else ids[:-1])
                ]
                if verdicts:
                    await client.resolve(shown, *verdicts)
            case "edited":
                mine = file["newText"] + f"{self.word()}\n"
                verdict = {"uri": uri, "verdict": "accept", "editedText": mine}
                await client.resolve(shown, verdict)
            case _:
                verdict = {"verdict": "accept" if decision == "all" else "reject"}
                await client.resolve(shown, verdict)

    async def judge(self, client: LspClient, path: Path, base: str, txn: str, result: str) -> None:
        """What was said of the edit is what stands, once the editor has reported all that it will."""
        last = [s for s in client.of("agent/edit/state") if s["txn"] == txn][-1]
        now = self.truth(client, path)
        (file,) = last["files"]
        if last["state"] in ("applied", "committed"):
            assert file["hash"] == content_hash(now), (self.done, last, now)
        elif self.manner != "never":  # an editor that never reports is told of as unknown
            assert now == base or self.manner == "prompt", (self.done, last, base, now)
        said = re.search(r"applied|nothing|reject|conflict|unknown|not|changed", result)
        assert said is not None, (self.done, result)
        if self.manner == "never" and path.as_uri() in client.buffers:
            version, text = client.buffers[path.as_uri()]
            client.buffers[path.as_uri()] = (version - 1, text)
            await client.type(path.as_uri(), text)  # it comes to its senses

    async def command(self, world: World, session: str) -> None:
        """A command that changes a file, and is followed by a look at all of them."""
        path = self.chance.choice(self.paths)
        self.done.append(f"command {path.name}")
        call = ("shell", json.dumps({"command": f"echo {self.word()} >> {path.name}"}))
        await self.turn(world, session, call)
        told = str(world.equipment.script.requests[-1].messages[-1])
        uri = path.as_uri()
        if uri in world.client.buffers and uri in self.dirty:
            assert path.name in told, (self.done, told)

    async def turn(self, world: World, session: str, *calls: tuple[str, str]) -> None:
        world.equipment.script.steps[:] = [Say("", calls), Say("Done.")]
        await world.client.prompt(session, "go")

    async def look(self, world: World, session: str) -> None:
        """What `read` tells of each file is what the user sees of it."""
        for path in self.paths:
            await self.turn(world, session, ("read", json.dumps({"path": path.name})))
            message = world.equipment.script.requests[-1].messages[-1]
            told = re.findall(r"(?:^|\\n|'|\")\d+\\t([^\\'\"]*)", repr(message))
            assert told == self.truth(world.client, path).split("\n")[:-1], (self.done, path.name)

    async def took_up(self, world: World, session: str) -> None:
        """After a reload: the edit that was left open is decided, and the files are what was said."""
        client = world.client
        left = [s for s in client.of("agent/edit/state") if s["state"] == "abandoned"]
        assert left, self.done
        verdict = self.chance.choice(("accept", "reject"))
        self.done.append(f"took up {verdict}")
        waiting = left[-1]
        await client.resolve(waiting, {"verdict": verdict})
        await client.until(
            lambda m: (
                m.get("method") == "agent/edit/state"
                and m["params"]["txn"] == waiting["txn"]
                and m["params"]["files"][0]["message"] is not None
            )
        )


def path_of(uri: str) -> str:
    return uri.removeprefix("file://")


@pytest.mark.parametrize("seed", range(SEQUENCES))
async def test_what_is_told_is_what_stands_whatever_the_editor_reports_when(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lsp_editor, "PROOF_S", 0.4)
    root = tmp_path / "w"
    root.mkdir()
    hands = Hands(root, seed)
    for path in hands.paths:
        path.write_text("".join(f"{hands.word()}\n" for _ in range(8)))
    session, left = "", False
    buffers: dict[str, tuple[int, str]] = {}
    steps = 0
    while steps < STEPS:
        answers = {"agent/edit/apply": hands.apply, "agent/editor/reload": hands.reload}
        async with AsyncExitStack() as stack:
            world = await stack.enter_async_context(
                served(tmp_path, policy=ASKING, capabilities=CAPABLE, answers=answers, seconds=60)
            )
            hands.later = await stack.enter_async_context(anyio.create_task_group())
            for uri, (_, text) in buffers.items():
                await world.client.open(Path(path_of(uri)), text)
            if session:
                params = {"sessionId": session, "uri": root.as_uri(), "mcpServers": []}
                await world.client.request("agent/session/load", params)
            else:
                session = await world.client.new(root)
            if left:
                await world.client.hears("agent/edit/state")
                await hands.took_up(world, session)
                await hands.look(world, session)
            left = False
            while steps < STEPS and not left:
                steps += 1
                await hands.something(world.client)
                if hands.chance.random() < 0.7:
                    left = await hands.edits(world, session)
                else:
                    await hands.command(world, session)
                if not left:
                    await hands.look(world, session)
            buffers = dict(world.client.buffers)
            await world.client.notify("exit")
