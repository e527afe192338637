"""The tools as the model sees them. Names and arguments: spec §13."""

import subprocess
import sys
from collections.abc import Mapping
from typing import cast

import pytest
from jsonschema import Draft202012Validator

from agent_server.loop.errors import BadArguments
from agent_server.loop.events import PlanChanged
from agent_server.loop.model import PlanItem, TurnId
from agent_server.tools.schemas import generated
from agent_server.tools.specs import FILE
from tests.tools.desk import Desk

pytestmark = pytest.mark.anyio

ARGUMENTS = {
    "read": ({"path", "start_line", "line_count"}, ["path"]),
    "list": ({"path"}, []),
    "glob": ({"pattern", "path"}, ["pattern"]),
    "search": ({"pattern", "path", "glob", "literal", "context"}, ["pattern"]),
    "edit": ({"path", "edits"}, ["path", "edits"]),
    "write": ({"path", "content"}, ["path", "content"]),
    "patch": ({"patch"}, ["patch"]),
    "diagnostics": ({"path"}, []),
    "shell": ({"command", "cwd", "timeout_s"}, ["command"]),
    "todo": ({"items"}, ["items"]),
    "ask_user": ({"question", "options"}, ["question"]),
}


def test_the_file_of_schemas_is_what_the_code_says() -> None:
    """`python -m agent_server.tools.schemas` writes it anew."""
    assert FILE.read_text(encoding="utf-8") == generated()


def test_names_and_arguments_are_the_specifications(desk: Desk) -> None:
    assert list(desk.tools) == list(ARGUMENTS)
    for name, tool in desk.tools.items():
        schema = tool.spec.parameters
        properties = cast("Mapping[str, object]", schema["properties"])
        assert (set(properties), list(cast("list[str]", schema.get("required", [])))) == ARGUMENTS[
            name
        ]


def test_every_schema_is_plain_and_says_what_each_argument_is(desk: Desk) -> None:
    for tool in desk.tools.values():
        Draft202012Validator.check_schema(dict(tool.spec.parameters))
        text = str(tool.spec.parameters)
        assert all(word not in text for word in ("$ref", "'null'", "'title'", "anyOf"))
        properties = cast("Mapping[str, Mapping[str, object]]", tool.spec.parameters["properties"])
        assert all(p.get("description") for p in properties.values())
        assert 40 < len(tool.spec.description) < 500


@pytest.mark.row("R87")
def test_only_reading_tools_say_they_are_read_only(desk: Desk) -> None:
    assert [n for n, tool in desk.tools.items() if tool.read_only] == [
        "read",
        "list",
        "glob",
        "search",
        "diagnostics",
    ]
    assert not any(tool.ends_turn for tool in desk.tools.values())


def test_naming_the_tools_and_their_schemas_imports_neither_their_code_nor_pydantic() -> None:
    """The first request of a session needs the schemas and waits for nothing else (0006-start)."""
    code = (
        "import sys\n"
        "from agent_server.tools import registry, services\n"
        "built = registry.build(services.Services('/', None, None))\n"
        "assert all(tool.spec.parameters for tool in built.values())\n"
        "late = [f'agent_server.tools.{name}' for name in built]\n"
        "print([m for m in ('pydantic', 'charset_normalizer', *late) if m in sys.modules])\n"
        "built['todo'].kind\n"
        "print([m for m in late if m in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n['agent_server.tools.todo']\n"


async def test_the_plan_replaces_the_one_before_and_is_shown(desk: Desk) -> None:
    items = [{"text": "read", "status": "completed"}, {"text": "edit", "status": "in_progress"}]
    prepared = await desk.prepared("todo", items=items)
    result = await desk.run(prepared)

    assert (prepared.action.kind, desk.policy.decide(prepared.action).verdict) == ("note", "allow")
    assert desk.events == [
        PlanChanged(TurnId("t1"), (PlanItem("read", "completed"), PlanItem("edit", "in_progress")))
    ]
    assert (result.output, result.summary) == (
        "the plan is now:\n[x] read\n[>] edit",
        "1 of 2 done",
    )


async def test_an_empty_plan_clears_it(desk: Desk) -> None:
    assert (await desk.call("todo", items=[])).output == "the plan is empty now"


@pytest.mark.parametrize(
    ("items", "says"),
    [
        (
            [{"text": "a", "status": "in_progress"}, {"text": "b", "status": "in_progress"}],
            "more than one",
        ),
        ([{"text": " ", "status": "pending"}], "no text"),
        ([{"text": "a", "status": "done"}], r"items\.0\.status"),
        ("nothing", "neither a list"),
    ],
)
async def test_a_plan_that_makes_no_sense_is_refused(desk: Desk, items: object, says: str) -> None:
    with pytest.raises(BadArguments, match=says):
        await desk.understand("todo", items=items)


async def test_no_arguments_at_all_mean_the_defaults(desk: Desk) -> None:
    """ST-18."""
    desk.file("a.py")

    assert (await desk.call("list")).output == "a.py  0"


async def test_half_a_surrogate_pair_is_refused_before_it_reaches_a_file(desk: Desk) -> None:
    with pytest.raises(BadArguments, match="half a surrogate pair"):
        await desk.understand("write", path="a.py", content="x\ud800")
