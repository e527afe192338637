"""Random sequences of what a user and a model do to a few files, in a real VS Code, and what must be true after each.

The oracle: what the model was told of an edit, made to the text as it was before, is the text in the editor, and, where
nothing is unsaved, the file on disk.
"""

import json
import random
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread

from tests.e2e.vscode_support import Lab
from tests.fakes.answers import call, say
from tests.fakes.model_server import ModelServer

STEPS = 2
"""Edits of the model in one sequence, with what the user does between them."""
WAIT_S = 30.0
_SECTION = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@$")

SHOWN = """
const open = vscode.workspace.textDocuments.filter((one) => one.uri.scheme === "file" && !one.isClosed);
return Object.fromEntries(open.map((one) => [one.uri.fsPath, [one.getText(), one.isDirty]]));
"""
SAVE = """
const one = vscode.workspace.textDocuments.find((document) => document.uri.fsPath === a0);
if (one !== undefined) await one.save();
"""


def patched(before: str, told: str) -> str:
    """The text that a unified diff makes of another."""
    old, new, at = before.splitlines(), list[str](), 0
    for row in told.splitlines():
        if section := _SECTION.match(row):
            start, count = int(section[1]), int(section[2] or "1")
            begin = start if count == 0 else start - 1
            new += old[at:begin]
            at = begin
        elif row.startswith(("--- ", "+++ ", "\\")) or not row:
            continue
        elif row[0] == "+":
            new.append(row[1:])
        elif row[0] in " -":
            assert old[at] == row[1:], f"told of {row!r}, where there was {old[at]!r}"
            new += [row[1:]] if row[0] == " " else []
            at += 1
    return "".join(f"{line}\n" for line in [*new, *old[at:]])


@dataclass
class Sequence:
    """One sequence, of one seed."""

    lab: Lab
    model: ModelServer
    folder: Path
    place: Path
    seed: int
    log: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.made = 0
        self.begun = time.monotonic()

    async def run(self) -> None:
        """All of it. A failure says what was done before."""
        for name in "abc":
            text = "".join(f"{name} line {n}\n" for n in range(12))
            (self.folder / f"{self.seed}-{name}.txt").write_text(text)
        try:
            for _ in range(STEPS):
                for _ in range(self.random.randrange(3)):
                    await self._act()
                await self._edit()
            await self._close()
            self._say("done")
        except BaseException:
            print(f"sequence {self.seed}:", *self.log, sep="\n  ")  # noqa: T201 - for who reads the failure
            raise

    # ---- what there is ---------------------------------------------------------------------------

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob(f"{self.seed}-*.txt"))

    async def _host(self, code: str, *given: object) -> Any:
        names = ", ".join(f"a{n}" for n in range(len(given)))
        values = json.dumps(given)
        return await to_thread.run_sync(
            self.lab.run_in_host, f"const [{names}] = {values};\n{code}"
        )

    async def _documents(self) -> dict[str, tuple[str, bool]]:
        return {path: (text, dirty) for path, (text, dirty) in (await self._host(SHOWN)).items()}

    async def _text(self, path: Path) -> str | None:
        shown = (await self._documents()).get(str(path))
        if shown is not None:
            return shown[0]
        return _on_disk(path)

    async def _until(self, holds: Callable[[], Awaitable[bool]], what: str) -> None:
        with anyio.move_on_after(WAIT_S):
            while not await holds():  # noqa: ASYNC110 - nothing tells when VS Code is done
                await anyio.sleep(0.02)
            return
        raise AssertionError(f"not so after {WAIT_S} s: {what}")

    # ---- what the user does ----------------------------------------------------------------------

    def _say(self, what: str) -> None:
        self.log.append(f"{time.monotonic() - self.begun:6.2f} {what}")

    async def _act(self) -> None:
        files = self._files()
        if not files:
            return
        path = self.random.choice(files)
        kind = self.random.choice(["open", "type", "type", "keys", "undo", "save", "close", "disk"])
        self._say(f"{kind} {path.name}")
        match kind:
            case "open":
                await self._show(path)
            case "type":
                await self._type(path)
            case "keys":
                await self._show(path)
                await self._keys(path, f"k{self._next()} ")
            case "undo":
                await self._show(path)
                await self._host('await vscode.commands.executeCommand("undo");')
            case "save":
                await self._host(SAVE, str(path))
            case "close":
                await self._save_and_close(path)
            case _:
                await self._change_on_disk(path)

    def _next(self) -> int:
        self.made += 1
        return self.made

    async def _show(self, path: Path) -> None:
        await self._host(
            "await vscode.window.showTextDocument(vscode.Uri.file(a0), { preview: false });",
            str(path),
        )

    async def _type(self, path: Path) -> None:
        lines = max(1, len((await self._text(path) or "").splitlines()))
        at = self.random.randrange(lines)
        code = """
        const editor = await vscode.window.showTextDocument(vscode.Uri.file(a0), { preview: false });
        await editor.edit((edit) => edit.insert(new vscode.Position(a1, 0), a2));
        """
        await self._host(
            code, str(path), at, self.random.choice(["x", "typed\n"]) + str(self._next())
        )

    async def _keys(self, path: Path, text: str) -> None:
        (self.place / "keys.new").write_text(text)
        (self.place / "keys.new").rename(self.place / "keys")

        async def typed() -> bool:
            return text in (await self._text(path) or "")

        await self._until(typed, "the keys are typed")

    async def _save_and_close(self, path: Path) -> None:
        code = """
        const one = vscode.workspace.textDocuments.find((d) => d.uri.fsPath === a0);
        if (one?.isDirty) await one.save();
        const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
        await vscode.window.tabGroups.close(tabs.filter((tab) => tab.input?.uri?.fsPath === a0));
        """
        await self._host(code, str(path))

    async def _change_on_disk(self, path: Path) -> None:
        """As a command does; VS Code reads it anew where nothing is unsaved."""
        shown = (await self._documents()).get(str(path))
        if shown is not None and shown[1]:
            return
        wanted = f"disk {self._next()}\n{_on_disk(path)}"
        await to_thread.run_sync(path.write_text, wanted)

        async def seen() -> bool:
            now = (await self._documents()).get(str(path))
            return now is None or now[0] == wanted

        await self._until(seen, f"{path.name} is read anew")

    # ---- what the model does ---------------------------------------------------------------------

    async def _edit(self) -> None:
        wanted = await self._wanted()
        if wanted is None:
            return
        self._say(f"model: {wanted.calls}")
        before = {path: await self._text(path) for path in self._files()}
        self.model.script.extend([wanted, say("Done.")])
        asked = len(self.model.exchanges)
        await self._host('void vscode.commands.executeCommand("agent.explain");')
        with anyio.fail_after(WAIT_S):
            await self.model.asked(asked + 1)
        edited = await self._decide(asked + 2)
        with anyio.fail_after(WAIT_S):
            await self.model.asked(asked + 2)
        told = _last_result(self.model.exchanges[asked + 1].body)
        self._say(f"told: {told}")
        await self.model.exchanges[asked + 1].answered.wait()
        await self._check(before, told, edited)

    async def _wanted(self) -> Any:
        files = self._files()
        kind = self.random.choice(["edit", "edit", "edit", "patch", "create", "delete", "rename"])
        if kind == "create" or not files:
            name = f"{self.seed}-n{self._next()}.txt"
            return _patch(f"*** Add File: {name}\n+made {name}\n+second\n")
        path = self.random.choice(files)
        lines = (await self._text(path) or "").splitlines()
        match kind:
            case "delete":
                return _patch(f"*** Delete File: {path.name}\n")
            case "rename":
                return _patch(
                    f"*** Update File: {path.name}\n*** Move to: {self.seed}-r{self._next()}.txt\n"
                )
            case "patch":
                some = self.random.sample(files, min(2, len(files)))
                return _patch("".join([await self._update(one) for one in some]))
            case _:
                picked = sorted(
                    self.random.sample(
                        range(len(lines)), min(len(lines), self.random.randint(1, 3))
                    )
                )
                unique = [
                    lines[at]
                    for at in picked
                    if lines[at] and "\n".join(lines).count(lines[at]) == 1
                ]
                if not unique:
                    return None
                edits = [{"old_text": old, "new_text": f"edit {self._next()}"} for old in unique]
                return call("edit", path=path.name, edits=edits)

    async def _update(self, path: Path) -> str:
        lines = [line for line in (await self._text(path) or "").splitlines() if line]
        if not lines:
            return f"*** Delete File: {path.name}\n"
        old = self.random.choice(lines)
        return f"*** Update File: {path.name}\n@@\n-{old}\n+patch {self._next()}\n"

    # ---- what the user decides -------------------------------------------------------------------

    async def _decide(self, done: int) -> dict[str, str]:
        """Decide all that waits, in one way or another; what stood on edited right sides that were accepted."""
        edited: dict[str, str] = {}
        way = self.random.choice(["all", "all", "hunks", "edited", "edited hunks", "reject"])
        self._say(f"decide: {way}")
        seen: set[str] = set()
        with anyio.fail_after(WAIT_S):
            while len(self.model.exchanges) < done:
                await self._host('await vscode.commands.executeCommand("agent.review");')
                name = await self._host(IN_FRONT)
                if name is None:
                    await anyio.sleep(0.02)
                    continue
                if way.startswith("edited") and name not in seen:
                    seen.add(name)
                    made = await self._host(
                        EDIT_RIGHT, name, self.random.random(), f"mine {self._next()}\n"
                    )
                    self._say(f"right side: {made}")
                    if made is not None and way == "edited":
                        edited[made[0]] = made[1]
                verdict = "reject" if way == "reject" else "accept"
                if way.endswith("hunks"):
                    verdict = self.random.choice(["accept", "reject"])
                await self._host(DECIDE, name, verdict, way.endswith("hunks"))
        return edited

    # ---- the oracle ------------------------------------------------------------------------------

    async def _check(
        self, before: dict[Path, str | None], told: str, edited: dict[str, str]
    ) -> None:
        applied, moved = _applied(told)
        for path, old in before.items():
            now = await self._settled(path)
            block = applied.get(path.name)
            if block is None:
                assert now == old, f"{path.name} changed, and the model was not told"
            elif block == "gone":
                assert now is None, f"{path.name} was told to be gone"
            else:
                assert old is not None
                assert now == patched(old, block), f"{path.name} is not what the model was told"
            if str(path) in edited and block not in (None, "gone"):
                assert now == edited[str(path)], f"{path.name} is not what stood on the right side"
        for path in self._files():
            if path not in before:
                now = await self._settled(path)
                assert path.name in told, f"{path.name} is new, and the model was not told"
                if (
                    source := before.get(path.with_name(moved.get(path.name, path.name)))
                ) is not None:
                    expected = patched(source, applied.get(path.name, ""))
                    assert now == expected, f"{path.name} is not what the model was told"

    async def _settled(self, path: Path) -> str | None:
        """The text in the editor, else on disk; both are the same where nothing is unsaved."""

        async def agrees() -> bool:
            shown = (await self._documents()).get(str(path))
            if shown is None or shown[1]:
                return True
            return shown[0] == _on_disk(path)

        await self._until(agrees, f"{path.name} is on disk as it is shown")
        return await self._text(path)

    async def _close(self) -> None:
        for path in self._files():
            await self._save_and_close(path)
        await self._host(
            'await vscode.commands.executeCommand("workbench.action.closeAllEditors");'
        )
        left = [
            path for path in await self._documents() if Path(path).name.startswith(f"{self.seed}-")
        ]
        for path in left:
            self._say(f"left: {path}")


IN_FRONT = """
const tab = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
const isDiff = tab instanceof vscode.TabInputTextDiff && tab.modified.scheme === "agent-proposal";
return isDiff ? tab.modified.toString() : null;
"""
EDIT_RIGHT = """
const editor = vscode.window.visibleTextEditors.find((one) => one.document.uri.toString() === a0);
if (editor === undefined || editor.document.getText() === "") return null;
const line = Math.floor(a1 * editor.document.lineCount);
const edit = new vscode.WorkspaceEdit();
if (a1 < 0.3) edit.delete(editor.document.uri, editor.document.lineAt(line).rangeIncludingLineBreak);
else edit.insert(editor.document.uri, new vscode.Position(line, 0), a1 < 0.6 ? a2 : "m");
const done = await vscode.workspace.applyEdit(edit);
return done ? [editor.document.uri.fsPath, editor.document.getText()] : null;
"""
DECIDE = """
const uri = vscode.Uri.parse(a0);
const lenses = a2 ? await vscode.commands.executeCommand("vscode.executeCodeLensProvider", uri) : [];
const lens = lenses.find((one) => one.command?.command === `agent.${a1}Hunk`);
const file = { txn: uri.query, uri: uri.with({ scheme: "file", query: "" }).toString() };
if (lens !== undefined) await vscode.commands.executeCommand(lens.command.command, ...lens.command.arguments);
else await vscode.commands.executeCommand(`agent.${a1}File`, file);
"""


def _on_disk(path: Path) -> str | None:
    return path.read_text() if path.exists() else None


def _patch(sections: str) -> Any:
    return call("patch", patch=f"*** Begin Patch\n{sections}*** End Patch\n")


def _last_result(body: dict[str, Any]) -> str:
    last = body["messages"][-1]
    assert last["role"] == "tool", last
    return last["content"]


def _applied(told: str) -> tuple[dict[str, str], dict[str, str]]:
    """By file: the diff that was applied, "gone", or nothing; and the old names of renamed ones by the new."""
    found: dict[str, str] = {}
    moved: dict[str, str] = {}
    rows = told.splitlines()
    at, skipped = 0, False
    name = ""
    while at < len(rows):
        row = rows[at]
        if renamed := re.match(r"renamed (\S+) → (\S+)", row):
            moved[renamed[2].rstrip(",")] = renamed[1]
            found[renamed[1]] = "gone"
        elif deleted := re.match(r"deleted (\S+)", row):
            found[deleted[1]] = "gone"
        if row.startswith(("rejected by the", "nothing was changed", "the edit of")):
            skipped = True
        elif row and row[0] not in "+- @\\":
            skipped = False
        if row.startswith("+++ b/") and not skipped:
            name = row.removeprefix("+++ b/")
            old = rows[at - 1].removeprefix("--- a/")
            if not old.startswith("---") and old != name:
                moved[name], found[old] = old, "gone"
            found.setdefault(name, "")
        elif (
            name and not skipped and row[:1] in ("@", "+", "-", " ") and not row.startswith("--- ")
        ):
            found[name] += row + "\n"
        at += 1
    return found, moved
