"""The connection on real descriptors: pipes, sockets, files, terminals.

ACP reference §5 rules 2, 3 and 6; lsp.md §1.3 and §1.5.
"""

import json
import os
import select
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from agent_server.front.rpc.connection import Connection, connect
from agent_server.front.rpc.dialect import ACP
from agent_server.front.rpc.dispatch import Dispatch, Incoming
from agent_server.front.rpc.framing import MAX_FRAME
from agent_server.front.rpc.reader import FdReader
from agent_server.front.rpc.writer import FdWriter

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="POSIX descriptors"),
]


async def echo(incoming: Incoming) -> object:
    return incoming.params


async def size(incoming: Incoming) -> object:
    return len(str(incoming.params["text"]))


DISPATCH = Dispatch({"echo": echo, "size": size})


def request(number: int, method: str = "echo", **params: object) -> bytes:
    return (
        json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()
        + b"\n"
    )


@pytest.fixture
def fds() -> Iterator[list[int]]:
    """Descriptors to close afterwards."""
    opened: list[int] = []
    yield opened
    for fd in opened:
        os.close(fd)


def pipe(fds: list[int]) -> tuple[int, int]:
    ends = os.pipe()
    fds.extend(ends)
    return ends


def socketpair(fds: list[int]) -> tuple[int, int]:
    a, b = socket.socketpair()
    ends = a.detach(), b.detach()
    fds.extend(ends)
    return ends


CHANNELS = pytest.mark.parametrize("channel", [pipe, socketpair], ids=["pipe", "socket"])


def read_lines(fd: int, count: int) -> list[bytes]:
    """Blocks; for a thread."""
    data = b""
    while data.count(b"\n") < count and (piece := os.read(fd, 65536)):
        data += piece
    return data.splitlines()


def feed(fd: int, data: bytes) -> threading.Thread:
    def write() -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]

    thread = threading.Thread(target=write)
    thread.start()
    return thread


@CHANNELS
async def test_what_is_read_before_the_end_comes_before_the_end(
    channel: type, fds: list[int]
) -> None:
    ours, theirs = channel(fds)
    reader = FdReader(ours, b"already ")
    os.write(theirs, b"read")
    os.close(fds.pop(fds.index(theirs)))

    with anyio.fail_after(5):
        assert [await reader.receive() for _ in range(4)] == [b"already ", b"read", b"", b""]


async def test_a_regular_file_is_read_to_its_end(tmp_path: Path, fds: list[int]) -> None:
    """epoll refuses it."""
    path = tmp_path / "in"
    path.write_bytes(b"x" * 9_000_000)
    fd = os.open(path, os.O_RDONLY)
    fds.append(fd)
    reader = FdReader(fd)
    total = 0
    with anyio.fail_after(5):
        while data := await reader.receive():
            total += len(data)

    assert total == 9_000_000


async def test_a_terminal_that_hangs_up_is_the_end(fds: list[int]) -> None:
    import pty  # does not exist on Windows

    leader, follower = pty.openpty()
    fds.append(follower)
    os.write(leader, b"line\n")
    reader = FdReader(follower)
    with anyio.fail_after(5):
        assert await reader.receive() == b"line\n"
        os.close(leader)
        assert await reader.receive() == b""


async def test_closing_a_reader_ends_its_wait(fds: list[int]) -> None:
    ours, _ = pipe(fds)
    reader = FdReader(ours)
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(reader.receive)
            await anyio.wait_all_tasks_blocked()
            reader.close()


@CHANNELS
async def test_a_reader_that_nobody_asks_lets_the_pipe_fill(channel: type, fds: list[int]) -> None:
    ours, theirs = channel(fds)
    reader = FdReader(ours)
    writing = feed(theirs, b"x" * 12_000_000)
    total = len(await reader.receive())
    with anyio.fail_after(5):
        for _ in range(1000):
            await anyio.lowlevel.checkpoint()
        assert writing.is_alive()
        while total < 12_000_000:
            total += len(await reader.receive())
    writing.join(5)
    reader.close()


async def test_the_descriptors_flags_are_left_alone(fds: list[int]) -> None:
    (ours, theirs), (a, _b) = pipe(fds), socketpair(fds)
    before = [os.get_blocking(fd) for fd in (ours, theirs, a)]
    reader, writers = FdReader(ours), [FdWriter(theirs), FdWriter(a)]
    for writer in writers:
        assert writer.write_now(b"x") == 1
        await writer.write(b"y")
    await reader.receive()

    assert [os.get_blocking(fd) for fd in (ours, theirs, a)] == before
    reader.close()
    for writer in writers:
        writer.close()


@CHANNELS
async def test_a_full_channel_takes_nothing_now_and_everything_later(
    channel: type, fds: list[int]
) -> None:
    theirs, ours = channel(fds)
    writer = FdWriter(ours)
    taken = 0
    while now := writer.write_now(b"x" * 4096):
        taken += now
    read = b""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(writer.write, b"y" * 1_000_000)
        read = await anyio.to_thread.run_sync(lambda: read_exactly(theirs, taken + 1_000_000))
    writer.close()

    assert read == b"x" * taken + b"y" * 1_000_000


def read_exactly(fd: int, count: int) -> bytes:
    data = b""
    while len(data) < count and (piece := os.read(fd, 65536)):
        data += piece
    return data


async def test_more_than_a_pipe_surely_takes_is_not_tried_at_once(fds: list[int]) -> None:
    """A pipe that polls writable takes PIPE_BUF bytes without blocking, and promises no more."""
    _, ours = pipe(fds)
    writer = FdWriter(ours)

    assert writer.write_now(b"x" * (select.PIPE_BUF + 1)) == 0
    assert writer.write_now(b"x" * select.PIPE_BUF) == select.PIPE_BUF
    writer.close()


@CHANNELS
async def test_nobody_reading_is_an_error_now_and_later(channel: type, fds: list[int]) -> None:
    theirs, ours = channel(fds)
    os.close(fds.pop(fds.index(theirs)))
    writer = FdWriter(ours)

    with pytest.raises(OSError, match="pipe"):
        writer.write_now(b"x")
    with pytest.raises(OSError, match="pipe"):
        await writer.write(b"x" * 100_000)
    writer.close()


# The whole connection --------------------------------------------------------------------------------


async def serve_and_close(connection: Connection) -> None:
    with anyio.fail_after(15):
        await connection.serve()


@CHANNELS
async def test_large_frames_work_and_too_large_ones_cost_one_answer(
    channel: type, fds: list[int]
) -> None:
    """Field case PR-03."""
    ours, in_end = channel(fds)
    out_end, answers = channel(fds)
    connection = connect(read_fd=ours, write_fd=answers, dialect=ACP, dispatch=DISPATCH)
    given = b"".join(
        [
            request(1, "size", text="x" * 5_000_000),
            b'{"a":"' + b"x" * (MAX_FRAME + 1_000_000) + b'"}\n',
            request(2, "echo", text="y" * 200_000),
            request(3),
        ]
    )
    lines: list[bytes] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve_and_close, connection)
        feed(in_end, given)
        lines = await anyio.to_thread.run_sync(read_lines, out_end, 4)
        connection.close()

    got = [json.loads(line) for line in lines]
    assert [a["id"] for a in got] == [1, None, 2, 3]
    assert got[0]["result"] == 5_000_000
    assert got[1]["error"]["code"] == -32600
    assert len(got[2]["result"]["text"]) == 200_000


async def test_files_in_and_out_are_a_conversation(tmp_path: Path, fds: list[int]) -> None:
    (tmp_path / "in").write_bytes(request(1) + request(2).rstrip())
    read_fd = os.open(tmp_path / "in", os.O_RDONLY)
    write_fd = os.open(tmp_path / "out", os.O_WRONLY | os.O_CREAT)
    fds += [read_fd, write_fd]
    await serve_and_close(
        connect(read_fd=read_fd, write_fd=write_fd, dialect=ACP, dispatch=DISPATCH)
    )

    answers = [json.loads(line) for line in (tmp_path / "out").read_bytes().splitlines()]
    assert [a["id"] for a in answers] == [1, 2]


@CHANNELS
async def test_a_client_that_stops_reading_stops_nobody_else(channel: type, fds: list[int]) -> None:
    """lsp.md §1.3 defect 1: the loop goes on, and all of it arrives when the client reads again."""
    ours, _in_end = channel(fds)
    out_end, answers = channel(fds)
    connection = connect(read_fd=ours, write_fd=answers, dialect=ACP, dispatch=DISPATCH)
    lines: list[bytes] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve_and_close, connection)
        for number in range(2000):
            connection.notify("fact", {"number": number, "padding": "x" * 500})
            await anyio.lowlevel.checkpoint()
        assert connection.outbound.size > 100_000
        lines = await anyio.to_thread.run_sync(read_lines, out_end, 2000)
        connection.close()

    assert [json.loads(line)["params"]["number"] for line in lines] == list(range(2000))


@CHANNELS
async def test_a_client_that_is_gone_ends_the_connection(channel: type, fds: list[int]) -> None:
    """Field case PR-04: EPIPE, with the input still open."""
    ours, _in_end = channel(fds)
    out_end, answers = channel(fds)
    os.close(fds.pop(fds.index(out_end)))
    connection = connect(read_fd=ours, write_fd=answers, dialect=ACP, dispatch=DISPATCH, grace_s=60)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve_and_close, connection)
        await anyio.wait_all_tasks_blocked()
        connection.notify("fact", {})
        with anyio.fail_after(5):
            await connection.closed.wait()


async def test_two_peers_talk_over_one_socket_pair(fds: list[int]) -> None:
    a, b = socketpair(fds)
    server = connect(read_fd=a, write_fd=a, dialect=ACP, dispatch=DISPATCH)
    client = connect(read_fd=b, write_fd=b, dialect=ACP, dispatch=Dispatch())
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve_and_close, server)
        tasks.start_soon(serve_and_close, client)
        with anyio.fail_after(5):
            assert await client.request("echo", {"a": 1}) == {"a": 1}
        client.close()
        server.close()
