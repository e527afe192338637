"""Writes `schemas.json` from the tools' docstrings and argument types: `python -m agent_server.tools.schemas`."""

import inspect
import json
from collections.abc import Mapping
from typing import cast

from agent_server.tools.arguments import Arguments
from agent_server.tools.registry import CLASSES, tool_class
from agent_server.tools.specs import FILE

Json = dict[str, object]


def generated() -> str:
    """The file's text as the code now says it."""
    entries = {
        tool.name: {"description": inspect.getdoc(tool), "parameters": parameters(tool.arguments)}
        for tool in map(tool_class, CLASSES)
    }
    return json.dumps(entries, indent=2, ensure_ascii=False) + "\n"


def parameters(kind: type[Arguments]) -> Json:
    """A plain JSON Schema: no `$ref`, no titles, no `null`; the parser takes null all the same."""
    from pydantic import TypeAdapter

    schema = cast("Json", TypeAdapter(_documented(kind)).json_schema())
    definitions = cast("dict[str, Json]", schema.pop("$defs", {}))
    plain = cast("Json", _plain(schema, definitions))
    plain.pop("description", None)
    return plain


def _documented(kind: type[Arguments]) -> type[Arguments]:
    """The type with its field docstrings read, which costs too much to do at every start."""
    Arguments.__pydantic_config__ = {
        **Arguments.__pydantic_config__,
        "use_attribute_docstrings": True,
    }
    return kind


def _plain(node: object, definitions: Mapping[str, Json]) -> object:
    if isinstance(node, list):
        return [_plain(item, definitions) for item in cast("list[object]", node)]
    if not isinstance(node, dict):
        return node
    schema = cast("Json", node)
    if "$ref" in schema:
        return _plain(definitions[str(schema["$ref"]).rsplit("/", 1)[1]], definitions)
    return _without_null(
        {k: _child(k, v, definitions) for k, v in schema.items() if not _is_noise(k, v)}
    )


def _child(key: str, value: object, definitions: Mapping[str, Json]) -> object:
    if key == "properties":
        return {name: _plain(v, definitions) for name, v in cast("Json", value).items()}
    return _plain(value, definitions)


def _is_noise(key: str, value: object) -> bool:
    return (key == "title" and isinstance(value, str)) or (key == "default" and value is None)


def _without_null(schema: Json) -> Json:
    choices = cast("list[Json]", schema.get("anyOf", []))
    kept = [c for c in choices if c.get("type") != "null"]
    if len(kept) != 1:
        return schema
    return {**kept[0], **{k: v for k, v in schema.items() if k != "anyOf"}}


if __name__ == "__main__":
    FILE.write_text(generated(), encoding="utf-8")
