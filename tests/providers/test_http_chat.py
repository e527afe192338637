"""The http engine over real sockets: what a server may do, and what comes of it."""

import contextlib
import json
import logging
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import pytest

from agent_server.config import Timeouts
from agent_server.loop.errors import ModelFailure
from agent_server.loop.faults import Fault
from agent_server.providers.http_chat import Endpoint, HttpChatModel
from agent_server.providers.http_clients import HttpClients
from agent_server.providers.keys import CommandKey, EnvironmentKey, Key
from tests.fakes.answers import (
    Answer,
    call,
    call_fragments,
    cut,
    hang,
    http,
    length,
    plain,
    raw,
    say,
    think,
    tick,
)
from tests.fakes.model_server import ModelServer
from tests.providers.requests import Pieces, request, step_messages, user

pytestmark = pytest.mark.anyio

SECRET = "sk-very-secret-1234"


@asynccontextmanager
async def serving(
    *answers: Answer,
    timeouts: Timeouts | None = None,
    key: Key | None = None,
    base_url: str | None = None,
) -> AsyncGenerator[tuple[HttpChatModel, ModelServer]]:
    timeouts = timeouts or Timeouts()
    with anyio.fail_after(10):
        async with ModelServer(answers) as server:
            clients = HttpClients()
            await clients.warm(server.base_url)  # or else short limits end while it imports
            endpoint = Endpoint(
                base_url or server.base_url,
                "gpt-x",
                key or EnvironmentKey("OPENAI_API_KEY", SECRET),
            )
            try:
                yield (
                    HttpChatModel(
                        "openai/gpt-x", endpoint, clients, window=1000, timeouts=timeouts
                    ),
                    server,
                )
            finally:
                await clients.aclose()


async def failure_of(model: HttpChatModel) -> ModelFailure:
    with pytest.raises(ModelFailure) as caught:
        await model.stream(request(), Pieces())
    return caught.value


@pytest.mark.row("R128")
async def test_the_request_is_what_a_strict_server_takes() -> None:
    async with serving(say("fine")) as (model, server):
        await model.stream(request(user("go"), *step_messages(1), number=2), Pieces())

        assert server.refused == []
        assert server.bodies[0]["stream_options"] == {"include_usage": True}
        assert server.bodies[0]["model"] == "gpt-x"
        assert server.exchanges[0].headers["authorization"] == f"Bearer {SECRET}"


async def test_a_proxy_of_the_environment_does_not_stand_before_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    async with serving(say("fine")) as (model, _):
        assert (await model.stream(request(), Pieces())).text == "fine"


async def test_without_a_key_no_authorization_is_sent() -> None:
    async with serving(say("fine"), key=EnvironmentKey("X", None)) as (model, server):
        await model.stream(request(), Pieces())

        assert "authorization" not in server.exchanges[0].headers


async def test_a_limit_of_the_output_is_sent_under_the_servers_name() -> None:
    from dataclasses import replace

    async with serving(say("fine")) as (model, server):
        await model.stream(replace(request(), max_output=77), Pieces())

        assert server.bodies[0]["max_tokens"] == 77


async def test_one_connection_serves_one_request_after_the_other() -> None:
    async with serving(say("a"), say("b"), say("c")) as (model, server):
        for _ in range(3):
            await model.stream(request(), Pieces())

        assert server.accepted == 1


async def test_a_json_body_in_answer_to_a_stream_request_is_the_answer() -> None:
    """ST-11."""
    async with serving(plain(say("Look.") + call("read", path="a"))) as (model, server):
        pieces = Pieces()
        reply = await model.stream(request(), pieces)

        assert (reply.text, reply.finish, len(server.exchanges)) == ("Look.", "tool_calls", 1)
        assert reply.calls[0].arguments == '{"path": "a"}'
        assert reply.usage.input == 100


async def test_chunks_without_empty_lines_bytes_cut_anywhere_and_comments_are_read() -> None:
    event = json.dumps(
        {"choices": [{"index": 0, "delta": {"content": "grüße"}}]}, ensure_ascii=False
    ).encode()
    body = b": ping\r\n\r\ndata: " + event + b"\r\n\r\ndata:" + event + b"\n\ndata: [DONE]"

    async with serving(raw(*(body[a : a + 3] for a in range(0, len(body), 3)))) as (model, _):
        assert (await model.stream(request(), Pieces())).text == "grüßegrüße"


async def test_a_clean_end_without_label_or_terminator_is_an_interrupted_reply() -> None:
    async with serving(cut("half", clean=True)) as (model, _):
        reply = await model.stream(request(), Pieces())

        assert (reply.text, reply.finish) == ("half", "interrupted")


async def test_a_reset_in_the_middle_is_transient() -> None:
    """ST-08."""
    async with serving(cut("half")) as (model, _):
        failure = await failure_of(model)

        assert failure.fault is Fault.TRANSIENT
        assert str(failure).startswith("openai/gpt-x broke off in the middle of its answer")


async def test_an_output_limit_is_kept_as_the_finish() -> None:
    async with serving(length('{"path": "a', tool="write")) as (model, _):
        reply = await model.stream(request(), Pieces())

        assert (reply.finish, reply.calls[0].arguments) == ("length", '{"path": "a')


async def test_nobody_listening_is_transient_and_names_the_address() -> None:
    async with serving(base_url="http://127.0.0.1:9/v1") as (model, _):
        failure = await failure_of(model)

        assert failure.fault is Fault.TRANSIENT
        assert "could not be reached at http://127.0.0.1:9/v1" in str(failure)


async def test_a_connection_that_does_not_come_up_ends_by_its_own_limit() -> None:
    """The listener's queue is full, so the system answers nothing."""
    with socket.socket() as listener, contextlib.ExitStack() as others:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(4):
            waiting = others.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        async with serving(base_url=url, timeouts=Timeouts(connect_s=0.2)) as (model, _):
            failure = await failure_of(model)

        assert failure.fault is Fault.TRANSIENT
        assert f"could not be reached at {url}" in str(failure)


@pytest.mark.parametrize("url", ["ftp://x/v1", "nonsense", "http://"])
async def test_an_address_that_is_none_is_invalid(url: str) -> None:
    async with serving(base_url=url) as (model, _):
        failure = await failure_of(model)

        assert failure.fault is Fault.INVALID


async def test_a_web_page_is_no_completion() -> None:
    page = raw(b"<html>log in</html>", headers={"content-type": "text/html"})
    async with serving(page) as (model, _):
        failure = await failure_of(model)

        assert (failure.fault, "a web page" in str(failure)) == (Fault.INVALID, True)


async def test_what_is_no_json_is_transient() -> None:
    async with serving(raw(b"data: {oops\n\n")) as (model, _):
        assert (await failure_of(model)).fault is Fault.TRANSIENT


async def test_an_error_in_place_of_a_chunk_is_a_failure() -> None:
    async with serving(raw(b'data: {"error": {"code": 429, "message": "slow down"}}\n\n')) as (
        model,
        _,
    ):
        assert (await failure_of(model)).fault is Fault.RATE_LIMIT


async def test_an_http_error_has_status_wait_and_words() -> None:
    async with serving(http(429, retry_after="7")) as (model, _):
        failure = await failure_of(model)

        assert (failure.fault, failure.status, failure.retry_after_s) == (
            Fault.RATE_LIMIT,
            429,
            7.0,
        )
        assert str(failure) == (
            "openai/gpt-x answered 429: too many requests; it asks to wait 7 s. scripted error 429"
        )


async def test_silence_before_the_first_token_ends_by_its_own_limit() -> None:
    async with serving(hang(), timeouts=Timeouts(first_token_s=0.5, idle_s=30)) as (model, server):
        failure = await failure_of(model)

        assert (failure.fault, str(failure)) == (
            Fault.TRANSIENT,
            "openai/gpt-x sent nothing for 0.5 s",
        )
        await server.exchanges[0].peer_closed.wait()


async def test_keep_alive_comments_are_silence() -> None:
    """ST-13."""
    pings = raw(*[b": ping\n\n"] * 1000, delay_ms=5)
    async with serving(pings, timeouts=Timeouts(first_token_s=0.5)) as (model, server):
        failure = await failure_of(model)

        assert str(failure) == "openai/gpt-x sent nothing for 0.5 s"
        await server.exchanges[0].peer_closed.wait()


async def test_silence_in_the_middle_ends_by_the_idle_limit() -> None:
    async with serving(say("half") + hang(), timeouts=Timeouts(idle_s=0.1)) as (model, server):
        failure = await failure_of(model)

        assert (
            str(failure)
            == "openai/gpt-x stopped in the middle of its answer and sent nothing for 0.1 s"
        )
        await server.exchanges[0].peer_closed.wait()


async def test_cancelling_closes_the_connection() -> None:
    """CP-08."""
    async with serving(*[tick(100_000, 1)] * 5) as (model, server):
        for _ in range(5):
            with anyio.CancelScope() as scope:
                pieces = Pieces()

                def receive(
                    piece: object, pieces: Pieces = pieces, scope: anyio.CancelScope = scope
                ) -> None:
                    pieces(piece)  # pyright: ignore[reportArgumentType]
                    if pieces.text.startswith("0 1 2 "):
                        scope.cancel()

                await model.stream(request(), receive)
            assert scope.cancelled_caught
        for exchange in server.exchanges:
            with anyio.fail_after(1):
                await exchange.peer_closed.wait()


async def test_inline_thinking_is_split() -> None:
    """ST-15."""
    async with serving(say("<think>plan</think>Answer", chunk=1)) as (model, _):
        pieces = Pieces()
        await model.stream(request(), pieces)

        assert (pieces.reasoning, pieces.text) == ("plan", "Answer")


async def test_reasoning_goes_back_to_the_model_that_gave_it() -> None:
    """ST-16."""
    from agent_server.loop.ports import AssistantMessage, ToolMessage

    async with serving(think("hm") + call("read", path="a"), say("done")) as (model, server):
        first = await model.stream(request(), Pieces())
        said = AssistantMessage(first.text, first.calls, first.reasoning)
        result = ToolMessage(first.calls[0].id, "read", "x")
        await model.stream(request(user("go"), said, result, number=2), Pieces())

        assert server.refused == []
        assert server.bodies[1]["messages"][2]["reasoning_content"] == "hm"


async def test_fragments_without_an_index_make_two_calls() -> None:
    """ST-02 over the wire."""
    items = [
        {"id": "c1", "name": "get_a", "arguments": '{"x":'},
        {"arguments": "1}"},
        {"id": "c2", "name": "get_b", "arguments": '{"y":2}'},
    ]
    async with serving(call_fragments(items)) as (model, _):
        reply = await model.stream(request(), Pieces())

        assert [(c.id, json.loads(c.arguments)) for c in reply.calls] == [
            ("c1", {"x": 1}),
            ("c2", {"y": 2}),
        ]


@pytest.mark.parametrize(
    "answer",
    [
        http(401, body={"error": {"message": f"bad key {SECRET}"}}),
        http(500, body={"error": {"message": f"bad key {SECRET}"}}),
        cut(),
        raw(b'data: {"error": {"message": "bad key ' + SECRET.encode() + b'"}}\n\n'),
    ],
)
async def test_the_key_is_in_no_exception_and_no_log(
    answer: Answer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with serving(answer) as (model, _):
        failure = await failure_of(model)

        chain = [failure, failure.__cause__, failure.__context__]
        assert SECRET not in " ".join(f"{e} {e!r}" for e in chain)
        assert SECRET not in caplog.text
        assert SECRET not in repr(vars(model))


async def test_a_key_that_is_no_header_is_refused_without_showing_it() -> None:
    async with serving(key=EnvironmentKey("OPENAI_API_KEY", "sk-1\r\nX-Evil: 1")) as (
        model,
        server,
    ):
        failure = await failure_of(model)

        assert failure.fault is Fault.INVALID
        assert "sk-1" not in str(failure)
        assert server.exchanges == []


async def test_a_refused_key_is_fetched_again_by_its_command() -> None:
    command = f"{sys.executable} -c \"import os, time; print('k' + str(time.monotonic_ns()))\""
    async with serving(say("a"), say("b"), key=CommandKey(command)) as (model, server):
        await model.stream(request(), Pieces())
        assert await model.refresh_auth()
        await model.stream(request(), Pieces())

        first, second = (e.headers["authorization"] for e in server.exchanges)
        assert first != second


async def test_a_key_command_that_fails_is_a_fault_of_the_key() -> None:
    async with serving(key=CommandKey("exit 3")) as (model, _):
        failure = await failure_of(model)

        assert (failure.fault, str(failure)) == (
            Fault.AUTH,
            "api_key_command ended with code 3 and printed no key",
        )
