"""Our Neovim plugin: what is applied in a buffer is what the model hears, whatever was typed there before."""

from pathlib import Path

from tests.e2e.nvim_support import Desk, editor, edits

NINE = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n"


def test_edits_of_several_hunks_to_a_buffer_that_was_typed_in_are_applied_and_told(
    tmp_path: Path,
) -> None:
    steps = (
        edits("a.txt", ("one\n", "ONE\n"), ("five\n", "FIVE\n"), ("nine\n", "NINE\n")),
        edits("a.txt", ("two\n", "TWO\n"), ("eight\n", "EIGHT\n")) | {"expect": "[+]NINE"},
        {"text": "Done.", "expect": "[+]EIGHT"},
    )
    with editor(Desk.at(tmp_path, a__txt=NINE), *steps) as nvim:
        nvim.open("a.txt")
        nvim.type("Goxyz<Esc>")
        nvim.command("Agent ask change it")
        nvim.wait_hunks(3)
        nvim.command("Agent accept all")
        nvim.wait_hunks(2)
        nvim.command("Agent accept all")
        nvim.wait_for_chat("Done.")

        assert nvim.lines("a.txt") == [
            "ONE", "TWO", "three", "four", "FIVE", "six", "seven", "EIGHT", "NINE", "xyz",
        ]  # fmt: skip
        assert "nothing was changed" not in nvim.chat()


def test_an_edit_is_one_change_and_one_undo_step_and_marks_keep_their_lines(tmp_path: Path) -> None:
    step = edits("a.txt", ("one\n", "ONE\nand more\n"), ("five\n", "FIVE\n"), ("nine\n", ""))
    with editor(Desk.at(tmp_path, a__txt=NINE), step, {"text": "Done."}) as nvim:
        nvim.open("a.txt")
        nvim.lua(
            """
            _G.changes, _G.ns = 0, vim.api.nvim_create_namespace("test")
            vim.api.nvim_buf_attach(0, false, { on_lines = function() _G.changes = _G.changes + 1 end })
            vim.api.nvim_buf_set_extmark(0, _G.ns, 6, 2, { end_row = 6, end_col = 4, hl_group = "Error" })"""
        )
        nvim.type("4Gmx7G")
        nvim.command("Agent ask change it")
        nvim.wait_hunks(3)
        nvim.lua("_G.changes = 0")
        nvim.command("Agent accept all")
        nvim.wait_for_chat("Done.")

        assert nvim.lua("return _G.changes") == 1
        assert nvim.lua("return vim.api.nvim_buf_get_mark(0, 'x')") == [5, 0]
        assert nvim.lua("return vim.api.nvim_win_get_cursor(0)")[0] == 8
        assert nvim.lua("return vim.api.nvim_buf_get_extmarks(0, _G.ns, 0, -1, {})[1]") == [1, 7, 2]
        nvim.type("u")
        nvim.wait("vim.deep_equal(vim.api.nvim_buf_get_lines(0, 0, -1, true), ...)", NINE.split())
