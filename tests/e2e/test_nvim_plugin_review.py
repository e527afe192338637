"""Our Neovim plugin: proposed edits in the file itself, judged hunk by hunk, applied as one undo step."""

from pathlib import Path

from tests.e2e.nvim_support import Desk, Editor, editor, edits

FIVE = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n"
ENDS = (("one\n", "ONE\n"), ("nine\n", "NINE\n"))
DONE = {"text": "Done."}


def desk_of(tmp_path: Path, text: str = FIVE) -> Desk:
    return Desk.at(tmp_path, a__txt=text)


def ask(nvim: Editor, hunks: int) -> None:
    nvim.open("a.txt")
    nvim.command("Agent ask change it")
    nvim.wait_hunks(hunks)


def settle(nvim: Editor) -> None:
    nvim.wait_hunks_gone()
    nvim.wait_idle()


def test_a_proposal_is_drawn_over_the_file_and_changes_nothing_in_it(tmp_path: Path) -> None:
    with editor(desk_of(tmp_path), edits("a.txt", *ENDS), DONE) as nvim:
        ask(nvim, 2)

        nvim.wait_for_screen("  ONE", "ga accept · gl reject · gC edit · gS diff · 1/2")
        nvim.wait_for_status("agent ? 1 waiting")
        assert nvim.lines("a.txt") == FIVE.splitlines()
        assert nvim.lua("return vim.bo.modified") is False


def test_one_hunk_is_accepted_and_one_rejected_by_keys(tmp_path: Path) -> None:
    desk = desk_of(tmp_path)
    with editor(desk, edits("a.txt", *ENDS), DONE) as nvim:
        ask(nvim, 2)
        nvim.type("ga")
        nvim.wait_hunks(1)
        nvim.type("]h")
        nvim.wait("vim.api.nvim_win_get_cursor(0)[1] == 9")
        nvim.type("gl")
        settle(nvim)

        assert nvim.lines("a.txt") == ["ONE", *FIVE.splitlines()[1:]]
        assert desk.file("a.txt").read_text() == FIVE


def test_the_keys_are_the_persons_own_again_when_nothing_waits(tmp_path: Path) -> None:
    with editor(desk_of(tmp_path), edits("a.txt", *ENDS), DONE) as nvim:
        nvim.open("a.txt")
        nvim.lua('vim.keymap.set("n", "ga", "<Cmd>let g:mine = 1<CR>", { buffer = 0 })')
        nvim.command("Agent ask change it")
        nvim.wait_hunks(2)
        nvim.command("Agent accept all")
        settle(nvim)

        nvim.type("ga")
        nvim.wait("vim.g.mine == 1")
        assert nvim.lua('return vim.fn.maparg("gl", "n", false, true).buffer') in (None, 0)


def test_an_accepted_edit_is_undone_by_one_u_and_nothing_else_is(tmp_path: Path) -> None:
    with editor(desk_of(tmp_path), edits("a.txt", *ENDS), DONE) as nvim:
        nvim.open("a.txt")
        nvim.type("5GAtyped<Esc>")
        nvim.command("Agent ask change it")
        nvim.wait_hunks(2)
        nvim.command("Agent accept all")
        settle(nvim)
        after = nvim.lines("a.txt")
        nvim.type("u")
        nvim.wait("vim.api.nvim_buf_get_lines(0, 0, 1, true)[1] == 'one'")

        assert (after[0], after[4], after[8]) == ("ONE", "fivetyped", "NINE")
        assert nvim.lines("a.txt") == FIVE.replace("five", "fivetyped").splitlines()


def test_an_edit_applied_while_the_person_types_is_an_undo_step_of_its_own(tmp_path: Path) -> None:
    with editor(desk_of(tmp_path), edits("a.txt", *ENDS), DONE) as nvim:
        nvim.open("a.txt")
        nvim.type("5GAtyped")
        nvim.wait("vim.api.nvim_get_current_line() == 'fivetyped'")
        nvim.command("Agent ask change it")
        nvim.wait_hunks(2)
        nvim.command("Agent accept all")
        settle(nvim)
        nvim.type("more<Esc>u")
        nvim.wait("vim.api.nvim_get_current_line() == 'fivetyped'")
        applied = nvim.lines("a.txt")
        nvim.type("u")
        nvim.wait("vim.api.nvim_buf_get_lines(0, 0, 1, true)[1] == 'one'")

        assert (applied[0], applied[8]) == ("ONE", "NINE")
        assert nvim.lines("a.txt")[4] == "fivetyped"


def test_an_unsaved_buffer_is_what_the_agent_edits_and_the_disk_is_left_alone(
    tmp_path: Path,
) -> None:
    desk = desk_of(tmp_path)
    with editor(desk, edits("a.txt", ("unsaved\n", "edited\n")), DONE) as nvim:
        nvim.open("a.txt")
        nvim.type("ggccunsaved<Esc>")
        nvim.command("Agent ask change it")
        nvim.wait_hunks(1)
        nvim.command("Agent accept")
        settle(nvim)

        assert nvim.lines("a.txt") == ["edited", *FIVE.splitlines()[1:]]
        assert nvim.lua("return vim.bo.modified") is True
        assert desk.file("a.txt").read_text() == FIVE


def test_a_hunk_is_edited_before_it_is_accepted(tmp_path: Path) -> None:
    with editor(desk_of(tmp_path), edits("a.txt", *ENDS), DONE) as nvim:
        ask(nvim, 2)
        nvim.type("gg")
        nvim.type("gC")
        nvim.wait('vim.bo.buftype == "acwrite"')
        nvim.type("ccmine<Esc>:w<CR>")
        nvim.wait('vim.bo.buftype == ""')
        nvim.wait_for_screen("edited · ga accept")
        nvim.type("gg")
        nvim.type("ga")
        nvim.wait_hunks(1)
        nvim.command("Agent accept all")
        settle(nvim)

        assert nvim.lines("a.txt") == ["mine", *FIVE.splitlines()[1:8], "NINE"]


def test_an_edit_of_a_buffer_that_changed_meanwhile_never_overwrites_it(tmp_path: Path) -> None:
    """Whatever the server makes of it (rebase, or a conflict): the person's words stay."""
    with editor(desk_of(tmp_path), edits("a.txt", ("five\n", "FIVE\n")), DONE) as nvim:
        ask(nvim, 1)
        nvim.type("5Gccmy own words<Esc>")
        nvim.wait("vim.api.nvim_buf_get_lines(0, 4, 5, true)[1] == 'my own words'")
        nvim.command("Agent accept all")
        settle(nvim)

        assert nvim.lines("a.txt") == FIVE.replace("five", "my own words").splitlines()


def test_an_apply_request_for_another_text_is_refused_as_stale(tmp_path: Path) -> None:
    with editor(desk_of(tmp_path)) as nvim:
        nvim.open("a.txt")
        answer = nvim.lua(
            """
            local first, last = { line = 0, character = 0 }, { line = 1, character = 0 }
            local edit = { range = { start = first, ["end"] = last }, newText = "x" }
            local apply = require("agent.apply")
            local params = { uri = vim.uri_from_bufnr(0), edits = { edit } }
            local base = apply.text(0)
            local function answer(base_hash, result_hash)
              params.baseHash, params.resultHash = base_hash, result_hash
              return apply.on_request(params, { offset_encoding = "utf-16" }).outcome
            end
            return { answer(apply.hash("other"), ""), answer(apply.hash(base), apply.hash("not this")) }"""
        )

        assert answer == ["stale", "failed"]
        assert nvim.lines("a.txt") == FIVE.splitlines()


def test_decisions_on_a_revision_that_is_over_are_asked_for_again(tmp_path: Path) -> None:
    with editor(desk_of(tmp_path), edits("a.txt", *ENDS), DONE) as nvim:
        ask(nvim, 2)
        nvim.lua('require("agent.review").pending()[1].proposal.revision = 99')
        nvim.command("Agent accept")
        nvim.wait("table.concat(_G.said):find('changed meanwhile', 1, true)")
        nvim.wait_hunks(2)
        nvim.command("Agent accept all")
        settle(nvim)

        assert nvim.lines("a.txt")[0] == "ONE"


def test_a_file_that_is_not_open_is_listed_and_opened_for_review(tmp_path: Path) -> None:
    desk = Desk.at(tmp_path, a__txt=FIVE, b__txt="b\n")
    with editor(desk, edits("b.txt", ("b\n", "B\n")), DONE) as nvim:
        nvim.open("a.txt")
        nvim.command("Agent ask change it")
        nvim.wait_hunks(1)
        nvim.wait("table.concat(_G.said):find('an edit of b.txt waits off screen', 1, true)")
        nvim.command("Agent hunks")
        nvim.wait('vim.bo.buftype == "quickfix"')
        listed = nvim.lua("return vim.fn.getqflist()[1].text")
        nvim.type("<CR>")
        nvim.wait('vim.fs.basename(vim.api.nvim_buf_get_name(0)) == "b.txt"')
        nvim.type("ga")
        settle(nvim)

        assert listed == "B"
        assert nvim.lines("b.txt") == ["B"]


def test_two_windows_show_both_texts_and_what_is_written_on_the_right_is_accepted(
    tmp_path: Path,
) -> None:
    with editor(desk_of(tmp_path), edits("a.txt", *ENDS), DONE) as nvim:
        ask(nvim, 2)
        nvim.type("gS")
        nvim.wait("vim.fn.tabpagenr('$') == 2 and vim.wo.diff")
        right = nvim.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, true)")
        nvim.type("ggccmy first line<Esc>:w<CR>")
        nvim.wait("vim.fn.tabpagenr('$') == 1")
        settle(nvim)

        assert (right[0], right[8]) == ("ONE", "NINE")
        assert nvim.lines("a.txt") == ["my first line", *FIVE.splitlines()[1:8], "NINE"]


def test_a_call_whose_edit_waits_says_so_in_the_chat_and_enter_reviews_it(tmp_path: Path) -> None:
    with editor(desk_of(tmp_path), edits("a.txt", *ENDS), DONE) as nvim:
        ask(nvim, 2)
        nvim.wait_for_screen("? edit a.txt (waiting for you)")
        nvim.type("<C-w>l<C-w>k/`edit<CR><CR>")

        nvim.wait("vim.fn.tabpagenr('$') == 2 and vim.wo.diff")


def test_closing_the_two_windows_decides_nothing(tmp_path: Path) -> None:
    with editor(desk_of(tmp_path), edits("a.txt", *ENDS), DONE) as nvim:
        ask(nvim, 2)
        nvim.type("gS")
        nvim.wait("vim.fn.tabpagenr('$') == 2 and vim.wo.diff")
        nvim.type("q")
        nvim.wait("vim.fn.tabpagenr('$') == 1")

        nvim.wait_hunks(2)
        assert nvim.lines("a.txt") == FIVE.splitlines()


def test_a_file_with_other_line_ends_and_no_last_one_keeps_them(tmp_path: Path) -> None:
    desk = desk_of(tmp_path, "one\r\ntwo\r\nthree")
    with editor(desk, edits("a.txt", ("two", "TWO")), DONE, mode="auto") as nvim:
        nvim.open("a.txt")
        nvim.command("Agent ask change it")
        nvim.wait_for_chat("Done.")
        nvim.type(":set nofixeol | w<CR>")
        nvim.wait("not vim.bo.modified")

        assert desk.file("a.txt").read_bytes() == b"one\r\nTWO\r\nthree"
