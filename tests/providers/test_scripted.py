"""The scripted model: what a script says is what is streamed, our choice."""

import json
from pathlib import Path

import anyio
import pytest

from agent_server.loop.errors import BadSetting, ModelFailure
from agent_server.loop.faults import Fault
from agent_server.loop.ports import CallClosed, CallOpened, CallPiece, Piece
from agent_server.providers.scripted import (
    ScriptedCall,
    ScriptedModel,
    Step,
    parse_step,
    read_script,
)
from tests.providers.requests import Pieces, request, step_messages, user

pytestmark = pytest.mark.anyio

READ_A = ScriptedCall("read", '{"path": "a"}')


async def test_a_step_is_streamed_in_pieces_that_add_up_to_the_reply() -> None:
    model = ScriptedModel([Step("Let me look.", "hm, a file", (READ_A,), chunk=5)])
    pieces = Pieces()

    reply = await model.stream(request(), pieces)

    assert (pieces.text, pieces.reasoning) == ("Let me look.", "hm, a file")
    assert (reply.text, reply.reasoning[0].text, reply.finish) == (
        "Let me look.",
        "hm, a file",
        "tool_calls",
    )
    calls = [p for p in pieces.all if isinstance(p, CallOpened | CallPiece | CallClosed)]
    assert calls[0] == CallOpened(0, "read")
    assert "".join(p.text for p in calls if isinstance(p, CallPiece)) == '{"path": "a"}'
    assert calls[-1] == CallClosed(reply.calls[0])


async def test_each_request_takes_the_next_step_also_after_a_failure() -> None:
    model = ScriptedModel([Step("half", fault=Fault.TRANSIENT), Step("whole")])

    with pytest.raises(ModelFailure) as failure:
        await model.stream(request(), Pieces())
    reply = await model.stream(request(), Pieces())

    assert failure.value.fault is Fault.TRANSIENT
    assert reply.text == "whole"


async def test_a_restart_goes_on_by_the_number_of_the_reply_which_failures_count_in() -> None:
    steps = [Step("one"), Step(fault=Fault.TRANSIENT), Step("two"), Step("three")]
    messages = (user("go"), *step_messages(1), *step_messages(3))

    reply = await ScriptedModel(steps).stream(request(*messages, number=4), Pieces())

    assert reply.text == "three"


async def test_a_summary_takes_a_step_and_leaves_the_count_alone() -> None:
    model = ScriptedModel([Step("one"), Step("summary"), Step("two"), Step("three")])

    replies = [await model.stream(request(number=n), Pieces()) for n in (1, 0, 2, 3)]

    assert [r.text for r in replies] == ["one", "summary", "two", "three"]


async def test_a_rewound_session_gets_the_old_step_again() -> None:
    model = ScriptedModel([Step("one"), Step("two")])
    await model.stream(request(number=1), Pieces())
    await model.stream(request(number=2), Pieces())

    assert (await model.stream(request(number=1), Pieces())).text == "one"


async def test_a_used_up_script_is_a_failure_that_says_so() -> None:
    model = ScriptedModel([Step("one")])
    await model.stream(request(), Pieces())

    with pytest.raises(ModelFailure, match="the script has 1 steps and all are used") as failure:
        await model.stream(request(number=2), Pieces())

    assert failure.value.fault is Fault.INVALID


async def test_a_step_that_expects_something_else_fails_and_shows_both() -> None:
    model = ScriptedModel([Step("fine", expect="^please")])

    with pytest.raises(ModelFailure, match=r"expects '\^please', the last message is 'hello'"):
        await model.stream(request(), Pieces())


async def test_a_hanging_step_shows_its_text_and_waits_for_cancellation() -> None:
    pieces = Pieces()

    with anyio.fail_after(5), anyio.CancelScope() as scope:

        def receive(piece: Piece) -> None:
            pieces(piece)
            if pieces.text == "abc":
                scope.cancel()

        await ScriptedModel([Step("abc", hang=True, chunk=1)]).stream(request(), receive)

    assert scope.cancelled_caught


def test_a_script_file_gives_its_steps(tmp_path: Path) -> None:
    script = [
        {"text": "hi", "thinking": "t", "delay_ms": 5, "chunk": 3, "expect": "x"},
        {
            "calls": [
                {"name": "read", "arguments": {"path": "a"}},
                {"name": "list", "arguments": "{broken"},
            ]
        },
        {"fault": "rate_limit", "status": 429, "retry_after_s": 2},
        {"text": "cut", "finish": "length", "usage": {"input": 9, "output": 2, "cost": 0.5}},
    ]
    (tmp_path / "s.json").write_text(json.dumps(script), encoding="utf-8")

    first, second, third, fourth = read_script(tmp_path / "s.json")

    assert first == Step("hi", "t", delay_ms=5.0, chunk=3, expect="x")
    assert second.calls == (READ_A, ScriptedCall("list", "{broken"))
    assert (third.fault, third.status, third.retry_after_s) == (Fault.RATE_LIMIT, 429, 2.0)
    assert fourth.usage is not None
    assert (fourth.finish, fourth.usage.input, str(fourth.usage.cost)) == ("length", 9, "0.5")


@pytest.mark.parametrize(
    "step",
    [
        3,
        {"txt": "x"},
        {"text": 3},
        {"fault": "bang"},
        {"calls": [{}]},
        {"chunk": 0},
        {"usage": {"x": 1}},
        {"usage": {"cost": "dear"}},
        {"delay_ms": -1},
    ],
)
def test_a_step_that_makes_no_sense_is_named(step: object) -> None:
    with pytest.raises(BadSetting, match="step 7 "):
        parse_step(step, "step 7")


def test_a_script_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match=r"nowhere\.json cannot be read"):
        read_script(tmp_path / "nowhere.json")
