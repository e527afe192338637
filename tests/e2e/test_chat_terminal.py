# ruff: noqa: RUF001 - what the screen is drawn with
"""`chat` on a real terminal: keys, Ctrl-C, and what is left afterwards."""

import os
import random
import re
import signal
from pathlib import Path

import pytest

from tests.front.terminal.pty_terminal import (
    left_running,
    marked,
    on_a_terminal,
    processes_of,
    scripted,
)
from tests.waiting import wait_until

CTRL_C = "\x03"
BASE = "".join(f"line {n}\n" for n in range(1, 21))
EDITS = [
    {"old_text": "line 2\n", "new_text": "line two\n"},
    {"old_text": "line 18\n", "new_text": "line eighteen\n"},
]
EDIT = {"name": "edit", "arguments": {"path": "a.txt", "edits": EDITS}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.txt").write_text(BASE)
    return folder


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return marked(os.environ, tmp_path)


def test_hunks_are_decided_one_by_one(tmp_path: Path, folder: Path, env: dict[str, str]) -> None:
    model = scripted(tmp_path, {"text": "Two changes.", "calls": [EDIT]}, {"text": "All done."})
    with on_a_terminal("chat", model, cwd=folder, env=env) as terminal:
        terminal.expect("› ")
        terminal.type("change it\r")
        terminal.expect(r"a\.txt  \+2 −2")
        terminal.expect(r"apply\?.*\[h\]unks")
        terminal.answer("h")
        terminal.expect(r"hunk 1 of 2[\s\S]*\+  line two[\s\S]*apply this hunk\?")
        terminal.answer("y")
        terminal.expect(r"hunk 2 of 2[\s\S]*\+  line eighteen[\s\S]*apply this hunk\?")
        terminal.answer("n")
        terminal.expect(r"✓ edit a\.txt")
        terminal.expect("All done")
        terminal.expect("› ")
        terminal.type("/quit\r")
        assert terminal.end() == 0
    assert (folder / "a.txt").read_text() == BASE.replace("line 2\n", "line two\n")
    assert left_running(tmp_path) == []


def test_ctrl_c_stops_the_turn_and_the_next_prompt_works(
    tmp_path: Path, folder: Path, env: dict[str, str]
) -> None:
    model = scripted(tmp_path, {"text": "On and on", "hang": True}, {"text": "Here again."})
    with on_a_terminal("chat", model, cwd=folder, env=env) as terminal:
        terminal.expect("› ")
        terminal.type("go\r")
        terminal.expect("On and on[\\s\\S]*ctrl-c stop")
        terminal.type(CTRL_C)
        terminal.expect("cancelled")
        terminal.expect("› ")
        terminal.type("and now?\r")
        terminal.expect("Here again")
        terminal.expect("› ")
        terminal.type("\x04")
        assert terminal.end() == 0
    assert left_running(tmp_path) == []


def test_ctrl_c_at_a_question_stops_the_turn_and_leaves_the_file(
    tmp_path: Path, folder: Path, env: dict[str, str]
) -> None:
    model = scripted(tmp_path, {"calls": [EDIT]}, {"text": "never"})
    with on_a_terminal("chat", model, "change it", cwd=folder, env=env) as terminal:
        terminal.expect(r"apply\?")
        terminal.type(CTRL_C)
        terminal.expect("cancelled")
        assert terminal.end() == 130
    assert (folder / "a.txt").read_text() == BASE
    assert left_running(tmp_path) == []


def test_ctrl_c_twice_leaves_and_takes_the_server_with_it(
    tmp_path: Path, folder: Path, env: dict[str, str]
) -> None:
    model = scripted(tmp_path, {"text": "unused"})
    with on_a_terminal("chat", model, cwd=folder, env=env) as terminal:
        terminal.expect("› ")
        terminal.interrupt("ctrl-c again leaves")
        terminal.expect("› ")
        assert terminal.leave() == 130
    assert left_running(tmp_path) == []


def test_when_chat_is_killed_the_server_goes_too(
    tmp_path: Path, folder: Path, env: dict[str, str]
) -> None:
    model = scripted(tmp_path, {"text": "Working", "hang": True})
    with on_a_terminal("chat", model, "go", cwd=folder, env=env) as terminal:
        terminal.expect("Working")
        assert len(left_running(tmp_path)) == 2
        os.kill(terminal.process.pid, signal.SIGKILL)
        terminal.end()
        wait_until_none_is_left(tmp_path)


def wait_until_none_is_left(tmp_path: Path) -> None:
    """The server has 2 s after the end of its input."""
    wait_until(lambda: left_running(tmp_path), lambda left: not left)


def test_the_last_turns_edits_are_shown_asked_about_and_taken_back(
    tmp_path: Path, folder: Path, env: dict[str, str]
) -> None:
    new = {"name": "write", "arguments": {"path": "b.txt", "content": "b\n"}}
    model = scripted(
        tmp_path, {"calls": [EDIT]}, {"text": "First."}, {"calls": [new]}, {"text": "Second."}
    )
    with on_a_terminal("chat", model, "--mode=accept_edits", cwd=folder, env=env) as terminal:
        terminal.expect("› ")
        terminal.type("/undo\r")
        terminal.expect("no edit of this session")
        for prompt, answer in (("one", "First"), ("two", "Second")):
            terminal.expect("› ")
            terminal.type(f"{prompt}\r")
            terminal.expect(answer)
        terminal.expect("› ")
        terminal.type("/undo\r")
        terminal.expect(r"b\.txt deleted[\s\S]*take .* back like this\?")
        terminal.answer("n")
        terminal.expect("nothing was changed")
        assert (folder / "b.txt").exists()
        terminal.expect("› ")
        terminal.type("/undo\r")
        terminal.expect(r"take .* back like this\?")
        terminal.answer("y")
        terminal.expect("taken back")
        assert not (folder / "b.txt").exists()
        terminal.expect("› ")
        terminal.type("/undo\r")
        terminal.expect(r"line two[\s\S]*take .* back like this\?")
        terminal.answer("y")
        terminal.expect("taken back")
        assert (folder / "a.txt").read_text() == BASE
        terminal.expect("› ")
        terminal.type("/rewind\r")
        terminal.expect("before “one”")
        terminal.expect("› ")
        terminal.type("/rewind 1\r")
        terminal.expect(r"take .* back like this\?")
        terminal.answer("y")
        terminal.expect("taken back")
        assert "line two" in (folder / "a.txt").read_text()
        terminal.expect("› ")
        terminal.type("/rewind 99\r")
        terminal.expect("there is no checkpoint '99'")
        terminal.expect("› ")
        terminal.type("/quit\r")
        assert terminal.end() == 0
    assert left_running(tmp_path) == []


def test_the_conversation_goes_back_and_the_model_no_longer_hears_of_it(
    tmp_path: Path, folder: Path, env: dict[str, str]
) -> None:
    model = scripted(tmp_path, {"calls": [EDIT]}, {"text": "A."}, {"text": "B."}, {"text": "C."})
    with on_a_terminal("chat", model, "--mode=accept_edits", cwd=folder, env=env) as terminal:
        for prompt, answer in (("one", "A."), ("two", "B.")):
            terminal.expect("› ")
            terminal.type(f"{prompt}\r")
            terminal.expect(answer)
        terminal.expect("› ")
        terminal.type("/rewind 2\r")
        terminal.expect(r"would go: one[\s\S]*would go: two[\s\S]*take back\?")
        terminal.answer("c")
        terminal.expect(r"the conversation taken back; /rewind r-\d+ chat undoes it")
        assert "line two" in (folder / "a.txt").read_text()
        terminal.expect("› ")
        terminal.type("three\r")
        terminal.expect("C.")
        terminal.expect("› ")
        terminal.type("/quit\r")
        assert terminal.end() == 0


def test_an_edit_that_waited_when_everything_was_killed_is_asked_about_again(
    tmp_path: Path, folder: Path, env: dict[str, str]
) -> None:
    model = scripted(tmp_path, {"calls": [EDIT]}, {"text": "I see."})
    with on_a_terminal("chat", model, "go", cwd=folder, env=env) as terminal:
        terminal.expect(r"apply\?")
        for pid in processes_of(
            tmp_path
        ):  # the server too: its end of input would settle the question
            os.kill(pid, signal.SIGKILL)
        terminal.end()
        wait_until_none_is_left(tmp_path)
    with on_a_terminal("chat", model, "--resume", cwd=folder, env=env) as terminal:
        terminal.expect(r"still to be decided[\s\S]*line eighteen[\s\S]*apply\?")
        terminal.answer("y")
        terminal.expect("applied")
        assert "line two" in (folder / "a.txt").read_text()
        terminal.expect("› ")
        terminal.type("/quit\r")
        assert terminal.end() == 0


def test_slash_commands_are_answered_without_the_model(
    tmp_path: Path, folder: Path, env: dict[str, str]
) -> None:
    model = scripted(tmp_path, {"text": "unused"})
    with on_a_terminal("chat", model, cwd=folder, env=env) as terminal:
        terminal.expect("› ")
        for typed, shown in (
            ("/help", "/sessions"),
            ("/mode plan", "mode plan"),
            ("/mode nonsense", "✗"),
            ("/nw", "did you mean /new"),
            ("/new", "a new session"),
            ("/title Fix it", "this session is called Fix it"),
            ("/title", "title must be a non-empty string"),
            ("/fork", "in a copy from here on"),
            ("/sessions", r"Fix it \(fork\)"),
        ):
            terminal.type(f"{typed}\r")
            terminal.expect(shown)
            terminal.expect("› ")
        terminal.type("/quit\r")
        assert terminal.end() == 0


@pytest.mark.parametrize("no_color", ["", "1"])
def test_colour_is_for_terminals_that_want_it(
    no_color: str, tmp_path: Path, folder: Path, env: dict[str, str]
) -> None:
    model = scripted(tmp_path, {"calls": [EDIT]}, {"text": "never"})
    wish = {"NO_COLOR": no_color} if no_color else {}
    with on_a_terminal("chat", model, cwd=folder, env=env | wish) as terminal:
        terminal.expect("› ")
        terminal.type("change it\r")
        terminal.expect(r"line two[\s\S]*apply\?")
        coloured = re.search(r"\x1b\[[0-9;]*\b3[0-7][0-9;]*m", terminal.raw) is not None
    assert coloured is not bool(no_color)


@pytest.mark.parametrize(
    "pasted",
    ["one\rtwo\rthree\r", "\x1b[200~one\rtwo\rthree\x1b[201~\r"],
    ids=["a burst", "bracketed"],
)
def test_a_paste_of_several_lines_is_one_prompt(
    pasted: str, tmp_path: Path, folder: Path, env: dict[str, str]
) -> None:
    model = scripted(tmp_path, {"text": "Got all.", "expect": "one\ntwo\nthree"}, {"text": "more"})
    with on_a_terminal("chat", model, cwd=folder, env=env) as terminal:
        terminal.expect("› ")
        terminal.type(pasted)
        terminal.expect("Got all")
        terminal.expect("› ")
        terminal.type("/quit\r")
        assert terminal.end() == 0
    assert "more" not in terminal.screen


def test_what_is_typed_as_a_question_appears_is_no_answer_and_not_lost(
    tmp_path: Path, folder: Path, env: dict[str, str]
) -> None:
    """`y` and `a` at once, a paste, and typing that goes on; then a no after a pause."""
    later: dict[str, object] = {"text": "Heard.", "expect": "yes apply all of it"}
    model = scripted(tmp_path, {"calls": [EDIT]}, {"text": "I see."}, later)
    with on_a_terminal("chat", model, cwd=folder, env=env) as terminal:
        terminal.expect("› ")
        terminal.type("change it\r")
        terminal.expect(r"apply\?.*\[h\]unks")
        for typed in ("y", "es ", "apply all", " of", " it"):
            terminal.type(typed)
        terminal.answer("n")
        terminal.expect("I see")
        terminal.expect("› .*yes apply all of it")
        terminal.type("\r")
        terminal.expect("Heard")
        terminal.expect("› ")
        terminal.type("/quit\r")
        assert terminal.end() == 0
    assert (folder / "a.txt").read_text() == BASE


def test_random_keys_at_questions_allow_nothing_and_none_is_lost(
    tmp_path: Path, folder: Path, env: dict[str, str]
) -> None:
    """`KEYS=1000 QUESTIONS=20 pytest -k random_keys` for all of it."""
    keys, questions = (int(os.environ.get(n, d)) for n, d in (("KEYS", "60"), ("QUESTIONS", "3")))
    chance = random.Random(7)
    typed = ["".join(chance.choices("yanshrw xq", k=keys // questions)) for _ in range(questions)]
    steps: list[dict[str, object]] = [{"calls": [EDIT]}, {"text": "Not done."}]
    model = scripted(tmp_path, *steps * questions, {"text": "unused"})
    with on_a_terminal("chat", model, cwd=folder, env=env) as terminal:
        terminal.expect("› ")
        for text in typed:
            terminal.type("go\r")
            terminal.expect(r"apply\?.*\[h\]unks")
            at = 0
            while at < len(text):
                size = chance.randrange(1, 5)
                terminal.type(text[at : at + size])
                at += size
            terminal.answer("n")
            terminal.expect("Not done")
            terminal.expect(f"›.*{re.escape(text)}")
            terminal.type("\x15")  # the line is cleared
    assert (folder / "a.txt").read_text() == BASE
