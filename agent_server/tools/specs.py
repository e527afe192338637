"""What the model reads about each tool, from the generated file; no pydantic at start-up."""

import json
from pathlib import Path
from typing import cast

from agent_server.loop.model import JsonObject
from agent_server.loop.ports import ToolSpec

FILE = Path(__file__).with_name("schemas.json")
"""Written by `python -m agent_server.tools.schemas`; a test compares it with the code."""


def spec(name: str) -> ToolSpec:
    """The tool as the model sees it; KeyError for a tool that is not in the file."""
    return _SPECS[name]


def _read() -> dict[str, ToolSpec]:
    entries = cast("dict[str, dict[str, object]]", json.loads(FILE.read_text(encoding="utf-8")))
    return {
        name: ToolSpec(
            name, cast("str", entry["description"]), cast("JsonObject", entry["parameters"])
        )
        for name, entry in entries.items()
    }


_SPECS = _read()
