"""The JSON Schema of the custom protocol, as `agent-server schema` prints it and `protocol/schema.json` keeps it.

`python -m agent_server.front.protocol.schema --write` writes the file anew.
"""

import hashlib
import json
import sys
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, JsonValue
from pydantic.json_schema import models_json_schema

from agent_server.front.protocol.capabilities import ClientCapabilities, ServerCapabilities
from agent_server.front.protocol.catalogue import COMMANDS, METHODS, Acp, Command, Method, Shape
from agent_server.front.protocol.session import ErrorData, UpdateTerms

FILE = Path(__file__).parents[3] / "protocol" / "schema.json"
"""Where the repository publishes it; not part of an installation."""

Model = type[BaseModel]
JsonMode = Literal["validation", "serialization"]


def schema_text() -> str:
    """The whole bundle, the same bytes for the same code."""
    return json.dumps(_bundle(), indent=2, ensure_ascii=False, sort_keys=False) + "\n"


def schema_hash() -> str:
    """Names the bundle: the first 16 hex digits of its SHA-256; `protocol/README.md` carries it."""
    return hashlib.sha256(schema_text().encode()).hexdigest()[:16]


def _bundle() -> dict[str, JsonValue]:
    refs, definitions = _definitions()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The agent-server protocol",
        "version": 1,
        "capabilities": {"client": refs[ClientCapabilities], "server": refs[ServerCapabilities]},
        "methods": {method.name: _method(method, refs) for method in METHODS},
        "commands": {command.name: _command(command, refs) for command in COMMANDS},
        "errorData": refs[ErrorData],
        "updateMeta": refs[UpdateTerms],
        "$defs": definitions,
    }


def _definitions() -> tuple[dict[Model, JsonValue], JsonValue]:
    """Where each top-level model is, and all definitions by name."""
    models = _models()
    refs, schema = models_json_schema(models)
    definitions: dict[str, JsonValue] = schema["$defs"]
    ordered: JsonValue = {name: _without_titles(definitions[name]) for name in sorted(definitions)}
    return {model: refs[model, mode] for model, mode in models}, ordered


def _without_titles(definition: JsonValue) -> JsonValue:
    """Pydantic makes a title of each field's name; it says nothing."""
    if not isinstance(definition, dict):
        return definition
    properties = definition.get("properties")
    if isinstance(properties, dict):
        for field in properties.values():
            if isinstance(field, dict):
                field.pop("title", None)
    return definition


def _models() -> list[tuple[Model, JsonMode]]:
    """Every top-level model, once; what the client sends is described as it is read, the rest as it is written."""
    read: list[Shape | None] = [ClientCapabilities]
    written: list[Shape | None] = [ServerCapabilities, ErrorData, UpdateTerms]
    for method in METHODS:
        (read if method.sender == "client" else written).append(method.params)
        (written if method.sender == "client" else read).append(method.result)
    for command in COMMANDS:
        read.append(command.argument)
        written.append(command.result)
    found: dict[Model, JsonMode] = {}
    found.update({shape: "validation" for shape in read if isinstance(shape, type)})
    found.update({shape: "serialization" for shape in written if isinstance(shape, type)})
    return list(found.items())


def _method(method: Method, refs: dict[Model, JsonValue]) -> JsonValue:
    entry: dict[str, JsonValue] = {
        "kind": method.kind,
        "sender": method.sender,
        "acp": method.acp_name,
        "params": _shape(method.params, refs),
    }
    if method.result is not None:
        entry["result"] = _shape(method.result, refs)
    if method.capability is not None:
        entry["capability"] = method.capability
    return entry


def _command(command: Command, refs: dict[Model, JsonValue]) -> JsonValue:
    entry: dict[str, JsonValue] = {"argument": refs[command.argument]}
    if command.result is not None:
        entry["result"] = refs[command.result]
    return entry


def _shape(shape: Shape, refs: dict[Model, JsonValue]) -> JsonValue:
    match shape:
        case Acp(type=name):
            return {"acpType": name}
        case model:
            return refs[model]


def main() -> None:
    """Print the bundle, or with `--write` put it where the repository publishes it."""
    if sys.argv[1:] == ["--write"]:
        FILE.write_text(schema_text(), encoding="utf-8")
    else:
        sys.stdout.write(schema_text())


if __name__ == "__main__":
    main()
