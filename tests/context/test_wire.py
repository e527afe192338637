"""The messages of a request, folded from a log (loop.md §1J, I1)."""

from collections.abc import Sequence

import pytest

from agent_server.context.compact import legal_cuts
from agent_server.context.wire import SUMMARY_HEAD, Projection, messages
from agent_server.loop.model import (
    CallKey,
    Entry,
    Image,
    Reply,
    ReplyEntry,
    ResultEntry,
    SummaryEntry,
    Text,
    ToolCall,
    ToolResult,
    TurnId,
    Usage,
    UserEntry,
    WithheldEntry,
)
from agent_server.loop.ports import AssistantMessage, Message, ToolMessage, UserMessage

T = TurnId("t")


def said(text: str) -> UserEntry:
    return UserEntry(T, (Text(text),))


def replied(number: int, *arguments: str, text: str = "") -> ReplyEntry:
    calls = tuple(
        ToolCall(CallKey(number, i), f"id-{i}", "read", raw) for i, raw in enumerate(arguments)
    )
    return ReplyEntry(T, number, Reply(text, calls, "stop", "m", Usage()))


def gave(number: int, index: int, output: str) -> ResultEntry:
    return ResultEntry(T, CallKey(number, index), ToolResult(True, output), "none")


def results(sent: Sequence[Message]) -> list[str]:
    return [m.text for m in sent if isinstance(m, ToolMessage)]


@pytest.mark.row("R110", "R131")
def test_a_result_belongs_to_its_own_reply_although_providers_repeat_their_ids():
    log: list[Entry] = [said("a"), replied(1, "{}"), gave(1, 0, "one"), replied(2, "{}")]
    assert results(messages([*log, gave(2, 0, "two")])) == ["one", "two"]


def test_results_that_came_out_of_order_are_sent_in_the_order_of_their_calls():
    log: list[Entry] = [said("a"), replied(1, "{}", "{}"), gave(1, 1, "two"), gave(1, 0, "one")]
    assert results(messages(log)) == ["one", "two"]


@pytest.mark.parametrize("raw", ["[", "[]", '"x"', "", "null"])
def test_arguments_that_are_no_object_are_sent_as_an_empty_one(raw: str):
    """A provider that parses them would refuse the conversation for ever (ST-18)."""
    _, reply, _ = messages([said("a"), replied(1, raw), gave(1, 0, "bad arguments")])
    assert isinstance(reply, AssistantMessage)
    assert [call.arguments for call in reply.calls] == ["{}"]


@pytest.mark.row("R130")
def test_what_the_person_says_twice_in_a_row_is_one_message():
    (only,) = messages([said("a"), said("b")])
    assert only == UserMessage((Text("a"), Text("b")))


def test_an_empty_result_is_said_to_be_empty():
    assert results(messages([said("a"), replied(1, "{}"), gave(1, 0, "")])) == ["(no output)"]


@pytest.mark.row("R68")
def test_a_summary_stands_at_the_head_in_place_of_what_it_summarises():
    log: list[Entry] = [said("old"), replied(1, text="old answer")]
    summary = SummaryEntry(T, "in short", upto=2, generation=1)
    (first, *_) = messages([*log, said("new"), summary])
    assert first == UserMessage((Text(SUMMARY_HEAD + "in short"), Text("new")))


@pytest.mark.row("R73")
def test_no_cut_is_made_while_a_call_has_no_result():
    log: list[Entry] = [said("a"), replied(1, "{}", "{}"), gave(1, 0, "x"), said("b")]
    assert legal_cuts(log) == [1]
    assert legal_cuts([*log[:3], gave(1, 1, "y"), said("b")]) == [1, 4]


def test_a_picture_that_was_refused_stays_left_out_after_a_compaction():
    picture = UserEntry(T, (Text("look"), Image("image/png", "aGk=")))
    log: list[Entry] = [said("a"), replied(1, text="b"), picture, WithheldEntry(T, "images", "no")]
    log += [said("c"), replied(2, text="d")]
    growing = Projection()
    growing.of([*log, said("more")])
    log += [said("more"), SummaryEntry(T, "in short", upto=2, generation=1), said("e")]

    for sent in (growing.of(log), messages(log)):
        parts = [part for m in sent if isinstance(m, UserMessage) for part in m.parts]
        assert not any(isinstance(part, Image) for part in parts)
        assert any(isinstance(p, Text) and "a picture was left out" in p.text for p in parts)
