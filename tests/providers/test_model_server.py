"""The fake server means what its notation says, and is strict."""

import pytest

from tests.fakes.answers import (
    Answer,
    JsonDict,
    answer,
    call,
    cut,
    empty,
    hang,
    http,
    length,
    say,
    think,
    tick,
)
from tests.fakes.strict import complaint


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ('say "a + b (c"', say("a + b (c")),
        (
            'say "hi" + call read(path=a/b.py, start_line=3)',
            say("hi") + call("read", path="a/b.py", start_line=3),
        ),
        (
            'call read(path="x, y") + call list() + say "z"',
            say("z") + call("read", path="x, y") + call("list"),
        ),
        ('call edit {"path": "a + b"}', call("edit", path="a + b")),
        ("empty", empty()),
        ('think "hm"', think("hm")),
        ("http 429 ra=7", http(429, retry_after="7")),
        ("http 500", http(500)),
        ("cut", cut()),
        ('cut "x"', cut("x")),
        ('len "x"', length("x")),
        ('say "a" + hang', say("a") + hang()),
        ("tick 5 20", tick(5, 20)),
    ],
)
def test_a_line_of_notation_is_the_same_as_the_python(line: str, meant: Answer) -> None:
    assert answer(line) == meant


def test_a_line_that_means_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="no answer is written as 'shout'"):
        answer("shout")


def user(text: str = "hi") -> JsonDict:
    return {"role": "user", "content": text}


def calls(*ids: str, arguments: str = "{}") -> JsonDict:
    made = [
        {"id": i, "type": "function", "function": {"name": "read", "arguments": arguments}}
        for i in ids
    ]
    return {"role": "assistant", "content": None, "tool_calls": made}


def result(call_id: str) -> JsonDict:
    return {"role": "tool", "tool_call_id": call_id, "content": "x"}


SYSTEM: JsonDict = {"role": "system", "content": "s"}
SAID: JsonDict = {"role": "assistant", "content": "fine"}


@pytest.mark.parametrize(
    "messages",
    [
        [user()],
        [SYSTEM, user(), SAID, user()],
        [SYSTEM, user(), calls("a", "b"), result("a"), result("b")],
        [user(), calls("a"), result("a"), calls("b"), result("b"), user()],
    ],
)
@pytest.mark.row("R132")
def test_a_valid_history_is_taken(messages: list[JsonDict]) -> None:
    assert complaint({"model": "m", "messages": messages}) is None


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [SYSTEM],
        [SAID, user()],
        [user(), user()],
        [user(), SAID],
        [user(), SAID, SAID, user()],
        [user(""), SAID, user()],
        [user(), {"role": "assistant", "content": " "}, user()],
        [user(), {"role": "assistant", "content": "x", "tool_calls": []}, user()],
        [user(), calls("a"), user()],
        [user(), calls("a", "a"), result("a"), result("a")],
        [user(), calls(""), result("")],
        [user(), calls("a", "b"), result("b"), result("a")],
        [user(), calls("a"), result("a"), result("a")],
        [user(), calls("a", arguments='{"x": '), result("a")],
        [user(), calls("a", arguments="[]"), result("a")],
        [user(), result("a")],
        [user(), SAID, SYSTEM, user()],
    ],
)
@pytest.mark.row("R132")
def test_an_invalid_history_is_refused(messages: list[JsonDict]) -> None:
    assert complaint({"model": "m", "messages": messages}) is not None
