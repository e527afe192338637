"""The table of sessions: a row put in, found, changed, deleted. Jobs on a connection of the database."""

import sqlite3
from collections.abc import Mapping

from agent_server.loop.errors import UnknownSession
from agent_server.loop.model import SessionId
from agent_server.store import garbage, grants
from agent_server.store.records import COLUMNS, Changes, SessionRecord, from_row, to_columns


def insert(connection: sqlite3.Connection, record: SessionRecord, at: int) -> None:
    """Make a row of it.

    Raises:
        UnknownSession: its parent has none.
    """
    if record.parent is not None:
        find(connection, record.parent)
    columns = to_columns(
        {
            "cwd": record.cwd,
            "roots": record.roots,
            "title": record.title,
            "model": record.model,
            "mode": record.mode,
            "system_prompt": record.system_prompt,
        }
    )
    columns |= {"id": record.id, "parent": record.parent, "created": at, "updated": at}
    columns |= {"delegated_by": record.delegated_by}
    connection.execute(
        f"INSERT INTO session ({', '.join(columns)})"  # noqa: S608 -- names of columns
        f" VALUES ({', '.join('?' for _ in columns)})",
        tuple(columns.values()),
    )


def find(connection: sqlite3.Connection, session: SessionId) -> SessionRecord:
    """The session, a person's or a sub-agent's.

    Raises:
        UnknownSession: no session has that id.
    """
    row = connection.execute(
        f"SELECT {', '.join(COLUMNS)} FROM session WHERE id = ?",  # noqa: S608 -- names of columns
        (session,),
    ).fetchone()
    if row is None:
        raise unknown(session)
    return from_row(row)


def require_named(connection: sqlite3.Connection, session: SessionId) -> None:
    """Pass when it is a session that a person may name: a sub-agent's is its parent's business, and in no list.

    Raises:
        UnknownSession: it is none.
    """
    if find(connection, session).delegated_by is not None:
        raise unknown(session)


def require_possible(session: SessionId) -> None:
    """Pass when it may be an id: one from a client may be anything, and SQLite takes no text with lone surrogates.

    Raises:
        UnknownSession: it cannot be one.
    """
    if not session.isascii():
        raise unknown(session)


def update(connection: sqlite3.Connection, session: SessionId, changes: Changes) -> SessionRecord:
    """Change the given fields; the session as it is then."""
    if columns := to_columns(changes):
        assignments = ", ".join(f"{name} = ?" for name in columns)
        connection.execute(
            f"UPDATE session SET {assignments} WHERE id = ?",  # noqa: S608 -- names of `Changes`
            (*columns.values(), session),
        )
    return find(connection, session)


def remember_damage(connection: sqlite3.Connection, session: SessionId, reason: str | None) -> None:
    """Why it cannot be loaded; None: it can."""
    connection.execute("UPDATE session SET damage = ? WHERE id = ?", (reason, session))


def delete(connection: sqlite3.Connection, session: SessionId) -> Mapping[str, int]:
    """Forget it, its sub-agents and its standing answers; the texts that nobody else refers to, with their times."""
    texts = garbage.only_of(connection, session)
    connection.execute(garbage.DELETE, (session,))
    grants.revoke_all(connection, session)
    return texts


def unknown(session: str) -> UnknownSession:
    """The error of an id that no session has."""
    return UnknownSession(f"there is no session {session!r}")
