"""Files that another process has locked. Such locks bind only those who ask: before we write, we ask. Blocking.

Held while a file is compared and replaced, so that whoever asks meanwhile waits. A lock for reading does not mind that
a file is replaced, because its holder goes on reading the old one; it does mind one that is rewritten in place.
"""

import errno
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from agent_server.edits.files import open_flags
from agent_server.loop.errors import EditRefused

_HELD = frozenset({errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES})


@contextmanager
def unlocked(path: Path, *, in_place: bool = False) -> Generator[None, None, None]:
    """Nobody else has the file locked meanwhile (`flock` and POSIX locks). `in_place`: for reading neither.

    Where the system or the file system has no such locks, nothing is asked: there, who has a file open for itself is
    met when it is written.

    Raises:
        EditRefused: `locked`.
        OSError: the file cannot be opened.
    """
    descriptor = os.open(path, open_flags("O_RDWR" if in_place else "O_RDONLY", "O_NONBLOCK"))
    try:
        _lock(path, descriptor, in_place=in_place)
        yield
    finally:
        os.close(descriptor)  # gives the locks up


def _lock(path: Path, descriptor: int, *, in_place: bool) -> None:
    if sys.platform == "win32":
        return
    import fcntl  # not on every system

    kind = fcntl.LOCK_EX if in_place else fcntl.LOCK_SH
    for ask in (fcntl.flock, fcntl.lockf):
        try:
            ask(descriptor, kind | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in _HELD:
                raise locked(path) from error


def locked(path: Path | str) -> EditRefused:
    """The refusal."""
    text = f"{path} is locked by another process; try again when that is done with it"
    return EditRefused(text, reason="locked")
