"""Defects of pygls that no other test shows to be kept from our users; docs/lsp.md lists all of them."""

import logging
import os
import re
import threading
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from agent_server.front.lsp.endpoint import Endpoint
from agent_server.front.rpc.connection import connect
from agent_server.front.rpc.dialect import LSP
from tests.front.lsp.lsp_client import LspClient
from tests.front.lsp.test_protocol import ITEM, serving
from tests.front.lsp.world import served

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[3]


async def test_busy_threads_hold_no_message_up() -> None:
    """2. Every thread of the pool is taken; requests are read and answered all the same."""
    free = threading.Event()
    there, here = os.pipe(), os.pipe()
    limiter = anyio.to_thread.current_default_thread_limiter()
    server = Endpoint(_never_opened)
    connection = connect(read_fd=there[0], write_fd=here[1], dialect=LSP, dispatch=server.dispatch)

    async def send(data: bytes) -> None:
        os.write(there[1], data)

    async def receive() -> bytes:
        await anyio.wait_readable(here[0])
        return os.read(here[0], 65536)

    client, result = LspClient(receive, send), {}
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            for _ in range(int(limiter.total_tokens)):
                tasks.start_soon(anyio.to_thread.run_sync, free.wait)
            while limiter.available_tokens:
                await anyio.lowlevel.checkpoint()
            tasks.start_soon(server.serve, connection)
            tasks.start_soon(client.read)
            result = await client.request("initialize", {"processId": None, "capabilities": {}})
            free.set()
            connection.close()
            tasks.cancel_scope.cancel()

    assert result["serverInfo"]["name"] == "agent-server"
    for fd in (*there, *here):
        os.close(fd)


def _never_opened(_: Any, __: Any) -> Any:
    raise AssertionError("the sessions are not needed")


async def test_names_that_python_does_not_have_arrive_as_they_were_sent() -> None:
    """13. `_meta` and the like are not renamed."""
    seen: list[Any] = []

    async def look(argument: Any) -> None:
        seen.append(argument)

    sent = {"_meta": {"x": 1}, "class": 2, "a-b": 3, "type_name": "t", "jsonrpc": "2.0"}
    wire = serving(look=look)
    wire.command(1, "look", sent)
    await wire.answer(1)

    assert seen == [sent]


async def test_a_change_of_a_document_that_is_not_open_is_no_popup() -> None:
    """12. And the next message is heard."""
    wire = serving()
    change = {"contentChanges": [{"text": "x"}]}
    wire.notify(
        "textDocument/didChange", {"textDocument": {"uri": "file:///x", "version": 2}, **change}
    )
    wire.notify("textDocument/didOpen", {"textDocument": ITEM})

    assert [m for m in wire.sent if "method" in m] == []
    assert wire.protocol.documents.at("/w/a.py") is not None


async def test_no_text_of_the_person_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """pygls logs each message whole, at INFO."""
    with caplog.at_level(logging.INFO):
        async with served(tmp_path) as world:
            await world.client.open(world.root / "a.py", "my secret text")

    assert "my secret text" not in caplog.text


def test_the_list_of_defects_names_tests_that_are_there() -> None:
    listed = re.findall(r"`(test_\w+)`", (ROOT / "docs" / "lsp.md").read_text("utf-8"))
    code = "".join(path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py"))

    assert len(listed) > 20
    assert [name for name in listed if f"def {name}(" not in code] == []
