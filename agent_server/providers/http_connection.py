"""One connection to a server of models: HTTP/1.1 by h11, over a stream of anyio's.

Which connection serves which request is `http_clients.py`'s; so is what stands in the headers.
"""

import select
import ssl
from collections.abc import AsyncGenerator
from contextlib import suppress
from urllib.parse import SplitResult

import anyio
import h11
from anyio.abc import ByteStream, SocketAttribute
from anyio.streams.tls import TLSStream

from agent_server.providers.http_address import Headers
from agent_server.providers.http_errors import BrokenOff, Unreachable, Unusable

PORTS = {"http": 80, "https": 443}
_CHUNK = 64 * 1024
_HEAD_BYTES = 100 * 1024
"""A longer head of an answer is none."""


class Connection:
    """Serves one request after the other. Whoever stops in the middle of an answer must close it."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=_HEAD_BYTES)

    async def ask(
        self, method: str, target: str, headers: Headers, body: bytes = b""
    ) -> tuple[int, Headers]:
        """Send a request; the status of its answer, and the headers, their names in lower case.

        Raises:
            Unusable: the target or a header cannot be sent.
            BrokenOff: no answer came.
        """
        try:
            head = h11.Request(method=method, target=target, headers=list(headers))
            events = (head, *([h11.Data(data=body)] if body else ()), h11.EndOfMessage())
            data = b"".join(self._http.send(event) or b"" for event in events)
        except h11.LocalProtocolError as error:
            raise Unusable(type(error).__name__) from None
        # A server may refuse a body before it has all of it; what it says is read below, as is that it says nothing.
        with suppress(anyio.BrokenResourceError, OSError):
            await self._stream.send(data)
        while not isinstance(event := await self._next(), h11.Response):
            if not isinstance(event, h11.InformationalResponse):
                raise BrokenOff("it was closed before an answer came")
        return event.status_code, list(event.headers)

    async def body(self) -> AsyncGenerator[bytes]:
        """The body of the answer as it comes; once.

        Raises:
            BrokenOff: it is not whole.
        """
        while isinstance(event := await self._next(), h11.Data):
            yield bytes(event.data)

    def at_rest(self) -> bool:
        """Whether the answer was read to its end, and another request may follow. Ask once for each request."""
        states = (self._http.our_state, self._http.their_state)
        if states != (h11.DONE, h11.DONE) or self._http.trailing_data[0]:
            return False
        self._http.start_next_cycle()
        return True

    @property
    def stale(self) -> bool:
        """Whether the server has closed it meanwhile, or said something that nobody asked for."""
        socket = self._stream.extra(SocketAttribute.raw_socket)
        if socket.fileno() < 0:
            return True
        if not hasattr(select, "poll"):  # Windows, where `select` takes any number
            return bool(select.select([socket], [], [], 0)[0])
        poll = select.poll()
        poll.register(socket, select.POLLIN)
        return bool(poll.poll(0))

    async def close(self) -> None:
        """At once, also when cancelled; without a word to the server."""
        with anyio.CancelScope(shield=True):
            await self._stream.aclose()

    async def _next(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        try:
            while (event := self._http.next_event()) is h11.NEED_DATA:
                data = b""
                with suppress(anyio.EndOfStream):
                    data = await self._stream.receive(_CHUNK)
                self._http.receive_data(data)
        except (
            h11.RemoteProtocolError,
            anyio.BrokenResourceError,
            anyio.ClosedResourceError,
            OSError,
        ) as error:
            raise BrokenOff(_words(error)) from error
        return event


async def connect(
    parts: SplitResult,
    tls: ssl.SSLContext | None,
    *,
    proxy: SplitResult | None,
    login: Headers,
    within_s: float,
) -> Connection:
    """A connection to the server at this address; `login` is for the proxy.

    Raises:
        Unreachable: there is none, or none within that time.
    """
    try:
        with anyio.fail_after(within_s):
            stream = await _connected(parts if proxy is None else proxy, tls)
            if parts.scheme == "https" and proxy is not None:
                await _tunnel(stream, parts, login)
                stream = await _secured(stream, parts, tls)
            return Connection(stream)
    except TimeoutError as error:
        raise Unreachable(f"no connection within {within_s:g} s") from error
    except (OSError, anyio.BrokenResourceError, anyio.EndOfStream, BrokenOff) as error:
        raise Unreachable(_words(error)) from error


async def _connected(parts: SplitResult, tls: ssl.SSLContext | None) -> ByteStream:
    stream = await anyio.connect_tcp(parts.hostname or "", parts.port or PORTS[parts.scheme])
    return await _secured(stream, parts, tls) if parts.scheme == "https" else stream


async def _secured(
    stream: ByteStream, parts: SplitResult, tls: ssl.SSLContext | None
) -> ByteStream:
    try:
        # Whether a body is whole is seen by its length or its chunks; few servers say goodbye.
        return await TLSStream.wrap(
            stream, hostname=parts.hostname, ssl_context=tls, standard_compatible=False
        )
    except BaseException:
        await anyio.aclose_forcefully(stream)
        raise


async def _tunnel(stream: ByteStream, parts: SplitResult, login: Headers) -> None:
    name = parts.hostname or ""
    place = f"{f'[{name}]' if ':' in name else name}:{parts.port or PORTS[parts.scheme]}"
    try:
        status, _ = await Connection(stream).ask(
            "CONNECT", place, [(b"Host", place.encode()), *login]
        )
        if not 200 <= status < 300:
            raise Unreachable(f"the proxy answered {status}")
    except BaseException:
        await anyio.aclose_forcefully(stream)
        raise


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__
