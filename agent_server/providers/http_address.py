"""Addresses of models and proxies, taken apart."""

import base64
from collections.abc import Sequence
from urllib.parse import SplitResult, unquote, urlsplit

from agent_server.providers.http_errors import Unusable

Headers = Sequence[tuple[bytes, bytes]]


def split(url: str) -> SplitResult:
    """The address in its parts.

    Raises:
        Unusable: it is none.
    """
    try:
        parts = urlsplit(url.encode("ascii").decode())
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            return parts
    except ValueError:  # also what is not ASCII
        pass
    raise Unusable("no address")


def completions(base_url: str) -> str:
    """Return the address that completions are asked of: a query stays behind the path, an end is not doubled."""
    base, mark, query = base_url.strip().partition("?")
    end = "/chat/completions"
    return base.rstrip("/").removesuffix(end).rstrip("/") + end + mark + query


def host(parts: SplitResult) -> str:
    """As it stands there: with its port if that is named, without a name and password."""
    return parts.netloc.rpartition("@")[2]


def login(parts: SplitResult, header: bytes) -> Headers:
    """The name and password that stand in an address."""
    if parts.username is None:
        return ()
    words = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return ((header, b"Basic " + base64.b64encode(words.encode())),)
