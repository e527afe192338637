"""Our Neovim plugin: what is said to a turn while it runs, and what becomes of it."""

from pathlib import Path

from tests.e2e.nvim_support import Desk, Editor, editor, shell

TEXT = "alpha\nbeta\n"
YES = "vim.ui.select = function(options, _, done) done(options[1]) end"


def desk_of(tmp_path: Path) -> Desk:
    return Desk.at(tmp_path, a__txt=TEXT)


def ask(nvim: Editor) -> None:
    nvim.open("a.txt")
    nvim.command("Agent ask begin")


def ask_and_wait_at_a_question(nvim: Editor) -> None:
    ask(nvim)
    nvim.wait('require("agent.questions").count() == 1')


def answer_yes(nvim: Editor) -> None:
    nvim.lua(YES)
    nvim.command("Agent answer")


def said(nvim: Editor) -> list[str]:
    """The lines of the conversation that people and the model spoke."""
    lines = nvim.chat().splitlines()
    return [line for line in lines if line and line[0] not in "`│" and "tokens" not in line]


def test_words_for_the_running_turn_wait_in_sight_and_are_heard_at_its_next_step(
    tmp_path: Path,
) -> None:
    heard = {"text": "With tabs.", "expect": "use tabs"}
    with editor(desk_of(tmp_path), shell("echo one"), heard) as nvim:
        ask_and_wait_at_a_question(nvim)
        nvim.command("Agent steer use tabs")
        nvim.wait_for_screen("heard at the next step: use tabs")
        answer_yes(nvim)
        nvim.wait_for_chat("With tabs.")
        nvim.wait_idle()

        assert said(nvim) == ["begin", "I run it.", "use tabs", "With tabs."]
        nvim.wait_off_screen("heard at the next step")
        nvim.wait_for_chat("tokens")
        assert nvim.chat().count("tokens") == 1


def test_a_redirection_drops_what_streams_and_the_turn_goes_on_with_it(tmp_path: Path) -> None:
    steps = ({"text": "The wrong way", "hang": True}, {"text": "The other way.", "expect": "other"})
    with editor(desk_of(tmp_path), *steps) as nvim:
        ask(nvim)
        nvim.wait_for_chat("The wrong way")
        nvim.command("Agent redirect the other way")
        nvim.wait_for_chat("The other way.")
        nvim.wait_idle()

        assert said(nvim) == ["begin", "The wrong way", "the other way", "The other way."]
        nvim.wait_for_chat("tokens")
        assert nvim.chat().count("tokens") == 1


def test_what_is_written_in_the_prompt_is_said_to_the_running_turn_by_a_key(tmp_path: Path) -> None:
    heard = {"text": "With tabs.", "expect": "use tabs"}
    with editor(desk_of(tmp_path), shell("echo one"), heard) as nvim:
        ask_and_wait_at_a_question(nvim)
        nvim.command("Agent")
        nvim.wait('vim.bo.filetype == "agent-prompt"')
        nvim.wait_for_screen("<CR> waits · gs at the next step · gS at once")
        nvim.type("iuse tabs<Esc>gs")
        nvim.wait_for_screen("heard at the next step: use tabs")
        answer_yes(nvim)

        nvim.wait_for_chat("With tabs.")
        nvim.wait_for_screen("Ask. <CR> sends")


def test_how_words_reach_a_running_turn_can_be_chosen_each_time(tmp_path: Path) -> None:
    setup = {"chat": {"while_busy": "ask"}}
    with editor(desk_of(tmp_path), {"text": "I begin", "hang": True}, setup=setup) as nvim:
        ask(nvim)
        nvim.wait_for_chat("I begin")
        nvim.lua(
            """
            vim.ui.select = function(options, how, done)
              _G.offered = vim.tbl_map(how.format_item, options)
              done(options[1])
            end"""
        )
        nvim.command("Agent ask and then")
        nvim.wait_for_screen("waits for its turn: and then")

        assert nvim.lua("return _G.offered") == [
            "wait for a turn of its own",
            "say it at the next step",
            "say it at once, and drop what streams",
        ]


def test_words_that_come_after_the_turn_begin_one_of_their_own(tmp_path: Path) -> None:
    with editor(desk_of(tmp_path), {"text": "First."}, {"text": "Second."}) as nvim:
        ask(nvim)
        nvim.wait_for_chat("First.")
        nvim.wait_idle()
        nvim.lua(
            """
            local session = require("agent.session")
            local current = session.current()
            current.busy = true -- as where the end of the turn is not known here yet
            session.steer(current, "steer", "late", { { type = "text", text = "late" } })"""
        )
        nvim.wait_for_chat("Second.")

        assert said(nvim) == ["begin", "First.", "late", "Second."]


def test_a_soft_stop_ends_the_turn_after_what_runs(tmp_path: Path) -> None:
    desk = desk_of(tmp_path)
    with editor(desk, shell("touch made"), {"text": "Never said."}) as nvim:
        ask_and_wait_at_a_question(nvim)
        nvim.command("Agent stop")
        nvim.wait("table.concat(_G.said):find('the turn ends after what runs now', 1, true)")
        answer_yes(nvim)
        nvim.wait_idle()

        assert desk.file("made").exists()
        assert "Never said." not in nvim.chat()


def test_words_that_a_cancelled_turn_did_not_hear_are_in_the_prompt_again(tmp_path: Path) -> None:
    with editor(desk_of(tmp_path), shell("touch made"), {"text": "Never said."}) as nvim:
        ask_and_wait_at_a_question(nvim)
        nvim.command("Agent steer use tabs")
        nvim.wait_for_screen("heard at the next step: use tabs")
        nvim.command("Agent cancel")
        nvim.wait('require("agent.prompt").text() == "use tabs"')

        nvim.wait_off_screen("heard at the next step")
        assert "use tabs" not in said(nvim)
