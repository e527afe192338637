"""Settings from their sources: preset < user file < workspace file < environment < options of client and command line.

Nothing here raises: a source that cannot be read, a key nobody knows and a value that does not fit become `Problem`s,
and the value of the source below holds. A source is first turned into a *layer* (a nested dict of validated values).
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast, get_origin, get_type_hints

from agent_server.config import Home, Problem, Settings
from agent_server.config_check import Layer, Source, inner_shape
from agent_server.config_layers import Written, leaves, merge, nested, read_environment, read_table
from agent_server.config_reference import PRESETS
from agent_server.loop.model import MODES
from agent_server.options import Options
from agent_server.repository_file import read_repository_file


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


def home_of(options: Options, environ: Mapping[str, str]) -> Home:
    """Find the user's folders, with the file of settings that the command line names in the place of `config.toml`."""
    home = find_home(environ)
    if options.config is None:
        return home
    return replace(home, config_toml=Path(options.config), config_named=True)


def _home(config: Path, state: Path, cache: Path, log: Path) -> Home:
    return Home(config / "config.toml", state / "sessions.db", state / "blobs", cache, log)


def load(
    home: Home,
    workspace: Path | None,
    environ: Mapping[str, str],
    overrides: Mapping[str, object],
    *,
    trusted: bool = False,
) -> tuple[Settings, tuple[Problem, ...]]:
    """The settings in force, everything that was not taken, and what does nothing.

    `overrides` has the nesting of `config.toml`. A workspace that is not `trusted` has a file that may only tighten.
    """
    problems: list[Problem] = []
    user = _file_layer(home.config_toml, problems)
    if home.config_named and not home.config_toml.exists():
        problems.append(Problem(str(home.config_toml), "", "there is no such file any more"))
    outside = (
        read_environment(environ, problems),
        read_table(Source("options"), overrides, problems).layer,
    )
    own = _over(user, *outside)
    layer = _over(_preset(own), user)
    if workspace is not None:
        file = workspace / ".agent" / "settings.toml"
        if trusted:
            merge(layer, _file_layer(file, problems, of_repository=True))
        else:
            _tighten(layer, file, problems)
    layer = _over(layer, *outside)
    return cast("Settings", _build(Settings, layer)), tuple(problems)


# ---- sources to layers ---------------------------------------------------------------------------


def _file_layer(path: Path, problems: list[Problem], *, of_repository: bool = False) -> Layer:
    written = _read_toml(path, problems, of_repository=of_repository)
    return {} if written is None else written.layer


def _over(*layers: Mapping[str, object]) -> Layer:
    """The layers as one, the last on top."""
    whole: Layer = {}
    for layer in layers:
        merge(whole, layer)
    return whole


def _preset(own: Layer) -> Mapping[str, object]:
    return PRESETS.get(str(own.get("preset")), {})


def _read_toml(path: Path, problems: list[Problem], *, of_repository: bool) -> Written | None:
    try:
        # The person's own file may be a pipe, such as `--config <(…)`.
        data = read_repository_file(path) if of_repository else path.read_bytes()
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        problems.append(Problem(str(path), "", f"cannot be read: {error}"))
        return None
    import tomllib  # nothing to parse where there is no file, as in most workspaces

    try:
        return read_table(Source(str(path), text), tomllib.loads(text), problems)
    except RecursionError as error:  # tables in tables, a thousand deep
        problems.append(Problem(str(path), "", f"cannot be read: {error}"))
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"at line (\d+)", str(error))
        line = int(found[1]) if found else None
        problems.append(
            Problem(str(path), "", f"is not valid TOML, so none of it is used: {error}", line)
        )
    return None


# ---- layers to settings --------------------------------------------------------------------------


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
    written = _read_toml(path, problems, of_repository=True)
    if written is None:
        return
    current = cast("Settings", _build(Settings, merged))
    for key, value in leaves(written.layer):
        if _stricter(current, key, value):
            merge(merged, nested(key, _joined(current, key, value)))
        else:
            message = "is not used: this workspace is not trusted, and its file may only make settings stricter"
            problems.append(written.source.problem(key, message))


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
