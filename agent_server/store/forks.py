"""Forking: a session that begins as a copy of another. A job for the writer, so that the copy is of one moment."""

import sqlite3

from agent_server.loop.errors import UnknownSession


def fork(connection: sqlite3.Connection, session: str, made: str, at: int) -> None:
    """Make `made` of what `session` is now: its row with it as the parent, its entries, its receipts.

    Entries are copied, not shared: a log stays one run of rows, and deleting either session cannot harm the other.

    Raises:
        UnknownSession: there is no such session.
    """
    copied = connection.execute(
        "INSERT INTO session (id, cwd, roots, title, model, mode, review, system_prompt, parent,"
        " created, updated, entries, damage)"
        " SELECT ?, cwd, roots, title, model, mode, review, system_prompt, id, ?, ?, entries, damage"
        " FROM session WHERE id = ?",
        (made, at, at, session),
    )
    if not copied.rowcount:
        raise UnknownSession(f"there is no session {session!r}")
    connection.execute(
        "INSERT INTO entry (session, place, at, kind, body)"
        " SELECT ?, place, at, kind, body FROM entry WHERE session = ?",
        (made, session),
    )
    connection.execute(
        "INSERT INTO effect (session, reply, idx, phase, tool, disposition, at)"
        " SELECT ?, reply, idx, phase, tool, disposition, at FROM effect WHERE session = ?",
        (made, session),
    )
