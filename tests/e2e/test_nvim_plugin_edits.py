"""Our Neovim plugin: how far a yes goes, edits that are staged, edits that were applied, and going back."""

from pathlib import Path
from typing import Any

from tests.e2e.nvim_support import Desk, Editor, editor, edits

NINE = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n"
ENDS = (("one\n", "ONE\n"), ("nine\n", "NINE\n"))
DONE = {"text": "Done."}
SAID = "table.concat(_G.said, '\\n'):find(..., 1, true)"
APPLIED = '#require("agent.applied").places() == ...'


def desk_of(tmp_path: Path, **files: str) -> Desk:
    return Desk.at(tmp_path, **(files or {"a__txt": NINE}))


def ask(nvim: Editor, name: str = "a.txt") -> None:
    nvim.open(name)
    nvim.command("Agent ask change it")


def choosing(nvim: Editor, *numbers: int) -> None:
    """Answer lists by these items in turn, and keep what they showed."""
    nvim.lua(
        """
        local numbers = { ... }
        _G.lists = {}
        vim.ui.select = function(items, how, done)
          table.insert(_G.lists, { prompt = how.prompt, items = vim.tbl_map(how.format_item or tostring, items) })
          local number = numbers[#_G.lists]
          done(items[number], number)
        end""",
        *numbers,
    )


def lists(nvim: Editor) -> list[dict[str, Any]]:
    return nvim.lua("return _G.lists")


def say(nvim: Editor, words: str) -> None:
    nvim.wait_idle()
    nvim.command(f"Agent ask {words}")


# ---- how far a yes goes


def test_a_yes_for_the_session_is_not_asked_for_again(tmp_path: Path) -> None:
    steps = (edits("a.txt", ENDS[0]), DONE, edits("a.txt", ENDS[1]), {"text": "Again."})
    with editor(desk_of(tmp_path), *steps) as nvim:
        ask(nvim)
        nvim.wait_hunks(1)
        choosing(nvim, 2)
        nvim.type("gy")
        nvim.wait_for_chat("Done.")
        say(nvim, "more")
        nvim.wait_for_chat("Again.")

        (asked,) = lists(nvim)
        assert asked["items"][:2] == ["once", "and further edits of it, in this session"]
        assert nvim.lines("a.txt")[::8] == ["ONE", "NINE"]


def test_a_yes_is_offered_no_further_than_the_edit_allows(tmp_path: Path) -> None:
    step = edits(".env", ("A=1\n", "A=2\n"))
    with editor(Desk.at(tmp_path, __env="A=1\n"), step, DONE) as nvim:
        ask(nvim, ".env")
        nvim.wait_hunks(1)
        choosing(nvim, 1)
        nvim.command("Agent further session")
        nvim.wait(SAID, "a yes to this edit reaches no further than: once")
        nvim.wait_hunks(1)
        nvim.command("Agent further")
        nvim.wait_hunks_gone()

        assert lists(nvim)[0]["items"] == ["once"]


def test_a_no_says_why_and_the_model_hears_it(tmp_path: Path) -> None:
    step = edits("a.txt", *ENDS)
    with editor(desk_of(tmp_path), step, {"text": "I see.", "expect": "keep them small"}) as nvim:
        ask(nvim)
        nvim.wait_hunks(2)
        nvim.command("Agent refuse keep them small")
        nvim.wait_for_chat("I see.")

        assert nvim.lines("a.txt") == NINE.splitlines()


# ---- staged: one review for all of a turn


def test_staged_edits_are_shown_as_what_they_come_to_and_asked_about_together(
    tmp_path: Path,
) -> None:
    desk = desk_of(tmp_path)
    wait = {"name": "ask_user", "arguments": {"question": "Go on?", "options": ["Yes", "No"]}}
    steps = (edits("a.txt", ENDS[0]), edits("a.txt", ENDS[1]), {"calls": [wait]}, DONE)
    setup = {"settings": {"model": desk.script(steps), "mode": "ask", "review": "turn"}}
    with editor(desk, setup=setup) as nvim:
        ask(nvim)
        nvim.wait('require("agent.staged").count() == 2')
        screen = nvim.wait_for_screen(*(f"staged, asked about later · {n}/2" for n in (1, 2)))
        assert "ga accept" not in screen
        assert nvim.lua('return require("agent.review").count()') == 0

        nvim.wait('require("agent.questions").count() == 1')
        choosing(nvim, 1)
        nvim.command("Agent answer")
        nvim.wait_hunks(2)
        assert nvim.lua('return require("agent.staged").count()') == 0
        nvim.command("Agent accept all")
        nvim.wait_hunks_gone()
        nvim.wait_idle()

        assert nvim.lines("a.txt")[::8] == ["ONE", "NINE"]


# ---- applied: a mode said yes


def test_applied_hunks_are_marked_and_one_is_taken_back_and_one_kept(tmp_path: Path) -> None:
    with editor(desk_of(tmp_path), edits("a.txt", *ENDS), DONE, mode="accept_edits") as nvim:
        ask(nvim)
        nvim.wait(APPLIED, 2)
        nvim.wait_idle()
        nvim.wait_for_screen("applied · :Agent keep · :Agent revert · 1/2")
        nvim.type("gg")
        nvim.command("Agent revert")
        nvim.wait(APPLIED, 1)
        nvim.command("Agent next")
        nvim.wait("vim.api.nvim_win_get_cursor(0)[1] == 9")
        nvim.command("Agent keep")
        nvim.wait(APPLIED, 0)

        assert nvim.lines("a.txt") == [*NINE.splitlines()[:8], "NINE"]
        nvim.wait_off_screen("applied ·")


def test_an_applied_hunk_that_was_changed_since_is_not_taken_back(tmp_path: Path) -> None:
    with editor(desk_of(tmp_path), edits("a.txt", ENDS[0]), DONE, mode="accept_edits") as nvim:
        ask(nvim)
        nvim.wait(APPLIED, 1)
        nvim.wait_idle()
        nvim.type("ggccmy own<Esc>")
        nvim.wait("vim.api.nvim_get_current_line() == 'my own'")
        nvim.command("Agent revert all")
        nvim.wait(SAID, "not taken back: ")

        assert nvim.lines("a.txt")[0] == "my own"


def test_the_person_has_their_keys_while_applied_hunks_are_marked(tmp_path: Path) -> None:
    with editor(desk_of(tmp_path), edits("a.txt", *ENDS), DONE, mode="accept_edits") as nvim:
        ask(nvim)
        nvim.wait(APPLIED, 2)

        assert nvim.lua('return vim.fn.maparg("gS", "n", false, true).buffer') in (None, 0)


def test_an_applied_edit_is_looked_at_in_two_windows(tmp_path: Path) -> None:
    with editor(desk_of(tmp_path), edits("a.txt", *ENDS), DONE, mode="accept_edits") as nvim:
        ask(nvim)
        nvim.wait(APPLIED, 2)
        nvim.command("Agent review")
        nvim.wait("vim.fn.tabpagenr('$') == 2 and vim.wo.diff")

        assert "(applied)" in nvim.lua("return vim.wo.winbar")
        assert nvim.lua("return vim.bo.modifiable") is False


# ---- going back


def test_files_go_back_to_before_a_turn_after_it_was_shown_and_forth_again(tmp_path: Path) -> None:
    desk = desk_of(tmp_path, a__txt=NINE, b__txt="b\n")
    with editor(desk, edits("b.txt", ("b\n", "B\n")), DONE, mode="auto") as nvim:
        ask(nvim)
        nvim.wait_for_chat("Done.")
        nvim.wait_idle()
        assert desk.file("b.txt").read_text() == "B\n"
        choosing(nvim, 1, 2, 1)
        nvim.command("Agent undo")
        nvim.wait(SAID, "taken back: edit b.txt; :Agent redo undoes that")

        assert desk.file("b.txt").read_text() == "b\n"
        assert "edit b.txt" in lists(nvim)[2]["prompt"]
        assert "Done." in nvim.chat()
        choosing(nvim, 1)
        nvim.command("Agent redo")
        nvim.wait("#_G.said > 1 and " + SAID, "taken back: edit b.txt")
        nvim.wait("vim.fn.readfile(...)[1] == 'B'", str(desk.file("b.txt")))


def test_the_conversation_goes_back_to_before_a_prompt_alone(tmp_path: Path) -> None:
    with editor(desk_of(tmp_path), {"text": "One."}, {"text": "Two."}) as nvim:
        nvim.open("a.txt")
        nvim.command("Agent ask first")
        nvim.wait_for_chat("One.")
        say(nvim, "second")
        nvim.wait_for_chat("Two.")
        nvim.wait_idle()
        choosing(nvim, 1, 3, 1)
        nvim.command("Agent undo")
        nvim.wait(SAID, "taken back: the conversation")
        nvim.wait(f"not {CHAT}:find('second', 1, true)")

        assert "goes: second" in lists(nvim)[2]["prompt"]
        nvim.wait_for_chat("One.")


CHAT = """table.concat(vim.api.nvim_buf_get_lines(
  require("agent.chat").buffer(require("agent.session").current()), 0, -1, true), "\\n")"""
