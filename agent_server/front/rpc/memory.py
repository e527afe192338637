"""Two connected connections without descriptors: the same code from bytes on. For tests."""

import anyio

from agent_server.front.rpc.connection import Connection
from agent_server.front.rpc.dialect import ACP, Dialect
from agent_server.front.rpc.dispatch import Dispatch
from agent_server.front.rpc.outbound import Outbound


class MemoryPipe:
    """Bytes from one end to the other: the writer's `ByteSink` and the reader's `ByteSource`.

    `stall` makes it a peer that stops reading: nothing is taken, and writes wait, until `resume`.
    """

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self._arrived = anyio.Event()
        self._room = anyio.Event()
        self._room.set()
        self._ended = False
        self._broken = False

    def write_now(self, data: bytes) -> int:
        """See `ByteSink`."""
        if self._broken:
            raise BrokenPipeError
        if not self._room.is_set():
            return 0
        self._chunks.append(data)
        self._arrived.set()
        return len(data)

    async def write(self, data: bytes) -> None:
        """See `ByteSink`."""
        await self._room.wait()
        self.write_now(data)

    async def receive(self) -> bytes:
        """See `ByteSource`: everything that was written since."""
        while not self._chunks and not self._ended:
            self._arrived = anyio.Event()
            await self._arrived.wait()
        data = b"".join(self._chunks)
        self._chunks.clear()
        return data

    def close(self) -> None:
        """No more is written; the reader gets what is there, then the end."""
        self._ended = True
        self._arrived.set()

    def stall(self) -> None:
        """Stop taking bytes."""
        self._room = anyio.Event()

    def resume(self) -> None:
        """Take bytes again."""
        self._room.set()

    def break_off(self) -> None:
        """The reader is gone: every write fails."""
        self._broken = True
        self._room.set()


def pair(
    ours: Dispatch, theirs: Dispatch, *, dialect: Dialect = ACP, grace_s: float = 0.1
) -> tuple[Connection, Connection]:
    """Two peers; run `serve` of both."""
    there, back = MemoryPipe(), MemoryPipe()
    return (
        over(back, there, ours, dialect=dialect, grace_s=grace_s),
        over(there, back, theirs, dialect=dialect, grace_s=grace_s),
    )


def over(
    source: MemoryPipe,
    sink: MemoryPipe,
    dispatch: Dispatch,
    *,
    dialect: Dialect = ACP,
    grace_s: float = 0.1,
) -> Connection:
    """A connection that reads `source` and writes `sink`; the other ends are the test's."""
    outbound = Outbound(sink, dialect.framing)
    return Connection(source, outbound, dialect=dialect, dispatch=dispatch, grace_s=grace_s)
