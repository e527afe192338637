"""Text that people, models and file systems wrote, as bytes: SQLite's own text takes no lone surrogates."""


def pack(text: str) -> bytes:
    """UTF-8, lone surrogates (undecodable file names) kept."""
    return text.encode("utf-8", "surrogatepass")


def unpack(stored: bytes) -> str:
    """The text that was packed; ValueError when it is not ours."""
    return stored.decode("utf-8", "surrogatepass")
