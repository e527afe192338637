"""Which texts the journals of edits refer to, so that those nobody needs can go (decision 3).

A text is kept before the line that names it is written, maybe by another process, so a text that no line names may
still be needed. Keeping it again makes it young: what is young stays.
"""

import re
import sqlite3
from collections.abc import Mapping, Set
from datetime import timedelta
from itertools import islice

from agent_server.store.blobs import BlobStore

DAY_MS = round(timedelta(days=1).total_seconds() * 1000)
"""Age at which an unnamed text is nobody's, and how often they are looked for."""
MOST = 10_000
"""Texts that go in one collection; the next one goes on."""

_NAMED = re.compile(rb'"hash":"(sha256:[0-9a-f]{64})"')
"""A text in the body of a line, as `edits_codec` writes it. Inside a string the quotes would be escaped."""

_GONE = """
    WITH RECURSIVE gone (id) AS (
        VALUES (?)
        UNION
        SELECT session.id FROM session JOIN gone ON session.parent = gone.id WHERE delegated_by IS NOT NULL
    )
"""
"""A session and the sub-agents that go with it."""
DELETE = _GONE + "DELETE FROM session WHERE id IN (SELECT id FROM gone)"  # noqa: S608 -- our own words
_MINE = _GONE + "SELECT at, body FROM edit WHERE session IN (SELECT id FROM gone)"  # noqa: S608 -- our own words
_THEIRS = _GONE + "SELECT body FROM edit WHERE session NOT IN (SELECT id FROM gone)"  # noqa: S608 -- our own words


def named(connection: sqlite3.Connection) -> set[str]:
    """Every text that some line names."""
    rows = connection.execute("SELECT body FROM edit")
    return {name.decode() for (body,) in rows for name in _NAMED.findall(body)}


def only_of(connection: sqlite3.Connection, session: str) -> Mapping[str, int]:
    """The texts that go with a session, each with the time of the last line that names it."""
    found: dict[str, int] = {}
    for at, body in connection.execute(_MINE, (session,)):
        for name in _NAMED.findall(body):
            found[name.decode()] = max(at, found.get(name.decode(), at))
    if found:
        for (body,) in connection.execute(_THEIRS, (session,)):
            for name in _NAMED.findall(body):
                found.pop(name.decode(), None)
    return found


def drop(blobs: BlobStore, texts: Mapping[str, int]) -> int:
    """Remove these texts, unless somebody kept one again after the time beside it. How many went; blocks."""
    return sum(blobs.drop(name, until_ms=at) for name, at in texts.items())


def collect(blobs: BlobStore, named: Set[str], until_ms: int) -> int:
    """Remove texts that are not `named` and that nobody kept since then, and what is torn. How many went; blocks."""
    unnamed = islice(blobs.names() - named, MOST)
    torn = blobs.clear_torn(until_ms=until_ms)
    return torn + sum(blobs.drop(name, until_ms=until_ms) for name in unnamed)
