"""Requests as JSON: what a strict provider sees, and whose reasoning goes back, field case ST-16."""

import json

import pytest

from agent_server.loop.model import CallKey, Image, Reasoning, Resource, Text, ToolCall
from agent_server.loop.ports import AssistantMessage, ToolMessage, UserMessage
from agent_server.providers.wire import id_form, messages, tools
from tests.fakes.strict import complaint
from tests.providers.requests import READ, request, step_messages, user

ME = "deepseek/reasoner"
FIELD = json.dumps({"field": "reasoning_content"})


def called(number: int, *reasoning: Reasoning) -> tuple[AssistantMessage, ToolMessage]:
    call = ToolCall(CallKey(number, 0), f"id{number}", "read", "{}")
    return AssistantMessage("", (call,), reasoning), ToolMessage(call.id, "read", "x")


@pytest.mark.row("R128", "R130", "R131")
def test_a_conversation_is_valid_for_a_strict_provider() -> None:
    made = request(
        user("go"), *step_messages(1), *step_messages(2), AssistantMessage("done", ()), user("more")
    )

    sent = messages(made, "m")

    assert complaint({"model": "m", "messages": sent, "tools": tools(made.tools)}) is None
    assert [m["role"] for m in sent] == [
        "system", "user", "assistant", "tool", "assistant", "tool", "assistant", "user",
    ]  # fmt: skip


def test_a_call_without_arguments_is_sent_as_an_empty_object() -> None:
    made = request(user("go"), *step_messages(1, arguments=""))

    assert messages(made, "m")[2]["tool_calls"][0]["function"]["arguments"] == "{}"


def test_text_stays_text_and_an_image_makes_blocks() -> None:
    resource = Resource("file:///a.py", "a.py", "x = 1")
    link = Resource("file:///b.py", "b.py")

    plain, mixed = (
        messages(request(UserMessage(parts)), "m")[1]["content"]
        for parts in (
            (Text("see"), resource, link),
            (Text("see"), Image("image/png", "AAAA")),
        )
    )

    assert (
        plain == 'see\n\n<resource uri="file:///a.py">\nx = 1\n</resource>\n\n[b.py](file:///b.py)'
    )
    assert mixed == [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
    ]


@pytest.mark.row("R129")
def test_a_model_gets_its_own_reasoning_back_on_every_tool_turn() -> None:
    said = [*called(1, Reasoning("hm", ME, FIELD)), *called(2)]

    made = messages(request(user("go"), *said), ME)

    assert [m["reasoning_content"] for m in made if m["role"] == "assistant"] == ["hm", ""]


@pytest.mark.row("R129")
def test_another_models_reasoning_is_not_sent() -> None:
    made = messages(request(user("go"), *called(1, Reasoning("hm", ME, FIELD))), "openai/gpt-x")

    assert "reasoning_content" not in made[2]


def test_inline_thinking_is_not_sent_back_as_a_field() -> None:
    made = messages(request(user("go"), *called(1, Reasoning("hm", ME, None))), ME)

    assert "reasoning_content" not in made[2]


def test_signed_blocks_go_back_as_they_came() -> None:
    block = {"type": "thinking", "thinking": "hm", "signature": "SIG"}
    said = called(1, Reasoning("hm", ME, json.dumps({"block": block})))

    assert messages(request(user("go"), *said), ME)[2]["thinking_blocks"] == [block]


def test_a_tool_is_a_function() -> None:
    assert tools((READ,)) == [
        {
            "type": "function",
            "function": {
                "name": "read",
                "description": "Read a file.",
                "parameters": READ.parameters,
            },
        }
    ]


@pytest.mark.parametrize(("model", "whole"), [("gemini/pro", True), ("openai/gpt-x", False)])
def test_a_signature_in_the_id_of_a_call_goes_back_to_gemini_alone(model: str, whole: bool) -> None:
    signed = "call_1__thought__" + "A/+=" * 20
    form = id_form(model)

    assert (form(signed) == signed) is whole
    assert form("call_1") == "call_1"
