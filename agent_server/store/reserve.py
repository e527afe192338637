"""Room on the disk that is held while something is done whose end must be recorded: no effect without it.

A file beside the database. It is made before a fact that an effect follows is kept, and given up when the disk is full
and the end of that effect has to be kept: then the next effect is refused until there is room again. Blocking.
"""

import contextlib
import errno
import os
import sqlite3
from pathlib import Path
from typing import Final

SIZE: Final = 1024 * 1024
"""The longest result of a call with its pages in the write-ahead log, several times over."""
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class Reserve:
    """See the module. Shared by all processes that use the database."""

    def __init__(self, database: Path) -> None:
        """Touches nothing yet."""
        self._path = database.with_name(f"{database.name}-reserve")

    def hold(self) -> None:
        """Have the room.

        Raises:
            OSError: there is none.
        """
        with contextlib.suppress(FileNotFoundError):
            seen = self._path.stat()
            if seen.st_size >= SIZE:
                return
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            _allocate(descriptor)
        except OSError:
            self.release()
            raise
        finally:
            os.close(descriptor)

    def release(self) -> None:
        """Give the room to whoever has to keep the end of an effect."""
        with contextlib.suppress(OSError):
            self._path.unlink()


def is_full(error: BaseException) -> bool:
    """Whether an error says that there is no room on the disk."""
    if isinstance(error, OSError):
        return error.errno in _FULL
    # SQLite reports a side file that cannot grow as an I/O error.
    return isinstance(error, sqlite3.Error) and _code(error) in (
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
    )


def in_words(path: Path, error: BaseException) -> str:
    """What is wrong with the database, and what to do."""
    hint = _hint(error)
    return f"{path}: {error}" + (f". {hint}, then try again" if hint else "")


def _hint(error: BaseException) -> str | None:
    code = _code(error)
    if code != sqlite3.SQLITE_IOERR and is_full(error):
        return "Make room on that disk"
    match code:
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return "Make it writable"
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return "Wait until no other program uses it"
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return "It is damaged: move it away, or bring back a copy"
        case _:
            return None


def _code(error: BaseException) -> int | None:
    """SQLite's primary result code."""
    code = getattr(error, "sqlite_errorcode", None)
    return code & 0xFF if isinstance(code, int) else None


def _allocate(descriptor: int) -> None:
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, SIZE)
    else:
        os.write(descriptor, b"\0" * SIZE)
