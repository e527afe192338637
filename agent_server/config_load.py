"""Settings from their sources: preset < user file < workspace file < environment < options of client and command line.

Nothing here raises: a source that cannot be read, a key nobody knows and a value that does not fit become `Problem`s,
and the value of the source below holds. A source is first turned into a *layer* (a nested dict of validated values).
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast, get_origin, get_type_hints

from agent_server.config import Home, Problem, Settings
from agent_server.config_check import Layer, Source, checked_table, inner_shape
from agent_server.loop.model import MODES

ENVIRONMENT: Mapping[str, str] = {
    "AGENT_SERVER_MODEL": "model",
    "AGENT_SERVER_MODE": "mode",
    "AGENT_SERVER_ENGINE": "engine",
    "AGENT_SERVER_LOG_LEVEL": "log_level",
    "AGENT_SERVER_TRACE": "trace",
    # The reference systems' own names (loop.md §2.2).
    "AGENT_MAX_TURNS_PER_REQUEST": "limits.max_turns",
    "VANTA_MAX_ITER": "limits.max_turns",
    "VANTA_TOOL_RETRIES": "tools.read_retries",
}
ALIASES: Mapping[tuple[str, str], tuple[str, str]] = {
    ("agent", "max_turns"): ("limits", "max_turns")
}
"""Tables and keys of the reference systems, and where they are here."""

# The numbers of the reference systems (loop.md §2).
PRESETS: Mapping[str, Mapping[str, Mapping[str, object]]] = {
    "mana": {
        "limits": {"max_turns": 15},
        "context": {"reserve_output": 0, "prune_at": 1.0, "upgrade_at": 0.75, "compact_at": 0.90},
        "retry": {"transient": 0},
    },
    "mibyan": {
        "limits": {"max_turns": 500},
        "context": {"compact_at": 0.50, "between_turns_at": 0.85},
    },
    "vanta": {"limits": {"max_turns": 50}, "context": {"compact_at": 0.75}},
}


def find_home(environ: Mapping[str, str]) -> Home:
    """The person's folders: all under `AGENT_SERVER_HOME`, else where the platform wants them."""
    if root := environ.get("AGENT_SERVER_HOME"):
        base = Path(root).expanduser()
        return _home(base, base / "state", base / "cache", base / "log")
    # Imported only here: 20 ms that a set AGENT_SERVER_HOME does not need.
    from platformdirs import PlatformDirs

    dirs = PlatformDirs("agent-server", appauthor=False)
    return _home(
        dirs.user_config_path, dirs.user_state_path, dirs.user_cache_path, dirs.user_log_path
    )


def _home(config: Path, state: Path, cache: Path, log: Path) -> Home:
    return Home(config / "config.toml", state / "sessions.db", state / "blobs", cache, log)


def load(
    home: Home,
    workspace: Path | None,
    environ: Mapping[str, str],
    overrides: Mapping[str, object],
) -> tuple[Settings, tuple[Problem, ...]]:
    """The settings in force, and everything that was not taken.

    `overrides` has the nesting of `config.toml`. The workspace's file is not trusted: it may only tighten.
    """
    problems: list[Problem] = []
    user = _file_layer(home.config_toml, problems)
    own: Layer = {}
    for layer in (
        user,
        _environment_layer(environ, problems),
        checked_table(Source("options"), (), Settings, overrides, problems),
    ):
        _merge(own, layer)
    merged = _preset_layer(own)
    _merge(merged, user)
    if workspace is not None:
        _tighten(merged, workspace / ".agent" / "settings.toml", problems)
    _merge(merged, _environment_layer(environ, []))
    _merge(merged, checked_table(Source("options"), (), Settings, overrides, []))
    return cast("Settings", _build(Settings, merged)), tuple(problems)


def problems_of(options: Mapping[str, object]) -> tuple[Problem, ...]:
    """What would not be taken of a client's options, nested as in `config.toml`."""
    problems: list[Problem] = []
    checked_table(Source("options"), (), Settings, options, problems)
    return tuple(problems)


# ---- sources to layers ---------------------------------------------------------------------------


def _file_layer(path: Path, problems: list[Problem]) -> Layer:
    read = _read_toml(path, problems)
    return {} if read is None else checked_table(read[0], (), Settings, _renamed(read[1]), problems)


def _read_toml(path: Path, problems: list[Problem]) -> tuple[Source, Mapping[str, object]] | None:
    try:
        text = path.read_text(encoding="utf-8-sig")
        return Source(str(path), text), tomllib.loads(text)
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError, RecursionError) as error:
        problems.append(Problem(str(path), "", f"cannot be read: {error}"))
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"at line (\d+)", str(error))
        line = int(found[1]) if found else None
        problems.append(
            Problem(str(path), "", f"is not valid TOML, so none of it is used: {error}", line)
        )
    return None


def _environment_layer(environ: Mapping[str, str], problems: list[Problem]) -> Layer:
    table: Layer = {}
    for name, key in ENVIRONMENT.items():
        if value := environ.get(name):
            source = Source(f"environment variable {name}")
            said = _nested(tuple(key.split(".")), int(value) if value.isdecimal() else value)
            _merge(table, checked_table(source, (), Settings, said, problems))
    return table


def _renamed(table: Mapping[str, object]) -> Mapping[str, object]:
    """The table with aliases under our own names; what is said under both counts as ours."""
    own: Layer = dict(table)
    for (section, key), ours in ALIASES.items():
        inner = own.get(section)
        if isinstance(inner, dict) and key in (theirs := cast("Layer", dict(cast("Layer", inner)))):
            said = _nested(ours, theirs.pop(key))
            _merge(said, own)
            own = said
            if theirs:
                own[section] = theirs
            else:
                del own[section]
    return own


def _preset_layer(own: Layer) -> Layer:
    chosen = PRESETS.get(str(own.get("preset")), {})
    return {table: dict(values) for table, values in chosen.items()}


# ---- layers to settings --------------------------------------------------------------------------


def _merge(below: Layer, above: Mapping[str, object]) -> None:
    """Put `above` over `below`, tables key by key."""
    for key, value in above.items():
        under = below.get(key)
        if isinstance(value, dict):
            inner = cast("Layer", dict(cast("Layer", under)) if isinstance(under, dict) else {})
            _merge(inner, cast("Layer", value))
            below[key] = inner
        else:
            below[key] = value


def _build(shape: type, layer: Mapping[str, object]) -> object:
    hints = get_type_hints(shape)
    return shape(**{key: _built(hints[key], value) for key, value in layer.items()})


def _built(hint: object, value: object) -> object:
    inner = inner_shape(hint)
    if inner is None:
        return value
    if isinstance(value, list):
        return tuple(_build(inner, cast("Layer", item)) for item in cast("list[object]", value))
    table = cast("Layer", value)
    if get_origin(hint) is Mapping:
        return {name: _build(inner, cast("Layer", item)) for name, item in table.items()}
    return _build(inner, table)


# ---- a workspace that is not trusted ---------------------------------------------------------------


def _tighten(merged: Layer, path: Path, problems: list[Problem]) -> None:
    """Take from the workspace's file what makes the program stricter; the rest is named and skipped (spec §4)."""
    read = _read_toml(path, problems)
    if read is None:
        return
    source, table = read
    layer = checked_table(source, (), Settings, table, problems)
    current = cast("Settings", _build(Settings, merged))
    for key, value in _leaves(layer):
        if _stricter(current, key, value):
            _merge(merged, _nested(key, _joined(current, key, value)))
        else:
            message = "is not used: this workspace is not trusted, and its file may only make settings stricter"
            problems.append(source.problem(key, message))


def _leaves(
    layer: Mapping[str, object], path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], object]]:
    for key, value in layer.items():
        if isinstance(value, dict):
            yield from _leaves(cast("Layer", value), (*path, key))
        else:
            yield (*path, key), value


def _stricter(current: Settings, key: tuple[str, ...], value: object) -> bool:
    match key, value:
        case ("mode",), str():
            return _strictness(value) <= _strictness(current.mode)
        case ("review",), "each":
            return True
        case ("permissions", "ask" | "deny"), _:
            return True
        case ("limits", name), int() | float():
            now = cast("float | None", getattr(current.limits, name))
            # 0 switches some of them off.
            return value > 0 and (now is None or value <= now)
        case _:
            return False


def _strictness(mode: str) -> int:
    """Lower is stricter."""
    order = ("plan", *(m for m in MODES if m != "plan"))
    return order.index(mode)


def _joined(current: Settings, key: tuple[str, ...], value: object) -> object:
    """Rules are added to the person's own; everything else replaces."""
    if key[0] != "permissions":
        return value
    own = cast("tuple[str, ...]", getattr(current.permissions, key[1]))
    return (*own, *cast("tuple[str, ...]", value))


def _nested(key: tuple[str, ...], value: object) -> Layer:
    return {key[0]: value} if len(key) == 1 else {key[0]: _nested(key[1:], value)}
