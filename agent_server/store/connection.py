"""Opening the file: who may read it, how durable it is, and which version its tables have."""

import contextlib
import os
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

from agent_server.loop.errors import StoreFailure
from agent_server.store.schema import STEPS

Connect = Callable[[Path], sqlite3.Connection]
BUSY_TIMEOUT_S = 2.0
"""How long a commit waits for another process's. Theirs take milliseconds; a turn that ends must not wait longer."""


def open_for_writing(path: Path) -> sqlite3.Connection:
    """The file, created when absent (file 0600 in a folder 0700) and brought to the current version.

    Raises:
        StoreFailure: a newer program wrote the file; `OSError` and `sqlite3.Error` pass through.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _make_private(path)
    connection = _connect(path)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        migrate(connection, STEPS, path)
    except BaseException:
        connection.close()
        raise
    return connection


def open_for_reading(path: Path) -> sqlite3.Connection | None:
    """The file, on which nothing can be written; sees all that was committed before. None when nothing ever was.

    Raises:
        StoreFailure: a newer program wrote the file; `OSError` and `sqlite3.Error` pass through.
    """
    if not path.exists():
        return None
    connection = _connect(path, must_exist=True)
    try:
        if _version(connection, STEPS, path) == 0:
            connection.close()
            return None
        migrate(connection, STEPS, path)
        connection.execute("PRAGMA query_only = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def identity(path: Path) -> tuple[int, int] | None:
    """Which file is at this path now; None when there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def migrate(connection: sqlite3.Connection, steps: Sequence[str], path: Path) -> None:
    """Take the steps that the file has not seen, all of them or none. `path` is for the error.

    Raises:
        StoreFailure: the file has seen more steps than we know.
    """
    if _version(connection, steps, path) == len(steps):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Asked again: another process may have migrated while this one waited for the lock.
        for step in steps[_version(connection, steps, path) :]:
            for statement in _statements(step):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {len(steps)}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _version(connection: sqlite3.Connection, steps: Sequence[str], path: Path) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > len(steps):
        raise StoreFailure(
            f"{path} was written by a newer agent-server: its format is {version}, this one knows {len(steps)}"
        )
    return version


def _statements(step: str) -> list[str]:
    """One at a time, because `executescript` commits the open transaction first."""
    found: list[str] = []
    rest = ""
    for piece in step.split(";"):
        rest += piece + ";"
        if sqlite3.complete_statement(rest):
            found.append(rest)
            rest = ""
    return found


def _make_private(path: Path) -> None:
    """SQLite gives its side files the mode of this one, so it must be right before the first byte.

    A file that exists is never opened here: closing it would drop the locks that another connection of this process
    has on it (POSIX locks belong to the process, not to the descriptor).
    """
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    if os.name == "posix" and path.stat().st_mode & 0o077:
        path.chmod(0o600)


def _connect(path: Path, *, must_exist: bool = False) -> sqlite3.Connection:
    mode = "rw" if must_exist else "rwc"
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=BUSY_TIMEOUT_S,
        isolation_level=None,  # we say BEGIN and COMMIT ourselves
    )
