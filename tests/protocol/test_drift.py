"""Code, schema, specification and golden messages say the same (spec §5). Where one is wrong, none is right."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from agent_server.edits.hashes import content_hash
from agent_server.front import methods
from agent_server.front.protocol.capabilities import ClientCapabilities, ServerCapabilities
from agent_server.front.protocol.catalogue import COMMANDS, METHODS
from agent_server.front.protocol.schema import schema_hash, schema_text
from agent_server.front.protocol.session import ErrorData
from agent_server.front.vocabulary import Vocabulary, wire_name

PUBLISHED = Path(__file__).parents[2] / "protocol"
README = (PUBLISHED / "README.md").read_text("utf-8")
GOLDEN: dict[str, Any] = {
    path.stem: json.loads(path.read_text("utf-8"))
    for path in sorted((PUBLISHED / "golden").glob("*.json"))
}
SCHEMA: Any = json.loads((PUBLISHED / "schema.json").read_text("utf-8"))
ACP_SCHEMAS: list[Any] = [
    json.loads((Path(__file__).parents[1] / "acp_schema" / name).read_text("utf-8"))
    for name in ("v1.schema.json", "v1.schema.unstable.json")
]
"""The stable one, and the one for what it does not have."""
BY_NAME = {method.name: method for method in METHODS}
MESSAGES = {name: golden for name, golden in GOLDEN.items() if "method" in golden}


def complaints(part: Any, value: Any) -> list[str]:
    """What the schema says against a value; `part` is an entry of the bundle."""
    if "acpType" in part:
        [defs, *_] = [s["$defs"] for s in ACP_SCHEMAS if part["acpType"] in s["$defs"]]
        schema = {"$ref": f"#/$defs/{part['acpType']}", "$defs": defs}
    else:
        schema = {**part, "$defs": SCHEMA["$defs"]}
    return [f"{e.json_path}: {e.message}" for e in Draft202012Validator(schema).iter_errors(value)]


def test_the_published_schema_is_the_codes() -> None:
    """`make schema` writes it anew."""
    assert (PUBLISHED / "schema.json").read_text("utf-8") == schema_text()


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema({"$defs": SCHEMA["$defs"]})


def test_the_specification_carries_the_hash_of_the_schema() -> None:
    assert re.findall(r"schema `([0-9a-f]{16})`", README) == [schema_hash()]


def test_the_catalogue_lists_exactly_what_is_served() -> None:
    listed = {(m.name, m.kind) for m in METHODS if m.sender == "client"}
    served = {(name, "request") for name, _ in methods.served(Vocabulary.LSP)} | {
        (wire_name(n.name, Vocabulary.LSP, ours=False), "notification")
        for n in methods.NOTIFICATIONS
    }

    assert listed == served


def test_the_names_over_acp_are_those_that_are_served_there() -> None:
    requests = {m.acp_name for m in METHODS if m.sender == "client" and m.kind == "request"}

    assert requests <= {name for name, _ in methods.served(Vocabulary.ACP)}


def test_the_specification_has_a_section_for_every_method_and_no_other() -> None:
    assert sorted(re.findall(r"^### `(agent/[^`]+)`$", README, re.MULTILINE)) == sorted(BY_NAME)


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
def test_a_section_says_direction_kind_and_capability(method: Any) -> None:
    section = README.split(f"### `{method.name}`\n")[1].split("\n#")[0]
    arrow = "Client → server" if method.sender == "client" else "Server → client"

    assert section.startswith(f"{arrow}, {method.kind}")
    if method.capability is not None:
        assert f"capability `{method.capability}`" in section
    assert ("LSP only" in section) == (not method.acp)


def test_the_specification_lists_every_command_and_no_other() -> None:
    listed = re.findall(r"^\| `(agent\.[^`]+)`", README, re.MULTILINE)

    assert listed == [command.name for command in COMMANDS]


def test_every_example_is_a_golden_message_and_every_golden_message_an_example() -> None:
    blocks = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", README, re.DOTALL)]

    assert sorted(map(json.dumps, blocks)) == sorted(map(json.dumps, GOLDEN.values()))


def test_every_method_has_a_golden_message() -> None:
    assert {golden["method"] for golden in MESSAGES.values()} == set(BY_NAME)


@pytest.mark.parametrize("name", MESSAGES)
def test_a_golden_message_fits_the_schema(name: str) -> None:
    golden, entry = GOLDEN[name], SCHEMA["methods"][GOLDEN[name]["method"]]

    assert complaints(entry["params"], _for_acp(golden["params"], entry)) == []
    if "result" in golden:
        assert complaints(entry["result"], golden["result"]) == []
    assert ("result" in golden or "error" in golden) == (entry["kind"] == "request")


@pytest.mark.parametrize("name", MESSAGES)
def test_a_golden_message_survives_its_model(name: str) -> None:
    golden = GOLDEN[name]
    method = BY_NAME[golden["method"]]

    for part, shape in (("params", method.params), ("result", method.result)):
        if isinstance(shape, type) and part in golden:
            assert _without_nulls(shape.parse(golden[part]).dump()) == _without_nulls(golden[part])


def test_the_golden_capabilities_are_ours() -> None:
    client, server = GOLDEN["capabilities"]["client"], GOLDEN["capabilities"]["server"]

    assert ClientCapabilities.parse(client).dump() == client
    assert ServerCapabilities.parse(server).dump() == server
    assert server["commands"] == [command.name for command in COMMANDS]
    assert set(server["methods"]) == {m.name for m in METHODS if m.sender == "client"}


@pytest.mark.parametrize("name", ["error-stale_revision", "error-turn_mismatch"])
def test_a_golden_error_has_the_one_shape(name: str) -> None:
    error = GOLDEN[name]["error"]

    assert complaints(SCHEMA["errorData"], error["data"]) == []
    assert ErrorData.parse(error["data"]).error == error["message"]


def test_the_hashes_in_the_golden_messages_are_of_their_texts() -> None:
    [file] = GOLDEN["edit-proposed"]["params"]["files"]
    apply = GOLDEN["edit-apply"]["params"]

    assert file["baseHash"] == apply["baseHash"] == content_hash(file["baseText"])
    assert apply["resultHash"] == content_hash(file["newText"])


def _for_acp(params: Any, entry: Any) -> Any:
    """Over LSP a folder may be a `uri`; ACP's schema wants `cwd`."""
    if "acpType" in entry["params"] and "uri" in params:
        return {**{k: v for k, v in params.items() if k != "uri"}, "cwd": "/w"}
    return params


def _without_nulls(value: Any) -> Any:
    """Absent and null mean the same."""
    if isinstance(value, dict):
        return {k: _without_nulls(v) for k, v in value.items() if v is not None}
    return [_without_nulls(v) for v in value] if isinstance(value, list) else value
