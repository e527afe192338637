"""How often a client hears of a growing text (decision 5): the law of `pace.py` and `paced.py`, without sleeping."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_server.front.pace import NATURAL, Rate, at_most
from agent_server.front.paced import Cancel, Paced, Text
from agent_server.front.render.updates import message_chunk

WINDOW = NATURAL.window_s
SLACK = 1e-6
"""What adding up floating-point seconds may be wrong by."""


@dataclass
class FakeClock:
    """Time that passes when the test says so."""

    time: float = 1000.0
    timers: list[tuple[float, Callable[[], None]]] = field(default_factory=list)

    def now(self) -> float:
        return self.time

    def later(self, at: float, wake: Callable[[], None]) -> Cancel:
        timer = (at, wake)
        self.timers.append(timer)
        return lambda: timer in self.timers and self.timers.remove(timer)

    def pass_until(self, end: float) -> None:
        """Wake whoever wants it on the way."""
        while self.timers and min(at for at, _ in self.timers) <= end:
            timer = min(self.timers, key=lambda one: one[0])
            self.timers.remove(timer)
            self.time = max(self.time, timer[0])
            timer[1]()
        self.time = max(self.time, end)


@dataclass
class Line:
    """A stream, and everything that came out of it: when, of which text, what. The text of a fact is None."""

    rate: Rate = NATURAL
    clock: FakeClock = field(default_factory=FakeClock)
    came: list[tuple[float, str | None, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.paced = Paced(self._send, self.rate, self.clock)

    def _send(self, text: Text, piece: str) -> None:
        self.came.append((self.clock.time, text.id, piece))

    def put(self, piece: str, name: str = "m", *, whole: bool = False) -> None:
        self.paced.put(Text(message_chunk, name, "t", whole=whole), piece)

    def fact(self, what: str) -> None:
        self.paced.flush()
        self.came.append((self.clock.time, None, what))

    def stream(self, pieces: int, every_s: float) -> None:
        for number in range(pieces):
            self.put(chr(ord("a") + number % 26))
            self.clock.pass_until(self.clock.time + every_s)

    @property
    def times(self) -> list[float]:
        return [at for at, name, _ in self.came if name is not None]


def most_in_a_second(times: Sequence[float]) -> int:
    return max((bisect_left(times, at + 1 - SLACK) - i for i, at in enumerate(times)), default=0)


def test_the_first_piece_leaves_at_once() -> None:
    line = Line()

    line.put("a")

    assert [piece for _, _, piece in line.came] == ["a"]


def test_nothing_waits_in_a_stream_that_comes_at_140_pieces_a_second() -> None:
    line = Line()

    line.stream(280, every_s=1 / 140)

    assert len(line.came) == 280


def test_a_flood_is_told_20_times_a_second_and_its_text_is_exact() -> None:
    line = Line()

    line.stream(5_000, every_s=2 / 5_000)
    line.paced.end()

    assert "".join(piece for _, _, piece in line.came) == "".join(
        chr(ord("a") + number % 26) for number in range(5_000)
    )
    assert most_in_a_second(line.times) <= 30
    assert len(line.came) <= 7 + 2 * 20 + 1


def test_after_a_flood_nothing_waits_again() -> None:
    line = Line()
    line.stream(200, every_s=0.001)
    line.clock.pass_until(line.clock.time + 2 * WINDOW)
    before = len(line.came)

    line.stream(50, every_s=0.01)

    assert len(line.came) - before == 50


def test_a_fact_comes_behind_everything_that_was_said_before_it() -> None:
    line = Line()

    for piece in "123456789":
        line.put(piece)
    line.fact("call")
    line.put("x")
    line.paced.end()

    assert [(name, piece) for _, name, piece in line.came[6:]] == [
        ("m", "7"),
        ("m", "89"),
        (None, "call"),
        ("m", "x"),
    ]


def test_only_the_last_state_of_an_output_is_told() -> None:
    line = Line()
    line.stream(7, every_s=0)

    line.put("1", "one", whole=True)
    line.put("2", "two", whole=True)
    line.put("12", "one", whole=True)
    line.paced.flush()

    assert [(name, piece) for _, name, piece in line.came[7:]] == [("two", "2"), ("one", "12")]


def test_the_end_of_a_turn_leaves_no_timer_and_the_next_begins_at_once() -> None:
    line = Line()
    line.stream(100, every_s=0.001)

    line.paced.end()
    line.put("next")

    assert line.clock.timers == []
    assert line.came[-1] == (line.clock.time, "m", "next")


def test_nothing_is_woken_once_a_flood_has_dried_up() -> None:
    line = Line()

    line.stream(100, every_s=0.001)
    line.clock.pass_until(line.clock.time + 1)

    assert line.clock.timers == []


def test_a_loop_that_is_busy_for_long_does_not_hold_back_for_long() -> None:
    """Timers do not run then, but pieces come."""
    line = Line()

    for number in range(1_000):
        line.put(str(number % 10))
        line.clock.time += 0.001

    assert len(line.came) >= 7 + 18


@pytest.mark.parametrize("wanted", [1, 5, 30, 60])
def test_a_client_that_wants_so_many_a_second_gets_no_more(wanted: int) -> None:
    line = Line(at_most(wanted))

    line.stream(3_000, every_s=0.001)

    assert most_in_a_second(line.times) <= wanted
    assert len(line.came) >= 3 * wanted - 1


def test_a_client_that_wants_30_a_second_waits_for_none_of_ten() -> None:
    line = Line(at_most(30))

    line.stream(20, every_s=0.1)

    assert len(line.came) == 20


def test_what_a_client_wants_is_spread_evenly() -> None:
    line = Line(at_most(10))

    for at in (0.0, 0.05, 0.11, 0.21, 0.5):
        line.clock.pass_until(1000 + at)
        line.put("x")
    line.clock.pass_until(1001)

    assert [round(at - 1000, 3) for at in line.times] == [0.0, 0.1, 0.2, 0.3, 0.5]


def test_outputs_of_parallel_calls_share_the_rate_of_their_session() -> None:
    line = Line()

    for number in range(2_000):
        line.put(str(number), f"call {number % 4}", whole=True)
        line.clock.pass_until(line.clock.time + 0.001)

    assert len(line.came) <= 7 + 2 * 20 + 4


def test_eight_streams_keep_their_own_pace() -> None:
    clock = FakeClock()
    alone, together = Line(), [Line(clock=clock) for _ in range(8)]
    alone.stream(300, every_s=0.002)

    for number in range(300):
        for line in together:
            line.put(chr(ord("a") + number % 26))
        clock.pass_until(clock.time + 0.002)

    assert all(line.came == alone.came for line in together)


Step = tuple[float, str, str]
"""Seconds later, what of (`m`, `n`: texts; `fact`), which piece."""
steps = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.0, 0.001, 0.004, 0.02, 0.06, 0.3]),
        st.sampled_from(["m", "m", "m", "m", "n", "fact"]),
        st.sampled_from("abc"),
    ),
    max_size=300,
)
rates = st.sampled_from([NATURAL, at_most(1), at_most(30)])


@given(steps, rates)
def test_text_and_order_are_exact_whatever_comes_when(script: list[Step], rate: Rate) -> None:
    line = Line(rate)
    said: list[tuple[str, str]] = []

    for pause, what, piece in script:
        line.clock.pass_until(line.clock.time + pause)
        said.append((what, piece))
        line.fact(piece) if what == "fact" else line.put(piece, what)
    line.paced.end()

    assert _joined([(name or "fact", piece) for _, name, piece in line.came]) == _joined(said)
    assert line.clock.timers == []


@given(st.lists(st.sampled_from([0.0, 0.001, 0.004, 0.02, 0.06, 0.3]), max_size=300), rates)
def test_no_piece_is_held_longer_than_a_window(pauses: list[float], rate: Rate) -> None:
    line = Line(rate)
    put: list[float] = []

    for pause in pauses:
        line.clock.pass_until(line.clock.time + pause)
        line.put("x")
        put.append(line.clock.time)
    line.clock.pass_until(line.clock.time + 2 * rate.window_s)

    came = [at for at, _, piece in line.came for _ in piece]
    assert all(at - since <= rate.window_s + SLACK for since, at in zip(put, came, strict=True))


@pytest.mark.row("R138")
@given(st.lists(st.sampled_from([0.0, 0.001, 0.004]), min_size=1, max_size=1500))
def test_a_flood_has_at_most_30_updates_in_any_second_and_the_first_at_once(
    pauses: list[float],
) -> None:
    """Pieces come at 250 a second at least: more than a person reads, in every window."""
    line = Line()
    began = line.clock.time

    for pause in pauses:
        line.put("x")
        line.clock.pass_until(line.clock.time + pause)
    line.paced.end()

    assert line.times[0] == began
    assert most_in_a_second(line.times) <= 30


@given(st.lists(st.sampled_from([0.0, 0.001, 0.02, 0.3]), max_size=300), st.integers(1, 60))
def test_no_second_has_more_than_the_client_wants(pauses: list[float], wanted: int) -> None:
    line = Line(at_most(wanted))

    for pause in pauses:
        line.put("x")
        line.clock.pass_until(line.clock.time + pause)

    assert most_in_a_second(line.times) <= wanted


def _joined(said: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Neighbouring pieces of one text as one; facts stay alone."""
    grouped: list[tuple[str, str]] = []
    for number, (what, pieces) in enumerate(groupby(said, key=lambda one: one[0])):
        texts = [piece for _, piece in pieces]
        grouped += (
            [(f"{what} {number}", one) for one in texts]
            if what == "fact"
            else [(what, "".join(texts))]
        )
    return grouped
