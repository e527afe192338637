"""Hunks: taking some, taking none, turning round; never a byte outside of them (I13's algebra)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_server.edits.text.hunks import apply_hunks, hunks, invert, text_edits
from agent_server.edits.text.lines import split_lines
from agent_server.edits.text.positions import PositionEncoding, apply_text_edits
from agent_server.loop.proposal import Hunk
from tests.edits.strategies import edited, texts

pairs = texts.flatmap(lambda base: st.tuples(st.just(base), st.one_of(edited(base), texts)))


def ids(found: tuple[Hunk, ...]) -> set[str]:
    return {hunk.id for hunk in found}


@given(pairs)
def test_accepting_all_hunks_gives_the_new_text(pair: tuple[str, str]) -> None:
    base, new = pair
    found = hunks(base, new)
    assert apply_hunks(base, found, ids(found)) == new


@given(pairs)
def test_rejecting_all_hunks_gives_the_base(pair: tuple[str, str]) -> None:
    base, new = pair
    assert apply_hunks(base, hunks(base, new), ()) == base


@given(pairs)
def test_applying_then_taking_back_is_the_identity(pair: tuple[str, str]) -> None:
    base, new = pair
    back = invert(hunks(base, new))
    assert apply_hunks(new, back, ids(back)) == base


@given(pairs, st.data())
def test_taking_back_some_of_all_equals_accepting_the_others(
    pair: tuple[str, str], data: st.DataObject
) -> None:
    base, new = pair
    found = hunks(base, new)
    some = {h.id for h in found if data.draw(st.booleans())}
    assert apply_hunks(new, invert(found), ids(found) - some) == apply_hunks(base, found, some)


@given(pairs, st.data())
def test_bytes_outside_the_accepted_hunks_never_change(
    pair: tuple[str, str], data: st.DataObject
) -> None:
    base, new = pair
    found = hunks(base, new)
    some = {h.id for h in found if data.draw(st.booleans())}
    result, lines = apply_hunks(base, found, some), split_lines(base)
    at, place = 0, 0
    for hunk in found:
        if hunk.id not in some:
            continue
        before = "".join(lines[at : hunk.start])
        assert result[place : place + len(before)] == before
        place += len(before) + len("".join(hunk.added))
        at = hunk.start + len(hunk.removed)
    assert result[place:] == "".join(lines[at:])


@given(pairs, st.data())
def test_a_partly_accepted_text_still_has_the_lines_it_was_made_of(
    pair: tuple[str, str], data: st.DataObject
) -> None:
    """No `\\r` of one side meets a `\\n` of the other."""
    base, new = pair
    found = hunks(base, new)
    some = {h.id for h in found if data.draw(st.booleans())}
    grown = sum(len(h.added) - len(h.removed) for h in found if h.id in some)
    assert len(split_lines(apply_hunks(base, found, some))) == len(split_lines(base)) + grown


@given(pairs)
def test_ids_are_unique_in_a_file(pair: tuple[str, str]) -> None:
    found = hunks(*pair)
    assert len(ids(found)) == len(found)


@given(pairs, st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_the_hunks_sent_as_lsp_edits_make_the_same_text(
    pair: tuple[str, str], encoding: PositionEncoding
) -> None:
    base, new = pair
    assert apply_text_edits(base, text_edits(base, hunks(base, new), encoding), encoding) == new


def test_deciding_one_hunk_does_not_rename_its_neighbours() -> None:
    base = "".join(f"line {n}\n" for n in range(9))
    new = base.replace("line 2", "two").replace("line 4", "four").replace("line 6", "six")
    found = hunks(base, new)
    kept = apply_hunks(base, found, {found[1].id})
    assert [h.id for h in hunks(kept, new)] == [found[0].id, found[2].id]


def test_equal_hunks_in_equal_places_have_different_ids() -> None:
    base = "a\nx\na\nb\na\nx\na\n"
    first, second = hunks(base, base.replace("x", "y"))
    assert second.id == f"{first.id}-2"


def test_hunks_of_another_text_are_refused() -> None:
    with pytest.raises(ValueError, match="does not fit at line 2"):
        apply_hunks("a\nc\n", hunks("a\nb\n", "a\nx\n"), ())


def test_an_empty_new_file_has_no_hunks() -> None:
    assert hunks("", "") == ()
