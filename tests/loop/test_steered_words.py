"""What the person adds to a running turn is never lost, at any event, cancel or failing commit (loop.md §5, I9)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_server.loop.action import Answer
from agent_server.loop.events import Event
from agent_server.loop.model import Entry, Part, ReplyEntry, ResultEntry, Text, UserEntry
from tests.fakes.loop import Say, said
from tests.loop.test_invariants import COMMON, World, answers, faults_of_request, steps

pytestmark = pytest.mark.anyio

moments = st.lists(st.tuples(st.integers(1, 40), st.booleans()), max_size=4)
"""(at which event, dropping what streams)."""


class Steered(World):
    """A world in which somebody speaks at given events."""

    def __init__(
        self, script: list[Say], replies: list[Answer], spoken: list[tuple[int, bool]]
    ) -> None:
        super().__init__(script, replies)
        self._spoken = spoken
        self.said: list[str] = []

    def emit(self, event: Event) -> None:
        super().emit(event)
        if self.turn_now is None:
            return
        for at, now in self._spoken:
            if at == self.ticks:
                self.said.append(f"words {len(self.said)}.")
                control = self.turn_now.control
                (control.redirect if now else control.inbox.append)(said(self.said[-1]))


def text_of(parts: tuple[Part, ...]) -> str:
    return "".join(part.text for part in parts if isinstance(part, Text))


def torn(entries: list[Entry]) -> list[str]:
    """Words that stand between a call and its result."""
    waiting: set[object] = set()
    wrong: list[str] = []
    for entry in entries:
        match entry:
            case ReplyEntry(reply=reply):
                waiting = {call.key for call in reply.calls}
            case ResultEntry(key=key):
                waiting.discard(key)
            case UserEntry(parts=parts) if waiting:
                wrong.append(text_of(parts))
            case _:
                pass
    return wrong


@settings(COMMON, max_examples=60)
@given(
    steps,
    answers,
    moments,
    st.one_of(st.none(), st.integers(1, 40)),
    st.one_of(st.none(), st.integers(1, 12)),
)
@pytest.mark.row("R133", "R137")
async def test_steered_words_are_in_the_log_or_unread_in_order_and_part_no_call_from_its_result(
    script: list[Say],
    replies: list[Answer],
    spoken: list[tuple[int, bool]],
    cancel_at: int | None,
    fail_at: int | None,
):
    world = Steered(script, replies, spoken)
    world.stage.log.fail_at = fail_at
    await world.turn("t1", 1, cancel_at=cancel_at)

    entries = list(world.stage.log.entries)
    heard = [text_of(e.parts) for e in entries if isinstance(e, UserEntry) and e.origin == "steer"]
    assert world.turn_now is not None
    unread = [text_of(parts) for parts in world.turn_now.control.inbox]
    kept = [*heard, *unread]
    # A redirect quotes in front of the words what the model was saying.
    assert [words[-len(one) :] for words, one in zip(kept, world.said, strict=True)] == world.said
    assert torn(entries) == []
    for request in world.stage.model.requests:
        assert [f for f in faults_of_request(request.messages) if "result" in f] == []
