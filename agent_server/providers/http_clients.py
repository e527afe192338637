"""The HTTP clients of the `http` engine: one for each place that models are reached at, shared by all sessions."""

from __future__ import annotations

import ipaddress
import threading
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from anyio import to_thread

if (
    TYPE_CHECKING
):  # a library of 100 ms, not a cycle: nothing here is needed before the first request
    import httpx2


class HttpClients:
    """Owns the clients. Close it when the last session is closed."""

    def __init__(self) -> None:
        self._clients: dict[str, httpx2.AsyncClient] = {}
        self._making = threading.Lock()
        """The first request may come while `warm` still makes its client."""

    def client(self, base_url: str) -> httpx2.AsyncClient:
        """The client for the host of this URL, made at its first use."""
        parts = urlsplit(base_url)
        origin = f"{parts.scheme}://{parts.netloc}"
        with self._making:
            if origin not in self._clients:
                self._clients[origin] = self._made(parts.scheme, parts.hostname or "")
            return self._clients[origin]

    async def warm(self, base_url: str) -> None:
        """Make the client off the event loop, before the first request asks for it."""
        await to_thread.run_sync(self.client, base_url)

    def _made(self, scheme: str, host: str) -> httpx2.AsyncClient:
        # Imported with the first client: 100 ms that no start should pay.
        import httpx2

        return httpx2.AsyncClient(
            # A TLS context costs 50 ms and is never used for plain HTTP: redirects are not followed.
            verify=scheme != "http",
            # A proxy of the environment cannot reach this machine's own servers.
            trust_env=not _is_loopback(host),
            timeout=None,  # each request brings its own
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=20),
        )

    async def aclose(self) -> None:
        """Close every connection."""
        clients, self._clients = list(self._clients.values()), {}
        for client in clients:
            await client.aclose()


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
