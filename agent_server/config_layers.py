"""A table of settings as somebody wrote it, made a layer: other systems' names become ours, what does not fit is named.

What is written under both names counts as written under ours.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import cast, get_type_hints

from agent_server.config import Problem, Settings
from agent_server.config_check import Layer, Source, checked_table, inner_shape
from agent_server.config_reference import ALIASES, ENVIRONMENT, Key
from agent_server.frozen import frozen

OWN_ENVIRONMENT: Mapping[str, Key] = {
    "AGENT_SERVER_MODEL": ("model",),
    "AGENT_SERVER_MODE": ("mode",),
    "AGENT_SERVER_ENGINE": ("engine",),
    "AGENT_SERVER_LOG_LEVEL": ("log_level",),
    "AGENT_SERVER_TRACE": ("trace",),
}

SWITCHES: Mapping[str, bool] = {
    "1": True, "true": True, "on": True, "yes": True,
    "0": False, "false": False, "off": False, "no": False,
}  # fmt: skip
"""How a switch may be written in an environment variable."""

IDLE: Mapping[Key, str] = {
    ("models", "upgrade"): "a conversation stays with its model",
    ("context", "prune_at"): "old results of tools are not cleared",
    ("context", "upgrade_at"): "a conversation stays with its model",
    ("context", "auto_upgrade"): "a conversation stays with its model",
    ("compression", "in_place"): "a session keeps its id after a summary",
    ("log_level",): "AGENT_SERVER_LOG_LEVEL and --log-level are",
    ("trace",): "AGENT_SERVER_TRACE and --trace are",
    ("hooks",): "there are no hooks",
    ("mcp_servers",): "there are no MCP servers",
    ("sandbox",): "commands run unconfined",
    ("memory",): "there is no memory",
    ("prompt",): "the identity cannot be replaced",
    ("auxiliary",): "only auxiliary.compression.model is",
}
"""Settings that are known, and do nothing in this version: what holds instead."""
DONE_ANYWAY: Mapping[Key, object] = {
    ("compression", "in_place"): True,
    ("context", "auto_upgrade"): False,
}
"""Values of some of them that say what is done."""


@frozen
class Written:
    """What was taken from one table."""

    layer: Layer
    source: Source
    """Knows under which names the values were written."""


def read_table(source: Source, table: Mapping[str, object], problems: list[Problem]) -> Written:
    """The table's values that fit; of all others, and of those that do nothing, it is said so in `problems`."""
    own = _copied(table)
    theirs = list(_taken_out(own))
    named = replace(source, written={ours: written for ours, written, _ in theirs})
    layer: Layer = {}
    for ours, _, value in theirs:
        merge(layer, checked_table(named, (), Settings, nested(ours, value), problems))
    _take_out_idle(source, own, problems)
    _take_out_unknown(source, own, problems)
    merge(layer, checked_table(source, (), Settings, own, problems))
    kept = {ours: written for ours, written, _ in theirs if not _has(own, ours)}
    named = replace(source, written=kept)
    problems.extend(_idle(named, key) for key, value in leaves(layer) if _does_nothing(key, value))
    return Written(layer, named)


def problems_of(options: Mapping[str, object]) -> tuple[Problem, ...]:
    """What would not be taken of a client's options, nested as in `config.toml`."""
    problems: list[Problem] = []
    read_table(Source("options"), options, problems)
    return tuple(problems)


def read_environment(environ: Mapping[str, str], problems: list[Problem]) -> Layer:
    """What environment variables set; our own names last, so that they win."""
    layer: Layer = {}
    for name, key in (*reversed(list(ENVIRONMENT.items())), *OWN_ENVIRONMENT.items()):
        if text := environ.get(name):
            source = Source(f"environment variable {name}")
            value = _meant(key, text)
            taken = checked_table(source, (), Settings, nested(key, value), problems)
            merge(layer, taken)
            if name in ENVIRONMENT and _has(taken, key) and _does_nothing(key, value):
                problems.append(_idle(source, key))
    return layer


def merge(below: Layer, above: Mapping[str, object]) -> None:
    """Put `above` over `below`, tables key by key."""
    for key, value in above.items():
        under = below.get(key)
        if isinstance(value, dict):
            inner = cast("Layer", dict(cast("Layer", under)) if isinstance(under, dict) else {})
            merge(inner, cast("Layer", value))
            below[key] = inner
        else:
            below[key] = value


def nested(key: Key, value: object) -> Layer:
    """A table with this one value, at its place."""
    return {key[0]: value} if len(key) == 1 else {key[0]: nested(key[1:], value)}


def leaves(layer: Mapping[str, object], path: Key = ()) -> Iterator[tuple[Key, object]]:
    """Each value of a table and the tables in it, with its key."""
    for key, value in layer.items():
        if isinstance(value, dict):
            yield from leaves(cast("Layer", value), (*path, key))
        else:
            yield (*path, key), value


def _copied(table: Mapping[str, object]) -> Layer:
    own: Layer = {}
    merge(own, table)
    return own


def _taken_out(own: Layer) -> Iterator[tuple[Key, Key, object]]:
    """Take other systems' names out of the table: ours, theirs, and the value. Of two of theirs the first counts."""
    for theirs, ours in reversed(list(ALIASES.items())):
        table, *rest = _tables(own, theirs)
        inner = rest[-1] if rest else table
        if len(rest) + 1 == len(theirs) and theirs[-1] in inner:
            yield ours, theirs, inner.pop(theirs[-1])
            _drop_empty(own, theirs[:-1])


def _tables(own: Layer, key: Key) -> list[Layer]:
    """The table itself and those on the way to `key`, as far as they are there."""
    found = [own]
    for name in key[:-1]:
        inner = found[-1].get(name)
        if not isinstance(inner, dict):
            break
        found.append(cast("Layer", inner))
    return found


def _drop_empty(own: Layer, key: Key) -> None:
    for depth in range(len(key), 0, -1):
        around = _tables(own, key[:depth])[-1]
        if around.get(key[depth - 1]) == {}:
            del around[key[depth - 1]]


def _has(own: Layer, key: Key) -> bool:
    return any(path == key for path, _ in leaves(own))


def _take_out_idle(source: Source, own: Layer, problems: list[Problem]) -> None:
    """Whole tables that do nothing: what is in them is not looked at."""
    known = {spec.name for spec in fields(Settings)}
    for key in IDLE:
        if key[0] not in known and key[0] in own:
            del own[key[0]]
            problems.append(_idle(source, key))


def _take_out_unknown(source: Source, own: Layer, problems: list[Problem]) -> None:
    """What stands beside other systems' names in their tables, by its own name: the table is none of ours."""
    known = {spec.name for spec in fields(Settings)}
    for section in {theirs[0] for theirs in ALIASES if len(theirs) > 1} - known:
        if isinstance(inner := own.get(section), dict):
            del own[section]
            beside = leaves(cast("Layer", inner), (section,))
            problems.extend(source.problem(path, "is no setting") for path, _ in beside)


def _does_nothing(key: Key, value: object) -> bool:
    return key in IDLE and not (key in DONE_ANYWAY and DONE_ANYWAY[key] == value)


def _idle(source: Source, key: Key) -> Problem:
    return source.problem(key, f"accepted, not in effect in this version: {IDLE[key]}", idle=True)


def _meant(key: Key, text: str) -> object:
    """The text of a variable as the kind of value that the setting takes."""
    if text.isdecimal() and not _is_switch(key):
        return int(text)
    return SWITCHES.get(text.lower(), text) if _is_switch(key) else text


def _is_switch(key: Key) -> bool:
    shape: type | None = Settings
    hint: object = Settings
    for name in key:
        if shape is None:
            return False
        hint = get_type_hints(shape)[name]
        shape = inner_shape(hint)
    return hint in (bool, bool | None)
