"""What a model made up goes back in a form that every provider takes (field case FC-09)."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_server.context.call_forms import CallForms
from agent_server.context.wire import messages
from agent_server.loop.model import (
    CallKey,
    Entry,
    Reply,
    ReplyEntry,
    Text,
    ToolCall,
    TurnId,
    Usage,
    UserEntry,
)
from agent_server.loop.ports import AssistantMessage, ToolMessage

T = TurnId("t")


def called(number: int, *calls: tuple[str, str, str]) -> ReplyEntry:
    made = tuple(ToolCall(CallKey(number, i), *call) for i, call in enumerate(calls))
    return ReplyEntry(T, number, Reply("", made, "tool_calls", "m", Usage()))


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("read", "read"),
        ("functions.read", "functions_read"),
        ("default_api:read", "default_api_read"),
        ('read" path="a.txt', "read__path__a_txt"),
        ("liesé", "lies_"),
        ("x" * 90, "x" * 64),
        ("", "unknown_tool"),
    ],
)
def test_a_name_that_a_model_made_up_goes_back_in_letters_that_are_taken(
    name: str, sent: str
) -> None:
    assert CallForms().form(ToolCall(CallKey(1, 0), "c1", name, "{}")).name == sent


@pytest.mark.parametrize("call_id", ["fc|1", "a b", "call:1", "x" * 41, "ü", ""])
def test_an_id_that_is_not_taken_is_replaced_for_the_call_and_its_result(call_id: str) -> None:
    log: list[Entry] = [UserEntry(T, (Text("go"),)), called(3, (call_id, "read", "{}"))]
    _, reply, result = messages(log)

    assert isinstance(reply, AssistantMessage)
    assert isinstance(result, ToolMessage)
    assert reply.calls[0].id == result.call_id == "call_3_0"


def test_an_id_that_was_used_before_stands_for_one_call_only() -> None:
    log: list[Entry] = [UserEntry(T, (Text("go"),))]
    log += [
        called(1, ("same", "read", "{}"), ("same", "list", "{}")),
        called(2, ("same", "read", "{}")),
    ]
    ids = [c.id for m in messages(log) if isinstance(m, AssistantMessage) for c in m.calls]

    assert ids == ["same", "call_1_1", "call_2_0"]


@pytest.mark.parametrize("text", ["{", "[1]", '{"a": NaN}', "null", "[" * 5000])
def test_arguments_that_are_no_strict_object_become_an_empty_one(text: str) -> None:
    assert CallForms().form(ToolCall(CallKey(1, 0), "c", "read", text)).arguments == "{}"


@given(
    st.lists(st.tuples(st.text(max_size=99), st.text(max_size=99), st.text(max_size=9)), max_size=6)
)
def test_whatever_a_model_makes_up_has_a_form_that_is_taken_and_stays(
    calls: list[tuple[str, str, str]],
) -> None:
    log: list[Entry] = [UserEntry(T, (Text("go"),)), called(1, *calls), called(2, *calls)]
    sent = [c for m in messages(log) if isinstance(m, AssistantMessage) for c in m.calls]

    assert len({c.id for c in sent}) == len(sent) == 2 * len(calls)
    for call in sent:
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", call.name)
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,40}", call.id)
        assert isinstance(json.loads(call.arguments), dict)
    before = [m for m in messages(log[:2]) if isinstance(m, AssistantMessage)]
    after = [m for m in messages(log) if isinstance(m, AssistantMessage)]
    assert after[: len(before)] == before
