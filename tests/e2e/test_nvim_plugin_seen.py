"""Our Neovim plugin: what is said is seen, at any size, and what is typed fast is one conversation."""

from pathlib import Path

import pytest

from tests.e2e.nvim_support import Desk, editor

TEXT = "one\ntwo\n"
PARAGRAPH = " ".join(f"word{number}" for number in range(160)) + " thelastword"


@pytest.mark.parametrize("size", [(80, 24), (60, 12)], ids=str)
def test_a_paragraph_taller_than_the_chat_is_seen_to_its_end(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    steps = ({"text": PARAGRAPH}, {"text": "Again: " + PARAGRAPH.replace("last", "later")})
    with editor(Desk.at(tmp_path, a__txt=TEXT), *steps) as nvim:
        nvim.nvim.ui_try_resize(*size)
        nvim.open("a.txt")
        nvim.command("Agent ask begin")
        nvim.wait_for_screen("thelastword")
        nvim.wait_idle()
        nvim.wait_for_screen("thelastword")
        nvim.lua(
            """
            local win = vim.fn.win_findbuf(require("agent.chat").buffer(require("agent.session").current()))[1]
            vim.api.nvim_win_set_cursor(win, { 1, 0 })"""
        )
        nvim.command("Agent ask again")
        nvim.wait_for_screen("thelaterword")


def test_commands_typed_fast_make_one_session_and_keep_the_mode(tmp_path: Path) -> None:
    with editor(Desk.at(tmp_path, a__txt=TEXT), {"text": "Planned."}) as nvim:
        nvim.open("a.txt")
        nvim.lua(
            """
            vim.schedule(function()
              for _, words in ipairs({ "Agent", "Agent mode plan", "Agent ask begin" }) do vim.cmd(words) end
            end)"""
        )
        nvim.wait_for_chat("Planned.")

        assert nvim.lua('return #require("agent.session").all()') == 1
        assert nvim.lua('return require("agent.session").current().transcript.mode') == "plan"


RELOAD = """
local uris = vim.tbl_map(vim.uri_from_fname, { ... })
return require("agent.reload").on_request({ sessionId = "s", uris = uris }).documents"""


def test_a_changed_file_is_read_again_where_nothing_is_unsaved_and_named_where_something_is(
    tmp_path: Path,
) -> None:
    desk = Desk.at(tmp_path, a__txt="1\n2\n3\n4\n", b__txt=TEXT, c__txt=TEXT)
    with editor(desk) as nvim:
        nvim.lua("vim.o.hidden = true")
        nvim.open("c.txt")
        nvim.open("b.txt")
        nvim.type("Omine<Esc>")
        nvim.open("a.txt")
        nvim.type("3G")
        desk.file("a.txt").write_text("0\n1\n2\n3\nfour\n")
        desk.file("b.txt").write_text("theirs\n")
        names = [str(desk.file(name)) for name in ("a.txt", "b.txt", "c.txt", "none.txt")]
        outcomes = [each["outcome"] for each in nvim.lua(RELOAD, *names)]

        assert outcomes == ["reloaded", "modified", "unchanged", "closed"]
        assert nvim.lines("a.txt") == ["0", "1", "2", "3", "four"]
        assert nvim.lines("b.txt") == ["mine", "one", "two"]
        assert nvim.lua("return vim.api.nvim_win_get_cursor(0)") == [4, 0]
        assert "b.txt: changed on disk" in nvim.messages()
        nvim.command("write")
        assert nvim.mode() == "n"
        nvim.type("u")
        nvim.wait(
            "vim.deep_equal(vim.api.nvim_buf_get_lines(0, 0, -1, true), { '1', '2', '3', '4' })"
        )
