"""The entry for ACP's registry of agents (`editors/acp-registry`): as its schema wants it, and about this program.

The schema is the registry's own, as published, under the licence beside it.
"""

import json
import tomllib
from pathlib import Path
from typing import Any

from jsonschema import Draft7Validator

from agent_server.commands.arguments import parse

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "editors" / "acp-registry"
ENTRY: dict[str, Any] = json.loads((FOLDER / "agent.json").read_text("utf-8"))
SCHEMA: dict[str, Any] = json.loads(
    (ROOT / "tests/acp_schema/registry-agent.schema.json").read_text("utf-8")
)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_the_entry_fits_the_registrys_schema() -> None:
    assert [error.message for error in Draft7Validator(SCHEMA).iter_errors(ENTRY)] == []


def test_the_entry_is_about_this_version_of_this_program() -> None:
    assert (ENTRY["id"], ENTRY["version"], ENTRY["license"]) == (
        PROJECT["name"],
        PROJECT["version"],
        PROJECT["license"],
    )


def test_what_the_entry_runs_serves_acp() -> None:
    """`uvx` runs the program that is named as its package."""
    started = ENTRY["distribution"]["uvx"]
    program, _, version = started["package"].partition("@")

    assert program in PROJECT["scripts"]
    assert version == PROJECT["version"]
    assert parse(started["args"]).command == "acp"


def test_the_icon_takes_the_colour_of_the_client() -> None:
    icon = (FOLDER / ENTRY["icon"]).read_text("utf-8")

    assert 'width="16" height="16"' in icon
    assert "currentColor" in icon
