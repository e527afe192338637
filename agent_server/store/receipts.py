"""Receipts: which call reached which phase, and whether it touched the world. Never an argument, never an output."""

import sqlite3
from collections.abc import Iterable
from datetime import datetime
from typing import Literal

from agent_server.frozen import frozen
from agent_server.loop.model import CallKey, Effect, Entry, ReplyEntry, ResultEntry, StartedEntry
from agent_server.store.codec import EFFECTS
from agent_server.store.text import pack, unpack
from agent_server.store.times import from_ms

Phase = Literal["pending", "started", "settled"]
PHASES: dict[str, Phase] = {"pending": "pending", "started": "started", "settled": "settled"}


@frozen
class Receipt:
    """One step of one call."""

    at: datetime
    key: CallKey
    tool: str
    phase: Phase
    disposition: Effect | None
    """Known once settled."""


def keep(connection: sqlite3.Connection, session: str, entries: Iterable[Entry], at: int) -> None:
    """Write the receipts that follow from entries, in the entries' own transaction. The first of a phase counts."""
    for entry in entries:
        match entry:
            case ReplyEntry():
                for call in entry.reply.calls:
                    _insert(connection, session, call.key, "pending", pack(call.name), None, at)
            case StartedEntry():
                _follow(connection, session, entry.key, "started", None, at)
            case ResultEntry():
                _follow(connection, session, entry.key, "settled", entry.effect, at)
            case _:
                pass


def read(connection: sqlite3.Connection, session: str) -> tuple[Receipt, ...]:
    """All receipts of a session, in the order of its calls and their phases."""
    rows = connection.execute(
        "SELECT at, reply, idx, tool, phase, disposition FROM effect WHERE session = ?", (session,)
    )
    receipts = [
        Receipt(
            from_ms(at),
            CallKey(reply, index),
            unpack(tool),
            PHASES[phase],
            None if disposition is None else EFFECTS[disposition],
        )
        for at, reply, index, tool, phase, disposition in rows
    ]
    order = list(PHASES)
    return tuple(sorted(receipts, key=lambda receipt: (receipt.key, order.index(receipt.phase))))


def _follow(
    connection: sqlite3.Connection,
    session: str,
    key: CallKey,
    phase: Phase,
    disposition: Effect | None,
    at: int,
) -> None:
    """A later phase of a call, whose tool the pending one has named."""
    row = connection.execute(
        "SELECT tool FROM effect WHERE session = ? AND reply = ? AND idx = ? AND phase = 'pending'",
        (session, key.reply, key.index),
    ).fetchone()
    _insert(connection, session, key, phase, b"" if row is None else row[0], disposition, at)


def _insert(
    connection: sqlite3.Connection,
    session: str,
    key: CallKey,
    phase: Phase,
    tool: bytes,
    disposition: Effect | None,
    at: int,
) -> None:
    connection.execute(
        "INSERT OR IGNORE INTO effect (session, reply, idx, phase, tool, disposition, at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (session, key.reply, key.index, phase, tool, disposition, at),
    )
