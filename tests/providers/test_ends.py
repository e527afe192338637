"""How answers end, over real HTTP: labels of every provider, terminators in every form, and what comes behind them."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from agent_server.config import Timeouts
from agent_server.loop.errors import ModelFailure
from agent_server.loop.faults import Fault
from agent_server.loop.model import Reply
from agent_server.providers.http_chat import Endpoint, HttpChatModel
from agent_server.providers.http_clients import HttpClients
from agent_server.providers.keys import EnvironmentKey
from agent_server.providers.labels import end_of
from tests.fakes.answers import Answer, raw, say
from tests.fakes.model_server import ModelServer
from tests.providers.requests import Pieces, request

pytestmark = pytest.mark.anyio

KEY = EnvironmentKey("OPENAI_API_KEY", "sk-test")
HALF = "The three steps are: first stop the service, then"


@asynccontextmanager
async def serving(*answers: Answer) -> AsyncGenerator[tuple[HttpChatModel, ModelServer]]:
    with anyio.fail_after(15):
        async with ModelServer(answers) as server:
            clients = HttpClients()
            endpoint = Endpoint(server.base_url, "mock", KEY)
            try:
                yield (
                    HttpChatModel(
                        "openai/mock", endpoint, clients, window=100_000, timeouts=Timeouts()
                    ),
                    server,
                )
            finally:
                await clients.aclose()


def event(value: object, name: str | None = None) -> bytes:
    """One event of a stream."""
    head = b"" if name is None else f"event: {name}\n".encode()
    return head + b"data: " + json.dumps(value).encode() + b"\n\n"


def text(content: object) -> bytes:
    return event({"choices": [{"index": 0, "delta": {"content": content}, "finish_reason": None}]})


def label(word: object, **beside: Any) -> bytes:
    return event({"choices": [{"index": 0, "delta": {}, "finish_reason": word, **beside}]})


def tool(name: str = "read", arguments: str = '{"path": "a"}') -> bytes:
    function = {"name": name, "arguments": arguments}
    calls = [{"index": 0, "id": "c1", "type": "function", "function": function}]
    return event({"choices": [{"index": 0, "delta": {"tool_calls": calls}}]})


DONE = b"data: [DONE]\n\n"


async def reply_to(*chunks: bytes) -> Reply:
    async with serving(raw(*chunks)) as (model, _):
        return await model.stream(request(), Pieces())


async def failure_of(answer: Answer) -> ModelFailure:
    async with serving(answer) as (model, _):
        with pytest.raises(ModelFailure) as caught:
            await model.stream(request(), Pieces())
    return caught.value


# ---- labels --------------------------------------------------------------------------------------


FAILING = [
    "error", "insufficient_system_resource", "network_error", "abort", "aborted", "cancelled", "canceled",
    "engine_overloaded", "overloaded", "server_overloaded", "ERROR", "MALFORMED_FUNCTION_CALL",
    "UNEXPECTED_TOOL_CALL", "timeout", "failed", {"type": "error"}, ["error"],
]  # fmt: skip
FILTERS = [
    "content_filter", "refusal", "safety", "SAFETY", "RECITATION", "PROHIBITED_CONTENT", "BLOCKLIST",
    "SPII", "sensitive", "guardrail_intervened", "IMAGE_SAFETY", "content-filter", "ContentFilter",
]  # fmt: skip
GOOD = [
    "stop", "STOP", "end_turn", "stop_sequence", "eos", "eos_token", "function_call", "tool_calls",
    "COMPLETE", {"type": "stop"},
]  # fmt: skip


@pytest.mark.parametrize("word", FAILING, ids=str)
async def test_a_label_of_a_failure_voids_text_and_calls_and_is_transient(word: object) -> None:
    failure = await failure_of(raw(text(HALF), tool(), label(word), DONE))

    assert failure.fault is Fault.TRANSIENT
    assert "broke off" in str(failure)


async def test_the_words_beside_a_failing_label_are_told() -> None:
    error = {"code": 502, "message": "upstream went away"}
    failure = await failure_of(raw(text(HALF), label("error", error=error), DONE))

    assert (failure.fault, failure.status) == (Fault.TRANSIENT, 502)
    assert "upstream went away" in str(failure)


@pytest.mark.parametrize("word", FILTERS, ids=str)
async def test_a_label_of_a_filter_in_any_letters_is_a_refusal(word: object) -> None:
    assert (await reply_to(text(HALF), label(word), DONE)).finish == "content_filter"
    assert (await reply_to(label(word), DONE)).finish == "content_filter"


@pytest.mark.parametrize("word", GOOD, ids=str)
async def test_a_good_end_is_one_whatever_its_word(word: object) -> None:
    said = await reply_to(text("All of it."), label(word), DONE)
    called = await reply_to(tool(), label(word), DONE)

    assert (said.finish, said.note) == ("stop", None)
    assert (called.finish, called.note) == ("tool_calls", None)


@pytest.mark.parametrize("word", ["length", "MAX_TOKENS", "max_output_tokens", "model_length"])
async def test_a_limit_of_the_output_is_one_whatever_its_word(word: str) -> None:
    assert (await reply_to(text(HALF), label(word), DONE)).finish == "length"


async def test_a_full_window_is_a_cut_answer_or_an_overflow_when_nothing_was_said() -> None:
    word = "model_context_window_exceeded"

    assert (await reply_to(text(HALF), label(word), DONE)).finish == "length"
    assert (await failure_of(raw(label(word), DONE))).fault is Fault.OVERFLOW


@pytest.mark.parametrize("word", ["OTHER", "FINISH_REASON_UNSPECIFIED", 7, "flush"])
async def test_an_unknown_label_ends_the_answer_and_is_told(word: object) -> None:
    reply = await reply_to(text("All of it."), label(word), DONE)

    assert (reply.text, reply.finish) == ("All of it.", "stop")
    assert str(word) in (reply.note or "")


@pytest.mark.parametrize("word", ["null", "", None, False, "None"])
def test_a_label_that_says_nothing_is_none(word: object) -> None:
    assert end_of(word) is None


async def test_labels_count_in_one_json_body_too() -> None:
    choice = {"index": 0, "message": {"content": HALF}, "finish_reason": "error"}
    body = json.dumps({"choices": [choice]}).encode()

    failure = await failure_of(raw(body, headers={"content-type": "application/json"}))

    assert failure.fault is Fault.TRANSIENT


# ---- terminators and what is behind the end --------------------------------------------------------


@pytest.mark.parametrize(
    "junk",
    [
        b"data: [DONE] \n\n", b"data:  [DONE]\n\n", b'data: "[DONE]"\n\n', b"data: null\n\n", b"data: []\n\n",
        b"data: 0\n\n", b"data: [done]\n\n", b"data: [DONE]\r\n\r\n", b"data: [DONE]\0\0\n\n", DONE + DONE,
        b"data: true\n\n", b"data: <html>504</html>\n\n", b"data: {\n\n", b"<html>bye</html>", b"",
        DONE + text("never"),
    ],
    ids=repr,
)  # fmt: skip
async def test_what_comes_behind_the_end_makes_no_answer_bad(junk: bytes) -> None:
    async with serving(raw(text("naïve 😀 café"), label("stop"), *([junk] if junk else []))) as (
        model,
        server,
    ):
        pieces = Pieces()
        reply = await model.stream(request(), pieces)

        assert (reply.text, pieces.text, reply.finish) == ("naïve 😀 café", "naïve 😀 café", "stop")
        assert len(server.exchanges) == 1


async def test_a_reset_behind_the_end_makes_no_answer_bad() -> None:
    async with serving(raw(text("All of it."), label("stop"), end="reset")) as (model, _):
        assert (await model.stream(request(), Pieces())).text == "All of it."


async def test_an_error_behind_the_end_is_told_beside_the_answer() -> None:
    reply = await reply_to(
        text("All of it."), label("stop"), event({"error": {"message": "too late", "code": 500}})
    )

    assert (reply.text, reply.finish) == ("All of it.", "stop")
    assert "too late" in (reply.note or "")


@pytest.mark.parametrize("odd", [b"data: null\n\n", b"data: []\n\n", b"data: 3\n\n"], ids=repr)
async def test_json_that_is_no_chunk_is_passed_over(odd: bytes) -> None:
    assert (await reply_to(odd, text("Yes."), odd, label("stop"), DONE)).text == "Yes."


# ---- errors in every shape -------------------------------------------------------------------------

W = "the temperature must be below two"
SHAPES: dict[str, object] = {
    "openai": {"error": {"message": W, "code": 400}},
    "vllm": {"object": "error", "message": W, "type": "BadRequestError", "param": None, "code": 400},
    "dashscope": {"code": "InvalidParameter", "message": W, "request_id": "r-1"},
    "fastapi": {"detail": W},
    "fastapi list": {"detail": [{"loc": ["body", "messages"], "msg": W, "type": "value_error"}]},
    "google list": [{"error": {"code": 400, "message": W, "status": "INVALID_ARGUMENT"}}],
    "errors": {"errors": [{"message": W}]},
    "msg": {"code": 1214, "msg": W},
    "nested": {"error": {"message": {"text": W}}},
    "success": {"success": False, "error": W},
    "anthropic": {"type": "error", "error": {"type": "invalid_request_error", "message": W}},
    "in a text": {"error": {"message": json.dumps({"error": {"message": W}})}},
    "bare": {"message": W},
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
async def test_the_words_of_an_error_in_a_good_stream_are_told(shape: str) -> None:
    assert W in str(await failure_of(raw(event(SHAPES[shape]), DONE)))


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape != "bare"])
async def test_an_error_behind_text_or_a_call_voids_them_and_is_told(shape: str) -> None:
    assert W in str(await failure_of(raw(text("half"), event(SHAPES[shape]), DONE)))
    assert W in str(await failure_of(raw(tool(), event(SHAPES[shape]), DONE)))


@pytest.mark.parametrize("shape", SHAPES)
async def test_the_words_of_an_error_are_told_under_any_status(shape: str) -> None:
    for status in (400, 503):
        failure = await failure_of(Answer(status=status, body=SHAPES[shape]))  # pyright: ignore[reportArgumentType]
        assert W in str(failure)


@pytest.mark.parametrize("shape", ["openai", "vllm", "dashscope", "google list", "anthropic"])
async def test_what_is_no_use_to_repeat_is_not_repeated(shape: str) -> None:
    assert (await failure_of(raw(event(SHAPES[shape]), DONE))).fault is Fault.INVALID


async def test_an_event_named_error_is_one_whatever_its_data() -> None:
    for data in ({"message": W, "code": 400}, {"what": {"reason": W}, "message": W}, W):
        assert W in str(await failure_of(raw(event(data, "error"))))
    assert W in str(await failure_of(raw(f"event: error\ndata: {W}\n\n".encode())))


async def test_a_page_in_place_of_an_answer_is_told_by_its_title() -> None:
    page = b"<!DOCTYPE html><html><head><title>Sign in to the proxy</title></head></html>"
    for kind in ("text/html", "text/event-stream"):
        failure = await failure_of(raw(page, headers={"content-type": kind}))
        assert "web page ('Sign in to the proxy')" in str(failure)
        assert failure.fault is Fault.INVALID


async def test_a_stream_is_read_whatever_it_is_labelled() -> None:
    answer = raw(text("Yes."), label("stop"), DONE, headers={"content-type": "application/json"})
    async with serving(answer) as (model, _):
        assert (await model.stream(request(), Pieces())).text == "Yes."


# ---- odd types -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("delta", "said"),
    [
        ({"content": [{"type": "thinking", "thinking": "hm"}]}, ""),
        ({"content": [{"type": "thinking", "thinking": [{"text": "hm"}, "so"]}]}, ""),
        ({"content": ["Hello ", "there."]}, "Hello there."),
        ({"content": {"type": "text", "text": "Hello"}}, "Hello"),
        ({"content": [{"type": "text", "text": {"text": "Hello"}}, None, 3]}, "Hello"),
        ({"content": True}, ""),
        ({"content": 3}, ""),
        ({"tool_calls": [None]}, ""),
        ({"tool_calls": "x"}, ""),
        ({"tool_calls": 3}, ""),
        ({"thinking_blocks": "x"}, ""),
        ({"thinking_blocks": [None, {"type": "thinking", "thinking": 3}]}, ""),
        ({"reasoning": {"text": "hm"}}, ""),
        ({"reasoning_content": ["hm"]}, ""),
        ({"refusal": True}, ""),
        ([{"content": "Hello"}], "Hello"),
        ("Hello", ""),
    ],
    ids=repr,
)
async def test_a_delta_of_unexpected_types_says_what_it_can(delta: object, said: str) -> None:
    chunk = event({"choices": [{"index": 0, "delta": delta}]})

    assert (await reply_to(chunk, text(" End."), label("stop"), DONE)).text == f"{said} End."


@pytest.mark.parametrize(
    "odd",
    [
        {"choices": [None]},
        {"choices": {"0": {}}},
        {"choices": "x"},
        {"choices": 3},
        {"choices": [[]]},
        {"choices": [], "usage": [1]},
        {"choices": [], "usage": {"prompt_tokens": "9", "prompt_tokens_details": [1], "cost": "x"}},
    ],
    ids=repr,
)
async def test_a_chunk_of_unexpected_types_is_passed_over(odd: object) -> None:
    assert (await reply_to(event(odd), text("End."), label("stop"), DONE)).text == "End."


async def test_fragments_of_a_call_with_unexpected_types_make_the_call() -> None:
    fragments: list[dict[str, Any]] = [
        {"index": "0", "id": 17, "function": {"name": "read", "arguments": ""}},
        {"index": "0", "id": None, "function": {"name": None, "arguments": '{"path": '}},
        {"index": "0", "function": {"name": "read", "arguments": '"a"}'}},
        {"index": None, "id": {"x": 1}, "function": "x"},
    ]
    chunks = [event({"choices": [{"delta": {"tool_calls": [one]}}]}) for one in fragments[:3]]
    whole = [{"index": 0, "id": "c", "function": {"name": "read", "arguments": {"path": "a"}}}]
    (call,) = (await reply_to(*chunks, label("tool_calls"), DONE)).calls
    (other,) = (
        await reply_to(event({"choices": [{"delta": {"tool_calls": whole}}]}), label("stop"), DONE)
    ).calls

    assert (call.id, call.name, json.loads(call.arguments)) == ("17", "read", {"path": "a"})
    assert (other.name, json.loads(other.arguments)) == ("read", {"path": "a"})


@pytest.mark.parametrize("content", [["Hel", "lo"], {"type": "text", "text": "Hello"}])
async def test_one_json_body_of_unexpected_types_is_read(content: object) -> None:
    choice = {"message": {"content": content, "tool_calls": None}, "finish_reason": "stop"}
    body = json.dumps({"choices": [choice], "usage": None}).encode()

    assert (await reply_to(body)).text == "Hello"


async def test_an_answer_is_as_good_without_anything_odd() -> None:
    async with serving(say("Yes.")) as (model, _):
        assert (await model.stream(request(), Pieces())).note is None
