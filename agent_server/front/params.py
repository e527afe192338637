"""Parameters of ACP's own methods, parsed by hand: strict where a guess could do harm, lenient where clients differ.

Lenience is what the v1 schema's `x-deserialize-*` notes and observed clients ask for (docs/acp.md, rule 26).
Only the named fields are read; `_meta` is never merged into them. Every mistake is a `ClientMistake` (-32602)
whose sentence names the field. What travels inside `session/prompt` is parsed in `blocks.py`.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import cast

from agent_server.front.uris import path_of
from agent_server.frozen import frozen
from agent_server.loop.errors import ClientMistake
from agent_server.loop.model import MODES, JsonObject, Mode, SessionId


@frozen
class Workspace:
    """Where a session works: `cwd` and the further roots of `session/new` and `session/load`."""

    cwd: str
    """Absolute, normalised."""
    roots: tuple[str, ...]
    """Absolute, normalised, without `cwd` and without repetitions."""
    skipped: tuple[str, ...]
    """Entries of `additionalDirectories` that are not absolute paths, as text for a notice."""
    mcp_servers: int
    """How many MCP servers the client would like to be used."""


@frozen
class ConfigChoice:
    """A choice made with `session/set_config_option`."""

    option: str
    value: str


def as_object(value: object) -> JsonObject | None:
    """The value if it is a JSON object."""
    return cast("JsonObject", value) if isinstance(value, Mapping) else None


def as_list(value: object) -> Sequence[object]:
    """The items of a JSON array; none for anything else (null and `{}` are sent for an empty list)."""
    return cast("list[object]", value) if isinstance(value, list) else []


def text_field(params: JsonObject, name: str) -> str:
    """A required, non-empty string."""
    value = params.get(name)
    if not isinstance(value, str) or not value:
        raise ClientMistake(f"{name} must be a non-empty string")
    return value


def optional_text(params: JsonObject, name: str) -> str | None:
    """A string, or nothing when absent or null."""
    value = params.get(name)
    if value is not None and not isinstance(value, str):
        raise ClientMistake(f"{name} must be a string")
    return value or None


def session_id(params: JsonObject) -> SessionId:
    """`sessionId`, present and a string; whether it exists is the session store's to say."""
    return SessionId(text_field(params, "sessionId"))


def workspace(params: JsonObject) -> Workspace:
    """`cwd` (or `uri`, its form over LSP), `additionalDirectories`, `mcpServers`."""
    cwd = _cwd(params)
    wanted = as_list(params.get("additionalDirectories"))
    paths = [_absolute(entry) for entry in wanted]
    return Workspace(
        cwd=cwd,
        roots=tuple(dict.fromkeys(path for path in paths if path not in (None, cwd))),
        skipped=tuple(
            str(entry) for entry, path in zip(wanted, paths, strict=True) if path is None
        ),
        mcp_servers=len(as_list(params.get("mcpServers"))),
    )


def listing(params: JsonObject) -> tuple[str | None, str | None]:
    """`cwd` and `cursor` of `session/list`, both optional."""
    cwd = optional_text(params, "cwd")
    if cwd is not None and _absolute(cwd) is None:
        raise ClientMistake("cwd must be an absolute path")
    return (os.path.normpath(cwd) if cwd else None, optional_text(params, "cursor"))


def mode(value: object, *, field: str) -> Mode:
    """One of the modes, from the field of that name."""
    for known in MODES:
        if value == known:
            return known
    raise ClientMistake(f"{field} must be one of {', '.join(MODES)}")


def config_choice(params: JsonObject) -> ConfigChoice:
    """`configId` and `value`; a missing `type` means a select, which is all there is to choose."""
    value = params.get("value")
    if not isinstance(value, str):
        raise ClientMistake("value must be a string: every option is a select")
    return ConfigChoice(text_field(params, "configId"), value)


def _cwd(params: JsonObject) -> str:
    given = params.get("cwd")
    if given is None and isinstance(uri := params.get("uri"), str):
        given = path_of(uri)
    path = _absolute(given)
    if path is None:
        named = f", not {given[:200]!r}" if isinstance(given, str) else ""
        raise ClientMistake(f"cwd must be an absolute path{named}")
    return path


def _absolute(value: object) -> str | None:
    if not isinstance(value, str) or not PurePath(value).is_absolute() or "\0" in value:
        return None
    return os.path.normpath(value)
