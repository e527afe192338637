"""Gathering decisions on a proposal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_server.front.uris import file_uri
from agent_server.front.verdicts import Verdict, Verdicts
from agent_server.loop.errors import ClientMistake
from agent_server.loop.proposal import FileChange, Hunk, Proposal, accept_all
from tests.fakes.edits import change, proposal

A, B = file_uri("/w/a.py"), file_uri("/w/b.py")
TWO = proposal("x1", change("/w/a.py"), change("/w/b.py"))
UNITS = [(uri, hunk) for uri in (A, B) for hunk in ("h1", "h2")]


def said(*verdicts: Verdict, about: Proposal = TWO) -> Verdicts:
    gathered = Verdicts(about)
    gathered.add(verdicts)
    return gathered


def test_nothing_said_is_undecided() -> None:
    assert Verdicts(TWO).state == "proposed"


def test_one_word_decides_everything() -> None:
    gathered = said(Verdict(accept=True))

    assert gathered.state == "approved"
    assert gathered.resolution() == accept_all(TWO)


def test_files_are_decided_apart() -> None:
    gathered = said(Verdict(accept=True, uri=A))
    assert gathered.state == "proposed"
    gathered.add([Verdict(accept=False, uri=B)])

    assert gathered.state == "approved"
    first, second = gathered.resolution().files
    assert (first.whole, second.accepted, second.whole) == (True, frozenset(), False)


def test_a_later_word_replaces_an_earlier_one() -> None:
    gathered = said(
        Verdict(accept=True, uri=A, edited_text="mine"), Verdict(accept=False, uri=A, hunk="h1")
    )
    gathered.add([Verdict(accept=False, uri=B)])

    (first, _) = gathered.resolution().files
    assert (first.accepted, first.edited_text) == (frozenset({"h2"}), None)


@pytest.mark.parametrize(
    "verdict",
    [
        Verdict(accept=True, uri=A, hunk="h9"),
        Verdict(accept=True, uri=file_uri("/w/z.py")),
        Verdict(accept=True, hunk="h1"),
        Verdict(accept=True, edited_text="x"),
        Verdict(accept=True, uri=A, hunk="h1", edited_text="x"),
    ],
)
def test_when_one_verdict_makes_no_sense_none_counts(verdict: Verdict) -> None:
    gathered = Verdicts(TWO)
    with pytest.raises(ClientMistake):
        gathered.add([Verdict(accept=True, uri=B), verdict])
    gathered.add([Verdict(accept=False, uri=A)])

    assert gathered.state == "proposed"


@pytest.mark.parametrize("hunks", [(), (Hunk("h1", 0, (), ("x\n",)), Hunk("h2", 0, (), ("y\n",)))])
def test_a_new_file_is_taken_whole_or_not_at_all(hunks: tuple[Hunk, ...]) -> None:
    created = Proposal("x1", (FileChange("/w/a.py", "create", None, "x\ny\n", hunks),))
    decision = Verdict(accept=True, uri=A, hunk="h2") if hunks else Verdict(accept=True, uri=A)
    gathered = said(decision, about=created)

    assert gathered.state == "approved"
    assert gathered.resolution() == accept_all(created)


@given(st.permutations(UNITS), st.lists(st.booleans(), min_size=4, max_size=4))
def test_the_order_of_decisions_does_not_matter(
    order: list[tuple[str, str]], verdicts: list[bool]
) -> None:
    wanted = dict(zip(UNITS, verdicts, strict=True))
    gathered = Verdicts(TWO)
    for unit in order:
        assert gathered.state == "proposed"
        gathered.add([Verdict(wanted[unit], *unit)])

    assert gathered.state == ("approved" if any(verdicts) else "rejected")
    taken = {(file_uri(f.path), hunk) for f in gathered.resolution().files for hunk in f.accepted}
    assert taken == {unit for unit, accepted in wanted.items() if accepted}
