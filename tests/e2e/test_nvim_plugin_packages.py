"""The Neovim plugin as its users install it: a repository of its own, cloned where each manager clones, by git.

What a manager does with a plugin is a clone and a place on the runtime path; the managers themselves were tried by hand
(editors/nvim/README.md says which). `vim.pack` comes with Neovim 0.12: there it is what installs.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.nvim_support import NVIM, PLUGIN, Desk

SCRIPT = PLUGIN.parents[1] / "scripts" / "nvim_plugin.py"
REPORT = """
    local found = {
      command = vim.fn.exists(":Agent") == 2,
      map = vim.fn.maparg("<Plug>(agent-toggle)", "n") ~= "",
      help = #vim.fn.getcompletion("agent-applied", "help") > 0,
      config = vim.lsp.config["agent-server"] ~= nil and vim.lsp.config["agent-server"].name,
      files = #vim.api.nvim_get_runtime_file("lua/agent/init.lua", true),
      health = pcall(vim.cmd.checkhealth, "agent"),
    }
    io.stdout:write(vim.json.encode(found))
    vim.cmd("qa!")"""
WHOLE = {
    "command": True,
    "map": True,
    "help": True,
    "config": "agent-server",
    "files": 1,
    "health": True,
}
"""The command, the maps, the help's tags, the configuration of the server, and each module once."""


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `make nvim-plugin` makes."""
    out = tmp_path_factory.mktemp("made") / "agent.nvim"
    subprocess.run([sys.executable, SCRIPT, out], check=True, capture_output=True, timeout=60)
    return out


def clone(repository: Path, to: Path) -> None:
    """As every manager does."""
    to.parent.mkdir(parents=True, exist_ok=True)
    command = ["git", "clone", "--quiet", repository.as_uri(), to]
    subprocess.run(command, check=True, capture_output=True, timeout=60)


def started(desk: Desk, *init: str) -> dict[str, Any]:
    """What is there in a Neovim that starts with this `init.lua`, and nothing else."""
    config = desk.root / "config" / "nvim"
    config.mkdir()
    (config / "init.lua").write_text("\n".join(init))
    report = desk.root / "report.lua"
    report.write_text(REPORT)
    environment = {"HOME": str(desk.root), **desk.environment()}
    done = subprocess.run(
        [NVIM, "--headless", "-i", "NONE", "-c", f"luafile {report}"],
        cwd=desk.project, env=environment, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert "{" in done.stdout, done.stdout + done.stderr
    return json.loads(done.stdout[done.stdout.rindex("{") :])


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk.at(tmp_path)


def site(desk: Desk, *parts: str) -> Path:
    """Below the folder of packages that Neovim reads by itself."""
    return desk.root.joinpath("data", "nvim", "site", "pack", *parts)


def test_a_package_is_there_without_a_line_of_configuration(desk: Desk, repository: Path) -> None:
    clone(repository, site(desk, "agents", "start", "agent.nvim"))

    assert started(desk) == WHOLE


def test_an_optional_package_is_there_by_packadd(desk: Desk, repository: Path) -> None:
    clone(repository, site(desk, "agents", "opt", "agent.nvim"))

    assert started(desk, 'vim.cmd.packadd("agent.nvim")') == WHOLE


def test_a_package_on_packpath_is_there(desk: Desk, repository: Path) -> None:
    clone(repository, desk.root / "mine" / "pack" / "agents" / "start" / "agent.nvim")

    assert started(desk, f'vim.opt.packpath:prepend("{desk.root / "mine"}")') == WHOLE


def test_vim_pack_installs_it_or_its_layout_works_where_there_is_no_vim_pack(
    desk: Desk, repository: Path
) -> None:
    """Neovim 0.12 clones into `pack/core/opt` and loads what is there with `packadd`."""
    added = f'vim.pack.add({{ "{repository.as_uri()}" }}, {{ confirm = false }})'
    if has_vim_pack(desk):
        assert started(desk, added) == WHOLE
    else:
        clone(repository, site(desk, "core", "opt", "agent.nvim"))
        assert started(desk, 'vim.cmd("packadd! agent.nvim")') == WHOLE
    assert site(desk, "core", "opt", "agent.nvim", "plugin", "agent.lua").exists()


def test_a_manager_that_loads_plugins_itself_finds_all_in_one_folder(
    desk: Desk, repository: Path
) -> None:
    """lazy.nvim: no plugin is loaded by Neovim; the folder goes on the path, its `plugin/` is sourced."""
    to = desk.root / "data" / "nvim" / "lazy" / "agent.nvim"
    clone(repository, to)

    assert (
        started(
            desk,
            "vim.go.loadplugins = false",
            f'vim.opt.rtp:prepend("{to}")',
            f'for _, file in ipairs(vim.fn.glob("{to}/plugin/*.lua", true, true)) do vim.cmd.source(file) end',
        )
        == WHOLE
    )


def test_the_folder_of_a_clone_of_everything_is_enough(desk: Desk) -> None:
    """Its help has no tags before `:helptags`: they are made with the repository of its own."""
    assert started(desk, f'vim.opt.rtp:append("{PLUGIN}")') == {**WHOLE, "help": False}


def test_making_it_again_is_an_update_that_can_be_pulled(repository: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    clone(repository, mine)
    (repository / "doc" / "agent.txt").write_text("as it was in an earlier version\n")
    commit = ["-c", "user.name=x", "-c", "user.email=x@localhost", "commit", "-qam", "Earlier"]
    subprocess.run(["git", *commit], cwd=repository, check=True, capture_output=True, timeout=60)
    subprocess.run([sys.executable, SCRIPT, repository], check=True, capture_output=True)
    subprocess.run(["git", "pull", "--quiet"], cwd=mine, check=True, capture_output=True)

    assert (mine / "doc" / "agent.txt").read_text() == (PLUGIN / "doc" / "agent.txt").read_text()
    assert (repository.parent / "agent.nvim.tar.gz").exists()


def has_vim_pack(desk: Desk) -> bool:
    code = "io.stdout:write(tostring(vim.pack ~= nil))"
    done = subprocess.run(
        [NVIM, "--clean", "--headless", "-c", f"lua {code}", "-c", "qa!"],
        env={**os.environ, **desk.environment()}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    return done.stdout == "true"
