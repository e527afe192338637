"""Our Neovim plugin by `vim.lsp.enable("agent-server")`, and what `vim.lsp.config` lays over its configuration."""

import os
import signal
from pathlib import Path

from tests.e2e.nvim_support import Desk, editor, edits

TEXT = "alpha\nbeta\n"
CLIENTS = '#vim.lsp.get_clients({ name = "agent-server" })'
READY = 'require("agent.client").phase() == "ready"'
ATTACHED = '#vim.lsp.get_clients({ name = "agent-server", bufnr = 0 }) == 1'


def test_enabling_it_starts_the_server_with_the_first_file_and_every_file_has_the_same(
    tmp_path: Path,
) -> None:
    with editor(Desk.at(tmp_path, a__txt=TEXT, b__txt=TEXT), {"text": "Hello."}) as nvim:
        assert nvim.lua(f"return {CLIENTS}") == 0
        nvim.command('lua vim.lsp.enable("agent-server")')
        nvim.command(f"edit {nvim.desk.file('a.txt')}")
        nvim.wait(READY)
        nvim.command(f"edit {nvim.desk.file('b.txt')}")
        nvim.wait(ATTACHED)

        assert nvim.lua(f"return {CLIENTS}") == 1


def test_a_server_that_was_enabled_serves_the_whole_plugin(tmp_path: Path) -> None:
    with editor(
        Desk.at(tmp_path, a__txt=TEXT), edits("a.txt", ("beta", "BETA")), {"text": "Done."}
    ) as nvim:
        nvim.command('lua vim.lsp.enable("agent-server")')
        nvim.command(f"edit {nvim.desk.file('a.txt')}")
        nvim.wait(READY)
        nvim.command("Agent ask change it")
        nvim.wait_hunks(1)
        nvim.type("ga")
        nvim.wait_for_chat("Done.")

        assert nvim.lines("a.txt") == ["alpha", "BETA"]
        assert nvim.lua(f"return {CLIENTS}") == 1


def test_what_is_configured_is_laid_over_the_plugins_own(tmp_path: Path) -> None:
    desk = Desk.at(tmp_path, a__txt=TEXT)
    (desk.project / "inner").mkdir()
    (desk.project / "inner" / "here.toml").write_text("")
    with editor(desk, {"text": "Hello."}) as nvim:
        nvim.lua('vim.lsp.config("agent-server", { root_markers = { "here.toml" } })')
        nvim.command(f"edit {desk.project / 'inner' / 'new.txt'}")
        nvim.command('lua vim.lsp.enable("agent-server")')
        nvim.wait(READY)

        root = nvim.lua('return vim.lsp.get_clients({ name = "agent-server" })[1].root_dir')
        assert root == str(desk.project / "inner")


def test_an_enabled_server_that_was_killed_is_started_again_once(tmp_path: Path) -> None:
    with editor(Desk.at(tmp_path, a__txt=TEXT), {"text": "One."}, {"text": "Two."}) as nvim:
        nvim.command('lua vim.lsp.enable("agent-server")')
        nvim.command(f"edit {nvim.desk.file('a.txt')}")
        nvim.wait(READY)
        nvim.command("Agent ask first")
        nvim.wait_for_chat("One.")
        nvim.wait_idle()
        os.kill(nvim.server(), signal.SIGKILL)
        nvim.wait("table.concat(_G.said):find('starting it again', 1, true)")
        nvim.wait(READY + ' and not require("agent.session").current().is_loading')
        nvim.command("Agent ask second")
        nvim.wait_for_chat("Two.")

        assert "One." in nvim.chat()
        assert nvim.lua(f"return {CLIENTS}") == 1
