"""Differences: always right, and laid where people expect them."""

from difflib import SequenceMatcher
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_server.edits.text import diff as module
from agent_server.edits.text.diff import Change, diff
from agent_server.edits.text.lines import split_lines

letters = st.lists(st.sampled_from(["a", "  b", "", "    c"]), max_size=30)
"""Blank and indented lines, so that changes have reasons to be moved."""


def patched(base: list[str], new: list[str]) -> list[str]:
    result: list[str] = []
    at = 0
    for change in diff(base, new):
        result += [*base[at : change.start], *new[change.new_start : change.new_end]]
        at = change.end
    return result + base[at:]


@given(letters, letters)
def test_the_changes_make_the_new_text(base: list[str], new: list[str]) -> None:
    assert patched(base, new) == new


@given(letters, letters)
def test_between_two_changes_stands_an_equal_line(base: list[str], new: list[str]) -> None:
    changes = diff(base, new)
    for one, two in pairwise(changes):
        assert one.end < two.start
        assert base[one.end : two.start] == new[one.new_end : two.new_start]


def test_equal_texts_have_no_changes() -> None:
    assert diff(["a", "b"], ["a", "b"]) == []


def test_a_new_function_is_shown_as_that_function() -> None:
    one = "def one():\n    return 1\n\n\n"
    two = "def two():\n    return 2\n\n\n"
    end = "def end():\n    return 1\n"
    base, new = split_lines(one + end), split_lines(one + two + end)
    assert diff(base, new) == [Change(4, 4, 4, 8)]


def test_a_deleted_block_starts_far_left() -> None:
    body = ["if a:\n", "    x\n", "}\n"]
    base = [*body, "if b:\n", "    y\n", "}\n", "z\n"]
    assert diff(base, [*body, "z\n"]) == [Change(3, 6, 3, 3)]


def test_a_unique_line_holds_against_a_longer_run_of_repeated_ones() -> None:
    base = ["}", "}", "}", "only", "x"]
    new = ["only", "y", "}", "}", "}"]
    assert Change(0, 3, 0, 0) in diff(base, new)


def test_difflib_never_sees_thousands_of_equal_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its cost grows with the number of equal pairs."""
    pairs: list[int] = []

    class Watched(SequenceMatcher[str]):
        def __init__(self, isjunk: None, a: list[str], b: list[str], *, autojunk: bool) -> None:
            pairs.append(sum(b.count(line) for line in a))
            super().__init__(isjunk, a, b, autojunk=autojunk)

    monkeypatch.setattr(module, "SequenceMatcher", Watched)
    assert patched(["a", "b", "a"], ["b", "a", "b"]) == ["b", "a", "b"]
    assert pairs == [4]  # it does see what is small
    base = ["}"] * 3000 + ["x", "x"] + ["}"] * 3000
    new = ["q", "q"] + ["}"] * 3000 + ["y"] + ["}"] * 2990
    assert patched(base, new) == new
    assert max(pairs, default=0) <= module.DIFFLIB_PAIRS
