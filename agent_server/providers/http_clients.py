"""The HTTP client of the `http` engine: connections, kept for the next request, shared by all sessions.

A model's API asks for little of HTTP: a body goes there, an answer comes in pieces. What a general client adds to that
costs a start 20 to 35 ms (`docs/decisions/0006-start.md`), so the protocol is h11's and the sockets are anyio's.
`http_connection` joins them, `http_way` knows proxies and certificates, and here it is decided which connection serves
which request.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING
from urllib.parse import SplitResult

import anyio
from anyio import to_thread

from agent_server.frozen import frozen
from agent_server.providers.http_address import Headers, host, login, split
from agent_server.providers.http_codings import unpackers
from agent_server.providers.http_errors import Unusable
from agent_server.version import __version__

if TYPE_CHECKING:  # imported with the first connection; no cycle
    from agent_server.providers.http_connection import Connection
    from agent_server.providers.http_way import Way

IDLE_CONNECTIONS = 20
"""Kept for each place."""
IDLE_S = 5.0
"""How long a connection is kept for the next request; servers close them after not much more."""


@frozen
class Answer:
    """A response whose body is still coming."""

    status: int
    headers: Mapping[str, str]
    """By their names in lower case."""
    _connection: Connection

    async def chunks(self) -> AsyncGenerator[bytes]:
        """The body as it comes, unpacked; once."""
        # We ask for `identity`; some servers compress whatever they are asked for.
        steps = unpackers(self.headers.get("content-encoding", ""))
        async for data in self._connection.body():
            for unpack in steps:
                data = unpack(data)
            yield data


class HttpClients:
    """Owns the connections. Close it when the last session is closed."""

    def __init__(self) -> None:
        self._ways: dict[tuple[str, str], Way] = {}
        self._idle: dict[tuple[str, str], list[tuple[Connection, float]]] = {}
        """By scheme and host: each connection with the time at which its last request ended, the oldest first."""

    async def warm(self, url: str) -> None:
        """Prepare what the first request to this place would otherwise wait for: imports, proxy, certificates."""
        with suppress(Unusable):  # said when it is asked for
            await self._way(split(url))

    @asynccontextmanager
    async def post(
        self, url: str, body: bytes, headers: Mapping[str, str], *, connect_s: float
    ) -> AsyncGenerator[Answer]:
        """The answer; leaving the block closes the connection unless the body was read to its end.

        Only connecting is limited here, by `connect_s`.

        Raises:
            Unreachable, Unusable, BrokenOff: also out of the block, while the body is read.
        """
        parts = split(url)
        sent, target = _headers(parts, headers, len(body)), _target(parts)
        way = await self._way(parts)
        if way.asks_proxy:
            target, sent = f"http://{host(parts)}{target}", [*sent, *way.known_to_proxy]
        connection = await self._connection(parts, way, connect_s)
        try:
            status, received = await connection.ask("POST", target, sent, body)
            names = {name.decode("latin-1"): value.decode("latin-1") for name, value in received}
            yield Answer(status, names, connection)
        finally:
            await self._left(parts, connection)

    async def _way(self, parts: SplitResult) -> Way:
        place = (parts.scheme, host(parts))
        if place not in self._ways:
            self._ways[place] = await to_thread.run_sync(_way, parts)
        return self._ways[place]

    async def _connection(self, parts: SplitResult, way: Way, connect_s: float) -> Connection:
        idle = self._idle.setdefault((parts.scheme, host(parts)), [])
        while idle:
            kept, since = idle.pop()
            if since + IDLE_S > anyio.current_time() and not kept.stale:
                return kept
            await kept.close()
        return await way.connection(connect_s)

    async def _left(self, parts: SplitResult, connection: Connection) -> None:
        idle, now = self._idle.setdefault((parts.scheme, host(parts)), []), anyio.current_time()
        while idle and idle[0][1] + IDLE_S <= now:
            await idle.pop(0)[0].close()
        if connection.at_rest() and len(idle) < IDLE_CONNECTIONS:
            idle.append((connection, now))
        else:
            await connection.close()

    async def aclose(self) -> None:
        """Close every connection."""
        idle, self._idle = list(self._idle.values()), {}
        for connection, _ in (one for each in idle for one in each):
            await connection.close()


def _way(parts: SplitResult) -> Way:
    from agent_server.providers.http_way import way  # h11 and ssl: 7 ms that no start should pay

    return way(parts)


def _target(parts: SplitResult) -> str:
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _headers(parts: SplitResult, headers: Mapping[str, str], length: int) -> Headers:
    """What is sent: those given, and our own.

    Raises:
        Unusable: a header has a character that is not ASCII.
    """
    own = {
        "Host": host(parts),
        "User-Agent": f"agent-server/{__version__}",
        "Accept-Encoding": "identity",  # pieces of text, each at once: packing them gains nothing
        "Content-Length": str(length),
    }
    try:
        given = [
            (name.encode("ascii"), value.encode("ascii"))
            for name, value in (own | dict(headers)).items()
        ]
    except UnicodeEncodeError:
        raise Unusable("a header that is not ASCII") from None
    return given if "Authorization" in headers else [*given, *login(parts, b"Authorization")]
