"""The plugin's pure modules, and its style, by the tools that Lua has for them."""

import subprocess
from pathlib import Path

import pytest

from tests.e2e.nvim_support import NVIM, PLUGIN

STYLUA = Path(__file__).parent / "clients" / "node_modules" / ".bin" / "stylua"


@pytest.mark.parametrize("spec", ["spec", "help"])
def test_what_the_plugin_says_of_itself_in_lua_holds(spec: str, tmp_path: Path) -> None:
    """`spec` is about the pure modules; `help` compares `:help agent` with the code, both ways."""
    done = subprocess.run(
        [NVIM, "--clean", "-l", PLUGIN / "tests" / f"{spec}.lua"],
        env={"XDG_STATE_HOME": str(tmp_path)}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
    assert " checks, 0 failures" in done.stdout + done.stderr


@pytest.mark.parametrize("module", ["diff", "proposal", "transcript", "render", "ending"])
def test_a_pure_module_does_not_touch_the_editor(module: str) -> None:
    text = (PLUGIN / "lua" / "agent" / f"{module}.lua").read_text()

    assert [
        name for name in ("vim.api", "vim.fn", "vim.cmd", "vim.bo", "vim.schedule") if name in text
    ] == []


def test_loading_the_plugin_loads_nothing_behind_it(tmp_path: Path) -> None:
    """A start of Neovim pays for one small file."""
    code = "for name in pairs(package.loaded) do if vim.startswith(name, 'agent') then print(name) end end"
    done = subprocess.run(
        [NVIM, "--clean", "--headless", "--cmd", f"set rtp^={PLUGIN}", "-c", f"lua {code}", "-c", "qa!"],
        env={"XDG_STATE_HOME": str(tmp_path)}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip

    assert done.stdout + done.stderr == ""


def test_the_lua_is_formatted() -> None:
    done = subprocess.run(
        [STYLUA, "--check", PLUGIN],
        cwd=PLUGIN,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
