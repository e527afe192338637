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


def test_every_function_says_what_it_takes_and_gives_and_every_type_is_defined(
    tmp_path: Path,
) -> None:
    done = annotations(tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr


def test_annotations_that_are_missing_or_wrong_are_found(tmp_path: Path) -> None:
    folder = tmp_path / "lua"
    folder.mkdir()
    (folder / "wrong.lua").write_text(WRONG)
    said = annotations(tmp_path, folder).stdout

    assert [line for line in COMPLAINTS if line not in said] == []
    assert f"1 files, {len(COMPLAINTS)} problems" in said


def annotations(home: Path, *folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [NVIM, "--clean", "-l", PLUGIN / "tests" / "annotations.lua", *folder],
        env={"XDG_STATE_HOME": str(home)}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


WRONG = """\
local M = {}

---@class a.Thing
---@field used integer
---@field unused string
---@field used integer

---@param known string|a.Unknown of no file
---@param gone fun(thing: a.Thing): a.Other? not taken
function M.takes(known, untold, _)
  return M.early(known)
end

function M.early()
  return vim.notify(M.used)
end

---@return integer
function M.nothing()
end

M.made = function()
  if M.used then
    return
  end
  return M.nothing(), { fun = function() return 1 end }
end

return M
"""
COMPLAINTS = (
    "wrong.lua:5: no code names the field unused",
    "wrong.lua:6: the field used is there twice",
    "wrong.lua:8: the type a.Unknown is not defined",
    "wrong.lua:9: the type a.Other is not defined",
    "wrong.lua:10: M.takes has no @param untold",
    "wrong.lua:10: M.takes takes no gone",
    "wrong.lua:14: M.early has no @return",
    "wrong.lua:19: M.nothing returns nothing",
    "wrong.lua:22: M.made has no @return",
)


@pytest.mark.parametrize("module", ["diff", "proposal", "transcript", "render", "ending", "json"])
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
