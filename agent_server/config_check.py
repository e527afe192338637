"""One table of settings against the dataclass it stands for: what fits is kept, the rest becomes problems."""

import json
import re
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import Field, field, fields, is_dataclass
from types import UnionType
from typing import Annotated, Any, Literal, cast, get_args, get_origin, get_type_hints

from agent_server.config import Problem
from agent_server.frozen import frozen

Layer = MutableMapping[str, object]
"""Validated values, nested as in `config.toml`."""


@frozen
class Source:
    """Where a value stands, for the sentence about it."""

    name: str
    text: str = ""
    """The file's text, to find lines in."""
    written: Mapping[tuple[str, ...], tuple[str, ...]] = field(
        default_factory=dict[tuple[str, ...], tuple[str, ...]]
    )
    """Settings that stand there under another name: ours, and the one that was written."""

    def problem(self, path: tuple[str, ...], message: str, *, idle: bool = False) -> Problem:
        """A problem with the value at `path`, which is named as the person wrote it."""
        path = self.written.get(path, path)
        line = line_of(self.text, path) if self.text else None
        return Problem(self.name, ".".join(path), message, line, idle)


def checked_table(
    source: Source,
    path: tuple[str, ...],
    shape: type,
    table: Mapping[str, object],
    problems: list[Problem],
) -> Layer:
    """What of `table` fits the dataclass `shape`."""
    known = {f.name: f for f in fields(shape)}
    hints = get_type_hints(shape)
    layer: Layer = {}
    for key, value in table.items():
        here = (*path, key)
        if value is None:  # clients send null for what a person did not set; TOML has none
            continue
        if key not in known:
            problems.append(source.problem(here, "is no setting"))
            continue
        for fitting in _checked(source, here, hints[key], known[key], value, problems):
            layer[key] = fitting
    return layer


def _checked(
    source: Source,
    path: tuple[str, ...],
    hint: object,
    spec: "Field[object]",
    value: object,
    problems: list[Problem],
) -> Iterator[object]:
    """The validated value, or nothing and a problem."""
    if (inner := inner_shape(hint)) is not None:
        yield from _checked_nested(source, path, hint, inner, value, problems)
        return
    try:
        yield _fitting(hint, spec.metadata, value)
    except ValueError as error:
        problems.append(source.problem(path, str(error)))


def _checked_nested(
    source: Source,
    path: tuple[str, ...],
    hint: object,
    inner: type,
    value: object,
    problems: list[Problem],
) -> Iterator[object]:
    match get_origin(hint), value:
        case origin, dict() if origin is Mapping:
            named = cast("dict[str, object]", value).items()
            yield {
                name: layer
                for name, item in named
                for layer in _table_or_problem(source, (*path, name), inner, item, problems)
            }
        case origin, list() if origin is tuple:
            items = enumerate(cast("list[object]", value))
            yield [
                layer
                for at, item in items
                for layer in _table_or_problem(source, (*path, str(at)), inner, item, problems)
            ]
        case origin, _ if origin is tuple:
            problems.append(source.problem(path, f"should be [[{path[-1]}]] tables"))
        case _:
            yield from _table_or_problem(source, path, inner, value, problems)


def _table_or_problem(
    source: Source, path: tuple[str, ...], shape: type, value: object, problems: list[Problem]
) -> Iterator[Layer]:
    if isinstance(value, dict):
        yield checked_table(source, path, shape, cast("dict[str, object]", value), problems)
    else:
        problems.append(source.problem(path, "should be a table"))


def inner_shape(hint: object) -> type | None:
    """The dataclass inside a hint (`X`, `X | None`, `Mapping[str, X]`, `tuple[X, ...]`), if there is one."""
    if isinstance(hint, type) and is_dataclass(hint):
        return hint
    return next((a for a in get_args(hint) if isinstance(a, type) and is_dataclass(a)), None)


def _fitting(hint: object, bounds: Mapping[object, object], value: object) -> object:
    """The value as its type; ValueError with a sentence otherwise. Words need no pydantic, which costs 100 ms."""
    options = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    choices = [c for o in options if get_origin(o) is Literal for c in get_args(o)]
    if choices:
        if value in choices:
            return value
        raise ValueError(f"should be one of {', '.join(map(str, choices))}; it is {_shown(value)}")
    if str in options:
        if isinstance(value, str):
            return value
        raise ValueError(f"should be text; it is {_shown(value)}")
    # Imported only when a number, a switch or a list was set somewhere.
    from pydantic import Field as Bounds
    from pydantic import TypeAdapter, ValidationError

    # A hint at run time is no type form to a checker.
    bounded = cast("Any", Annotated[hint, Bounds(**cast("Any", dict(bounds)))] if bounds else hint)
    adapter: TypeAdapter[object] = TypeAdapter(bounded)
    try:
        return adapter.validate_json(json.dumps(value, default=str), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]["msg"]
        raise ValueError(f"{first[0].lower()}{first[1:]}; it is {_shown(value)}") from error


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def line_of(text: str, path: tuple[str, ...]) -> int | None:
    """The 1-based line of a TOML file on which the key `path` is set, or its nearest table starts."""
    table: tuple[str, ...] = ()
    seen: dict[str, int] = {}
    best: int | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if header := re.match(r"\s*(\[\[?)\s*([^\]]+?)\s*\]", line):
            table = _parts(header[2])
            if header[1] == "[[":
                seen[header[2]] = seen.get(header[2], -1) + 1
                table = (*table, str(seen[header[2]]))
            above = table and path[: len(table)] == table
            # `[[hooks]]` is the beginning of all of them.
            below = best is None and table[: len(path)] == path
            best = number if above or below else best
        elif (key := re.match(r"\s*([\w.\"'-]+)\s*=", line)) and path[
            : len(here := (*table, *_parts(key[1])))
        ] == here:
            return number
    return best


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in dotted.split("."))
