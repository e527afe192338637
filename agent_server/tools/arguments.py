"""From a call's JSON object to a tool's typed arguments, with an error that a model can act on."""

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, get_args, get_origin

from anyio import to_thread

from agent_server.loop.errors import BadArguments
from agent_server.loop.model import JsonObject

if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from pydantic_core import ErrorDetails

SHOWN = 200
"""Characters of a wrong value that an error repeats."""

T = TypeVar("T", bound="Arguments")

_adapters: "dict[type[Arguments], TypeAdapter[Any]]" = {}
"""Those made so far, by the type they validate."""


class Arguments:
    """Base of the tools' argument types: frozen dataclasses whose field docstrings the model reads in the schema."""

    __slots__ = ()
    __pydantic_config__: ClassVar[Mapping[str, object]] = {"extra": "forbid"}


async def parse(kind: type[T], raw: JsonObject) -> T:
    """The arguments of a call.

    Lenient where models slip: a list may come as JSON text, a number as digits, an optional value as null.

    Raises:
        BadArguments: names each field that does not fit, and why.
    """
    _check_text(raw)
    # In a thread, because the first call of a process imports pydantic there: 100 ms in which others may stream.
    validator = _adapters.get(kind) or await to_thread.run_sync(adapter, kind)
    from pydantic import ValidationError

    try:
        return validator.validate_python(_lists_as_text(kind, raw))
    except ValidationError as error:
        known = ", ".join(f.name for f in fields(kind))  # pyright: ignore[reportArgumentType]
        problems = [_problem(p, known) for p in error.errors(include_url=False)]
        raise BadArguments("; ".join(problems)) from error


def adapter(kind: type[T]) -> "TypeAdapter[T]":
    """What validates arguments of that kind. Blocking: the first one of a process imports pydantic."""
    from pydantic import TypeAdapter

    if kind not in _adapters:
        _adapters[kind] = TypeAdapter(kind)
    return _adapters[kind]


def _check_text(raw: JsonObject) -> None:
    """JSON can write half a surrogate pair, which is in no file, path or command."""
    try:
        json.dumps(raw, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise BadArguments(
            f"half a surrogate pair ({error.object[error.start]!r}) is no text"
        ) from error


def _lists_as_text(kind: type[Arguments], raw: JsonObject) -> dict[str, object]:
    """`edits` and `items` are often sent as a string of JSON."""
    given = dict(raw)
    for field in fields(kind):  # pyright: ignore[reportArgumentType]
        value = given.get(field.name)
        if isinstance(value, str) and _is_list(field.type):
            try:
                given[field.name] = json.loads(value)
            except ValueError as error:
                raise BadArguments(
                    f"{field.name}: neither a list nor JSON text of one ({error})"
                ) from error
    return given


def _is_list(kind: object) -> bool:
    """Whether a field takes a list: `tuple[X, ...]`, also where it may be left out."""
    return any(get_origin(choice) is tuple for choice in (kind, *get_args(kind)))


def _problem(problem: "ErrorDetails", known: str) -> str:
    place = ".".join(str(step) for step in problem["loc"]) or "the arguments"
    match problem["type"]:
        case "missing":
            return f"{place}: required, but absent"
        case "unexpected_keyword_argument" | "extra_forbidden":
            return f"{place}: no such argument; the arguments are: {known}"
        case _:
            return f"{place}: {problem['msg']}, not {repr(problem['input'])[:SHOWN]}"
