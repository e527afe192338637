"""What every engine promises of `Model.stream`: one conversation, three engines, the same outcome.

The http and litellm engines talk to the fake server over real sockets; the litellm worker is shared by the module,
because its import takes seconds.
"""

import contextlib
import json
import os
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal

import anyio
import pytest

from agent_server.config import Timeouts
from agent_server.loop.errors import ModelFailure
from agent_server.loop.faults import Fault
from agent_server.loop.ports import CallOpened, CallPiece, Model, Piece
from agent_server.providers.http_chat import Endpoint, HttpChatModel
from agent_server.providers.http_clients import HttpClients
from agent_server.providers.keys import EnvironmentKey
from agent_server.providers.litellm_port import LitellmModel
from agent_server.providers.litellm_process import LitellmProcess, environment_for
from agent_server.providers.scripted import ScriptedCall, ScriptedModel, Step
from tests.fakes.answers import Answer, call, cut, hang, http, raw, say, think
from tests.fakes.model_server import ModelServer
from tests.providers.requests import Pieces, request, step_messages, user

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(90)]

KEY = EnvironmentKey("OPENAI_API_KEY", "sk-contract")


@dataclass
class Served:
    """A model, and the server behind it if there is one."""

    model: Model
    server: ModelServer | None


Engine = Literal["scripted", "http", "litellm"]


@pytest.fixture(scope="module")
async def worker() -> AsyncGenerator[LitellmProcess]:
    """One litellm worker for the module; it imports while the other engines are tested."""
    async with anyio.create_task_group() as tasks:
        process = LitellmProcess(environment_for("openai", os.environ), tasks)
        process.warm()
        yield process
        tasks.cancel_scope.cancel()


@pytest.fixture(params=["scripted", "http", "litellm"])
def engine(request: pytest.FixtureRequest) -> Engine:
    return request.param


@asynccontextmanager
async def serving(
    engine: Engine,
    worker: LitellmProcess,
    answers: Sequence[Answer],
    timeouts: Timeouts | None = None,
) -> AsyncGenerator[Served]:
    timeouts = timeouts or Timeouts()
    if engine == "scripted":
        yield Served(ScriptedModel([scripted(a) for a in answers], name="openai/gpt-x"), None)
        return
    async with ModelServer(answers) as server:
        if engine == "litellm":
            await worker.start()
            model: Model = LitellmModel(
                "openai/gpt-x",
                worker,
                KEY,
                window=1000,
                timeouts=timeouts,
                base_url=server.base_url,
            )
            yield Served(model, server)
            return
        clients = HttpClients()
        endpoint = Endpoint(server.base_url, "gpt-x", KEY)
        try:
            yield Served(
                HttpChatModel("openai/gpt-x", endpoint, clients, window=1000, timeouts=timeouts),
                server,
            )
        finally:
            await clients.aclose()


def scripted(answer: Answer) -> Step:
    """The same answer as a step of a script."""
    faults = {401: Fault.AUTH, 429: Fault.RATE_LIMIT, 500: Fault.TRANSIENT}
    fault = faults.get(answer.status) or (Fault.TRANSIENT if answer.end == "reset" else None)
    return Step(
        answer.text,
        answer.thinking,
        tuple(ScriptedCall(*c) for c in answer.calls),
        fault=fault,
        status=None if answer.status == 200 else answer.status,
        retry_after_s=float(answer.headers["retry-after"])
        if "retry-after" in answer.headers
        else None,
        hang=answer.hang,
        chunk=answer.chunk,
    )


async def test_text_streams_in_pieces(engine: Engine, worker: LitellmProcess) -> None:
    async with serving(engine, worker, [say("It is in the cart.")]) as served:
        pieces = Pieces()
        reply = await served.model.stream(request(), pieces)

    assert (reply.text, reply.finish, reply.calls) == ("It is in the cart.", "stop", ())
    assert reply.model == served.model.name == "openai/gpt-x"
    assert pieces.text == reply.text
    assert len(pieces.all) > 1


async def test_reasoning_is_kept_apart(engine: Engine, worker: LitellmProcess) -> None:
    async with serving(
        engine, worker, [think("Where is the total?") + say("In the cart.")]
    ) as served:
        pieces = Pieces()
        reply = await served.model.stream(request(), pieces)

    assert (pieces.reasoning, pieces.text) == ("Where is the total?", "In the cart.")
    assert (reply.text, [r.text for r in reply.reasoning]) == (
        "In the cart.",
        ["Where is the total?"],
    )


async def test_tool_calls_stream_and_arrive_whole(engine: Engine, worker: LitellmProcess) -> None:
    answer = say("Both.") + call("read", path="a.py") + call("read", path="b.py")
    async with serving(engine, worker, [answer]) as served:
        pieces = Pieces()
        reply = await served.model.stream(request(), pieces)

    assert [(str(c.key), c.name, c.arguments) for c in reply.calls] == [
        ("call-1-0", "read", '{"path": "a.py"}'),
        ("call-1-1", "read", '{"path": "b.py"}'),
    ]
    assert reply.finish == "tool_calls"
    assert len({c.id for c in reply.calls}) == 2
    assert [p for p in pieces.all if isinstance(p, CallOpened)] == [
        CallOpened(0, "read"),
        CallOpened(1, "read"),
    ]
    told = [
        "".join(p.text for p in pieces.all if isinstance(p, CallPiece) and p.index == n)
        for n in (0, 1)
    ]
    assert told == [c.arguments for c in reply.calls]


async def test_usage_is_told(engine: Engine, worker: LitellmProcess) -> None:
    usage = {
        "prompt_tokens": 90,
        "completion_tokens": 7,
        "total_tokens": 97,
        "prompt_tokens_details": {"cached_tokens": 64},
        "completion_tokens_details": {"reasoning_tokens": 3},
    }
    async with serving(engine, worker, [Answer(text="Yes.", usage=usage)]) as served:
        reply = await served.model.stream(request(), Pieces())

    assert reply.usage.output > 0
    if served.server is not None:
        told = reply.usage
        assert (told.input, told.output, told.cached, told.reasoning) == (90, 7, 64, 3)


async def test_a_conversation_goes_on_over_tool_results(
    engine: Engine, worker: LitellmProcess
) -> None:
    async with serving(engine, worker, [call("read", path="a"), say("Done.")]) as served:
        await served.model.stream(request(user("go")), Pieces())
        reply = await served.model.stream(
            request(user("go"), *step_messages(1), number=2), Pieces()
        )

        assert reply.text == "Done."
        assert served.server is None or served.server.refused == []


@pytest.mark.row("R38")
async def test_an_empty_reply_is_a_reply(engine: Engine, worker: LitellmProcess) -> None:
    async with serving(engine, worker, [Answer()]) as served:
        reply = await served.model.stream(request(), Pieces())

    assert (reply.text, reply.calls, reply.finish) == ("", (), "stop")


@pytest.mark.parametrize(
    ("answer", "fault", "status", "wait"),
    [
        (http(401), Fault.AUTH, 401, None),
        (http(429, retry_after="7"), Fault.RATE_LIMIT, 429, 7.0),
        (http(500), Fault.TRANSIENT, 500, None),
    ],
)
@pytest.mark.row("R2")
async def test_a_refusal_of_the_server_is_a_failure_with_its_fault(
    engine: Engine,
    worker: LitellmProcess,
    answer: Answer,
    fault: Fault,
    status: int,
    wait: float | None,
) -> None:
    async with serving(engine, worker, [answer]) as served:
        with pytest.raises(ModelFailure) as caught:
            await served.model.stream(request(), Pieces())

        assert (caught.value.fault, caught.value.status, caught.value.retry_after_s) == (
            fault,
            status,
            wait,
        )
        assert served.server is None or len(served.server.exchanges) == 1


@pytest.mark.row("R51")
async def test_a_broken_stream_is_transient(engine: Engine, worker: LitellmProcess) -> None:
    async with serving(engine, worker, [cut("half of the")]) as served:
        with pytest.raises(ModelFailure) as caught:
            await served.model.stream(request(), Pieces())

        assert caught.value.fault is Fault.TRANSIENT
        assert served.server is None or len(served.server.exchanges) == 1


@pytest.mark.parametrize("label", ["error", "network_error", "engine_overloaded", "abort"])
async def test_a_label_of_a_failure_is_a_broken_stream(
    engine: Engine, worker: LitellmProcess, label: str
) -> None:
    if engine == "scripted":
        return  # a script has no labels
    answer = say("half of the") + call("read", path="a") + Answer(finish=label)
    async with serving(engine, worker, [answer]) as served:
        with pytest.raises(ModelFailure) as caught:
            await served.model.stream(request(), Pieces())

        assert (caught.value.fault, label in str(caught.value)) == (Fault.TRANSIENT, True)


@pytest.mark.parametrize("label", ["refusal", "SAFETY", "sensitive", "guardrail_intervened"])
async def test_a_label_of_a_filter_is_a_refusal(
    engine: Engine, worker: LitellmProcess, label: str
) -> None:
    if engine == "scripted":
        return
    async with serving(engine, worker, [say("half of") + Answer(finish=label)]) as served:
        reply = await served.model.stream(request(), Pieces())

        assert (reply.text, reply.finish) == ("half of", "content_filter")


async def test_a_label_that_nobody_knows_ends_the_answer_and_is_told(
    engine: Engine, worker: LitellmProcess
) -> None:
    if engine == "scripted":
        return
    async with serving(engine, worker, [say("all of it") + Answer(finish="flush")]) as served:
        reply = await served.model.stream(request(), Pieces())

        assert (reply.text, reply.finish) == ("all of it", "stop")
        assert "flush" in (reply.note or "")


ODD_ENDS = [b"data: [DONE] \n\n", b"data: null\n\n", b"data: []\n\n", b"data: {}\n\n"]


@pytest.mark.parametrize("junk", ODD_ENDS, ids=repr)
async def test_what_comes_behind_the_end_makes_no_answer_bad(
    engine: Engine, worker: LitellmProcess, junk: bytes
) -> None:
    if engine == "scripted":
        return
    said = b'data: {"id": "x", "choices": [{"index": 0, "delta": {"content": "All."}}]}\n\n'
    end = b'data: {"id": "x", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n\n'
    async with serving(engine, worker, [raw(said, end, junk)]) as served:
        assert (await served.model.stream(request(), Pieces())).text == "All."


ODD_CHUNKS: list[object] = [
    {"choices": [None]},
    {"choices": [{"index": 0, "delta": {"content": ["Hello"]}}]},
    {"choices": [{"index": 0, "delta": {"content": {"type": "text", "text": "Hello"}}}]},
    {"choices": [{"index": 0, "delta": {"tool_calls": [None]}}]},
    {"choices": [{"index": 0, "delta": {"content": True}}]},
    {"choices": {"0": {}}},
    {"object": "error", "message": "no room at the inn", "code": 400},
]


@pytest.mark.parametrize("odd", ODD_CHUNKS, ids=repr)
async def test_no_name_of_a_class_is_told_whatever_comes(
    engine: Engine, worker: LitellmProcess, odd: object
) -> None:
    if engine == "scripted":
        return
    said = b'data: {"id": "x", "choices": [{"index": 0, "delta": {"content": "All."}}]}\n\n'
    end = b'data: {"id": "x", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n\n'
    chunk = b"data: " + json.dumps(odd).encode() + b"\n\n"
    answer = raw(chunk, said, end, b"data: [DONE]\n\n")
    async with serving(engine, worker, [answer, answer]) as served:
        with contextlib.suppress(ModelFailure):
            told = (await served.model.stream(request(), Pieces())).text
            assert told.endswith("All.")
            return
        with pytest.raises(ModelFailure) as caught:
            await served.model.stream(request(), Pieces())
        assert not re.search(r"Error\b|Exception|Group|Traceback|object has", str(caught.value))


@pytest.mark.parametrize("answer", [hang(), say("half") + hang()])
async def test_cancelling_ends_the_request_and_closes_the_connection(
    engine: Engine, worker: LitellmProcess, answer: Answer
) -> None:
    async with serving(engine, worker, [answer, say("next")]) as served:
        with anyio.fail_after(30):
            begun = anyio.Event()
            async with anyio.create_task_group() as tasks:

                def receive(piece: Piece) -> None:
                    del piece
                    begun.set()

                tasks.start_soon(served.model.stream, request(), receive)
                if answer.text:
                    await begun.wait()
                elif served.server is not None:
                    await served.server.asked(1)
                tasks.cancel_scope.cancel()
            if served.server is not None:
                with anyio.fail_after(1):
                    await served.server.exchanges[0].peer_closed.wait()
            reply = await served.model.stream(request(), Pieces())

        assert reply.text == "next"


async def test_silence_ends_by_its_limit(engine: Engine, worker: LitellmProcess) -> None:
    if engine == "scripted":
        return  # a script hangs for as long as it says
    limits = Timeouts(first_token_s=0.3, idle_s=0.3)
    async with serving(engine, worker, [hang()], limits) as served:
        with pytest.raises(ModelFailure, match=r"openai/gpt-x sent nothing for 0\.3 s") as caught:
            await served.model.stream(request(), Pieces())

        assert caught.value.fault is Fault.TRANSIENT
