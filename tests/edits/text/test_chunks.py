"""Chunks of a patch in a text: whole lines, one place or none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_server.edits.text.chunks import Chunk, apply_chunks
from agent_server.edits.text.hunks import hunks
from agent_server.edits.text.lines import content, split_lines
from agent_server.loop.errors import EditRefused

THREE = "def a():\n    return 1\n\ndef b():\n    return 1\n\ndef c():\n    return 1\n"


def chunk(*lines: str, anchors: tuple[str, ...] = (), at_end: bool = False) -> Chunk:
    old = tuple(line[1:] for line in lines if line[0] in " -")
    new = tuple(line[1:] for line in lines if line[0] in " +")
    return Chunk(anchors, old, new, at_end)


def refused(text: str, *chunks: Chunk) -> EditRefused:
    with pytest.raises(EditRefused, match=r".*") as caught:
        apply_chunks(text, chunks)
    return caught.value


def test_lines_are_replaced_put_in_and_taken_out() -> None:
    made = apply_chunks("a\nb\nc\nd\n", [chunk(" a", "-b", "+B", "+b2"), chunk("-d")])
    assert made == "a\nB\nb2\nc\n"


def test_part_of_a_line_is_not_a_line() -> None:
    assert refused("xab\n", chunk("-ab", "+c")).reason == "not_found"
    assert apply_chunks("xab\nab\n", [chunk("-ab", "+c")]) == "xab\nc\n"


def test_lines_that_stand_twice_are_refused_with_their_lines() -> None:
    error = refused(THREE, chunk("-    return 1", "+    return 2"))
    assert error.reason == "ambiguous"
    assert "hunk 1: its lines occur 3 times, at lines 2, 5, 8" in str(error)


def test_an_anchor_names_the_block_that_is_meant() -> None:
    made = apply_chunks(THREE, [chunk("-    return 1", "+    return 2", anchors=("def b():",))])
    assert made == THREE.replace("def b():\n    return 1", "def b():\n    return 2")


def test_an_anchor_that_stands_twice_needs_one_above_it() -> None:
    text = "class A:\n  def f():\n    x\nclass B:\n  def f():\n    x\n"
    change = ("-    x", "+    y")
    assert "stands at lines 2, 5" in str(refused(text, chunk(*change, anchors=("  def f():",))))
    made = apply_chunks(text, [chunk(*change, anchors=("class B:", "  def f():"))])
    assert made == text[::-1].replace("x", "y", 1)[::-1]


def test_an_anchor_that_is_nowhere_shows_the_nearest_line() -> None:
    error = refused(THREE, chunk("-    return 1", anchors=("def b(x):",)))
    assert (error.reason, "nearest lines" in str(error)) == ("not_found", True)


def test_lines_that_are_not_there_show_the_nearest_ones() -> None:
    error = refused("one\ntwo words here\n", chunk("-two words there", "+x"))
    assert str(error).startswith("hunk 1: its lines are not in the file; the nearest lines are:\n2")


def test_the_ladder_of_edit_holds_for_patches() -> None:
    """Spaces at line ends, indentation, quotes; context keeps the file's own bytes."""
    text = "if x:\n\tprint(\u201chi\u201d)  \n\tstop\n"
    made = apply_chunks(text, [chunk(' print("hi")', "-stop", "+go")])
    assert made == "if x:\n\tprint(\u201chi\u201d)  \n\tgo\n"


def test_line_ends_are_the_files() -> None:
    made = apply_chunks("a\r\nb\r\n", [chunk(" a", "+n", " b"), chunk("+z")])
    assert made == "a\r\nn\r\nb\r\nz\r\n"


@pytest.mark.parametrize(
    ("text", "made"), [("", "z\n"), ("a", "a\nz\n"), ("a\n", "a\nz\n"), ("a\n\n", "a\n\nz\n")]
)
def test_lines_without_old_ones_go_to_the_end(text: str, made: str) -> None:
    assert apply_chunks(text, [chunk("+z")]) == made


def test_lines_without_old_ones_go_below_their_anchor() -> None:
    assert apply_chunks("a\nb\n", [chunk("+n", anchors=("a",))]) == "a\nn\nb\n"
    assert apply_chunks("a\nb", [chunk("+n", anchors=("b",))]) == "a\nb\nn\n"


def test_a_last_line_without_an_end_keeps_none() -> None:
    assert apply_chunks("a\nb", [chunk("-b", "+c")]) == "a\nc"


def test_at_the_end_means_the_last_of_equal_lines() -> None:
    assert apply_chunks("a\nb\na\n", [chunk("-a", "+z", at_end=True)]) == "a\nb\nz\n"


def test_hunks_that_overlap_are_named() -> None:
    """ED-11."""
    error = refused("a\nb\nc\n", chunk(" a", "-b"), chunk("-b", "+B", " c"))
    assert (error.reason, "hunks 1 and 2 overlap at line 2" in str(error)) == ("overlap", True)


def test_no_hunk_sees_what_another_put_in() -> None:
    """ED-11."""
    assert "hunk 2" in str(refused("a\n", chunk("-a", "+b"), chunk("-b", "+c")))


def test_a_hunk_that_changes_nothing_is_refused() -> None:
    assert refused("a\n", chunk(" a")).reason == "no_change"


LINES = st.lists(st.text(alphabet="ab \t\u201c", max_size=3), min_size=1, max_size=8, unique=True)


@given(LINES, LINES, st.sampled_from(["\n", "\r\n"]))
def test_a_patch_with_all_lines_as_context_makes_the_new_text(
    old: list[str], new: list[str], end: str
) -> None:
    base, wanted = ("".join(line + end for line in lines) for lines in (old, new))
    if old == new:
        return
    made = apply_chunks(base, [Chunk((), tuple(old), tuple(new))])
    assert made == wanted


@given(LINES, st.data())
def test_bytes_outside_the_hunks_never_change(old: list[str], data: st.DataObject) -> None:
    base = "".join(f"{line}\n" for line in old)
    at = data.draw(st.integers(0, len(old) - 1))
    try:
        made = apply_chunks(base, [Chunk((), (old[at],), ("new",))])
    except EditRefused:
        return
    (hunk,) = hunks(base, made)
    assert hunk.removed == (split_lines(base)[at],)
    assert [content(line) for line in hunk.added] == ["new"]
