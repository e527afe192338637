"""`editor/diagnostics` on both wires: asked of a client that declared it, and read with suspicion."""

import json
from pathlib import Path
from typing import Any

import pytest

from agent_server.edits.ports import Diagnosed, Diagnostic
from agent_server.loop.model import JsonObject, ToolResult
from agent_server.loop.ports import CallContext
from tests.fakes.acp_client import AcpClient
from tests.fakes.acp_client import Message as AcpMessage
from tests.fakes.front import served as acp
from tests.fakes.loop import FakeTool, Say
from tests.front.lsp.lsp_client import PLUGIN, LspClient, Message
from tests.front.lsp.world import served as lsp

pytestmark = pytest.mark.anyio

OWN: dict[str, Any] = {"version": 1, "editor": {"diagnostics": True}}


def diagnostic(line: int = 3, **more: Any) -> dict[str, Any]:
    place = {"line": line, "character": 0}
    return {"range": {"start": place, "end": place}, "message": "wrong", **more}


async def asked_over_acp(
    home: Path, answer: Any, *, declared: bool = True
) -> tuple[tuple[Diagnosed, ...] | None, AcpClient]:
    """What a tool gets that asks about `a.py`."""
    got: list[tuple[Diagnosed, ...] | None] = []

    async def body(context: CallContext, arguments: JsonObject) -> ToolResult:
        del context, arguments
        client = world.sessions.get(session).client  # pyright: ignore[reportArgumentType]
        got.append(await client.diagnostics.diagnostics((str(home / "a.py"),)))
        return ToolResult(True, "asked")

    def answering(message: AcpMessage) -> Any:
        del message
        return answer

    steps = (Say("", (("ask", "{}"),)), Say("Done."))
    capabilities = {"_meta": {"agent-server": OWN}} if declared else {}
    async with acp(home, *steps, tools=[FakeTool("ask", body)], capabilities=capabilities) as world:
        world.client.own["_agent-server/editor/diagnostics"] = answering
        session = await world.client.new(str(home))
        await world.client.prompt(session, "go")
    return got[0], world.client


async def test_over_acp_the_extension_is_asked_with_the_files_uri(tmp_path: Path) -> None:
    uri = (tmp_path / "a.py").as_uri()
    full = diagnostic(severity=2, source="ruff", code="F401")
    items = [{"uri": uri, "version": 7, "settled": True, "diagnostics": [full, diagnostic()]}]
    found, client = await asked_over_acp(tmp_path, {"items": items})

    assert found == (
        Diagnosed(
            str(tmp_path / "a.py"),
            (Diagnostic(3, "warning", "wrong", "ruff", "F401"), Diagnostic(3, "error", "wrong")),
            True,
        ),
    )
    [params] = client.of("_agent-server/editor/diagnostics")
    assert params["uris"] == [uri]


async def test_a_client_that_did_not_declare_it_is_never_asked(tmp_path: Path) -> None:
    found, client = await asked_over_acp(tmp_path, {"items": []}, declared=False)

    assert (found, client.of("_agent-server/editor/diagnostics")) == (None, [])


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (None, None),
        ({"items": None}, ()),
        ({"items": [None, {"uri": 1}, {"uri": "http://x"}, {"uri": "file:///other"}]}, ()),
    ],
)
async def test_an_answer_that_makes_no_sense_is_no_diagnostic(
    tmp_path: Path, answer: Any, found: Any
) -> None:
    assert (await asked_over_acp(tmp_path, answer))[0] == found


async def test_broken_diagnostics_are_left_out_and_the_others_kept(tmp_path: Path) -> None:
    broken = [None, {"message": "no range"}, diagnostic(message=None), diagnostic(severity=9)]
    item = {"uri": (tmp_path / "a.py").as_uri(), "settled": "yes", "diagnostics": broken}
    found, _ = await asked_over_acp(tmp_path, {"items": [item]})

    assert found == (Diagnosed(str(tmp_path / "a.py"), (Diagnostic(3, "error", "wrong"),), None),)


async def test_over_lsp_an_edit_tells_the_model_the_errors_that_came_with_it(
    tmp_path: Path,
) -> None:
    """Loop.md F40, through the wire: before the edit, and after it."""
    arguments = {"path": "a.py", "edits": [{"old_text": "one", "new_text": "x"}]}
    steps = (Say("", (("edit", json.dumps(arguments)),)), Say("Done."))
    own = {**PLUGIN["experimental"]["agent"], "editor": {"diagnostics": True}}
    plugin = {**PLUGIN, "experimental": {"agent": own}}

    def answer(client: LspClient, message: Message) -> Any:
        [uri] = message["params"]["uris"]
        after = client.buffers[uri][1] == "x\n"
        found = [diagnostic(0, message="x is not defined")] if after else []
        return {"items": [{"uri": uri, "settled": True, "diagnostics": found}]}

    async with lsp(tmp_path, *steps, capabilities=plugin) as world:
        path = world.root / "a.py"
        path.write_text("one\n")
        world.client.answers["agent/editor/diagnostics"] = answer
        await world.client.open(path, "one\n")
        session = await world.client.new(world.root)
        await world.client.prompt(session, "go")

    told = getattr(world.equipment.script.requests[-1].messages[-1], "text", "")
    assert told.endswith(
        "the editor reports new errors after this edit:\na.py\n  1: error: x is not defined"
    )
