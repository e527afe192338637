"""The ordered queue: order, merging and the bound are our contract (lsp.md §1.5, spec §11)."""

import json
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_server.front.rpc import outbound as module
from agent_server.front.rpc.framing import CONTENT_LENGTH, NDJSON, Framing
from agent_server.front.rpc.memory import MemoryPipe
from agent_server.front.rpc.messages import HOLE, encode, notification_body, template
from agent_server.front.rpc.outbound import Outbound

pytestmark = pytest.mark.anyio

Put = tuple[str, str]
"""A key and a text; the key `fact` is no delta."""
puts = st.lists(st.tuples(st.sampled_from(["a", "b", "fact"]), st.text(max_size=4)), max_size=30)


def carrying(key: str) -> Callable[[str], bytes]:
    return lambda text: encode([key, text])


def send(outbound: Outbound, key: str, text: str) -> None:
    if key == "fact":
        outbound.put(encode([key, text]))
    else:
        outbound.put_delta(key, carrying(key), text)


async def received(pipe: MemoryPipe, framing: Framing = NDJSON) -> list[Any]:
    pipe.close()
    frames = framing.decoder().feed(await pipe.receive())
    return [json.loads(frame) for frame in frames if isinstance(frame, bytes)]


def merged(sent: list[Put]) -> list[list[str]]:
    """What may be merged, merged: neighbours with the same key, unless facts."""
    result: list[list[str]] = []
    for key, text in sent:
        if result and key != "fact" and result[-1][0] == key:
            result[-1][1] += text
        else:
            result.append([key, text])
    return result


@given(idle=puts, busy=puts, framing=st.sampled_from([NDJSON, CONTENT_LENGTH]))
@pytest.mark.row("R138")
def test_order_and_text_are_exact_and_only_a_busy_output_merges(
    idle: list[Put], busy: list[Put], framing: Framing
) -> None:
    async def scenario() -> list[Any]:
        pipe = MemoryPipe()
        outbound = Outbound(pipe, framing)
        for put in idle:
            send(outbound, *put)
        pipe.stall()
        outbound.put(encode("jam"))
        for put in busy:
            send(outbound, *put)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(outbound.run)
            await anyio.lowlevel.checkpoint()
            pipe.resume()
            await outbound.flush()
            tasks.cancel_scope.cancel()
        return await received(pipe, framing)

    assert anyio.run(scenario) == [*map(list, idle), "jam", *merged(busy)]


@pytest.mark.row("R138")
async def test_a_delta_of_an_idle_output_leaves_at_once() -> None:
    pipe = MemoryPipe()
    outbound = Outbound(pipe, NDJSON)

    assert outbound.put_delta("m", carrying("m"), "a")
    assert outbound.put_delta("m", carrying("m"), "b")
    assert outbound.size == 0
    assert await received(pipe) == [["m", "a"], ["m", "b"]]


async def test_a_merged_delta_says_so_and_its_own_rendering_is_not_used() -> None:
    """So that whoever numbers messages leaves no gap."""
    pipe = MemoryPipe()
    outbound = Outbound(pipe, NDJSON)
    pipe.stall()
    outbound.put(encode("jam"))
    number = 0
    for text in "abc":
        if outbound.put_delta("m", carrying(str(number + 1)), text):
            number += 1
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(outbound.run)
        pipe.resume()
        await outbound.flush()
        tasks.cancel_scope.cancel()

    assert number == 1
    assert await received(pipe) == ["jam", ["1", "abc"]]


async def test_a_client_that_stops_reading_holds_up_nobody_and_loses_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "LIMIT", 1000)
    pipe = MemoryPipe()
    outbound = Outbound(pipe, NDJSON)
    pipe.stall()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(outbound.run)
        for number in range(100):
            outbound.put(encode(["fact", number, "x" * 50]))
        drained = anyio.Event()

        async def produce() -> None:
            await outbound.drain()
            drained.set()

        tasks.start_soon(produce)
        await anyio.wait_all_tasks_blocked()
        assert not drained.is_set()
        pipe.resume()
        with anyio.fail_after(5):
            await drained.wait()
            await outbound.flush()
        tasks.cancel_scope.cancel()

    assert [fact[1] for fact in await received(pipe)] == list(range(100))


class Dribble(MemoryPipe):
    """Takes a few bytes at once, as a nearly full socket does."""

    def write_now(self, data: bytes) -> int:
        return super().write_now(data[:3])

    async def write(self, data: bytes) -> None:
        while data:
            data = data[self.write_now(data) :]
            await anyio.lowlevel.checkpoint()


async def test_a_message_taken_in_part_is_completed_before_the_next() -> None:
    pipe = Dribble()
    outbound = Outbound(pipe, NDJSON)
    outbound.put(encode("first message"))
    outbound.put(encode("second message"))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(outbound.run)
        with anyio.fail_after(5):
            await outbound.flush()
        assert outbound.size == 0
        tasks.cancel_scope.cancel()

    assert await received(pipe) == ["first message", "second message"]


async def test_a_gone_reader_closes_the_queue_and_frees_who_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "LIMIT", 10)
    pipe = MemoryPipe()
    outbound = Outbound(pipe, NDJSON)
    pipe.stall()
    outbound.put(encode("x" * 50))
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(outbound.run)
            tasks.start_soon(outbound.drain)
            tasks.start_soon(outbound.flush)
            await anyio.wait_all_tasks_blocked()
            pipe.break_off()
        await outbound.closed.wait()

    outbound.put(encode("discarded"))
    assert outbound.put_delta("m", carrying("m"), "discarded")
    assert outbound.size == 0


async def test_the_trace_sees_what_leaves_in_its_order() -> None:
    seen: list[tuple[str, bytes]] = []
    pipe = MemoryPipe()
    outbound = Outbound(pipe, CONTENT_LENGTH, trace=lambda way, body: seen.append((way, body)))
    outbound.put(b"1")
    pipe.stall()
    outbound.put(b"2")
    outbound.put_delta("m", lambda text: text.encode(), "3")
    outbound.put_delta("m", lambda text: text.encode(), "4")
    outbound.put(b"5")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(outbound.run)
        pipe.resume()
        await outbound.flush()
        tasks.cancel_scope.cancel()

    assert seen == [("out", body) for body in (b"1", b"2", b"34", b"5")]


@given(st.text())
def test_a_template_encodes_as_the_whole_would(text: str) -> None:
    params = {"update": {"text": HOLE, "é": [1, None]}, "sessionId": "s1"}

    assert template(params)(text) == encode(
        {"update": {"text": text, "é": [1, None]}, "sessionId": "s1"}
    )


def test_a_template_needs_its_hole() -> None:
    with pytest.raises(ValueError, match="hole"):
        template({"text": "x"})


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("\ud800", "\ufffd"),
        ("\ud83d\ude00", "😀"),
        ("a\udc00b", "a\ufffdb"),
        ("\x00\u2028", "\x00\u2028"),
    ],
)
def test_any_text_leaves_as_strict_utf8(text: str, sent: str) -> None:
    params = template({"text": HOLE})(text)

    assert json.loads(params.decode()) == {"text": sent}
    assert json.loads(notification_body("m", {"text": text}).decode())["params"] == {"text": sent}
