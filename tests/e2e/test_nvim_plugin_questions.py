"""Our Neovim plugin: what it asks the person, a permission or a question of the model; it never steals keys."""

from pathlib import Path
from typing import Any

from tests.e2e.nvim_support import Desk, Editor, editor, shell

TEXT = "alpha\nbeta\n"
DONE = {"text": "Done."}
WAITING = 'require("agent.questions").count() == 1'


def question(words: str, *options: str) -> dict[str, Any]:
    """A step in which the model asks the person."""
    arguments = {"question": words, **({"options": options} if options else {})}
    return {"text": "I ask.", "calls": [{"name": "ask_user", "arguments": arguments}]}


def ask(nvim: Editor) -> None:
    nvim.open("a.txt")
    nvim.command("Agent ask begin")
    nvim.wait(WAITING)


def choose(nvim: Editor, number: int, words: str = "") -> None:
    """Answer lists by that item, counted from 1 or from the end, and lines by these words."""
    nvim.lua(
        """
        local number, words = ...
        vim.ui.select = function(options, how, done)
          local index = number > 0 and number or #options + 1 + number
          _G.asked = how.prompt
          _G.offered = vim.tbl_map(how.format_item or tostring, options)
          done(options[index], index)
        end
        vim.ui.input = function(how, done) _G.asked = how.prompt done(words) end""",
        number,
        words,
    )


def told(words: str) -> dict[str, str]:
    """A step that is reached only when the model was told this."""
    return {"text": "Understood.", "expect": words}


def test_a_question_is_shown_at_its_call_with_what_can_be_answered(tmp_path: Path) -> None:
    with editor(Desk.at(tmp_path, a__txt=TEXT), question("Which one?", "Red", "Blue")) as nvim:
        ask(nvim)

        nvim.wait_for_screen("<CR> answers: Red · Blue")
        nvim.wait_for_status("agent ? 1 waiting")


def test_a_question_of_the_model_is_answered_by_choice(tmp_path: Path) -> None:
    steps = (question("Which one?", "Red", "Blue"), told("Blue"))
    with editor(Desk.at(tmp_path, a__txt=TEXT), *steps) as nvim:
        ask(nvim)
        choose(nvim, 2)
        nvim.command("Agent answer")
        nvim.wait_for_chat("Understood.")

        assert nvim.lua("return _G.asked").startswith("Which one?")
        assert nvim.lua("return _G.offered") == ["Red", "Blue", "Something else", "No answer"]
        nvim.wait_off_screen("<CR> answers")


def test_something_else_than_the_choices_can_be_said(tmp_path: Path) -> None:
    steps = (question("Which one?", "Red", "Blue"), told("Green"))
    with editor(Desk.at(tmp_path, a__txt=TEXT), *steps) as nvim:
        ask(nvim)
        choose(nvim, -2, "Green")
        nvim.command("Agent answer")

        nvim.wait_for_chat("Understood.")


def test_a_question_without_choices_is_answered_in_words(tmp_path: Path) -> None:
    steps = (question("What is it called?"), told("Ada"))
    with editor(Desk.at(tmp_path, a__txt=TEXT), *steps) as nvim:
        ask(nvim)
        choose(nvim, 1, "Ada")
        nvim.command("Agent answer")

        nvim.wait_for_chat("Understood.")


def test_leaving_the_line_answers_nothing_and_an_empty_one_is_no_answer(tmp_path: Path) -> None:
    steps = (question("What is it called?"), {"text": "Then without."})
    with editor(Desk.at(tmp_path, a__txt=TEXT), *steps) as nvim:
        ask(nvim)
        nvim.lua("vim.ui.input = function(_, done) _G.left = true done(nil) end")
        nvim.command("Agent answer")
        nvim.wait("_G.left and " + WAITING)
        choose(nvim, 1, "")
        nvim.command("Agent answer")

        nvim.wait_for_chat("Then without.")


def test_a_question_never_opens_while_the_person_types(tmp_path: Path) -> None:
    steps = (question("Which one?", "Red", "Blue"), DONE)
    with editor(Desk.at(tmp_path, a__txt=TEXT), *steps) as nvim:
        nvim.open("a.txt")
        nvim.command("Agent ask begin")
        nvim.type("Otyped")
        nvim.wait(WAITING)
        nvim.type(" on<Esc>")
        nvim.wait("vim.api.nvim_buf_get_lines(0, 0, 1, true)[1] == 'typed on'")

        nvim.wait("table.concat(_G.said):find('Which one?? :Agent answer', 1, true)")
        assert nvim.mode() == "n"


def test_a_question_never_opens_by_itself_not_even_for_who_looks_at_the_chat(
    tmp_path: Path,
) -> None:
    steps = (question("Which one?", "Red", "Blue"), told("Red"))
    with editor(Desk.at(tmp_path, a__txt=TEXT), *steps) as nvim:
        choose(nvim, 1)
        nvim.open("a.txt")
        nvim.command("Agent")
        nvim.wait('vim.bo.filetype == "agent-prompt"')
        nvim.type("ibegin<Esc><CR>")
        nvim.wait("table.concat(_G.said):find('Which one?? :Agent answer', 1, true)")

        assert nvim.lua("return _G.asked") is None
        nvim.command("Agent answer")
        nvim.wait_for_chat("Understood.")


def test_cancelling_the_turn_withdraws_the_question(tmp_path: Path) -> None:
    with editor(
        Desk.at(tmp_path, a__txt=TEXT), question("Which one?", "Red", "Blue"), DONE
    ) as nvim:
        ask(nvim)
        nvim.command("Agent cancel")
        nvim.wait_idle()

        assert nvim.lua('return require("agent.questions").count()') == 0


def test_a_no_to_a_command_can_say_why_and_the_model_hears_it(tmp_path: Path) -> None:
    desk = Desk.at(tmp_path, a__txt=TEXT)
    with editor(desk, shell("touch made"), told("use make")) as nvim:
        ask(nvim)
        choose(nvim, -1, "use make")
        nvim.command("Agent answer")
        nvim.wait_for_chat("Understood.")

        assert nvim.lua("return _G.offered[#_G.offered]") == "No, and say why"
        assert not desk.file("made").exists()
