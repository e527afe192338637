"""Ids of sessions: opaque to everybody, sortable by time, unguessable."""

import secrets

from agent_server.loop.model import SessionId


def new_session_id(at: int) -> SessionId:
    """Twelve hex digits of the time in milliseconds, then eighty random bits."""
    return SessionId(f"{at:012x}{secrets.token_hex(10)}")
