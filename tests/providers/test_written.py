"""A conversation that grows is written piece by piece, and says what it would say written whole (I7)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_server.loop.model import CallKey, Reasoning, Text, ToolCall
from agent_server.loop.ports import AssistantMessage, Message, ToolMessage, UserMessage
from agent_server.providers import wire
from agent_server.providers.written import Written, dumped
from tests.providers.requests import request

ME = "deepseek/reasoner"
FIELD = json.dumps({"field": "reasoning_content"})

texts = st.sampled_from(["", "hello", 'a "quoted" \\ line\n', "\ud800", "🐍"])
said = st.one_of(
    st.builds(lambda text: UserMessage((Text(text),)), texts),
    st.builds(
        lambda text, thought: AssistantMessage(
            text,
            (ToolCall(CallKey(1, 0), "c1", "read", "{}"),),
            (Reasoning(thought, ME, FIELD),) if thought else (),
        ),
        texts,
        texts,
    ),
    st.builds(lambda text: ToolMessage("c1", "read", text), texts),
)
requests = st.lists(
    st.tuples(st.integers(0, 80), st.lists(said, max_size=50)), min_size=1, max_size=6
)


@given(requests)
def test_any_requests_one_after_the_other_say_what_they_say_alone(
    steps: list[tuple[int, list[Message]]],
) -> None:
    """Each keeps the beginning of the one before, as long as it likes."""
    written, so_far = Written(), list[Message]()
    for kept, added in steps:
        so_far = [*so_far[:kept], *added]
        made = request(*so_far)
        assert written.messages(made, ME) == dumped(wire.messages(made, ME))


def test_what_was_said_before_is_not_written_again(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = UserMessage((Text("one"),)), UserMessage((Text("two"),))
    written = Written()
    written.messages(request(first), ME)
    seen: list[Message] = []
    message = wire.message

    def counted(said: Message, model: str, field: str | None) -> dict[str, object]:
        seen.append(said)
        return message(said, model, field)

    monkeypatch.setattr(wire, "message", counted)
    written.messages(request(first, second), ME)

    assert seen == [second]
