"""What of pygls is repaired, each defect by its own test (lsp.md §1.3)."""

from collections.abc import Callable
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from lsprotocol import types
from pygls.lsp.server import LanguageServer

from agent_server.front.lsp.protocol import Protocol

pytestmark = pytest.mark.anyio

ITEM = {"uri": "file:///w/a.py", "languageId": "python", "version": 1, "text": "one\n"}


class Wire:
    """A protocol object that has been initialized, and what it sent."""

    def __init__(self) -> None:
        server = LanguageServer("x", "1", protocol_cls=Protocol)
        assert isinstance(server.protocol, Protocol)
        self.protocol = server.protocol
        self.sent: list[Any] = []
        self.protocol.send = self.sent.append
        self.request(0, "initialize", {"capabilities": {}, "processId": None, "rootUri": None})

    def request(self, message_id: int, method: str, params: Any) -> None:
        self.protocol.receive(
            {"jsonrpc": "2.0", "id": message_id, "method": method, "params": params}
        )

    def notify(self, method: str, params: Any) -> None:
        self.protocol.receive({"jsonrpc": "2.0", "method": method, "params": params})

    def command(self, message_id: int, name: str, *arguments: Any) -> None:
        params = {"command": name, "arguments": list(arguments)}
        self.request(message_id, "workspace/executeCommand", params)

    async def answer(self, message_id: int) -> Any:
        with anyio.fail_after(5):
            while True:
                for message in self.sent:
                    if message.get("id") == message_id:
                        return message
                await anyio.lowlevel.checkpoint()


def serving(**commands: Callable[..., Any]) -> Wire:
    wire = Wire()
    wire.protocol.commands = commands
    return wire


async def test_cancelling_reaches_a_running_command() -> None:
    ended: list[str] = []

    async def slow() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("cancelled")

    wire = serving(slow=slow)
    wire.command(1, "slow")
    await anyio.lowlevel.checkpoint()
    wire.protocol.cancel(1)

    assert (await wire.answer(1))["error"]["code"] == -32800
    assert ended == ["cancelled"]


async def test_shutdown_while_a_command_runs_is_answered_and_ends_the_command() -> None:
    wire = serving(slow=anyio.sleep_forever)
    wire.command(1, "slow")
    await anyio.lowlevel.checkpoint()
    wire.request(2, "shutdown", None)

    assert (await wire.answer(2))["result"] is None
    assert (await wire.answer(1))["error"]["code"] == -32800


async def test_nothing_is_kept_of_what_has_finished() -> None:
    async def quick(value: int) -> int:
        return value

    wire = serving(quick=quick)
    for number in range(1, 51):
        wire.command(number, "quick", number)
        wire.notify("textDocument/didOpen", {"textDocument": ITEM})
        wire.notify("textDocument/didClose", {"textDocument": {"uri": ITEM["uri"]}})
    assert (await wire.answer(50))["result"] == 50

    assert wire.protocol._request_futures == {}
    assert wire.protocol._result_types == {}


async def test_a_failing_command_says_nothing_of_its_insides() -> None:
    async def broken() -> None:
        raise RuntimeError("/home/me/secret")

    wire = serving(broken=broken)
    wire.command(1, "broken")

    answer = await wire.answer(1)
    assert answer["error"]["code"] == -32603
    assert "secret" not in str(answer)
    assert "Traceback" not in str(answer)
    assert [m for m in wire.sent if m.get("method") == "window/showMessage"] == []


async def test_a_command_runs_before_the_next_message_is_looked_at() -> None:
    """With the tick that the connection makes after each message (lsp.md §1.5)."""
    seen: list[int | None] = []
    wire = serving()

    async def look() -> None:
        document = wire.protocol.documents.at("/w/a.py")
        seen.append(document and document.version)

    wire.protocol.commands = {"look": look}
    wire.notify("textDocument/didOpen", {"textDocument": ITEM})
    for version in range(2, 6):
        wire.command(version, "look")
        await anyio.lowlevel.checkpoint()
        change = {"contentChanges": [{"text": "x"}]}
        wire.notify(
            "textDocument/didChange",
            {"textDocument": {"uri": ITEM["uri"], "version": version}, **change},
        )

    assert seen == [1, 2, 3, 4]


async def test_a_request_whose_id_is_null_is_refused() -> None:
    wire = serving()
    wire.protocol.receive({"jsonrpc": "2.0", "id": None, "method": "shutdown"})

    assert wire.sent[-1]["error"]["code"] == -32600


def test_the_server_offers_no_more_than_it_serves() -> None:
    wire = Wire()
    capabilities = wire.sent[0]["result"]["capabilities"]

    assert "hoverProvider" not in capabilities
    assert capabilities["textDocumentSync"]["change"] == types.TextDocumentSyncKind.Incremental
