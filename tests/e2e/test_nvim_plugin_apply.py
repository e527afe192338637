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


PATCH = """*** Begin Patch
*** Update File: a.txt
@@
 one
-two
+TWO
 three
*** Add File: sub/new.txt
+hello
+there
*** Delete File: gone.txt
*** Update File: old.txt
*** Move to: moved.txt
@@
 one
-two
+2
 three
*** End Patch
"""


def patch() -> dict[str, object]:
    return {"text": "I patch.", "calls": [{"name": "patch", "arguments": {"patch": PATCH}}]}


def test_a_patch_is_accepted_where_its_files_are_shown_open_dirty_and_visible(
    tmp_path: Path,
) -> None:
    desk = Desk.at(tmp_path, a__txt=NINE, gone__txt="bye\n", old__txt=NINE)
    heard = {"text": "Done.", "expect": "created sub/new.txt[^$]*renamed old.txt[^$]*"}
    with editor(desk, patch(), {"text": "Done."}) as nvim:
        nvim.lua("vim.o.hidden = true")
        nvim.open("old.txt")
        nvim.type("Godirty<Esc>")
        nvim.open("gone.txt")
        nvim.type("Goalso dirty<Esc>")
        nvim.command("split")
        nvim.open("a.txt")
        nvim.command("Agent ask change it")
        nvim.wait_hunks(4)
        for left in (3, 2, 1, 0):
            nvim.type("]h")
            nvim.wait('require("agent.inline").at_cursor()')
            nvim.type("ga")
            nvim.wait('#require("agent.review").pending() == ...', left)
        nvim.wait_for_chat("Done.")
        nvim.wait_idle()

        assert nvim.lines("a.txt")[1] == "TWO"
        assert nvim.lines("sub/new.txt") == ["hello", "there"]
        assert desk.file("sub/new.txt").read_text() == "hello\nthere\n"
        assert not desk.file("gone.txt").exists()
        assert nvim.lua("return vim.fn.bufexists(...)", str(desk.file("gone.txt"))) == 0
        assert nvim.lines("moved.txt") == ["one", "2", *NINE.split()[2:], "dirty"]
        assert desk.file("moved.txt").read_text() == NINE
        assert not desk.file("old.txt").exists()
        nvim.lua("vim.cmd.buffer(vim.fn.bufnr(...)); vim.cmd.write()", str(desk.file("moved.txt")))
        assert desk.file("moved.txt").read_text().endswith("nine\ndirty\n")
        assert heard


def test_one_file_that_was_changed_meanwhile_does_not_stop_the_others_of_a_patch(
    tmp_path: Path,
) -> None:
    desk = Desk.at(tmp_path, a__txt=NINE, gone__txt="bye\n", old__txt=NINE)
    heard = {"text": "Done.", "expect": "nothing was changed in gone.txt: .*changed since"}
    with editor(desk, patch(), heard) as nvim:
        nvim.open("a.txt")
        nvim.command("Agent ask change it")
        nvim.wait_hunks(4)
        desk.file("gone.txt").write_text("mine\n")
        nvim.command("Agent accept all")
        nvim.wait_for_chat("Done.")

        assert nvim.lines("a.txt")[1] == "TWO"
        assert desk.file("gone.txt").read_text() == "mine\n"
        assert desk.file("moved.txt").exists()
        assert desk.file("sub/new.txt").exists()
