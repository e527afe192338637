"""Checks of what the program stands on: Python, the programs it calls, and code that runs before its own."""

import re
import shutil
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from agent_server.commands.findings import Finding
from agent_server.tools.ripgrep import find_ripgrep

OLDEST_PYTHON = (3, 11)
EDITORS = {"nvim": "Neovim", "code": "VS Code", "emacs": "Emacs", "hx": "Helix", "zed": "Zed"}

# What setuptools, virtualenv and an editable installation put there. Judged by the line, not by the file's name.
_USUAL_LINES = re.compile(
    r"import os; var = 'SETUPTOOLS_USE_DISTUTILS'; enabled = os\.environ\.get\(var, 'local'\) == 'local';"
    r" enabled and __import__\('_distutils_hack'\)(\.add_shim\(\))?;?"
    r"|import _virtualenv"
    r"|import (?P<finder>__editable___\w+_finder); (?P=finder)\.install\(\)"
)


def check_python() -> Finding:
    """The interpreter."""
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < OLDEST_PYTHON:
        return Finding("problem", f"Python {version} is too old", "install Python 3.11 or newer")
    return Finding("OK", f"Python {version} ({sys.executable})")


def check_ripgrep() -> Finding:
    """What `search` and `glob` run."""
    if (found := find_ripgrep()) is not None:
        return Finding("OK", f"ripgrep ({found})")
    return Finding(
        "problem", "ripgrep is missing, so `search` and `glob` cannot work", "put `rg` on PATH"
    )


def check_sandbox() -> Finding:
    """What confines shell commands."""
    if sys.platform != "linux":
        return Finding("note", f"no sandbox on {sys.platform}: shell commands run unconfined")
    if (found := shutil.which("bwrap")) is not None:
        return Finding("OK", f"bubblewrap ({found})")
    return Finding("note", "no sandbox: bubblewrap is missing", "install bubblewrap (`bwrap`)")


def check_editors() -> Finding:
    """Editors that could start us."""
    found = [name for program, name in EDITORS.items() if shutil.which(program)]
    if found:
        return Finding("OK", f"editors on PATH: {', '.join(found)}")
    return Finding("note", "no known editor on PATH; `agent-server chat` works without one")


def check_startup_code(folders: frozenset[Path] | None = None) -> Iterator[Finding]:
    """Files that run code at every start of this Python: how a poisoned package stays, and reads every key."""
    if folders is None:
        folders = frozenset(Path(sysconfig.get_path(name)) for name in ("purelib", "platlib"))
    suspects = sorted(suspect for folder in folders for suspect in _suspects(folder))
    for suspect in suspects:
        yield Finding(
            "problem",
            f"{suspect} runs code whenever this Python starts, and no tool we know put it there",
            "find out which package brought it; if none that you trust, make the environment anew "
            "and change your keys",
        )
    if not suspects:
        yield Finding("OK", "no unexpected start-up code in site-packages")


def _suspects(folder: Path) -> Iterator[Path]:
    for name in ("sitecustomize*", "usercustomize*"):
        yield from folder.glob(name)
    for path in folder.glob("*.pth"):
        text = path.read_text("utf-8-sig", "replace")
        code = [
            line.strip() for line in text.splitlines() if line.startswith(("import ", "import\t"))
        ]
        if not all(_USUAL_LINES.fullmatch(line) for line in code):
            yield path
