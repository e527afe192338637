"""The plugin's pure modules, and its style, by the tools that Lua has for them."""

import subprocess
from pathlib import Path

import pytest

from tests.e2e.nvim_support import NVIM, PLUGIN

STYLUA = Path(__file__).parent / "clients" / "node_modules" / ".bin" / "stylua"


def test_the_pure_modules_do_what_their_spec_says(tmp_path: Path) -> None:
    done = subprocess.run(
        [NVIM, "--clean", "-l", PLUGIN / "tests" / "spec.lua"],
        env={"XDG_STATE_HOME": str(tmp_path)}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 failures" in done.stdout


@pytest.mark.parametrize("module", ["diff", "proposal", "transcript", "render"])
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


def test_the_help_has_its_tags_and_every_subcommand(tmp_path: Path) -> None:
    text = (PLUGIN / "doc" / "agent.txt").read_text()
    code = "for _, name in ipairs(require('agent.command').names()) do print(name) end vim.cmd('helptags ' .. arg[1])"
    doc = tmp_path / "doc"
    doc.mkdir()
    (doc / "agent.txt").write_text(text)
    spec = tmp_path / "names.lua"
    spec.write_text(f"vim.opt.rtp:prepend({str(PLUGIN)!r}) {code}")
    done = subprocess.run(
        [NVIM, "--clean", "-l", spec, doc], capture_output=True, text=True, timeout=60, check=False
    )

    names = (done.stdout + done.stderr).split()
    assert "ask" in names
    assert [name for name in names if f"Agent {name}" not in text] == []
    assert (doc / "tags").exists()


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
