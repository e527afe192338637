"""How a place is reached: through which proxy, trusting whose certificates. Blocking: it reads files.

Imported with the first connection, and so are h11 and what else connections are made of (`HttpClients.warm`).
"""

import ipaddress
import os
import ssl
import sys
from urllib.parse import SplitResult

from agent_server.frozen import frozen
from agent_server.providers.http_address import Headers, host, login, split
from agent_server.providers.http_connection import Connection, connect
from agent_server.providers.http_errors import Unusable


@frozen
class Way:
    """To one place."""

    parts: SplitResult
    """The place: any address there."""
    proxy: SplitResult | None
    tls: ssl.SSLContext | None

    async def connection(self, within_s: float) -> Connection:
        """A new one.

        Raises:
            Unreachable: there is none, or none within that time.
        """
        known = self.known_to_proxy
        return await connect(self.parts, self.tls, proxy=self.proxy, login=known, within_s=within_s)

    @property
    def known_to_proxy(self) -> Headers:
        """Who asks, for the proxy."""
        return () if self.proxy is None else login(self.proxy, b"Proxy-Authorization")

    @property
    def asks_proxy(self) -> bool:
        """Whether it is the proxy that is sent the request, and not the place through it."""
        return self.proxy is not None and self.parts.scheme == "http"


def way(parts: SplitResult) -> Way:
    """To the place of this address, by the environment.

    Raises:
        Unusable: it names a proxy that is none.
    """
    proxy = _proxy(parts)
    secure = any(each is not None and each.scheme == "https" for each in (parts, proxy))
    return Way(parts, proxy, _tls() if secure else None)


def _tls() -> ssl.SSLContext:
    """Trusts whom the system trusts, or what SSL_CERT_FILE and SSL_CERT_DIR name in its place."""
    named = "SSL_CERT_FILE" in os.environ or "SSL_CERT_DIR" in os.environ
    paths = ssl.get_default_verify_paths()
    if named or (sys.platform not in ("darwin", "win32") and (paths.cafile or paths.capath)):
        context = ssl.create_default_context()
    else:
        import truststore  # asks macOS and Windows themselves, and knows where some Linuxes keep theirs

        context = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.set_alpn_protocols(["http/1.1"])
    return context


def _proxy(parts: SplitResult) -> SplitResult | None:
    """The one that the environment, or the settings of macOS and Windows, put before this place.

    Raises:
        Unusable: it is none that we speak with.
    """
    named = any(name.lower().endswith("_proxy") for name in os.environ)
    # A proxy of the environment cannot reach this machine's own servers.
    if _is_loopback(parts.hostname or "") or not (named or sys.platform in ("darwin", "win32")):
        return None
    from urllib.request import getproxies, proxy_bypass  # 10 ms, for the few who have one

    known = getproxies()
    found = known.get(parts.scheme) or known.get("all")
    if not found or proxy_bypass(host(parts)):
        return None
    try:
        return split(found if "://" in found else f"http://{found}")
    except Unusable:
        kind = found.partition("://")[0] if "://" in found else "strange"
        raise Unusable(f"a {kind} proxy in the environment") from None


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
