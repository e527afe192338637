"""A JSON-RPC peer, from bytes on. Codes and shapes: JSON-RPC 2.0 and ACP's transport; order: our contract."""

import json
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import pytest

from agent_server.front.rpc.connection import Connection
from agent_server.front.rpc.dialect import ACP, LSP, Dialect
from agent_server.front.rpc.dispatch import Dispatch, Incoming, Result
from agent_server.front.rpc.errors import ConnectionClosed, RemoteError
from agent_server.front.rpc.memory import MemoryPipe, over, pair
from agent_server.loop.errors import ClientMistake, StaleRevision, UnknownSession
from agent_server.loop.model import JsonObject

pytestmark = pytest.mark.anyio


@dataclass
class RawPeer:
    """The other end, byte by byte."""

    connection: Connection
    to: MemoryPipe
    back: MemoryPipe
    dialect: Dialect
    _frames: Iterator[Any] | None = None

    def send(self, *messages: object) -> None:
        """In one piece, as they may arrive."""
        self.to.write_now(b"".join(self.dialect.framing.encode(_body(m)) for m in messages))

    async def receive(self) -> dict[str, Any]:
        with anyio.fail_after(5):
            while True:
                for frame in self._frames or ():
                    return json.loads(frame)
                data = await self.back.receive()
                assert data, "the connection ended instead of answering"
                self._frames = self.dialect.framing.decoder().feed(data)

    async def receive_all(self) -> list[dict[str, Any]]:
        """Ends the input; what comes until the connection closes."""
        self.to.close()
        with anyio.fail_after(5):
            await self.connection.closed.wait()
        frames = [
            *(self._frames or ()),
            *self.dialect.framing.decoder().feed(await self.back.receive()),
        ]
        return [json.loads(frame) for frame in frames if isinstance(frame, bytes)]


def _body(message: object) -> bytes:
    return message if isinstance(message, bytes) else json.dumps(message).encode()


@asynccontextmanager
async def serving(
    dispatch: Dispatch, *, dialect: Dialect = ACP, grace_s: float = 0.1
) -> AsyncGenerator[RawPeer]:
    there, back = MemoryPipe(), MemoryPipe()
    connection = over(there, back, dispatch, dialect=dialect, grace_s=grace_s)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(connection.serve)
        yield RawPeer(connection, there, back, dialect)
        connection.close()


def request(request_id: object, method: str, params: object = None) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def notification(method: str, params: object = None) -> dict[str, object]:
    return {"jsonrpc": "2.0", "method": method, "params": params}


async def echo(incoming: Incoming) -> object:
    return incoming.params


ECHO = Dispatch({"echo": echo})


def failing(error: Exception) -> Dispatch:
    async def fail(incoming: Incoming) -> object:
        raise error

    return Dispatch({"fail": fail})


async def test_a_request_is_answered_with_the_handlers_value() -> None:
    async with serving(ECHO) as peer:
        peer.send(request(1, "echo", {"a": "é\u2028"}))

        assert await peer.receive() == {"jsonrpc": "2.0", "id": 1, "result": {"a": "é\u2028"}}


@pytest.mark.parametrize(
    ("line", "code", "request_id"),
    [
        (b'{"jsonrpc":"2.0","method":"x","params":', -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":NaN}}', -32700, None),
        (b"[" * 100_000, -32700, None),
        (b"1" * 5000, -32700, None),
        (b"1", -32600, None),
        (b"[]", -32600, None),
        (b'[{"jsonrpc":"2.0","id":1,"method":"echo"}]', -32600, None),
        (b'"a"', -32600, None),
        (b"null", -32600, None),
        (b"{}", -32600, None),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"echo"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":true,"method":"echo"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":{},"method":"echo"}', -32600, None),
        (b'{"id":1,"method":"echo"}', -32600, 1),
        (b'{"jsonrpc":"2.0","id":1,"method":5}', -32600, 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"echo","params":[]}', -32602, 1),
        (b'{"jsonrpc":"2.0","id":"a","method":"echo","params":"text"}', -32602, "a"),
        (b'{"jsonrpc":"2.0","id":null,"method":"nothing"}', -32601, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"nothing","params":[]}', -32601, 1),
    ],
)
async def test_a_bad_message_has_its_error_and_the_next_request_works(
    line: bytes, code: int, request_id: object
) -> None:
    """Field case PR-01."""
    async with serving(ECHO) as peer:
        peer.send(line, request(7, "echo"))

        refused = await peer.receive()
        assert (refused["error"]["code"], refused["id"]) == (code, request_id)
        assert set(refused["error"]["data"]) == {"reason", "details", "error", "retryable"}
        assert await peer.receive() == {"jsonrpc": "2.0", "id": 7, "result": {}}


async def test_messages_that_want_no_answer_get_none() -> None:
    async with serving(ECHO) as peer:
        peer.send(
            notification("unknown"),
            notification("$/unknown"),
            notification("echo", [1]),
            notification("$/cancel_request", {"requestId": 99}),
            notification("$/cancel_request", {"requestId": {}}),
            notification("$/cancel_request"),
            {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "noise"}},
            {"jsonrpc": "2.0", "id": 1, "result": None},
            {"id": True, "result": None},
            {"id": [], "error": 5},
            {**request(1, "echo"), "type": "com.agentclientprotocol.rpc.JsonRpcRequest"},
        )

        assert await peer.receive_all() == [{"jsonrpc": "2.0", "id": 1, "result": {}}]


async def test_a_notification_with_a_clients_mistake_is_one_line_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def refuse(params: object) -> None:
        raise ClientMistake("sessionId is missing")

    async with serving(Dispatch({"echo": echo}, {"tell": refuse})) as peer:
        peer.send(notification("tell"), request(1, "echo"))
        await peer.receive()

    (record,) = caplog.records
    assert record.getMessage() == "the notification tell did nothing: sessionId is missing"
    assert (record.levelname, record.exc_info) == ("WARNING", None)


async def test_an_id_that_is_in_flight_is_refused_and_free_afterwards() -> None:
    go = anyio.Event()

    async def wait(incoming: Incoming) -> object:
        await go.wait()
        return "first"

    async with serving(Dispatch({"wait": wait, "echo": echo})) as peer:
        peer.send(request(1, "wait"), request(1, "echo"))
        assert (await peer.receive())["error"]["code"] == -32600
        go.set()
        assert (await peer.receive())["result"] == "first"
        peer.send(request(1, "echo"))
        assert (await peer.receive())["result"] == {}


async def test_handlers_run_in_arrival_order_up_to_their_first_wait() -> None:
    seen: list[object] = []

    async def note(incoming: Incoming) -> object:
        seen.append(incoming.id)
        await anyio.lowlevel.checkpoint()
        seen.append("later")
        return None

    async def told(params: JsonObject) -> None:
        seen.append("told")

    async with serving(Dispatch({"note": note}, {"told": told})) as peer:
        peer.send(request(1, "note"), notification("told"), request(2, "note"))
        await peer.receive()
        await peer.receive()

    assert [entry for entry in seen if entry != "later"] == [1, "told", 2]


async def test_two_hundred_parallel_requests_are_each_answered_before_their_follow_ups() -> None:
    """ACP reference §5 rule 14, field case PR-06: nothing gets between an answer and what follows it."""

    async def new(incoming: Incoming) -> object:
        await anyio.lowlevel.checkpoint()
        name = str(incoming.id)
        return Result(name, (("update", {"of": name}), ("update", {"of": name, "again": True})))

    async with serving(Dispatch({"new": new})) as peer:
        peer.send(*(request(number, "new") for number in range(200)))
        lines = await peer.receive_all()

    assert len(lines) == 600
    for first, second, third in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
        assert (
            first["result"] == str(first["id"]) == second["params"]["of"] == third["params"]["of"]
        )


async def test_a_waiting_request_does_not_hold_up_another() -> None:
    async def wait(incoming: Incoming) -> object:
        await anyio.sleep_forever()

    async with serving(Dispatch({"wait": wait, "echo": echo})) as peer:
        peer.send(request(1, "wait"), request(2, "echo"))

        assert (await peer.receive())["id"] == 2


@pytest.mark.parametrize(
    ("dialect", "cancel"),
    [(ACP, ("$/cancel_request", "requestId")), (LSP, ("$/cancelRequest", "id"))],
    ids=["acp", "lsp"],
)
async def test_a_cancelled_request_is_stopped_and_answered_once(
    dialect: Dialect, cancel: tuple[str, str]
) -> None:
    started, stopped = anyio.Event(), anyio.Event()

    async def wait(incoming: Incoming) -> object:
        started.set()
        try:
            await anyio.sleep_forever()
        finally:
            stopped.set()

    async with serving(Dispatch({"wait": wait}), dialect=dialect) as peer:
        peer.send(request("r", "wait"))
        with anyio.fail_after(5):
            await started.wait()
        withdraw = notification(cancel[0], {cancel[1]: "r"})
        peer.send(withdraw, withdraw)
        answers = await peer.receive_all()

    assert stopped.is_set()
    assert [(a["id"], a["error"]["code"]) for a in answers] == [("r", -32800)]


async def test_a_request_cancelled_before_it_was_looked_at_never_runs() -> None:
    """Field case CP-17."""
    ran: list[object] = []
    go = anyio.Event()

    async def slow(incoming: Incoming) -> object:
        await go.wait()
        return "slow"

    async def effect(incoming: Incoming) -> object:
        ran.append(incoming.id)

    async with serving(Dispatch({"slow": slow, "effect": effect})) as peer:
        withdrawn = [request(n, "effect") for n in range(1, 31)]
        cancels = [notification("$/cancel_request", {"requestId": n}) for n in range(1, 31)]
        peer.send(request(0, "slow"), *withdrawn, *cancels)
        codes = [(await peer.receive())["error"]["code"] for _ in range(30)]
        go.set()

        assert (await peer.receive())["result"] == "slow"
    assert codes == [-32800] * 30
    assert ran == []


async def test_a_request_that_settles_its_cancellation_answers_it_with_a_result() -> None:
    """A prompt's answer to `$/cancel_request` is the result `cancelled` (ACP reference §5 rule 20)."""

    async def prompt(incoming: Incoming) -> object:
        cancelled = anyio.Event()
        incoming.when_cancelled(cancelled.set)
        await cancelled.wait()
        await anyio.lowlevel.checkpoint()
        return {"stopReason": "cancelled"}

    dispatch = Dispatch({"prompt": prompt}, settles_cancel=frozenset({"prompt"}))
    async with serving(dispatch) as peer:
        peer.send(request(1, "prompt"), notification("$/cancel_request", {"requestId": 1}))

        assert (await peer.receive())["result"] == {"stopReason": "cancelled"}


async def test_a_cancellation_that_names_no_request_cancels_none() -> None:
    go = anyio.Event()

    async def wait(incoming: Incoming) -> object:
        await go.wait()
        return "done"

    async with serving(Dispatch({"wait": wait})) as peer:
        cancels = (
            notification("$/cancel_request", params)
            for params in (None, {}, {"requestId": None}, [])
        )
        peer.send(request(None, "wait"), *cancels)
        peer.send(request(1, "nothing"))
        assert (await peer.receive())["id"] == 1
        go.set()

        assert (await peer.receive())["result"] == "done"


async def test_a_result_that_was_ready_survives_a_late_cancellation() -> None:
    async def stubborn(incoming: Incoming) -> object:
        with anyio.CancelScope(shield=True):
            cancelled = anyio.Event()
            incoming.when_cancelled(cancelled.set)
            await cancelled.wait()
        return "done"

    async with serving(Dispatch({"stubborn": stubborn})) as peer:
        peer.send(request(1, "stubborn"))
        await anyio.lowlevel.checkpoint()
        peer.send(notification("$/cancel_request", {"requestId": 1}))

        assert (await peer.receive()).get("result") == "done"


@pytest.mark.parametrize(
    ("error", "dialect", "code", "data"),
    [
        (UnknownSession("session 's1' is unknown"), ACP, -32002, {"reason": "unknown_session"}),
        (UnknownSession("session 's1' is unknown"), LSP, -32602, {"reason": "unknown_session"}),
        (ClientMistake("no"), ACP, -32602, {"reason": "invalid_params"}),
        (
            StaleRevision("old", revision=3),
            LSP,
            -32801,
            {"reason": "stale_revision", "revision": 3},
        ),
    ],
)
async def test_an_error_of_the_tree_has_its_code(
    error: Exception, dialect: Dialect, code: int, data: dict[str, object]
) -> None:
    async with serving(failing(error), dialect=dialect) as peer:
        peer.send(request(1, "fail"))
        answer = (await peer.receive())["error"]

    assert (answer["code"], answer["message"]) == (code, str(error))
    assert answer["data"].items() >= data.items()
    assert answer["data"]["details"] == answer["data"]["error"] == str(error)


async def test_a_bug_in_a_handler_is_an_internal_error_without_its_insides() -> None:
    async with serving(failing(KeyError("secret"))) as peer:
        peer.send(request(1, "fail"))
        answer = (await peer.receive())["error"]

    assert answer["code"] == -32603
    assert "secret" not in json.dumps(answer)
    assert "Traceback" not in json.dumps(answer)


async def test_a_value_that_is_no_json_is_an_internal_error() -> None:
    async def bad(incoming: Incoming) -> object:
        return object()

    async with serving(Dispatch({"bad": bad})) as peer:
        peer.send(request(1, "bad"))

        assert (await peer.receive())["error"]["code"] == -32603


async def test_lone_surrogates_leave_as_valid_utf8() -> None:
    async with serving(ECHO) as peer:
        peer.send(b'{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":"\\ud800x"}}')

        assert (await peer.receive())["result"] == {"a": "\ufffdx"}


async def test_what_nobody_knows_goes_to_the_fallback_in_order() -> None:
    """pygls lives on the same wire. A handler has run to its first wait before the next message is looked at."""
    others: list[JsonObject] = []

    async def ours(incoming: Incoming) -> object:
        others.append({"ours": incoming.id})
        return None

    dispatch = Dispatch({"agent/echo": ours}, fallback=others.append)
    messages = [
        request(1, "initialize", {}),
        notification("textDocument/didOpen", {}),
        {"jsonrpc": "2.0", "id": "theirs", "result": 1},
        notification("$/cancelRequest", {"id": 1}),
        request(3, "textDocument/hover", []),
    ]
    async with serving(dispatch, dialect=LSP) as peer:
        peer.send(*messages[:2], request(2, "agent/echo"), *messages[2:])
        answers = await peer.receive_all()

    assert others == [*messages[:2], {"ours": 2}, *messages[2:]]
    assert [a["id"] for a in answers] == [2]


async def test_requests_that_were_read_are_answered_after_the_end_of_input() -> None:
    """ACP reference §5 rule 5; the last line needs no line end."""

    async def slow(incoming: Incoming) -> object:
        await anyio.wait_all_tasks_blocked()  # until the end was read
        return "done"

    async with serving(Dispatch({"slow": slow}), grace_s=5) as peer:
        peer.to.write_now(_body(request(1, "slow")))

        assert [a["result"] for a in await peer.receive_all()] == ["done"]


async def test_after_the_grace_each_request_is_answered_as_cancelled() -> None:
    async def wait(incoming: Incoming) -> object:
        await anyio.sleep_forever()

    async def prompt(incoming: Incoming) -> object:
        cancelled = anyio.Event()
        incoming.when_cancelled(cancelled.set)
        await cancelled.wait()
        return "cancelled"

    dispatch = Dispatch({"wait": wait, "prompt": prompt}, settles_cancel=frozenset({"prompt"}))
    async with serving(dispatch, grace_s=0) as peer:
        peer.send(request(1, "wait"), request(2, "prompt"))
        answers = {a["id"]: a for a in await peer.receive_all()}

    assert answers[1]["error"]["code"] == -32800
    assert answers[2]["result"] == "cancelled"


async def test_at_the_end_of_input_a_handler_that_asks_the_peer_is_not_kept_waiting() -> None:
    """A permission that nobody can give any more is no (ACP reference §5 rule 19)."""
    outcome: list[Exception] = []

    async def ask(incoming: Incoming) -> object:
        try:
            return await peer.connection.request("permission", {})
        except ConnectionClosed as error:
            outcome.append(error)
            return "no"

    async with serving(Dispatch({"ask": ask}), grace_s=60) as peer:
        peer.send(request(1, "ask"))
        assert (await peer.receive())["method"] == "permission"

        assert [a["result"] for a in await peer.receive_all()] == ["no"]


async def test_a_peer_that_reads_no_more_ends_the_connection() -> None:
    """Field case PR-04: EPIPE."""
    cancelled = anyio.Event()

    async def wait(incoming: Incoming) -> object:
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.set()

    async with serving(Dispatch({"wait": wait}), grace_s=60) as peer:
        peer.send(request(1, "wait"))
        await anyio.lowlevel.checkpoint()
        peer.back.break_off()
        peer.connection.notify("update", {})
        with anyio.fail_after(5):
            await peer.connection.closed.wait()

    assert cancelled.is_set()


# Our own requests ----------------------------------------------------------------------------------


@asynccontextmanager
async def connected(theirs: Dispatch) -> AsyncGenerator[Connection]:
    ours, other = pair(Dispatch(), theirs)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ours.serve)
        tasks.start_soon(other.serve)
        with anyio.fail_after(5):
            yield ours
        ours.close()


async def test_a_request_of_ours_returns_the_peers_result() -> None:
    async with connected(ECHO) as connection:
        assert await connection.request("echo", {"a": 1}) == {"a": 1}


async def test_a_request_of_ours_raises_the_peers_error() -> None:
    async with connected(ECHO) as connection:
        with pytest.raises(RemoteError) as caught:
            await connection.request("nothing", {})

    assert caught.value.code == -32601


@pytest.mark.parametrize("error", [5, None, {}, {"code": "x", "message": 3}])
async def test_a_senseless_error_is_an_error_all_the_same(error: object) -> None:
    async with asked() as (peer, sent, outcome):
        peer.send({"jsonrpc": "2.0", "id": sent["id"], "error": error})
        result = await outcome()

    if error is None:
        assert result is None
    else:
        assert isinstance(result, RemoteError)


@asynccontextmanager
async def asked() -> AsyncGenerator[tuple[RawPeer, dict[str, Any], Callable[[], Any]]]:
    """A request of ours is with a raw peer; `outcome()` is what became of it."""
    outcomes: list[object] = []
    done = anyio.Event()

    async def ask(connection: Connection) -> None:
        try:
            outcomes.append(await connection.request("ask", {}))
        except (RemoteError, ConnectionClosed) as error:
            outcomes.append(error)
        done.set()

    async def outcome() -> object:
        with anyio.fail_after(5):
            await done.wait()
        assert len(outcomes) == 1
        return outcomes[0]

    async with serving(ECHO) as peer, anyio.create_task_group() as tasks:
        tasks.start_soon(ask, peer.connection)
        yield peer, await peer.receive(), outcome


async def test_a_second_answer_and_an_unknown_one_are_dropped() -> None:
    async with asked() as (peer, sent, outcome):
        answer = {"jsonrpc": "2.0", "id": sent["id"], "result": "yes"}
        peer.send(answer, {**answer, "result": "no"}, {**answer, "id": 77}, request(1, "echo"))

        assert await outcome() == "yes"
        assert (await peer.receive())["id"] == 1


async def test_the_end_of_input_fails_what_the_peer_has_not_answered() -> None:
    async with asked() as (peer, _, outcome):
        peer.to.close()

        assert isinstance(await outcome(), ConnectionClosed)


async def test_a_wait_that_is_cancelled_withdraws_the_request_and_drops_the_late_answer() -> None:
    async with serving(ECHO) as peer:
        with anyio.move_on_after(0.01):
            await peer.connection.request("ask", {})
        sent, withdrawn = await peer.receive(), await peer.receive()
        peer.send({"jsonrpc": "2.0", "id": sent["id"], "result": "late"}, request(1, "echo"))

        assert withdrawn == {
            "jsonrpc": "2.0",
            "method": "$/cancel_request",
            "params": {"requestId": sent["id"]},
        }
        assert (await peer.receive())["id"] == 1


async def test_a_closed_connection_refuses_requests() -> None:
    async with serving(ECHO) as peer:
        await peer.receive_all()
        with pytest.raises(ConnectionClosed):
            await peer.connection.request("ask", {})
