"""The identity of contents: what the protocol calls `sha256:…`."""

from hashlib import sha256


def content_hash(text: str) -> str:
    """`sha256:…` over the UTF-8 of the text with its own line ends and without a BOM (protocol, `baseHash`)."""
    return bytes_hash(text.encode("utf-8", "surrogatepass"))


def bytes_hash(data: bytes) -> str:
    """`sha256:…` over bytes as they are on disk."""
    return f"sha256:{sha256(data).hexdigest()}"
