"""Types of the custom protocol for editors, from `protocol/schema.json`: TypeScript and LuaCATS.

`python scripts/protocol_types.py` writes `protocol/generated/agent.d.ts` and `agent.lua` anew; a test compares them.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

PROTOCOL = Path(__file__).parents[1] / "protocol"
GENERATED = PROTOCOL / "generated"
HEAD = "Generated from protocol/schema.json by scripts/protocol_types.py: do not edit, run `make schema`."

ACP_MESSAGE = """\
/** A message type of the Agent Client Protocol, by its name in ACP's schema. */
export interface Acp<Name extends string> {
  readonly [field: string]: unknown;
  readonly __acp?: Name;
}"""

Json = Mapping[str, Any]
"""A part of the schema."""


def typescript(bundle: Json) -> str:
    """The whole `agent.d.ts`."""
    blocks = [
        f"// {HEAD}",
        ACP_MESSAGE,
        *(_ts_definition(name, shape) for name, shape in bundle["$defs"].items()),
        *(_ts_table(bundle, sender, kind) for sender in _SENDERS for kind in _KINDS),
        _ts_commands(bundle["commands"]),
    ]
    return "\n\n".join(blocks) + "\n"


def lua(bundle: Json) -> str:
    """The whole `agent.lua`: annotations only."""
    blocks = [
        f"---@meta agent.protocol\n-- {HEAD}",
        *(_lua_definition(name, shape) for name, shape in bundle["$defs"].items()),
        *(_lua_table(bundle, sender, kind) for sender in _SENDERS for kind in _KINDS),
        _lua_commands(bundle["commands"]),
    ]
    return "\n\n".join(blocks) + "\n"


def files() -> dict[Path, str]:
    """What belongs into the folder."""
    text = (PROTOCOL / "schema.json").read_text("utf-8")
    bundle: Json = json.loads(text)
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    version = f'export type SchemaHash = "{digest}";\n'
    return {
        GENERATED / "agent.d.ts": f"{typescript(bundle)}\n{version}",
        GENERATED / "agent.lua": lua(bundle),
    }


_SENDERS = ("client", "server")
_KINDS = ("request", "notification")


def _chosen(bundle: Json, sender: str, kind: str) -> Iterator[tuple[str, Json]]:
    for name, method in bundle["methods"].items():
        if (method["sender"], method["kind"]) == (sender, kind):
            yield name, method


def _table_name(sender: str, kind: str) -> str:
    return f"{sender.title()}{kind.title()}s"


def _ref(shape: Json) -> str | None:
    return str(shape["$ref"]).rsplit("/", 1)[-1] if "$ref" in shape else None


def _members(shape: Json) -> list[Json] | None:
    """The shape's alternatives, null last."""
    if "anyOf" not in shape:
        return None
    return sorted(cast("list[Json]", shape["anyOf"]), key=lambda one: one.get("type") == "null")


def _union(shape: Json, each: Callable[[Json], str]) -> str | None:
    if (members := _members(shape)) is not None:
        return " | ".join(each(member) for member in members)
    if "const" in shape:
        return json.dumps(shape["const"])
    if "enum" in shape:
        return " | ".join(json.dumps(value) for value in shape["enum"])
    return None


# ---- TypeScript ----------------------------------------------------------------------------------

_TS = {
    "string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null",
}  # fmt: skip


def _ts_definition(name: str, shape: Json) -> str:
    if "properties" not in shape:
        return f"{_ts_doc(shape, '')}export type {name} = {_ts(shape)};"
    required = set(shape.get("required", ()))
    fields = "".join(
        f"{_ts_doc(field, '  ')}  readonly {_ts_key(key)}{'' if key in required else '?'}: {_ts(field)};\n"
        for key, field in shape["properties"].items()
    )
    return f"{_ts_doc(shape, '')}export interface {name} {{\n{fields}}}"


def _ts_key(name: str) -> str:
    return name if name.isidentifier() else json.dumps(name)


def _ts(shape: Json) -> str:
    if (name := _ref(shape)) is not None:
        return name
    if (union := _union(shape, _ts)) is not None:
        return union
    match shape.get("type"):
        case "array":
            item = _ts(shape.get("items", {}))
            return f"readonly {item}[]" if item.isidentifier() else f"readonly ({item})[]"
        case "object":
            return f"{{ readonly [field: string]: {_ts(shape.get('additionalProperties', {}))} }}"
        case str(kind):
            return _TS[kind]
        case _:
            return "unknown"


def _ts_message(shape: Json) -> str:
    return f'Acp<"{shape["acpType"]}">' if "acpType" in shape else _ts(shape)


def _ts_table(bundle: Json, sender: str, kind: str) -> str:
    rows: list[str] = []
    for name, method in _chosen(bundle, sender, kind):
        result = f"; result: {_ts_message(method['result'])}" if "result" in method else ""
        rows.append(f'  "{name}": {{ params: {_ts_message(method["params"])}{result} }};\n')
    return f"export interface {_table_name(sender, kind)} {{\n{''.join(rows)}}}"


def _ts_commands(commands: Json) -> str:
    rows = (
        f'  "{name}": {{ argument: {_ts(one["argument"])}; result: {_ts(one.get("result", {"type": "null"}))} }};\n'
        for name, one in commands.items()
    )
    return (
        f"/** For `workspace/executeCommand`. */\nexport interface Commands {{\n{''.join(rows)}}}"
    )


def _ts_doc(shape: Json, indent: str) -> str:
    words = str(shape.get("description", "")).replace("\n", " ").replace("*/", "* /")
    return f"{indent}/** {words} */\n" if words else ""


# ---- LuaCATS -------------------------------------------------------------------------------------

_LUA = {
    "string": "string", "integer": "integer", "number": "number", "boolean": "boolean", "null": "nil",
}  # fmt: skip


def _lua_definition(name: str, shape: Json) -> str:
    words = str(shape.get("description", "")).replace("\n", " ")
    head = f"--- {words}\n" if words else ""
    if "properties" not in shape:
        return f"{head}---@alias {_lua_name(name)} {_lua(shape)}"
    required = set(shape.get("required", ()))
    fields = "".join(
        f"\n---@field {_lua_key(key)}{'' if key in required and not _nullable(field) else '?'}"
        f" {_lua(field)}{_lua_words(field)}"
        for key, field in shape["properties"].items()
    )
    return f"{head}---@class {_lua_name(name)}{fields}"


def _lua_key(name: str) -> str:
    return name if name.isidentifier() else f"[{json.dumps(name)}]"


def _nullable(shape: Json) -> bool:
    return any(member.get("type") == "null" for member in _members(shape) or ())


def _lua(shape: Json) -> str:
    """Neovim reads null as nil, so a field that may be null may be absent."""
    if (name := _ref(shape)) is not None:
        return _lua_name(name)
    if _nullable(shape):
        present = [one for one in _members(shape) or () if one.get("type") != "null"]
        return " | ".join(_lua(one) for one in present)
    if (union := _union(shape, _lua)) is not None:
        return union
    match shape.get("type"):
        case "array":
            item = _lua(shape.get("items", {}))
            return f"({item})[]" if " | " in item else f"{item}[]"
        case "object":
            return f"table<string, {_lua(shape.get('additionalProperties', {}))}>"
        case str(kind):
            return _LUA[kind]
        case _:
            return "any"


def _lua_name(name: str) -> str:
    return f"agent.protocol.{name}"


def _lua_words(field: Json) -> str:
    words = str(field.get("description", "")).replace("\n", " ")
    return f" {words}" if words else ""


def _lua_message(shape: Json) -> str:
    """ACP's own messages have no type here."""
    return "table" if "acpType" in shape else _lua(shape)


def _lua_table(bundle: Json, sender: str, kind: str) -> str:
    rows: list[str] = []
    for name, method in _chosen(bundle, sender, kind):
        result = f", result: {_lua_message(method['result'])}" if "result" in method else ""
        message = f"{{ params: {_lua_message(method['params'])}{result} }}"
        rows.append(f'\n---@field ["{name}"] {message}')
    return f"---@class {_lua_name(_table_name(sender, kind))}{''.join(rows)}"


def _lua_commands(commands: Json) -> str:
    rows = (
        f'\n---@field ["{name}"] {{ argument: {_lua(one["argument"])}, '
        f"result: {_lua(one.get('result', {'type': 'null'}))} }}"
        for name, one in commands.items()
    )
    return f"--- For `workspace/executeCommand`.\n---@class {_lua_name('Commands')}{''.join(rows)}"


if __name__ == "__main__":
    GENERATED.mkdir(exist_ok=True)
    for path, content in files().items():
        path.write_text(content, encoding="utf-8")
