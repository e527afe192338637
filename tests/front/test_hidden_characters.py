import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_server.front.hidden_characters import hidden_note, printable


def test_escapes_and_overrides_are_pictures_of_themselves() -> None:
    assert printable("\x1b[31mred\x07\x7f\x9b1m") == "␛[31mred␇␡\\u009b1m"
    assert printable("if \u202e} access") == "if \\u202e} access"


def test_lines_and_tabs_stay() -> None:
    assert printable("a\tb\r\nc\n") == "a\tb\nc\n"


@given(st.text())
def test_nothing_that_moves_the_cursor_is_left(text: str) -> None:
    assert all(c >= " " or c in "\t\n" for c in printable(text))
    assert printable(printable(text)) == printable(text)


@pytest.mark.parametrize(
    "character",
    [
        "\u202e",
        "\u2066",
        "\u200b",
        "\u00ad",
        "\U000e0072",
        "\ufeff",
        "\u2028",
        "\U000e0100",
        "\r",
        "\b",
    ],
)
def test_a_hidden_character_is_shown_and_named(character: str) -> None:
    text = f"echo safe {character}# touch evil"

    assert character not in printable(text)
    assert f"U+{ord(character):04X}" in (hidden_note(text) or "")


@pytest.mark.parametrize(
    "text",
    [
        "👩‍💻 ❤️ 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "سلام دنیا می‌خواهم",
        "שלום עולם",
        "क्‍ष",
        "naïve – “quoted” 日本語",
        "a\tb\nc\r\n",
    ],
)
def test_what_people_write_is_no_alarm(text: str) -> None:
    assert hidden_note(text) is None
    assert printable(text) == text.replace("\r\n", "\n")


def test_a_joiner_between_letters_that_have_none_is_named() -> None:
    assert hidden_note("rm\u200d -rf") == "holds hidden characters: U+200D ZERO WIDTH JOINER"
