"""Typed reading of stored JSON: each function gives a field of one type or says what is wrong with it."""

from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from typing import TypeVar, cast

T = TypeVar("T")

JsonValue = Mapping[str, object]


class Damaged(Exception):
    """A stored value is not what was written; `str()` names the field. Becomes a `StoreFailure` in the codec."""


def as_object(value: object, what: str) -> JsonValue:
    """The value as an object."""
    if not isinstance(value, dict):
        raise Damaged(f"{what} is no object")
    return cast("JsonValue", value)


def text(fields: JsonValue, key: str) -> str:
    """A string."""
    value = fields.get(key)
    if not isinstance(value, str):
        raise Damaged(f"{key!r} is no text")
    return value


def optional_text(fields: JsonValue, key: str) -> str | None:
    """A string, or None when the field is absent."""
    return None if fields.get(key) is None else text(fields, key)


def number(fields: JsonValue, key: str) -> int:
    """A whole number."""
    value = fields.get(key)
    if not isinstance(value, int) or isinstance(value, bool):
        raise Damaged(f"{key!r} is no whole number")
    return value


def optional_number(fields: JsonValue, key: str) -> int | None:
    """A whole number, or None when the field is absent."""
    return None if fields.get(key) is None else number(fields, key)


def flag(fields: JsonValue, key: str) -> bool:
    """True or false."""
    value = fields.get(key)
    if not isinstance(value, bool):
        raise Damaged(f"{key!r} is neither true nor false")
    return value


def optional_decimal(fields: JsonValue, key: str) -> Decimal | None:
    """An exact number written as text, or None when the field is absent."""
    written = optional_text(fields, key)
    if written is None:
        return None
    try:
        return Decimal(written)
    except InvalidOperation as error:
        raise Damaged(f"{key!r} is no number: {written!r}") from error


def choice(fields: JsonValue, key: str, choices: Mapping[str, T]) -> T:
    """One of a closed set, by its written form."""
    written = text(fields, key)
    if written not in choices:
        raise Damaged(f"{key!r} has the unknown value {written!r}")
    return choices[written]


def many(fields: JsonValue, key: str, read: Callable[[JsonValue], T]) -> tuple[T, ...]:
    """A list of objects, each read by `read`; an absent list is empty."""
    return tuple(read(as_object(value, f"an item of {key!r}")) for value in _list(fields, key))


def lines(fields: JsonValue, key: str) -> tuple[str, ...]:
    """A list of strings; an absent list is empty."""
    values = _list(fields, key)
    if not all(isinstance(value, str) for value in values):
        raise Damaged(f"{key!r} holds something that is no text")
    return tuple(cast("list[str]", values))


def _list(fields: JsonValue, key: str) -> list[object]:
    value = fields.get(key, [])
    if not isinstance(value, list):
        raise Damaged(f"{key!r} is no list")
    return cast("list[object]", value)
