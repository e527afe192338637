"""The HTTP client of the `http` engine: a pool of connections for each place that models are reached at.

The only module that knows httpcore2, the half of httpx2 that opens connections and speaks HTTP/1.1. Its other half
(redirects, cookies, forms, several ways of logging in) is nothing that a model's API asks for, and costs a start 25 ms.
"""

from __future__ import annotations

import base64
import ipaddress
import os
import sys
import threading
import zlib
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, unquote, urlsplit

from anyio import to_thread

from agent_server.frozen import frozen
from agent_server.version import __version__

if (
    TYPE_CHECKING
):  # a library of 30 ms, not a cycle: nothing here is needed before the first request
    import httpcore2

IDLE_CONNECTIONS = 20
IDLE_S = 5.0
"""How long a connection is kept for the next request; servers close them after not much more."""


class Unreachable(Exception):
    """No connection came to be."""


class Unusable(Exception):
    """The address is none, or a header cannot be sent; its words do not repeat it, for it may be a key."""


class BrokenOff(Exception):
    """The connection ended, or what came over it is no HTTP, before the answer was whole."""


@frozen
class Answer:
    """A response whose body is still coming."""

    status: int
    headers: Mapping[str, str]
    """By their names in lower case."""
    _body: httpcore2.Response

    async def chunks(self) -> AsyncGenerator[bytes]:
        """The body as it comes, unpacked; once."""
        # We ask for `identity`; some servers compress whatever they are asked for.
        packed = self.headers.get("content-encoding", "identity") in ("gzip", "deflate")
        unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32) if packed else None
        async for data in self._body.aiter_stream():
            yield data if unpacker is None else unpacker.decompress(data)


class HttpClients:
    """Owns the connections. Close it when the last session is closed."""

    def __init__(self) -> None:
        self._pools: dict[tuple[str, str], httpcore2.AsyncConnectionPool] = {}
        self._making = threading.Lock()
        """The first request may come while `warm` still makes its pool."""

    async def warm(self, url: str) -> None:
        """Make the pool for this place before the first request asks for it."""
        with suppress(Unusable):  # said when it is asked for
            await self._pool(_split(url))

    @asynccontextmanager
    async def post(
        self, url: str, body: bytes, headers: Mapping[str, str], *, connect_s: float
    ) -> AsyncGenerator[Answer]:
        """The answer; leaving the block closes the connection unless the body was read to its end.

        Only connecting is limited here, by `connect_s`.

        Raises:
            Unreachable, Unusable, BrokenOff: also out of the block, while the body is read.
        """
        parts = _split(url)
        sent, pool = _headers(parts, headers), await self._pool(parts)
        import httpcore2  # here and in `_made` only, see there

        limits = {"timeout": {"connect": connect_s}}
        try:
            async with pool.stream(
                "POST", url, headers=sent, content=body, extensions=limits
            ) as response:
                yield Answer(response.status, _by_name(response), response)
        except (httpcore2.ConnectError, httpcore2.ConnectTimeout, httpcore2.ProxyError) as error:
            raise Unreachable(str(error) or type(error).__name__) from error
        except (httpcore2.UnsupportedProtocol, httpcore2.LocalProtocolError) as error:
            raise Unusable(type(error).__name__) from None
        except (
            httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.TimeoutException, zlib.error,
        ) as error:  # fmt: skip
            raise BrokenOff(str(error) or type(error).__name__) from error

    async def _pool(self, parts: SplitResult) -> httpcore2.AsyncConnectionPool:
        place = (parts.scheme, parts.netloc)
        return self._pools.get(place) or await to_thread.run_sync(self._make, place, parts)

    def _make(self, place: tuple[str, str], parts: SplitResult) -> httpcore2.AsyncConnectionPool:
        with self._making:
            if place not in self._pools:
                self._pools[place] = _made(parts)
            return self._pools[place]

    async def aclose(self) -> None:
        """Close every connection."""
        pools, self._pools = list(self._pools.values()), {}
        for pool in pools:
            await pool.aclose()


def _made(parts: SplitResult) -> httpcore2.AsyncConnectionPool:
    # Imported with the first pool: 30 ms that no start should pay.
    import httpcore2

    return httpcore2.AsyncConnectionPool(
        # Read once, and not for plain HTTP: the certificates cost 50 ms.
        ssl_context=None if parts.scheme == "http" else httpcore2.default_ssl_context(),
        proxy=_proxy(parts),
        max_connections=None,
        max_keepalive_connections=IDLE_CONNECTIONS,
        keepalive_expiry=IDLE_S,
    )


def _proxy(parts: SplitResult) -> httpcore2.Proxy | None:
    """The one that the environment, or the settings of macOS and Windows, put before this place."""
    named = any(name.lower().endswith("_proxy") for name in os.environ)
    # A proxy of the environment cannot reach this machine's own servers.
    if _is_loopback(parts.hostname or "") or not (named or sys.platform in ("darwin", "win32")):
        return None
    from urllib.request import getproxies, proxy_bypass  # 10 ms, for the few who have one

    known = getproxies()
    found = known.get(parts.scheme) or known.get("all")
    if not found or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    import httpcore2  # see `_made`

    url = urlsplit(found if "://" in found else f"http://{found}")
    if url.scheme not in ("http", "https"):
        raise Unusable(f"a {url.scheme} proxy in the environment")
    login = (
        (unquote(url.username).encode(), unquote(url.password or "").encode())
        if url.username
        else None
    )
    return httpcore2.Proxy(f"{url.scheme}://{url.netloc.rpartition('@')[2]}", auth=login)


def _split(url: str) -> SplitResult:
    """The address in its parts.

    Raises:
        Unusable: it is none.
    """
    try:
        parts = urlsplit(url.encode("ascii").decode())
        if parts.hostname and (parts.port is None or parts.port):
            return parts
    except ValueError:  # also what is not ASCII
        pass
    raise Unusable("no address")


def _headers(parts: SplitResult, headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    """What is sent: those given, and our own.

    Raises:
        Unusable: one cannot be written.
    """
    own = {
        "Host": parts.netloc.rpartition("@")[2],
        "User-Agent": f"agent-server/{__version__}",
        "Accept-Encoding": "identity",  # pieces of text, each at once: packing them gains nothing
    }
    if parts.username is not None:
        login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        own["Authorization"] = f"Basic {base64.b64encode(login.encode()).decode()}"
    try:
        return [
            (name.encode("ascii"), value.encode("ascii"))
            for name, value in (own | dict(headers)).items()
        ]
    except UnicodeEncodeError:
        raise Unusable("a header that is not ASCII") from None


def _by_name(response: httpcore2.Response) -> Mapping[str, str]:
    return {
        name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers
    }


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
