"""`:Agent install`: the server that our Neovim plugin carries, installed from its files with nothing from a registry.

The plugin is a copy that carries a wheel made here, small and without dependencies; Python, venv and pip are real.
"""

import shutil
import sys
import zipfile
from pathlib import Path

import pytest

from tests.e2e.nvim_support import PLUGIN, Desk, Editor, editor

WHEEL = "agent_server-7.0.0-py3-none-any.whl"
TAG = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
PROGRAM = "def main():\n    print('agent-server 7.0.0')\n"
SCRIPTS = "[console_scripts]\nagent-server = carried:main\n"
INSTALL_S = 120.0
"""venv and pip, on a machine that does other things as well."""
SAID = "table.concat(_G.said, '\\n'):find(..., 1, true)"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk.at(tmp_path, a__txt="alpha\n")


def wheel(path: Path) -> Path:
    """A wheel with a program `agent-server` that tells its version."""
    name, version = path.name.split("-")[:2]
    about = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("carried.py", PROGRAM)
        made.writestr(
            f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        )
        made.writestr(f"{about}/WHEEL", TAG)
        made.writestr(f"{about}/entry_points.txt", SCRIPTS)
        made.writestr(f"{about}/RECORD", "")
    return path


def plugin(desk: Desk, *, lock: str | None) -> Path:
    """A copy of the plugin which carries a wheel and this lock; None: nothing."""
    copy = desk.root / "plugin"
    shutil.copytree(PLUGIN, copy, ignore=shutil.ignore_patterns("server"))
    if lock is not None:
        carried = copy / "server"
        carried.mkdir()
        (carried / "requirements.lock").write_text(lock)
        wheel(carried / WHEEL)
    return copy


def without_path(nvim: Editor) -> None:
    """As where nobody put the server on PATH."""
    nvim.lua('vim.env.PATH = "/nowhere"')


def health(nvim: Editor) -> str:
    nvim.command("checkhealth agent")
    nvim.wait("vim.bo.filetype == 'checkhealth'")
    return nvim.lua("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '\\n')")


@pytest.mark.timeout(INSTALL_S + 30)
def test_the_carried_server_is_offered_installed_and_found(desk: Desk) -> None:
    carrying = plugin(desk, lock="")
    with editor(desk, setup={"python": sys.executable}, plugin=carrying) as nvim:
        without_path(nvim)
        nvim.command("Agent")
        nvim.wait(SAID, "`:Agent install` installs the one that this plugin carries")
        assert f"the plugin carries {WHEEL}; it is not installed" in health(nvim)

        nvim.command("Agent install")
        nvim.wait(SAID, "making an environment (1 of 3)")
        nvim.wait(SAID, "the server is installed in", limit_s=INSTALL_S)

        installed = desk.root / "data" / "nvim" / "agent-server" / WHEEL.removesuffix(".whl")
        program = installed / "bin" / "agent-server"
        assert nvim.lua('return require("agent.server").command()[1]') == str(program)
        assert f"agent-server 7.0.0 ({program}, installed by :Agent install)" in health(nvim)


@pytest.mark.timeout(INSTALL_S + 30)
def test_what_the_lock_does_not_vouch_for_is_not_installed(desk: Desk) -> None:
    other = wheel(desk.root / "other-1.0-py3-none-any.whl")
    lock = f"other @ {other.as_uri()}\n"
    carrying = plugin(desk, lock=lock)
    with editor(desk, setup={"python": sys.executable}, plugin=carrying) as nvim:
        without_path(nvim)
        nvim.command("Agent install")
        nvim.wait(SAID, "the server was not installed: ", limit_s=INSTALL_S)

        assert (
            "installing what the server needs, by hash failed: ERROR: Hashes are required"
            in nvim.messages()
        )
        assert nvim.lua('return require("agent.install").installed()') is None


def test_a_second_installation_waits_for_no_first(desk: Desk) -> None:
    setup = {"python": "/nowhere/python"}
    with editor(desk, setup=setup, plugin=plugin(desk, lock="")) as nvim:
        nvim.lua(
            "vim.system = function(_, _, done) _G.finish = function() done({ code = 1 }) end end"
        )
        nvim.command("Agent install")
        nvim.command("Agent install")
        nvim.wait(SAID, "the server is being installed already")
        nvim.lua("_G.finish()")
        nvim.wait(SAID, "there is no Python 3.11 or newer with venv (looked for /nowhere/python)")


def test_a_plugin_that_carries_nothing_says_how_to_get_it(desk: Desk) -> None:
    with editor(desk, plugin=plugin(desk, lock=None)) as nvim:
        nvim.command("Agent install")
        nvim.wait(SAID, "this copy of the plugin carries no server. `make nvim-server`")


def test_another_version_stays_until_the_new_one_is_there_and_is_then_removed(desk: Desk) -> None:
    """venv and pip are stood in for: what is looked at is which environment there is, and when."""
    folder = desk.root / "data" / "nvim" / "agent-server"
    old = folder / "agent_server-6.0.0-py3-none-any"
    (old / "bin").mkdir(parents=True)
    program = old / "bin" / "agent-server"
    program.write_text("#!/bin/sh\necho agent-server 6.0.0\n")
    program.chmod(0o755)
    (folder / "installed").write_text(f"{old.name}.whl\n")
    with editor(desk, setup={"python": sys.executable}, plugin=plugin(desk, lock="")) as nvim:
        without_path(nvim)
        nvim.lua(STAND_IN, str(folder / WHEEL.removesuffix(".whl")))
        assert "is installed, the plugin carries" in health(nvim)
        nvim.command("Agent install")
        nvim.wait(SAID, "installing the server (3 of 3)")
        assert nvim.lua('return require("agent.server").command()[1]') == str(program)

        nvim.lua("_G.go_on()")
        nvim.wait(SAID, "the server is installed in")
        nvim.wait("vim.uv.fs_stat(...) == nil", str(old))
        assert WHEEL.removesuffix(".whl") in nvim.lua('return require("agent.server").command()[1]')


STAND_IN = """
    local made = ...
    local system = vim.system
    vim.system = function(cmd, how, done)
      if not vim.list_contains(cmd, "venv") and not vim.list_contains(cmd, "pip") then
        return system(cmd, how, done)
      end
      vim.fn.mkdir(made .. "/bin", "p")
      vim.fn.writefile({ "#!/bin/sh" }, made .. "/bin/agent-server")
      vim.fn.setfperm(made .. "/bin/agent-server", "rwxr-xr-x")
      _G.go_on = function() done({ code = 0 }) end
      if not vim.list_contains(cmd, "--no-deps") then _G.go_on() end
    end"""
"""Makes the new environment at once; the last step ends when the test says so."""
