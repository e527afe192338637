"""`review = "turn"` on the wires: one question for all, and what is staged is shown as such (protocol.md)."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.acp_client import AcpClient, Message, Refused, option_of, select
from tests.fakes.edits import asking
from tests.fakes.front import served as acp
from tests.fakes.loop import Say
from tests.fakes.workbench import JournaledWorkbench
from tests.front.lsp.lsp_client import STOCK, prompt_params
from tests.front.lsp.world import served as lsp

pytestmark = pytest.mark.anyio

TURN: dict[str, Any] = {"configId": "review", "value": "turn"}


def call(name: str, **arguments: object) -> Say:
    return Say("", ((name, json.dumps(arguments)),))


EDITS = (
    call("edit", path="a.py", edits=[{"old_text": "one", "new_text": "1"}]),
    call("write", path="b.py", content="new\n"),
    Say("Done."),
)
POLICY = asking("edit", "write")


async def test_a_plain_acp_client_gets_one_request_with_every_diff(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("one\n")
    seen: list[tuple[Message, str]] = []

    def answer(client: AcpClient, message: Message) -> Any:
        del client
        seen.append((message["params"], (tmp_path / "a.py").read_text()))
        return select(option_of(message, "allow_once"))

    bench = JournaledWorkbench(tmp_path, *EDITS, policy=POLICY)
    async with acp(tmp_path, around=bench, store=bench.store) as world:
        client = world.client
        client.answer = answer
        session = await client.new(str(tmp_path))
        chosen = await client.request("session/set_config_option", {"sessionId": session, **TURN})
        await client.prompt(session, "go")

    [(params, on_disk)] = seen
    asked = params["toolCall"]
    assert (asked["title"], asked["status"], on_disk) == ("Review changes", "pending", "one\n")
    diffs = [c for c in asked["content"] if c["type"] == "diff"]
    assert [(Path(d["path"]).name, d["oldText"], d["newText"]) for d in diffs] == [
        ("a.py", "one\n", "1\n"),
        ("b.py", None, "new\n"),
    ]
    assert [o["kind"] for o in params["options"]] == ["allow_once", "reject_once"]
    assert ((tmp_path / "a.py").read_text(), (tmp_path / "b.py").read_text()) == ("1\n", "new\n")
    options = {o["id"]: o["currentValue"] for o in chosen["configOptions"]}
    assert options["review"] == "turn"
    calls = client.updates(session, "tool_call")
    assert [c["title"] for c in calls if c["toolCallId"] == asked["toolCallId"]] == [
        "Review changes"
    ]


async def test_a_review_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    async with acp(tmp_path) as world:
        session = await world.client.new(str(tmp_path))
        wrong = {"sessionId": session, "configId": "review", "value": "never"}
        with pytest.raises(Refused, match="value must be one of each, turn"):
            await world.client.request("session/set_config_option", wrong)


async def test_a_client_with_our_plugin_sees_what_is_staged_and_decides_it_as_one(
    tmp_path: Path,
) -> None:
    async with lsp(tmp_path, *EDITS, policy=POLICY) as world:
        client, path = world.client, world.root / "a.py"
        path.write_text("one\n")
        session = await client.new(world.root)
        await client.request("agent/session/set_config_option", {"sessionId": session, **TURN})
        turn = await client.ask("agent/session/prompt", prompt_params(session, "go"))
        await client.until(
            lambda m: m.get("method") == "agent/edit/proposed" and m["params"]["review"] == "ask"
        )
        *staged, asked = client.of("agent/edit/proposed")

        assert [p["review"] for p in staged] == ["staged", "staged"]
        assert [Path(f["uri"]).name for f in asked["files"]] == ["a.py", "b.py"]
        assert path.read_text() == "one\n"
        with pytest.raises(Exception, match="decided already"):
            await client.resolve(staged[0], {"verdict": "accept"})
        await client.resolve(
            asked,
            {"uri": asked["files"][0]["uri"], "verdict": "accept"},
            {"uri": asked["files"][1]["uri"], "verdict": "reject"},
        )
        result = await client.response(turn)

        assert result["stopReason"] == "end_turn"
        assert (path.read_text(), (world.root / "b.py").exists()) == ("1\n", False)
    ends = {s["txn"]: s["state"] for s in client.of("agent/edit/state")}
    assert [ends[p["txn"]] for p in (*staged, asked)] == ["abandoned", "abandoned", "applied"]
    assert client.of("agent/session/request_permission") == []


async def test_a_stock_client_is_asked_once_and_told_which_files(tmp_path: Path) -> None:
    async with lsp(tmp_path, *EDITS, policy=POLICY, capabilities=STOCK) as world:
        client, path = world.client, world.root / "a.py"
        path.write_text("one\n")
        session = await client.new(world.root)
        await client.request("agent/session/set_config_option", {"sessionId": session, **TURN})
        await client.prompt(session, "go")

        [asked] = client.of("window/showMessageRequest")
        assert asked["message"] == (
            "The agent wants to change a.py, b.py (+2 -1): the edits of this turn are reviewed together"
        )
        assert (path.read_text(), (world.root / "b.py").read_text()) == ("1\n", "new\n")


async def test_a_cancel_while_it_is_asked_applies_nothing(tmp_path: Path) -> None:
    async with lsp(tmp_path, *EDITS, policy=POLICY) as world:
        client, path = world.client, world.root / "a.py"
        path.write_text("one\n")
        session = await client.new(world.root)
        await client.request("agent/session/set_config_option", {"sessionId": session, **TURN})
        turn = await client.ask("agent/session/prompt", prompt_params(session, "go"))
        await client.until(
            lambda m: m.get("method") == "agent/edit/proposed" and m["params"]["review"] == "ask"
        )
        await client.notify("agent/session/cancel", {"sessionId": session})

        assert (await client.response(turn))["stopReason"] == "cancelled"
        assert (path.read_text(), (world.root / "b.py").exists()) == ("one\n", False)
