"""Text files as they are on disk, read whole. Blocking: callers on the event loop use a thread.

What decides whether a path may be touched at all is the policy's, not this module's.
"""

import errno
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from agent_server.edits.encodings import Encoding, decode, kind_of
from agent_server.edits.hashes import bytes_hash
from agent_server.frozen import frozen
from agent_server.loop.errors import EditRefused

MAX_EDIT_BYTES = 8 * 1024 * 1024
"""Largest file that is read whole and edited: to hash and diff one stays well below a second."""


@frozen
class Form:
    """How a text is written down on disk."""

    encoding: Encoding
    mode: int | None = None
    """Permission bits; None: as new files get them."""


@frozen
class FileText:
    """A text file as it was read."""

    path: Path
    """Where it really is, links resolved."""
    text: str
    """Without BOM, its own line ends."""
    encoding: Encoding
    digest: str
    """`sha256:…` of its bytes: what must still be there when it is replaced."""
    mode: int
    """`st_mode`."""
    mtime_ns: int


def read_text(path: str) -> FileText:
    """The file at an absolute path.

    Raises:
        EditRefused: `missing`, `directory`, `not_a_file`, `too_large`, `binary`, `no_permission` or `io`.
    """
    target = real_path(path)
    with refusing(path):
        data, status = read_bytes(target)
    decoded = decode(data)
    if decoded is None:
        kind = kind_of(data) or "a binary file"
        raise EditRefused(f"{path} is not text: {kind}, {status.st_size:,} bytes", reason="binary")
    text, encoding = decoded
    return FileText(target, text, encoding, bytes_hash(data), status.st_mode, status.st_mtime_ns)


def form_of(file: FileText) -> Form:
    """How a file is written down."""
    return Form(file.encoding, stat.S_IMODE(file.mode))


def real_path(path: str) -> Path:
    """The path with its links resolved, as far as it exists.

    Raises:
        EditRefused: `io`; its links form a loop.
    """
    try:
        return Path(path).resolve()
    except (RuntimeError, OSError) as error:  # RuntimeError: how Python 3.11 and 3.12 report a loop
        raise EditRefused(f"{path} is a loop of symbolic links", reason="io") from error


def exists(path: str) -> bool:
    """Whether something, a dangling link included, has this path."""
    return os.path.lexists(path)


def read_bytes(target: Path) -> tuple[bytes, os.stat_result]:
    """Content and status of a file that is small enough to edit, taken from one descriptor."""
    with open_regular(target) as descriptor:
        status = os.fstat(descriptor)
        if status.st_size > MAX_EDIT_BYTES:
            raise EditRefused(
                f"{target} is {status.st_size:,} bytes; a file above {MAX_EDIT_BYTES:,} is read in parts "
                "(start_line, line_count) and not edited",
                reason="too_large",
            )
        pieces: list[bytes] = []
        while piece := os.read(descriptor, 1 << 20):
            pieces.append(piece)
        return b"".join(pieces), status


def open_flags(*names: str) -> int:
    """Flags for `os.open`, as far as this system has them; the descriptor is binary and not inherited."""
    return sum({getattr(os, name, 0) for name in (*names, "O_CLOEXEC", "O_BINARY")})


@contextmanager
def open_regular(target: Path) -> Generator[int, None, None]:
    """A descriptor to read a regular file; a pipe or device is refused, without waiting for it."""
    descriptor = os.open(target, open_flags("O_RDONLY", "O_NONBLOCK"))
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
        if not stat.S_ISREG(mode):
            raise EditRefused(
                f"{target} is a device, pipe or socket, not a file", reason="not_a_file"
            )
        yield descriptor
    finally:
        os.close(descriptor)


_REASONS = {
    errno.ENOENT: ("missing", "does not exist"),
    errno.EISDIR: ("directory", "is a folder"),
    errno.ENOTDIR: ("not_a_directory", "lies below something that is not a folder"),
    errno.EEXIST: ("exists", "exists already"),
    errno.EACCES: ("no_permission", "may not be touched by this user"),
    errno.EPERM: ("no_permission", "may not be touched by this user"),
    errno.EROFS: ("no_permission", "is on a read-only file system"),
    errno.ENOSPC: ("no_space", "was not written: the disk is full"),
    errno.EDQUOT: ("no_space", "was not written: the disk quota is used up"),
    errno.ENXIO: ("not_a_file", "is a device, pipe or socket, not a file"),
    errno.ELOOP: ("io", "is a loop of symbolic links"),
}
_IN_USE = frozenset({32, 33})
"""Windows: a sharing or lock violation, which it calls a missing permission."""


@contextmanager
def refusing(path: str | Path) -> Generator[None, None, None]:
    """Turn what the system says about a path into our refusal."""
    try:
        yield
    except OSError as error:
        other = ("io", f"could not be used: {error.strerror}")
        reason, state = _REASONS.get(error.errno or 0, other)
        if getattr(error, "winerror", None) in _IN_USE:
            reason, state = "locked", "is in use by another process; try again when that is done"
        raise EditRefused(f"{path} {state}", reason=reason) from error
