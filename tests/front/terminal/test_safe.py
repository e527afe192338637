from hypothesis import given
from hypothesis import strategies as st

from agent_server.front.terminal.safe import printable


def test_escapes_and_overrides_are_pictures_of_themselves() -> None:
    assert printable("\x1b[31mred\x07\x7f\x9b1m") == "␛[31mred␇␡\\u009b1m"
    assert printable("if \u202e} access") == "if \\u202e} access"


def test_lines_and_tabs_stay() -> None:
    assert printable("a\tb\r\nc\n") == "a\tb\nc\n"


@given(st.text())
def test_nothing_that_moves_the_cursor_is_left(text: str) -> None:
    assert all(c >= " " or c in "\t\n" for c in printable(text))
    assert printable(printable(text)) == printable(text)
