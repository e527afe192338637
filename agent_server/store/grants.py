"""What the person allowed or forbade beyond one call. What a key means is the policy's business."""

import sqlite3
from datetime import datetime
from typing import Literal

from agent_server.frozen import frozen
from agent_server.loop.model import SessionId
from agent_server.store.text import pack, unpack
from agent_server.store.times import from_ms, to_ms

GrantScope = Literal["session", "workspace"]
GrantVerdict = Literal["allow", "block"]

SCOPES: dict[str, GrantScope] = {"session": "session", "workspace": "workspace"}
VERDICTS: dict[str, GrantVerdict] = {"allow": "allow", "block": "block"}


@frozen
class StoredGrant:
    """One standing answer."""

    scope: GrantScope
    owner: str
    """The session's id, or the workspace's path."""
    key: str
    verdict: GrantVerdict
    at: datetime


def add(connection: sqlite3.Connection, grant: StoredGrant) -> None:
    """Keep a grant; the newest one for a key replaces the older."""
    connection.execute(
        "INSERT OR REPLACE INTO grant (scope, owner, key, verdict, at) VALUES (?, ?, ?, ?, ?)",
        (grant.scope, pack(grant.owner), pack(grant.key), grant.verdict, to_ms(grant.at)),
    )


def revoke(connection: sqlite3.Connection, scope: GrantScope, owner: str, key: str) -> None:
    """Forget a grant."""
    connection.execute(
        "DELETE FROM grant WHERE scope = ? AND owner = ? AND key = ?",
        (scope, pack(owner), pack(key)),
    )


def revoke_all(connection: sqlite3.Connection, session: SessionId) -> None:
    """Forget the grants of a session."""
    connection.execute("DELETE FROM grant WHERE scope = 'session' AND owner = ?", (pack(session),))


def read(
    connection: sqlite3.Connection, session: SessionId, workspace: str
) -> tuple[StoredGrant, ...]:
    """The grants of a session and of its workspace, oldest first."""
    rows = connection.execute(
        "SELECT scope, owner, key, verdict, at FROM grant"
        " WHERE (scope = 'session' AND owner = ?) OR (scope = 'workspace' AND owner = ?)"
        " ORDER BY at, key",
        (pack(session), pack(workspace)),
    )
    return tuple(
        StoredGrant(SCOPES[scope], unpack(owner), unpack(key), VERDICTS[verdict], from_ms(at))
        for scope, owner, key, verdict, at in rows
    )
