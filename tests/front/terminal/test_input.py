# ruff: noqa: RUF001 - what the screen is drawn with
import pytest

from agent_server.front.terminal.input import read_prompt, visible_prompt
from tests.front.terminal.fakes import FakeKeyboard


def typed(*lines: str) -> str | None:
    return read_prompt(FakeKeyboard(lines=list(lines)), "› ", "… ")


def test_a_line_is_a_prompt() -> None:
    assert typed("hello", "next") == "hello"


def test_a_backslash_goes_on_in_the_next_line() -> None:
    assert typed("one\\", "two\\", "three", "four") == "one\ntwo\nthree"


def test_three_quotes_hold_lines_together() -> None:
    assert typed('"""', "one", "", "two", '"""') == "one\n\ntwo"
    assert typed('"""one', 'two""" rest') == "one\ntwo"


def test_the_end_of_input_ends_what_was_begun() -> None:
    assert typed() is None
    assert typed("one\\") == "one"
    assert typed('"""one') == "one"


def test_ctrl_c_goes_to_who_asked() -> None:
    with pytest.raises(KeyboardInterrupt):
        read_prompt(FakeKeyboard(lines=[KeyboardInterrupt]), "› ", "… ")


def test_a_coloured_prompt_is_only_as_wide_as_its_text() -> None:
    prompt = visible_prompt("› ", "1")
    hidden = False
    seen = ""
    for character in prompt:
        if character in "\001\002":
            hidden = character == "\001"
        elif not hidden:
            seen += character
    assert seen == "› "
