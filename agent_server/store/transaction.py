"""Group commit: jobs that waited together share one transaction, and none can harm another."""

import sqlite3
from collections.abc import Callable, Sequence

Job = Callable[[sqlite3.Connection], None]


class _Undone(Exception):
    """SQLite gave up the whole transaction (disk full, I/O error), the neighbours' work included."""


def commit(connection: sqlite3.Connection, jobs: Sequence[Job]) -> list[Exception | None]:
    """Run the jobs in order and commit. One outcome per job: None when its facts are durable, else why none were kept.

    When the shared transaction fails, each job gets one of its own, so that only those fail that must.
    """
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.Error as error:
        return [error for _ in jobs]
    try:
        outcomes = [_in_savepoint(connection, job) for job in jobs]
        connection.execute("COMMIT")
    except (sqlite3.Error, _Undone) as error:
        _roll_back(connection)
        if len(jobs) == 1:
            return [_cause(error)]
        return [outcome for job in jobs for outcome in commit(connection, [job])]
    return outcomes


def _in_savepoint(connection: sqlite3.Connection, job: Job) -> Exception | None:
    connection.execute("SAVEPOINT job")
    try:
        job(connection)
    except Exception as error:
        # Whatever it was, it is the caller's to see; the neighbours' work stays.
        if not connection.in_transaction:
            raise _Undone from error
        connection.execute("ROLLBACK TO job")
        connection.execute("RELEASE job")
        return error
    connection.execute("RELEASE job")
    return None


def _cause(error: Exception) -> Exception:
    if isinstance(error, _Undone) and isinstance(error.__cause__, Exception):
        return error.__cause__
    return error


def _roll_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:
        connection.execute("ROLLBACK")
