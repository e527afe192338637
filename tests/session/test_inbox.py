"""The inbox: every prompt is answered once, and no word is lost, said twice or said to the wrong turn (CP-14, R137)."""

from collections import Counter
from dataclasses import dataclass, field

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_server.loop.model import DoneReason, Text, TurnId, Usage
from agent_server.session.inbox import Inbox
from agent_server.session.prompts import Parts, Prompt, TurnResult, new_turn_id
from tests.fakes.loop import said

pytestmark = pytest.mark.anyio


@dataclass
class Trial:
    """An inbox, and what became of everything that was put into it."""

    inbox: Inbox = field(default_factory=Inbox)
    prompts: list[Prompt] = field(default_factory=list[Prompt])
    given: list[str] = field(default_factory=list[str])
    """Every text, each one different."""
    taken_back: list[str] = field(default_factory=list[str])
    heard: list[str] = field(default_factory=list[str])
    """By a model, in whichever turn."""
    unread: list[str] = field(default_factory=list[str])

    def text(self) -> str:
        self.given.append(f"text {len(self.given)}")
        return self.given[-1]

    def ask(self) -> None:
        prompt = Prompt(said(self.text()), new_turn_id())
        self.prompts.append(self.inbox.put(prompt))

    def ride(self) -> None:
        host = self.inbox.steerable
        if host is None:
            self.ask()
            return
        rider = Prompt(said(self.text()), host.turn, host=host)
        host.add(rider.parts, by=rider)
        self.prompts.append(rider)

    def steer(self) -> None:
        if (host := self.inbox.steerable) is not None:
            host.add(said(self.text()))

    def hear(self) -> None:
        """The model of the running turn hears the oldest word that waits."""
        head = self.inbox.head
        if head is not None and head.control.inbox:
            self.heard.append(_text(head.control.inbox.popleft()))

    def cancel(self) -> None:
        self.inbox.cancel("cancel")

    def withdraw(self) -> None:
        """The client takes back what it asked last."""
        if not self.prompts or self.prompts[-1].done.is_set():
            return
        prompt = self.prompts[-1]
        prompt.cancel("cancel")
        if prompt.done.is_set():
            self.taken_back.append(_text(prompt.parts))

    def finish(self) -> None:
        """The running turn ends, badly when it was cancelled."""
        head = self.inbox.head
        if head is None:
            return
        self.heard.append(_text(head.parts))
        cancelled = head.scope.cancel_called
        reason = DoneReason.USER_ABORT if cancelled else DoneReason.MODEL_STOP
        detail = "cancel" if cancelled else "text"
        head.result = TurnResult(head.turn, reason, detail, Usage(), "")
        self.inbox.settle(head)
        self.unread += map(_text, head.result.unread)


def _text(parts: Parts) -> str:
    (part,) = parts
    assert isinstance(part, Text)
    return part.text


STEPS = st.lists(
    st.sampled_from(["ask", "ride", "steer", "hear", "cancel", "withdraw", "finish"]), max_size=25
)


async def _after(steps: list[str]) -> Trial:
    await anyio.lowlevel.checkpoint()
    trial = Trial()
    for step in steps:
        getattr(trial, step)()
    return trial


async def _to_the_end(steps: list[str]) -> Trial:
    trial = await _after(steps)
    while trial.inbox:
        trial.finish()
    return trial


async def _closed(steps: list[str]) -> Trial:
    trial = await _after(steps)
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(trial.inbox.close)
            await anyio.lowlevel.checkpoint()
            trial.finish()
    return trial


@settings(deadline=None, max_examples=300)
@given(steps=STEPS)
def test_every_prompt_is_answered_and_every_word_ends_in_one_place(steps: list[str]) -> None:
    trial = anyio.run(_to_the_end, steps)

    assert all(p.done.is_set() and p.result is not None for p in trial.prompts)
    ends = Counter(trial.heard) + Counter(trial.unread) + Counter(trial.taken_back)
    assert ends == Counter(trial.given)


@settings(deadline=None, max_examples=100)
@given(steps=STEPS)
def test_closing_answers_everything(steps: list[str]) -> None:
    trial = anyio.run(_closed, steps)

    assert not trial.inbox
    assert all(p.done.is_set() and p.result is not None for p in trial.prompts)


async def test_the_next_prompt_is_none_once_closed() -> None:
    inbox = Inbox()
    with anyio.fail_after(5):
        await inbox.close()
        assert await inbox.next() is None


async def test_a_rider_that_was_heard_is_answered_with_the_turn_it_joined() -> None:
    trial = Trial()
    trial.ask()
    trial.ride()
    trial.hear()
    trial.finish()

    host, rider = trial.prompts
    assert rider.result == host.result
    assert host.result is not None
    assert host.result.turn == TurnId(host.turn)
