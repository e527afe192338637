"""Random hands in a real Neovim: what the model was told is what buffers and disk have, after every edit.

`SEQUENCES=500` runs more of them; each is a seed, and a failure names it.
"""

import os
import random
from pathlib import Path

import pytest

from tests.e2e.nvim_oracle import Model, call, model, patched
from tests.e2e.nvim_support import Desk, Editor, editor

SEQUENCES = int(os.environ.get("SEQUENCES", "30"))
FIRST = int(os.environ.get("FIRST_SEQUENCE", "0"))
STEPS = 2


class Hands:
    """One sequence: a file of its own, a model that edits it, and a user who types, undoes and judges."""

    def __init__(self, nvim: Editor, llm: Model, seed: int) -> None:
        self.nvim, self.llm, self.seed = nvim, llm, seed
        self.random = random.Random(seed)
        self.count = 0
        self.name = f"f{seed}.txt"
        self.path = nvim.desk.file(self.name)
        self.path.write_text("".join(f"{seed}-{n}\n" for n in range(24)))
        nvim.nvim.command(f"edit! {self.path}")

    def lines(self) -> list[str]:
        return self.nvim.lines(self.name)

    def fresh(self) -> str:
        self.count += 1
        return f"{self.seed}+{self.count}"

    def run(self) -> None:
        for _ in range(STEPS):
            actions = [self.type, self.type, self.undo, self.redo, self.save]
            for action in self.random.choices(actions, k=2):
                action()
            edit = [self.edit] * 4
            self.random.choice([*edit, self.create, self.move, self.delete, self.command])()
            if not self.path.exists():
                return

    # ---- what the user does

    def keys(self, keys: str) -> None:
        self.nvim.type(keys)
        self.nvim.wait("vim.api.nvim_get_mode().mode == 'n' and vim.fn.getchar(1) == 0")

    def type(self) -> None:
        row = self.random.randint(1, len(self.lines()))
        self.keys(f"{row}G{self.random.choice('oO')}{self.fresh()}<Esc>")

    def undo(self) -> None:
        self.keys("u")

    def redo(self) -> None:
        self.keys("<C-r>")

    def save(self) -> None:
        self.nvim.command("silent write")

    # ---- what the model does, and what it is told

    def ask(self, *calls: dict[str, object]) -> None:
        self.llm.say(*calls)
        self.nvim.wait_idle()
        self.nvim.command("Agent ask go on")
        self.nvim.wait("require('agent.review').count() > 0")

    def settled(self) -> str:
        self.nvim.wait_hunks_gone()
        self.nvim.wait_idle()
        return self.llm.told[0]

    def edit(self) -> None:
        base = self.lines()
        unique = [line for line in dict.fromkeys(base) if base.count(line) == 1 and line]
        chosen = self.random.sample(unique, k=min(len(unique), self.random.randint(1, 4)))
        edits = [{"old_text": f"{line}\n", "new_text": self.instead(line)} for line in chosen]
        self.ask(call("edit", path=self.name, edits=edits), call("read", path=self.name))
        how = self.random.choice(["all", "none", "some", "typed"])
        if how == "typed":
            free = [n for n, line in enumerate(base) if line not in chosen]
            self.keys(f"{self.random.choice(free) + 1}GA{self.fresh()}<Esc>")
            base = self.lines()
        self.judge("some" if how == "some" else "reject all" if how == "none" else "accept all")
        told = self.settled()
        assert patched(base, told) == self.lines(), f"seed {self.seed}: {told}"
        self.read_is_the_buffer()

    def instead(self, line: str) -> str:
        """Nothing, another line, or one more."""
        return self.random.choice(["", f"{self.fresh()}\n", f"{line}\n{self.fresh()}\n"])

    def judge(self, how: str) -> None:
        if how != "some":
            return self.nvim.command(f"Agent {how}")
        while left := self.nvim.lua("return #require('agent.review').pending()"):
            verdict = self.random.choice(["accept", "reject"])
            self.nvim.lua(
                """
                local review, verdict = require("agent.review"), ...
                review.decide(review.pending()[1], verdict, false)""",
                verdict,
            )
            self.nvim.wait("#require('agent.review').pending() < ...", left)
        return None

    def read_is_the_buffer(self) -> None:
        read = self.llm.told[-1]
        for line in self.lines():
            assert line in read, f"seed {self.seed}: {line!r} is not in what was read: {read}"

    def command(self) -> None:
        """A command changes the file of a buffer without unsaved changes: it is read again before the model reads."""
        word = self.fresh()
        self.save()
        self.llm.say(
            call("shell", command=f"echo {word} >> {self.name}"), call("read", path=self.name)
        )
        self.nvim.wait_idle()
        self.nvim.command("Agent ask go on")
        self.nvim.wait('require("agent.questions").count() == 1')
        self.nvim.lua("vim.ui.select = function(items, _, done) done(items[1], 1) end")
        self.nvim.command("Agent answer")
        self.nvim.wait("vim.fn.getline('$') == ...", word)
        self.nvim.wait_idle()
        assert self.path.read_text().splitlines() == self.lines(), f"seed {self.seed}"
        self.read_is_the_buffer()

    def create(self) -> None:
        name, text = f"n{self.seed}-{self.count}.txt", self.fresh()
        self.count += 1
        patch = f"*** Begin Patch\n*** Add File: {name}\n+{text}\n*** End Patch\n"
        self.ask(call("patch", patch=patch))
        is_shown = self.random.random() < 0.7
        if is_shown:
            self.nvim.command("Agent next")
            self.nvim.wait("vim.fn.expand('%:t') == ...", name)
        self.judge("accept all")
        told = self.settled()
        assert f"created {name}" in told, f"seed {self.seed}: {told}"
        assert self.nvim.desk.file(name).read_text() == f"{text}\n", f"seed {self.seed}"
        if is_shown:
            assert self.nvim.lines(name) == [text], f"seed {self.seed}"
            assert self.nvim.lua("return vim.bo.modified") is False
        self.nvim.command(f"buffer {self.name}")

    def move(self) -> None:
        new, lines = f"m{self.seed}-{self.count}.txt", self.lines()
        self.count += 1
        was_dirty = self.nvim.lua("return vim.bo.modified")
        patch = (
            f"*** Begin Patch\n*** Update File: {self.name}\n*** Move to: {new}\n*** End Patch\n"
        )
        self.ask(call("patch", patch=patch))
        self.judge("accept all")
        told = self.settled()
        assert "renamed" in told, f"seed {self.seed}: {told}"
        assert not self.path.exists(), f"seed {self.seed}"
        self.name, self.path = new, self.nvim.desk.file(new)
        assert self.path.exists(), f"seed {self.seed}"
        assert self.lines() == lines, f"seed {self.seed}"
        assert self.nvim.lua("return vim.bo.modified") is was_dirty

    def delete(self) -> None:
        patch = f"*** Begin Patch\n*** Delete File: {self.name}\n*** End Patch\n"
        self.ask(call("patch", patch=patch))
        how = self.random.choice(["accept all", "reject all"])
        before = self.lines()
        self.judge(how)
        told = self.settled()
        if how == "accept all":
            assert f"deleted {self.name}" in told, f"seed {self.seed}: {told}"
            assert not self.path.exists(), f"seed {self.seed}"
            assert self.nvim.lua("return vim.fn.bufexists(...)", str(self.path)) == 0
        else:
            assert (self.path.exists(), self.lines()) == (True, before), f"seed {self.seed}"


@pytest.mark.timeout(120 + 12 * SEQUENCES)
def test_what_the_model_was_told_is_what_buffers_and_disk_have(tmp_path: Path) -> None:
    with model() as llm:
        env = {"OPENAI_BASE_URL": llm.base_url, "OPENAI_API_KEY": "k"}
        setup = {
            "settings": {
                "model": "openai/gpt-x",
                "mode": "ask",
            },
            "env": env,
        }
        with editor(Desk.at(tmp_path, a__txt="a\n"), setup=setup) as nvim:
            nvim.lua("vim.o.hidden, vim.o.autowrite = true, false")
            nvim.open("a.txt")
            nvim.lua('require("agent.session").ensure(function() end)')
            nvim.wait('require("agent.session").current()')
            for seed in range(FIRST, FIRST + SEQUENCES):
                Hands(nvim, llm, seed).run()
