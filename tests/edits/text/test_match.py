"""From a quoted text to its place: ED-01, 07, 08, 10, 11 and their kinds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_server.edits.text.lines import split_lines, unify_endings
from agent_server.edits.text.match import Replacement, replace
from agent_server.loop.errors import EditRefused
from tests.edits.strategies import texts


def one(text: str, old: str, new: str, *, replace_all: bool = False) -> str:
    return replace(text, [Replacement(old, new, replace_all)])


def refusal(text: str, *edits: Replacement) -> EditRefused:
    with pytest.raises(EditRefused) as caught:
        replace(text, edits)
    return caught.value


# ---- finding -----------------------------------------------------------------------------------------------


@pytest.mark.timeout(30)
def test_a_text_that_begins_like_every_line_is_looked_for_once_per_line() -> None:
    """It took minutes while the rest of the file was copied for each line."""
    message = str(refusal("}\n" * 300_000, Replacement("}\nend\n}", "}")))

    assert message.startswith("edit 1: old_text is not in the file")


def test_a_part_of_a_line_is_replaced_alone() -> None:
    assert one("x = foo(1)  \ny\n", "foo(1)", "bar(2)") == "x = bar(2)  \ny\n"


def test_line_feeds_find_crlf_and_inserted_lines_are_crlf() -> None:
    text = "".join(f"line {n};\r\n" for n in range(30))
    result = one(text, "line 3;\nline 4;\nline 5;", "line 3;\nfour;\nextra;\nline 5;")
    assert result == text.replace("line 4;\r\n", "four;\r\nextra;\r\n")


def test_mixed_line_ends_stay_as_they_are_around_the_change() -> None:
    assert one("a\r\nb\nc\r\nd\n", "a\nb\nc\nd", "a\nB\nc\nd") == "a\r\nB\nc\r\nd\n"


def test_an_old_mac_file_keeps_its_carriage_returns() -> None:
    assert one("a\rb\rc", "a\nb", "a\nx\nb") == "a\rx\rb\rc"


def test_spaces_at_line_ends_do_not_count_and_stay_where_nothing_changes() -> None:
    assert one("a  \nb\t\nc\n", "a\nb\nc", "a\nB\nc") == "a  \nB\nc\n"


def test_spaces_that_only_the_model_has_do_not_count() -> None:
    assert one("a\nb\n", "a \nb  ", "a\nx") == "a\nx\n"


def test_a_uniform_shift_moves_the_new_text_too() -> None:
    text = "class A:\n    def f(self):\n        return 1\n"
    assert one(
        text, "def f(self):\n    return 1\n", "def f(self):\n    x = 2\n\n    return x\n"
    ) == ("class A:\n    def f(self):\n        x = 2\n\n        return x\n")


def test_too_much_indentation_is_a_shift_too() -> None:
    assert one("a:\n  b\n  c\n", "    a:\n      b", "    a:\n      B") == "a:\n  B\n  c\n"


def test_an_uneven_shift_is_not_found() -> None:
    assert refusal("  a\n    b\n", Replacement("a\n   b", "x")).reason == "not_found"


def test_a_new_line_outside_the_quoted_indentation_is_refused() -> None:
    assert refusal("\tfoo\n", Replacement("    foo", "bar")).reason == "not_found"


def test_tabs_of_a_makefile_are_kept_when_copied() -> None:
    text = "all:\n\tcc -o a a.c\n\tstrip a\nclean:\n\trm a\n"
    assert one(text, "\tstrip a", "\tstrip -s a") == text.replace("strip a", "strip -s a")


def test_tabs_of_a_makefile_are_kept_when_quoted_as_spaces() -> None:
    text = "all:\n\tcc -o a a.c\n\tstrip a\nclean:\n\trm a\n"
    assert one(text, "        strip a\n", "        strip -s a\n") == text.replace(
        "strip a", "strip -s a"
    )


def test_typographic_quotes_find_straight_ones_and_only_the_changed_line_differs() -> None:
    text = "one\n“two”\u00a0— x  \nsay('hi')\n“four”\u00a0— y  \n"
    old = '"two" - x\nsay(’hi’)\n"four" - y'
    assert one(text, old, old.replace("say(’hi’)", "say('it’s')")) == text.replace(
        "say('hi')", "say('it’s')"
    )


def test_an_exact_match_wins_over_a_tolerant_one() -> None:
    assert one('“a”\n"a"\n', '"a"', "b") == "“a”\nb\n"


def test_the_byte_order_mark_is_no_part_of_the_text() -> None:
    assert one("first\r\nsecond", "first", "FIRST") == "FIRST\r\nsecond"


# ---- refusing ----------------------------------------------------------------------------------------------


def test_an_ambiguous_text_is_refused_with_its_lines() -> None:
    text = "".join("dup\n" if n in (10, 50, 90) else f"{n}\n" for n in range(1, 101))
    error = refusal(text, Replacement("dup\n", "x\n"))
    assert (error.reason, str(error)) == (
        "ambiguous",
        "edit 1: old_text occurs 3 times, at lines 10, 50, 90; quote more of its surroundings, or set replace_all",
    )


def test_replace_all_replaces_each_and_nothing_else() -> None:
    text = "".join("dup\n" if n in (10, 50, 90) else f"{n}\n" for n in range(1, 101))
    assert one(text, "dup\n", "x\n", replace_all=True) == text.replace("dup", "x")


def test_occurrences_that_overlap_are_ambiguous() -> None:
    assert refusal("a\nba\nb", Replacement("a\nb", "x")).reason == "ambiguous"
    assert refusal("}\n}\n}\n", Replacement("}\n}\n", "x")).reason == "ambiguous"
    assert refusal("aaa", Replacement("aa", "x")).reason == "ambiguous"


def test_replace_all_takes_occurrences_that_do_not_overlap() -> None:
    assert one("aaaa}", "aa", "x", replace_all=True) == "xx}"


def test_a_text_that_is_everywhere_names_only_its_first_places() -> None:
    assert "more than 20 times" in str(refusal(" " * 5000, Replacement(" ", "x")))


def test_a_text_not_found_shows_the_nearest_lines_with_numbers_and_tabs() -> None:
    text = "all:\n\tcc -o a a.c\n\tstrip a\nclean:\n"
    error = refusal(text, Replacement("all:\n\tcc -o b b.c\n\tstrip a\n", "x"))
    assert str(error) == (
        "edit 1: old_text is not in the file; the nearest lines are (→ is a tab):"
        "\n1: all:\n2: →cc -o a a.c\n3: →strip a"
    )


def test_a_nearest_line_is_found_by_its_words() -> None:
    error = refusal("one\nreturn the sum of all\n", Replacement("return the product of all", "x"))
    assert "2: return the sum of all" in str(error)


def test_nothing_similar_is_said_to_be_so() -> None:
    assert "nothing in it is similar" in str(refusal("abc\n", Replacement("xyz", "x")))


def test_an_empty_old_text_is_refused() -> None:
    assert refusal("abc", Replacement("", "x")).reason == "empty_old_text"


def test_an_edit_that_changes_nothing_is_refused() -> None:
    assert refusal("abc", Replacement("abc", "abc")).reason == "no_change"


# ---- several edits -----------------------------------------------------------------------------------------


def test_several_edits_are_matched_against_one_text() -> None:
    edits = [Replacement("a\n", "b\n"), Replacement("b\n", "a\n")]
    assert replace("a\nb\n", edits) == "b\na\n"


def test_overlapping_edits_are_refused_by_their_numbers() -> None:
    text = "".join(f"{n}\n" for n in range(1, 11))
    error = refusal(text, Replacement("3\n4\n5\n6\n", "x\n"), Replacement("5\n6\n7\n8\n", "y\n"))
    assert error.reason == "overlap"
    assert "edits 1 and 2 overlap at line 5" in str(error)


def test_edits_may_touch_but_not_share_a_character() -> None:
    assert replace("abcd", [Replacement("ab", "1"), Replacement("cd", "2")]) == "12"
    assert refusal("abcd", Replacement("abc", "1"), Replacement("cd", "2")).reason == "overlap"


def test_a_chained_edit_is_refused_and_told_the_rule() -> None:
    error = refusal("a\n", Replacement("a\n", "b\nc\n"), Replacement("c\n", "d\n"))
    assert error.reason == "not_found"
    assert "only in the new_text of edit 1" in str(error)


def test_the_failing_edit_is_named() -> None:
    assert str(refusal("a\nb\n", Replacement("a", "x"), Replacement("zzz", "y"))).startswith(
        "edit 2:"
    )


# ---- algebra -----------------------------------------------------------------------------------------------


@given(texts, st.data())
def test_a_unique_line_is_replaced_and_every_other_byte_stays(
    text: str, data: st.DataObject
) -> None:
    lines = split_lines(text)
    number = data.draw(st.integers(0, len(lines)))
    marked = "".join([*lines[:number], "unique\n", *lines[number:]])
    quoted = "".join(split_lines(marked)[max(number - 1, 0) : number + 2])
    result = one(marked, unify_endings(quoted), unify_endings(quoted).replace("unique", "😋’"))
    assert result == marked.replace("unique", "😋’")
