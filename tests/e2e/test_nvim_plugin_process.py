"""Our Neovim plugin when its server is missing, wrong, or dies."""

import os
import signal
from pathlib import Path

from tests.e2e.nvim_support import Desk, editor, edits

TEXT = "alpha\nbeta\n"
LOADED = 'require("agent.client").phase() == "ready" and not require("agent.session").current().is_loading'


def test_a_missing_server_is_said_in_a_sentence_that_tells_what_to_do(tmp_path: Path) -> None:
    with editor(Desk.at(tmp_path, a__txt=TEXT)) as nvim:
        nvim.lua('vim.env.PATH = "/nowhere"')
        nvim.command("Agent ask something")
        nvim.wait("#_G.said > 0")

        assert nvim.messages().startswith("agent: the program agent-server is not on $PATH. ")


def test_a_server_that_cannot_be_run_is_named(tmp_path: Path) -> None:
    with editor(
        Desk.at(tmp_path, a__txt=TEXT), setup={"cmd": ["/nowhere/agent-server", "lsp"]}
    ) as nvim:
        nvim.command("Agent")
        nvim.wait("#_G.said > 0")

        assert "/nowhere/agent-server, which cmd names, cannot be run" in nvim.messages()


def test_a_server_that_ends_at_once_is_tried_a_few_times_and_then_left(tmp_path: Path) -> None:
    setup = {"cmd": ["false"], "restarts": 1}
    with editor(Desk.at(tmp_path, a__txt=TEXT), setup=setup) as nvim:
        nvim.command("Agent")
        nvim.wait("table.concat(_G.said):find('2 times in a row. :Agent log says why', 1, true)")

        assert nvim.lua('return require("agent.client").phase()') == "off"


def test_a_killed_server_is_started_again_and_the_session_goes_on(tmp_path: Path) -> None:
    with editor(
        Desk.at(tmp_path, a__txt=TEXT),
        {"text": "The first answer."},
        {"text": "The second answer."},
    ) as nvim:
        nvim.open("a.txt")
        nvim.command("Agent ask one")
        nvim.wait_for_chat("The first answer.")
        nvim.wait_idle()
        before = nvim.lua('return require("agent.session").current().id')
        os.kill(nvim.server(), signal.SIGKILL)
        nvim.wait("table.concat(_G.said):find('was ended by signal 9; starting it again', 1, true)")
        nvim.wait(LOADED)
        nvim.command("Agent ask two")
        nvim.wait_for_chat("The second answer.")
        nvim.wait_idle()

        assert nvim.lua('return require("agent.session").current().id') == before
        said = [line for line in nvim.chat().splitlines() if line and "tokens" not in line]
        assert said == ["one", "The first answer.", "two", "The second answer."]


def test_an_edit_that_waited_when_the_server_was_killed_is_not_made_and_can_still_be_judged(
    tmp_path: Path,
) -> None:
    with editor(
        Desk.at(tmp_path, a__txt=TEXT), edits("a.txt", ("beta", "BETA")), {"text": "Again."}
    ) as nvim:
        nvim.open("a.txt")
        nvim.command("Agent ask change it")
        nvim.wait_hunks(1)
        os.kill(nvim.server(), signal.SIGKILL)
        nvim.wait_hunks_gone()
        nvim.wait(LOADED)
        assert nvim.lines("a.txt") == TEXT.splitlines()
        assert not nvim.lua('return require("agent.session").current().busy')

        nvim.wait_hunks(1)
        nvim.wait_for_screen(
            "An edit of a.txt was open when the server stopped. It can still be judged."
        )
        nvim.command("Agent accept all")
        nvim.wait("vim.api.nvim_buf_get_lines(0, 0, -1, true)[2] == 'BETA'")
        nvim.wait_hunks_gone()


def test_hunks_that_were_decided_before_the_server_was_killed_stay_decided(tmp_path: Path) -> None:
    text = "alpha\nb\nc\nd\ne\nf\nbeta\n"
    step = edits("a.txt", ("alpha", "ALPHA"), ("beta", "BETA"))
    with editor(Desk.at(tmp_path, a__txt=text), step, {"text": "Again."}) as nvim:
        nvim.open("a.txt")
        nvim.command("Agent ask change it")
        nvim.wait_hunks(2)
        nvim.type("gg")
        nvim.type("ga")
        nvim.wait_hunks(1)
        nvim.wait('not require("agent.review").is_sending()')
        os.kill(nvim.server(), signal.SIGKILL)
        nvim.wait_hunks_gone()
        nvim.wait(LOADED)
        nvim.wait_hunks(1)

        nvim.type("G")
        nvim.type("gl")
        nvim.wait("vim.api.nvim_buf_get_lines(0, 0, -1, true)[1] == 'ALPHA'")
        nvim.wait_hunks_gone()
        assert nvim.lines("a.txt") == ["ALPHA", *text.splitlines()[1:]]


def test_a_server_that_is_gone_for_good_takes_its_hunks_along(tmp_path: Path) -> None:
    step = edits("a.txt", ("beta", "BETA"))
    with editor(Desk.at(tmp_path, a__txt=TEXT), step, setup={"restarts": 0}) as nvim:
        nvim.open("a.txt")
        nvim.command("Agent ask change it")
        nvim.wait_hunks(1)
        os.kill(nvim.server(), signal.SIGKILL)
        nvim.wait_hunks_gone()

        nvim.wait_for_chat("The server was ended by signal 9 before the turn was over.")
        nvim.wait_off_screen("ga accept")


def test_a_stored_session_is_resumed_by_choice(tmp_path: Path) -> None:
    desk = Desk.at(tmp_path, a__txt=TEXT)
    with editor(desk, {"text": "Long ago."}) as nvim:
        nvim.open("a.txt")
        nvim.command("Agent ask remember this")
        nvim.wait_for_chat("Long ago.")
        nvim.wait_idle()
    with editor(desk, {"text": "Long ago."}, {"text": "Now."}) as nvim:
        nvim.open("a.txt")
        nvim.lua("vim.ui.select = function(options, _, done) done(options[1]) end")
        nvim.command("Agent resume")
        nvim.wait_for_chat("Long ago.")
        nvim.command("Agent ask and now")
        nvim.wait_for_chat("Now.")


def test_restart_keeps_the_conversation(tmp_path: Path) -> None:
    with editor(Desk.at(tmp_path, a__txt=TEXT), {"text": "Before."}, {"text": "After."}) as nvim:
        nvim.open("a.txt")
        nvim.command("Agent ask one")
        nvim.wait_for_chat("Before.")
        nvim.wait_idle()
        first = nvim.server()
        nvim.command("Agent restart")
        nvim.wait("vim.api.nvim_get_proc_children(vim.fn.getpid())[1] ~= ...", first)
        nvim.wait(LOADED)
        nvim.command("Agent ask two")
        nvim.wait_for_chat("After.")


def test_checkhealth_tells_the_version_and_what_is_missing(tmp_path: Path) -> None:
    with editor(Desk.at(tmp_path, a__txt=TEXT), {"text": "Hello."}) as nvim:
        nvim.command("checkhealth agent")
        nvim.wait("vim.bo.filetype == 'checkhealth'")
        report = nvim.lua("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '\\n')")

        assert "OK agent-server 0." in report
        assert "the Markdown parser is there" in report
        assert "ERROR" not in report
