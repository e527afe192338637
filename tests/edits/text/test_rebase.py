"""Three-way merge: what is apart moves, what touches is a conflict, nothing is guessed."""

from hypothesis import given
from hypothesis import strategies as st

from agent_server.edits.text.hunks import apply_hunks, hunks
from agent_server.edits.text.rebase import rebase
from tests.edits.strategies import edited, texts

BASE = "".join(f"line {n}\n" for n in range(10))
triples = texts.flatmap(lambda base: st.tuples(st.just(base), edited(base), edited(base)))


def merged(base: str, ours: str, live: str) -> str | None:
    result = rebase(base, hunks(base, ours), live)
    return (
        None if result.conflicts else apply_hunks(live, result.hunks, {h.id for h in result.hunks})
    )


@given(triples)
def test_who_came_first_does_not_matter(triple: tuple[str, str, str]) -> None:
    base, ours, theirs = triple
    assert merged(base, ours, theirs) == merged(base, theirs, ours)


@given(triples)
def test_every_hunk_is_moved_in_conflict_or_there_already(triple: tuple[str, str, str]) -> None:
    base, ours, live = triple
    found = hunks(base, ours)
    result = rebase(base, found, live)
    assert {h.id for h in (*result.hunks, *result.conflicts, *result.already)} == {
        h.id for h in found
    }


@given(texts.flatmap(lambda base: st.tuples(st.just(base), edited(base))))
def test_an_unmoved_base_changes_nothing(pair: tuple[str, str]) -> None:
    base, ours = pair
    assert rebase(base, hunks(base, ours), base).hunks == hunks(base, ours)


@given(texts.flatmap(lambda base: st.tuples(st.just(base), edited(base))))
def test_what_the_other_side_did_too_is_there_already(pair: tuple[str, str]) -> None:
    base, ours = pair
    result = rebase(base, hunks(base, ours), ours)
    assert (result.hunks, result.conflicts) == ((), ())


def test_a_hunk_moves_with_its_lines_and_keeps_its_id() -> None:
    found = hunks(BASE, BASE.replace("line 5", "five"))
    result = rebase(BASE, found, "new\nnew\n" + BASE)
    assert [(h.id, h.start) for h in result.hunks] == [(found[0].id, 7)]


def test_changes_of_the_same_line_conflict() -> None:
    assert merged(BASE, BASE.replace("line 5", "five"), BASE.replace("line 5", "FIVE")) is None


def test_changes_of_neighbouring_lines_conflict() -> None:
    assert merged(BASE, BASE.replace("line 5", "five"), BASE.replace("line 6", "six")) is None
    assert merged(BASE, BASE.replace("line 5", "five"), BASE.replace("line 4\n", "")) is None


def test_an_insertion_beside_a_changed_line_conflicts() -> None:
    inserted = BASE.replace("line 5\n", "new\nline 5\n")
    assert merged(BASE, inserted, BASE.replace("line 5", "five")) is None


def test_one_line_between_two_changes_keeps_them_apart() -> None:
    ours, theirs = BASE.replace("line 5", "five"), BASE.replace("line 7", "seven")
    assert merged(BASE, ours, theirs) == ours.replace("line 7", "seven")


def test_hunks_beside_a_conflict_are_still_placed() -> None:
    ours = BASE.replace("line 2", "two").replace("line 8", "eight")
    result = rebase(BASE, hunks(BASE, ours), "top\n" + BASE.replace("line 8", "EIGHT"))
    assert [h.start for h in result.hunks] == [3]
    assert [h.start for h in result.conflicts] == [8]
