"""Review after applying: a person types beside our hunks and in them, and rejects hunks in any order (lsp.md §4.4).

A text is drawn as regions, each of which we, the person, both or nobody changed, with lines between them that nobody
touches. So what has to come out is known without any diff. 5,000 cases in all.
"""

from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_server.edits.text.hunks import apply_hunks, hunks
from agent_server.edits.text.rebase import take_out
from tests.edits.strategies import edited, texts

pytestmark = pytest.mark.timeout(120)
"""Thousands of cases on a machine that may be busy."""


def some(*lines: str) -> st.SearchStrategy[str]:
    """Up to three of these lines."""
    return st.lists(st.sampled_from(lines), max_size=3).map("".join)


before = some("a\n", "}\n", "\n", "  x\r\n")
proposed = some("b\n", "😋\n", "\t\n", "  y\r\n")
typed = some("typed\n", "typed, 𐐀\n", "typed\r\n")


@dataclass(frozen=True)
class Region:
    """Lines that stand apart from all others."""

    base: str
    ours: str
    live: str

    @property
    def rejected(self) -> str:
        """Without our change: as it was, or as the person wrote it; what both changed stays."""
        if self.ours == self.base:
            return self.live
        return self.base if self.live == self.ours else self.live

    @property
    def stays(self) -> bool:
        """Our change cannot be told from the person's any more."""
        return self.ours != self.base and self.live not in (self.base, self.ours)


@st.composite
def regions(draw: st.DrawFn) -> list[Region]:
    """A few of them. Nobody's lines are another's or another region's, so that whose a line is has one answer only."""
    made: list[Region] = []
    for n in range(draw(st.integers(1, 5))):
        base = marked(n, draw(before))
        changed, person = marked(n, draw(proposed)), marked(n, draw(typed))
        ours = changed if draw(st.booleans()) else base
        now = (ours, ours, base, person, ours + person, person + ours)
        live = now[draw(st.integers(0, len(now) - 1))]
        made.append(Region(base, ours, live))
    return made


def marked(region: int, text: str) -> str:
    """Its lines, told from the same ones in another region."""
    return "".join(f"{region}{line}" for line in text.splitlines(keepends=True))


def joined(parts: list[str]) -> str:
    """The regions with lines between them that nobody touches."""
    return "".join(
        f"{part}-- end of region {n} --\n-- next --{n}\n" for n, part in enumerate(parts)
    )


def three(made: list[Region]) -> tuple[str, str, str]:
    """The text before our edit, after it, and as the person has it now."""
    return (
        joined([r.base for r in made]),
        joined([r.ours for r in made]),
        joined([r.live for r in made]),
    )


@given(regions())
@settings(max_examples=2_000, deadline=None)
def test_rejecting_all_hunks_gives_the_persons_text_on_the_base(made: list[Region]) -> None:
    base, ours, live = three(made)
    all_of_it = hunks(base, ours)
    text, stuck = take_out(ours, all_of_it, live, {hunk.id for hunk in all_of_it})

    assert text == joined([region.rejected for region in made])
    assert len(stuck) == sum(region.stays for region in made)


@given(regions())
@settings(max_examples=1_000, deadline=None)
def test_keeping_all_hunks_gives_the_live_text(made: list[Region]) -> None:
    base, ours, live = three(made)

    assert take_out(ours, hunks(base, ours), live, set()) == (live, ())


@given(regions(), st.data())
@settings(max_examples=1_000, deadline=None)
def test_hunks_rejected_one_by_one_with_typing_between_leave_what_was_typed_and_what_was_kept(
    made: list[Region], data: st.DataObject
) -> None:
    """Ids do not move when others are decided; text typed between two decisions is the person's like any other."""
    made = [replace(r, live=r.ours) for r in made]
    base, ours, live = three(made)
    ours_all = hunks(base, ours)
    order = data.draw(st.permutations([hunk.id for hunk in ours_all]))
    rejected = order[: data.draw(st.integers(0, len(order)))]
    for one in rejected:
        live, stuck = take_out(ours, ours_all, live, {one})
        assert stuck == ()
        live += "typed between\n-- end --\n"

    kept = {hunk.id for hunk in ours_all} - set(rejected)
    assert live == apply_hunks(base, ours_all, kept) + "typed between\n-- end --\n" * len(rejected)


@given(texts, st.data())
@settings(max_examples=1_000, deadline=None)
def test_on_any_text_nothing_typed_means_that_rejecting_all_is_the_base(
    base: str, data: st.DataObject
) -> None:
    ours = data.draw(edited(base))
    made = hunks(base, ours)

    assert take_out(ours, made, ours, {hunk.id for hunk in made}) == (base, ())
