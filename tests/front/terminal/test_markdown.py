from hypothesis import given
from hypothesis import strategies as st

from agent_server.front.terminal.markdown import split_finished


def test_a_paragraph_is_finished_when_the_next_block_begins() -> None:
    assert split_finished("one\ntwo\n\nthree") == (["one\ntwo\n\n"], "three")


def test_the_last_block_stays_open_even_behind_a_blank_line() -> None:
    assert split_finished("one\n\n") == ([], "one\n\n")


def test_a_fenced_block_stays_whole() -> None:
    open_block = "```py\na\n\nb\n"
    assert split_finished(open_block) == ([], open_block)
    assert split_finished(open_block + "```\n\nend") == ([open_block + "```\n\n"], "end")


def test_a_longer_fence_is_not_closed_by_a_shorter_one() -> None:
    text = "````\n```\n\nstill code\n"
    assert split_finished(text) == ([], text)


def test_a_list_stays_whole_over_blank_lines() -> None:
    text = "- one\n\n- two\n\n  more of two\n"
    assert split_finished(text) == ([], text)
    assert split_finished(text + "\nafter\n") == ([text + "\n"], "after\n")


def test_a_line_too_short_to_tell_does_not_end_a_list() -> None:
    assert split_finished("1. one\n\n2") == ([], "1. one\n\n2")


PIECES = st.sampled_from(["a\n", "\n", "```\n", "- x\n", "  y\n", "1. z\n", "> q\n", "# h\n", "t"])


@given(st.lists(PIECES, max_size=20).map("".join))
def test_no_character_is_lost_and_what_was_finished_stays_finished(text: str) -> None:
    blocks, rest = split_finished(text)
    assert "".join(blocks) + rest == text
    for end in range(len(text)):
        before, _ = split_finished(text[:end])
        assert blocks[: len(before)] == before
