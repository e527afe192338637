"""Pages of sessions, newest first, and the cheap look that says which of them cannot be loaded.

Reading every entry of every session for a list would take seconds. The look compares counts, kinds and the outer shape
of each body; what it misses is found when the session is opened, and remembered in the session's row.
"""

import base64
import binascii
import re
import sqlite3
from collections.abc import Sequence
from dataclasses import replace

from agent_server.loop.errors import ClientMistake
from agent_server.store.codec import KINDS, VERSION
from agent_server.store.records import COLUMNS, SessionRecord, from_row
from agent_server.store.text import pack

PAGE_MAX = 500

_CURSOR = re.compile(r"(?P<updated>\d{1,15}) (?P<session>[0-9a-f]+)")
_BODY_START = f'{{"v":{VERSION},'.encode()
_LOOK = f"""
    SELECT count(*), coalesce(max(place) + 1, 0),
        coalesce(sum(kind NOT IN ({", ".join("?" for _ in KINDS)})), 0),
        coalesce(sum(substr(body, 1, {len(_BODY_START)}) <> ? OR substr(body, -1) <> ?), 0)
    FROM entry WHERE session = ?
"""  # noqa: S608 -- only question marks are put in


def page(
    connection: sqlite3.Connection, *, cwd: str | None, cursor: str | None, limit: int
) -> tuple[Sequence[SessionRecord], str | None]:
    """At most `limit` sessions and the cursor of the next page, None at the end.

    A cursor names the last session it saw, so sessions that are made meanwhile move nothing.

    Raises:
        ClientMistake: the cursor is none of ours.
    """
    condition, values = _condition(cwd, cursor)
    rows = connection.execute(
        f"SELECT {', '.join(COLUMNS)} FROM session {condition}"  # noqa: S608 -- our own words
        " ORDER BY updated DESC, id DESC LIMIT ?",
        (*values, limit + 1),
    ).fetchall()
    records = [_looked_at(connection, from_row(row)) for row in rows[:limit]]
    updated = COLUMNS.index("updated")
    more = len(rows) > limit
    return records, _to_cursor(rows[limit - 1][updated], rows[limit - 1][0]) if more else None


def _condition(cwd: str | None, cursor: str | None) -> tuple[str, tuple[object, ...]]:
    conditions = ["delegated_by IS NULL"]
    values: tuple[object, ...] = ()
    if cwd is not None:
        conditions.append("cwd = ?")
        values += (pack(cwd),)
    if cursor is not None:
        conditions.append("(updated, id) < (?, ?)")
        values += _from_cursor(cursor)
    return "WHERE " + " AND ".join(conditions), values


def _looked_at(connection: sqlite3.Connection, record: SessionRecord) -> SessionRecord:
    if record.damaged is not None:
        return record
    try:
        row = connection.execute(_LOOK, (*KINDS, _BODY_START, b"}", record.id)).fetchone()
    except sqlite3.DatabaseError as error:
        return replace(record, damaged=f"session {record.id!r} is damaged: {error}")
    return record if (reason := _reason(record, row)) is None else replace(record, damaged=reason)


def _reason(record: SessionRecord, row: tuple[int, int, int, int]) -> str | None:
    count, end, foreign, misshapen = row
    if count != record.entries or end != record.entries:
        return f"session {record.id!r} is damaged: it has {count} of its {record.entries} entries"
    if foreign:
        return f"session {record.id!r} was written by a newer agent-server"
    return (
        f"session {record.id!r} is damaged: {misshapen} entries are no entries"
        if misshapen
        else None
    )


def _to_cursor(updated: int, session: str) -> str:
    return base64.urlsafe_b64encode(f"{updated} {session}".encode()).decode("ascii")


def _from_cursor(cursor: str) -> tuple[int, str]:
    try:
        written = base64.urlsafe_b64decode(cursor.encode("ascii")).decode("ascii")
    except (ValueError, binascii.Error) as error:
        raise _not_ours(cursor) from error
    if (found := _CURSOR.fullmatch(written)) is None:
        raise _not_ours(cursor)
    return int(found["updated"]), found["session"]


def _not_ours(cursor: str) -> ClientMistake:
    return ClientMistake(f"{cursor!r} is no cursor of a session list")
