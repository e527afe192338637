"""Stored times: whole milliseconds since 1970 UTC."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], int]
"""Now, in stored form."""


def now_ms() -> int:
    """Now."""
    return to_ms(datetime.now(UTC))


def to_ms(moment: datetime) -> int:
    """The stored form of a moment with a time zone."""
    return round(moment.timestamp() * 1000)


def from_ms(stored: int) -> datetime:
    """The moment, in UTC."""
    return datetime.fromtimestamp(stored / 1000, UTC)
