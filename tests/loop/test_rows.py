"""The table of promises (docs/loop.md) is complete, true to the marks, and names nothing that does not exist."""

from pathlib import Path

from scripts.loop_rows import ELSEWHERE, PAGE, page, promises, shown_by

SHOWN = shown_by(Path(__file__).parents[1])
WHOLE = (range(1, 46), range(76, 92), range(105, 117), range(128, 152))
PLAIN = (50, 51, 52, 53, 60, 62, 66, 68, 69, 73, 117, 121)
"""Rows whose deeper forms belong to other parts of the product."""
MEMORY = {"R114", "R116"}


def test_every_row_has_a_test() -> None:
    assert [row for row in promises() if row not in SHOWN] == []


def test_no_test_shows_a_row_that_is_not_in_the_table() -> None:
    assert {row: tests for row, tests in SHOWN.items() if row not in promises()} == {}


def test_the_table_has_every_row_or_says_why_not() -> None:
    wanted = {f"R{number}" for numbers in (*WHOLE, PLAIN) for number in numbers} - MEMORY
    assert wanted == set(promises()) | set(ELSEWHERE)


def test_the_page_is_what_the_marks_say() -> None:
    """`python scripts/loop_rows.py` writes it anew."""
    assert PAGE.read_text(encoding="utf-8") == page(SHOWN)
