"""Who may write a session: one opened store at a time, across processes, machines and crashes.

The functions are jobs for the writer; `token` is unique to one opened store. A lock names its process; where that can
be looked up, a dead owner loses the lock at once and a live one never does, even when it is stopped. Elsewhere the
heartbeat decides.
"""

import sqlite3

from agent_server.loop.errors import SessionBusy, StoreFailure
from agent_server.store.process import Process, is_alive, this_process

BEAT_S = 20.0
LOST_AFTER_S = 3 * BEAT_S
"""Silence after which an owner that cannot be looked up counts as dead: two missed beats and a slow third."""


def acquire(connection: sqlite3.Connection, session: str, token: str, at: int) -> None:
    """Take the session, from a dead owner too. Taking it twice is fine.

    Raises:
        SessionBusy: a living owner has it; the sentence names its pid.
    """
    refuse_others(connection, session, token, at)
    me = this_process()
    connection.execute(
        "INSERT OR REPLACE INTO lock (session, owner, pid, started, place, beat)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (session, token, me.pid, me.started, me.place, at),
    )


def release(connection: sqlite3.Connection, session: str, token: str) -> None:
    """Give the session up, if we have it."""
    connection.execute("DELETE FROM lock WHERE session = ? AND owner = ?", (session, token))


def release_all(connection: sqlite3.Connection, token: str) -> None:
    """Give up every session we have."""
    connection.execute("DELETE FROM lock WHERE owner = ?", (token,))


def beat(connection: sqlite3.Connection, token: str, at: int) -> None:
    """Say that we still live."""
    connection.execute("UPDATE lock SET beat = ? WHERE owner = ?", (at, token))


def refuse_others(connection: sqlite3.Connection, session: str, token: str, at: int) -> None:
    """Nothing, when the session is free or ours.

    Raises:
        SessionBusy: a living owner has it.
    """
    row = connection.execute(
        "SELECT owner, pid, started, place, beat FROM lock WHERE session = ?", (session,)
    ).fetchone()
    if row is None or row[0] == token:
        return
    _, pid, started, place, last_beat = row
    alive = is_alive(Process(pid, started, place))
    if alive is None:
        alive = at - last_beat < LOST_AFTER_S * 1000
    if alive:
        raise SessionBusy(f"session {session!r} is held by process {pid}; here it can only be read")


def require_ours(connection: sqlite3.Connection, session: str, token: str) -> None:
    """Nothing, when we hold the session: checked with every append, so that two writers can never interleave.

    Raises:
        StoreFailure: we never took it, or were thought dead and lost it.
    """
    row = connection.execute("SELECT owner, pid FROM lock WHERE session = ?", (session,)).fetchone()
    if row is None:
        raise StoreFailure(f"session {session!r} is not held by this process, so nothing was kept")
    if row[0] != token:
        raise StoreFailure(f"session {session!r} is now held by process {row[1]}; nothing was kept")
