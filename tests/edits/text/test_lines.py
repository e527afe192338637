"""The line model: `\\r\\n | \\n | \\r`, and nothing else."""

from hypothesis import given

from agent_server.edits.text.endings import keep_endings
from agent_server.edits.text.lines import content, ending, split_lines, unify_endings, usual_ending
from tests.edits.strategies import any_text, texts


@given(any_text)
def test_lines_joined_are_the_text(text: str) -> None:
    assert "".join(split_lines(text)) == text


@given(any_text)
def test_a_line_is_its_content_and_its_end_and_only_the_last_may_lack_one(text: str) -> None:
    found = split_lines(text)
    assert all(content(line) + ending(line) == line for line in found)
    assert all(ending(line) for line in found[:-1])
    assert not any(end in content(line) for line in found for end in "\r\n")


def test_form_feed_and_line_separator_do_not_end_a_line() -> None:
    assert split_lines("a\x0cb\u2028c\x85d\ne") == ["a\x0cb\u2028c\x85d\n", "e"]


def test_an_empty_text_has_no_lines() -> None:
    assert split_lines("") == []


def test_the_usual_ending_is_the_most_frequent_one() -> None:
    assert usual_ending(split_lines("a\r\nb\r\nc\n")) == "\r\n"
    assert usual_ending(["no end"]) == "\n"


def test_unified_endings_are_line_feeds() -> None:
    assert unify_endings("a\r\nb\rc\n") == "a\nb\nc\n"


def test_a_whole_new_text_takes_the_line_ends_of_the_file() -> None:
    assert keep_endings("a\r\nb\r\n", "a\nnew\nb\n") == "a\r\nnew\r\nb\r\n"


def test_kept_lines_of_a_mixed_file_keep_their_own_ends() -> None:
    assert keep_endings("a\r\nb\nc\r\n", "a\nb\nc\nd\n") == "a\r\nb\nc\r\nd\r\n"


def test_a_final_line_without_end_stays_without() -> None:
    assert keep_endings("a\r\nb", "a\nc") == "a\r\nc"
    assert keep_endings("a\r\nb", "a\nb\n") == "a\r\nb\r\n"


def test_a_text_with_carriage_returns_of_its_own_is_taken_as_given() -> None:
    assert keep_endings("a\r\nb\nc\n", "a\nx\r\n") == "a\nx\r\n"
    assert keep_endings("a\nb\n", "a\r\nx\r\n") == "a\r\nx\r\n"
    assert keep_endings("a\nb\n", "a\n10%\r50%\r\n") == "a\n10%\r50%\r\n"


def test_a_text_that_mixes_line_ends_leaves_a_file_of_one_kind_as_it_is():
    assert keep_endings("a\r\nb\r\nc\r\n", "a\r\nB\nc\n") == "a\r\nB\r\nc\r\n"
    assert keep_endings("a\nb\n", "a\r\nB\n") == "a\nB\n"


@given(texts)
def test_writing_what_is_there_with_line_feeds_changes_nothing_but_a_missing_mix(text: str) -> None:
    assert unify_endings(keep_endings(text, unify_endings(text))) == unify_endings(text)


@given(texts)
def test_writing_back_what_the_model_read_keeps_every_byte(text: str) -> None:
    assert keep_endings(text, unify_endings(text)) == text
