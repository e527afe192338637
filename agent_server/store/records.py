"""A session as a row: what is known of it without reading its log."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import TypedDict

from agent_server.frozen import frozen
from agent_server.loop.model import MODES, REVIEWS, Mode, Review, SessionId
from agent_server.store.codec import to_bytes
from agent_server.store.fields import Damaged, JsonValue, choice, lines, number, optional_text, text
from agent_server.store.text import pack, unpack
from agent_server.store.times import from_ms

COLUMNS = (
    "id",
    "cwd",
    "roots",
    "title",
    "model",
    "mode",
    "created",
    "updated",
    "system_prompt",
    "parent",
    "entries",
    "damage",
    "delegated_by",
    "review",
)


@frozen
class SessionRecord:
    """What is known of a session without reading its log."""

    id: SessionId
    cwd: str
    roots: tuple[str, ...]
    """Further workspace roots, besides `cwd`."""
    title: str | None
    model: str | None
    """As chosen for this session; None: whatever the settings say."""
    mode: Mode
    created: datetime
    updated: datetime
    """When somebody last said something in it."""
    system_prompt: str | None = None
    parent: SessionId | None = None
    entries: int = 0
    """How many the log holds; none before the first prompt."""
    damaged: str | None = None
    """Why the session cannot be loaded; None when all seems well."""
    delegated_by: str | None = None
    """A sub-agent's session: the call of `parent` that it answers."""
    review: Review | None = None
    """As chosen for this session; None: whatever the settings say."""


class Changes(TypedDict, total=False):
    """What `SessionStore.update` can change."""

    cwd: str
    roots: tuple[str, ...]
    title: str | None
    model: str | None
    mode: Mode
    system_prompt: str | None
    review: Review | None


def to_columns(changes: Changes) -> dict[str, object]:
    """The stored form of the given fields."""
    return {name: _to_column(name, value) for name, value in changes.items()}


def from_row(row: Sequence[object]) -> SessionRecord:
    """The record of a row of `COLUMNS`. A row that cannot be read gives a record that is `damaged` and says why."""
    try:
        return _read(
            {name: _text_if_bytes(value) for name, value in zip(COLUMNS, row, strict=True)}
        )
    except (Damaged, ValueError, OverflowError, OSError) as reason:
        # OverflowError and OSError: a time that no calendar has.
        return _unreadable(str(row[0]), f"session {row[0]!r} is damaged: {reason}")


def _to_column(name: str, value: object) -> object:
    if name == "roots":
        return to_bytes(value)
    return pack(value) if isinstance(value, str) and name not in ("mode", "review") else value


def _text_if_bytes(stored: object) -> object:
    return unpack(stored) if isinstance(stored, bytes) else stored


def _read(fields: JsonValue) -> SessionRecord:
    parent = optional_text(fields, "parent")
    return SessionRecord(
        id=SessionId(text(fields, "id")),
        cwd=text(fields, "cwd"),
        roots=lines({"roots": json.loads(text(fields, "roots"))}, "roots"),
        title=optional_text(fields, "title"),
        model=optional_text(fields, "model"),
        mode=choice(fields, "mode", {mode: mode for mode in MODES}),
        created=from_ms(number(fields, "created")),
        updated=from_ms(number(fields, "updated")),
        system_prompt=optional_text(fields, "system_prompt"),
        parent=None if parent is None else SessionId(parent),
        entries=number(fields, "entries"),
        damaged=optional_text(fields, "damage"),
        delegated_by=optional_text(fields, "delegated_by"),
        review=None if fields.get("review") is None else choice(fields, "review", _REVIEWS),
    )


_REVIEWS: dict[str, Review] = {review: review for review in REVIEWS}


def _unreadable(session: str, reason: str) -> SessionRecord:
    return SessionRecord(
        id=SessionId(session),
        cwd="",
        roots=(),
        title=None,
        model=None,
        mode=MODES[0],
        created=from_ms(0),
        updated=from_ms(0),
        damaged=reason,
    )
