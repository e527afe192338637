"""Positions: three encodings, clamped as LSP 3.17 says (ED-19)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_server.edits.text.lines import split_lines
from agent_server.edits.text.positions import (
    Position,
    PositionEncoding,
    PositionMap,
    Range,
    TextEdit,
    apply_text_edits,
    units,
)
from tests.edits.strategies import any_text

ENCODINGS: list[PositionEncoding] = ["utf-8", "utf-16", "utf-32"]
encodings = st.sampled_from(ENCODINGS)


@given(any_text, encodings)
def test_every_offset_outside_a_line_end_survives_the_round_trip(
    text: str, encoding: PositionEncoding
) -> None:
    places = PositionMap(text, encoding)
    for offset in range(len(text) + 1):
        inside_crlf = text[max(offset - 1, 0) : offset + 1] == "\r\n"
        expected = offset - 1 if inside_crlf else offset
        assert places.offset(places.position(offset)) == expected


@pytest.mark.parametrize(("encoding", "column"), [("utf-8", 8), ("utf-16", 4), ("utf-32", 2)])
def test_astral_characters_count_in_the_units_of_the_encoding(
    encoding: PositionEncoding, column: int
) -> None:
    assert PositionMap("😋𐐀x", encoding).position(2) == Position(0, column)
    assert units("😋𐐀", encoding) == column


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_word_after_emoji_is_replaced_alone(encoding: PositionEncoding) -> None:
    text = '𐐀 = 1\ns = "😋😋"  # old\n'
    places = PositionMap(text, encoding)
    at = text.index("old")
    edit = TextEdit(places.range(at, at + 3), "new")
    assert apply_text_edits(text, [edit], encoding) == text.replace("old", "new")


def test_the_middle_of_a_character_means_its_start() -> None:
    assert PositionMap("😋x", "utf-16").offset(Position(0, 1)) == 0
    assert PositionMap("éx", "utf-8").offset(Position(0, 1)) == 0


def test_past_the_line_means_its_end_before_the_line_end() -> None:
    assert PositionMap("ab\r\ncd", "utf-16").offset(Position(0, 99)) == 2


def test_past_the_last_line_means_the_end_of_the_text() -> None:
    assert PositionMap("ab\ncd", "utf-16").offset(Position(7, 3)) == 5


def test_after_a_final_line_end_stands_an_empty_line() -> None:
    assert PositionMap("ab\n", "utf-16").position(3) == Position(1, 0)


def test_a_lone_surrogate_has_a_position() -> None:
    assert PositionMap("\ud83dx", "utf-8").position(1) == Position(0, 3)
    assert PositionMap("\ud83dx", "utf-16").position(1) == Position(0, 1)


def test_overlapping_edits_are_refused() -> None:
    edit = TextEdit(Range(Position(0, 0), Position(0, 2)), "x")
    with pytest.raises(ValueError, match="overlap"):
        apply_text_edits("abc", [edit, edit], "utf-16")


def test_line_starts_are_those_of_the_line_model() -> None:
    text = "a\r\nb\rc\nd"
    places = PositionMap(text, "utf-16")
    lengths = [len(line) for line in split_lines(text)]
    assert [places.line_start(n) for n in range(6)] == [0, 3, 5, 7, sum(lengths), sum(lengths)]
