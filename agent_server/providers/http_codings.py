"""Content codings of HTTP (RFC 9110, 8.4): a body is unpacked as it comes, whatever way its coding is written."""

import zlib
from collections.abc import Callable

from agent_server.providers.http_errors import BrokenOff

Unpack = Callable[[bytes], bytes]


def unpackers(header: str) -> list[Unpack]:
    """Return one unpacking step for each coding, in the order in which they are undone.

    Raises:
        BrokenOff: a coding is not known here; it is named.
    """
    codings = [name.strip().lower() for name in header.split(",")]
    return [_unpacker(name) for name in reversed(codings) if name not in ("", "identity")]


def _unpacker(coding: str) -> Unpack:
    if coding in ("gzip", "x-gzip"):
        return _Inflater(zlib.MAX_WBITS | 16)
    if coding == "deflate":
        return _Inflater(zlib.MAX_WBITS)
    raise BrokenOff(f"the body is packed as {coding}, which was not asked for")


class _Inflater:
    """Unpacks gzip, zlib, or deflate without zlib's head, which some servers send as `deflate`."""

    def __init__(self, window_bits: int) -> None:
        self._raw_is_possible = window_bits == zlib.MAX_WBITS
        self._inflater = zlib.decompressobj(window_bits)
        self._seen = b""

    def __call__(self, data: bytes) -> bytes:
        try:
            unpacked = self._inflater.decompress(data)
        except zlib.error as error:
            if not self._raw_is_possible:
                raise BrokenOff("the body is not packed as its head says") from error
            self._raw_is_possible, self._inflater = False, zlib.decompressobj(-zlib.MAX_WBITS)
            return self(self._seen + data)
        if self._raw_is_possible:  # zlib's head is two bytes
            self._seen += data
            self._raw_is_possible = len(self._seen) < 2
        return unpacked
