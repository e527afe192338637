"""A client gets a message of ours when it declared it, and only then: every row of the one table (spec §5.2)."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from agent_server.front.protocol.capabilities import ClientCapabilities
from agent_server.front.protocol.catalogue import METHODS
from agent_server.loop.action import Decision
from tests.fakes.loop import FakePolicy, Say
from tests.front.lsp.lsp_client import STOCK, LspClient
from tests.front.lsp.test_conversation import OLD, file
from tests.front.lsp.world import World, served

pytestmark = pytest.mark.anyio

EVERYTHING: dict[str, Any] = {
    "version": 1,
    "sessionUpdate": True,
    "permission": True,
    "ask": True,
    "edit": {"proposed": True, "apply": True},
    "editor": {
        "save": True,
        "reload": True,
        "diagnostics": True,
        "selection": True,
        "openFiles": True,
        "openDiff": True,
    },
}
GATED = {method.name: method.capability for method in METHODS if method.sender == "server"}


def call(tool: str, **arguments: Any) -> Say:
    return Say("", ((tool, json.dumps(arguments)),))


# A turn in which the server has a reason for each of its messages.
TURN = (
    call("edit", path="a.py", edits=[{"old_text": "one", "new_text": "ONE"}]),
    call("ask_user", question="Which?", options=["this", "that"]),
    call("shell", command="echo more >>a.py"),
    Say("Done."),
)
POLICY = {"edit": Decision("ask", "why not"), "shell": Decision("ask", "why not")}
ANSWERS: dict[str, Any] = {
    "agent/ask": lambda *_: {"answer": "this"},
    "agent/editor/diagnostics": lambda *_: {"items": []},
    "agent/editor/selection": lambda *_: {"uri": None},
    "agent/editor/openFiles": lambda *_: {"files": []},
    "agent/editor/openDiff": lambda *_: {"shown": True},
}


def without(capability: str) -> dict[str, Any]:
    """Everything but this, which is a path of names."""
    own = json.loads(json.dumps(EVERYTHING))
    *path, name = capability.split(".")
    table = own
    for part in path:
        table = table[part]
    del table[name]
    return own


def paths(table: dict[str, Any], before: str = "") -> Iterator[str]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from paths(value, f"{before}{name}.")
        elif name != "version":
            yield f"{before}{name}"


async def accept(client: LspClient) -> None:
    """The person's part, where proposals are shown."""
    await client.resolve(await client.hears("agent/edit/proposed"), {"verdict": "accept"})


async def heard(world: World) -> set[str]:
    """The methods of ours that such a turn, and the command that shows changes, send to the client."""
    world.equipment.save_accepted = True
    client, path = world.client, file(world)
    await client.open(path, OLD)
    session = await client.new(world.root)
    result: Any = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(accept, client)
        result = await client.prompt(session, "go")
        tasks.cancel_scope.cancel()
    assert result["stopReason"] == "end_turn"
    await client.command("agent.showChanges")
    await client.request("agent/session/list", {})
    methods = {message.get("method", "") for message in client.received}
    return {method for method in methods if method.startswith("agent/")}


over = partial(served, answers=ANSWERS)


def test_every_message_of_the_server_has_a_capability_that_a_client_can_declare() -> None:
    declared = set(paths(EVERYTHING))

    assert set(GATED.values()) == declared
    assert declared <= set(paths(ClientCapabilities().dump()))


async def test_a_client_that_declares_everything_gets_every_message(tmp_path: Path) -> None:
    capabilities = {**STOCK, "experimental": {"agent": EVERYTHING}}
    async with over(tmp_path, *TURN, policy=FakePolicy(POLICY), capabilities=capabilities) as world:
        assert await heard(world) == set(GATED)


@pytest.mark.parametrize("capability", sorted({c for c in GATED.values() if c is not None}))
async def test_what_a_client_does_not_declare_it_does_not_get(
    tmp_path: Path, capability: str
) -> None:
    capabilities = {**STOCK, "experimental": {"agent": without(capability)}}
    async with over(tmp_path, *TURN, policy=FakePolicy(POLICY), capabilities=capabilities) as world:
        came = await heard(world)

    assert came == {name for name, needed in GATED.items() if needed != capability}


@pytest.mark.parametrize(
    "own", [None, {}, {"version": 2, "sessionUpdate": True, "permission": True}]
)
async def test_a_client_that_declares_nothing_gets_nothing_of_ours(
    tmp_path: Path, own: Any
) -> None:
    capabilities = {**STOCK, "experimental": {"agent": own}}
    async with over(tmp_path, *TURN, policy=FakePolicy(POLICY), capabilities=capabilities) as world:
        assert await heard(world) == set()
