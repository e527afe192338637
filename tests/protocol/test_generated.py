"""The types for editors are those of the schema."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from scripts.protocol_types import PROTOCOL, files, lua, typescript

SCHEMA: Any = json.loads((PROTOCOL / "schema.json").read_text("utf-8"))


@pytest.mark.parametrize("path", files(), ids=lambda path: path.name)
def test_the_published_types_are_those_of_the_schema(path: Path) -> None:
    """`make schema` writes them anew."""
    assert path.read_text("utf-8") == files()[path]


def test_every_definition_and_every_method_has_a_type() -> None:
    declared = re.findall(r"^export (?:interface|type) (\w+)", typescript(SCHEMA), re.MULTILINE)
    classes = re.findall(r"^---@(?:class|alias) agent\.protocol\.(\w+)", lua(SCHEMA), re.MULTILINE)

    assert set(SCHEMA["$defs"]) <= set(declared)
    assert set(SCHEMA["$defs"]) <= set(classes)
    for name in (*SCHEMA["methods"], *SCHEMA["commands"]):
        assert f'  "{name}": {{' in typescript(SCHEMA)
        assert f'---@field ["{name}"]' in lua(SCHEMA)


@pytest.mark.parametrize(
    ("shape", "ts", "cats"),
    [
        ({"type": "string"}, "string", "string"),
        ({"anyOf": [{"type": "null"}, {"type": "integer"}]}, "number | null", "integer"),
        ({"enum": ["a", "b"], "type": "string"}, '"a" | "b"', '"a" | "b"'),
        ({"type": "array", "items": {"$ref": "#/$defs/X"}}, "readonly X[]", "agent.protocol.X[]"),
        ({"type": "array", "items": {"enum": [1, 2]}}, "readonly (1 | 2)[]", "(1 | 2)[]"),
        ({"type": "object"}, "{ readonly [field: string]: unknown }", "table<string, any>"),
        ({}, "unknown", "any"),
    ],
)
def test_a_shape_is_a_type(shape: Any, ts: str, cats: str) -> None:
    bundle = {"$defs": {"Y": {"properties": {"f": shape}}}, "methods": {}, "commands": {}}

    assert f"  readonly f?: {ts};" in typescript(bundle)
    assert f"---@field f? {cats}" in lua(bundle)
