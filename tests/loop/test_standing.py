"""What of a log stands after conversations were taken back (loop.md F30)."""

from hypothesis import given
from hypothesis import strategies as st

from agent_server.loop.model import Entry, RewoundEntry, Text, TurnId, UserEntry
from agent_server.loop.standing import Standing, places, standing

NONE = TurnId("")


def said(text: str) -> UserEntry:
    return UserEntry(TurnId(text), (Text(text),))


def test_a_log_that_was_never_taken_back_stands_as_it_is():
    log: list[Entry] = [said("a"), said("b")]
    assert standing(log) is log


def test_what_was_taken_back_does_not_stand_and_what_came_afterwards_does():
    log: list[Entry] = [said("a"), said("b"), RewoundEntry(NONE, 1), said("c")]
    assert standing(log) == [said("a"), said("c")]


def test_going_back_to_where_it_was_taken_back_undoes_that():
    log: list[Entry] = [said("a"), said("b"), RewoundEntry(NONE, 0), RewoundEntry(NONE, 2)]
    assert standing(log) == [said("a"), said("b")]


def test_a_damaged_entry_that_points_past_itself_changes_nothing():
    log: list[Entry] = [said("a"), RewoundEntry(NONE, 99), said("b")]
    assert standing(log) == [said("a"), said("b")]


@given(st.lists(st.none() | st.floats(0, 1, exclude_max=True), max_size=30))
def test_what_stands_is_what_stood_at_the_place_gone_back_to(steps: list[float | None]):
    """Each step speaks (None) or goes back to some place in the log; a model keeps what stood at every place."""
    log: list[Entry] = []
    growing = Standing()
    stood: list[list[Entry]] = [[]]
    for step in steps:
        upto = None if step is None else int(step * (len(log) + 1))
        log.append(said(str(len(log))) if upto is None else RewoundEntry(NONE, upto))
        stood.append([*stood[-1], log[-1]] if upto is None else stood[upto])
        assert list(standing(log)) == list(growing.of(log)) == stood[-1]
    assert [len(places(log, at)) for at in range(len(log) + 1)] == [len(one) for one in stood]
