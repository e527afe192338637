"""`agent-server lsp` as a process: bytes on pipes, its end, and what it does to a client that misbehaves."""

import json
import os
import select
import sys
from pathlib import Path
from subprocess import PIPE
from typing import Any

import anyio
import pytest

from tests.front.lsp.lsp_client import PLUGIN, STOCK, LspClient, framed, prompt_params
from tests.front.lsp.lsp_process import PROGRAM, Running, edit_step, environment, running, script
from tests.waiting import wait_until_async

pytestmark = pytest.mark.anyio


def body(message_id: int, method: str, params: Any) -> bytes:
    return json.dumps(
        {"jsonrpc": "2.0", "id": message_id, "method": method, "params": params}
    ).encode()


def hello(**more: Any) -> dict[str, Any]:
    return {"processId": None, "rootUri": None, "capabilities": {}, **more}


async def test_the_clients_configuration_decides_how_the_next_session_begins(
    tmp_path: Path,
) -> None:
    section = {"mode": "plan"}
    answers: dict[str, Any] = {"workspace/configuration": lambda *_: [section]}
    asked = {"workspace": {"configuration": True}}
    async with running(tmp_path, capabilities=asked, answers=answers) as server:

        async def mode() -> str:
            new = {"uri": server.root.as_uri(), "mcpServers": []}
            begun = await server.client.request("agent/session/new", new)
            return begun["modes"]["currentModeId"]

        await server.client.initialize(server.root)
        first = await mode()
        section = {"mode": "accept_edits"}
        await server.client.notify("workspace/didChangeConfiguration", {"settings": None})
        while await mode() != "accept_edits":
            pass

        assert first == "plan"


def is_full(fd: int) -> bool:
    """Whether a pipe takes nothing more, seen from its writing end."""
    return not select.select([], [fd], [], 0)[1]


async def nothing() -> bytes:
    """Nobody reads."""
    return b""


async def prompted(server: Running) -> int:
    """A turn that has begun; the prompt's id."""
    session = await server.client.new(server.root)
    return await server.client.ask("agent/session/prompt", prompt_params(session, "go"))


@pytest.mark.parametrize(
    "header",
    [
        b"content-length: %d\r\n\r\n",
        b"Content-Length:%d\n\n",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %d\r\n\r\n",
    ],
)
async def test_headers_are_read_as_clients_write_them(tmp_path: Path, header: bytes) -> None:
    async with running(tmp_path) as server:
        message = body(1, "initialize", hello())
        await server.client.send(header % len(message) + message)

        assert (await server.client.response(1))["serverInfo"]["name"] == "agent-server"


async def test_a_message_may_come_byte_by_byte(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        for byte in framed(body(1, "initialize", hello())):
            await server.client.send(bytes([byte]))

        assert "capabilities" in await server.client.response(1)


async def test_a_wrong_header_is_answered_and_the_next_message_is_heard(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        await server.client.send(b"Content-Size: 5\r\n\r\nhello")
        await server.client.send(framed(body(1, "initialize", hello())))

        assert "capabilities" in await server.client.response(1)
        assert [m["error"]["code"] for m in server.client.received if "error" in m] == [-32700]


async def test_shutdown_and_exit_end_it_with_0(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        await server.client.initialize(server.root)
        await server.client.request("shutdown", None)
        await server.client.notify("exit")

        assert await server.exited() == 0


async def test_exit_alone_ends_it_with_1(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        await server.client.initialize(server.root)
        await server.client.notify("exit")

        assert await server.exited() == 1


@pytest.mark.parametrize("begun", [False, True])
async def test_the_end_of_input_ends_it(tmp_path: Path, begun: bool) -> None:
    async with running(tmp_path) as server:
        if begun:
            await server.client.initialize(server.root)
        assert server.process.stdin is not None
        await server.process.stdin.aclose()

        assert await server.exited() == 0


async def test_the_end_of_input_ends_it_in_the_middle_of_a_turn(tmp_path: Path) -> None:
    async with running(tmp_path, {"text": "I think", "hang": True}) as server:
        await server.client.initialize(server.root)
        turn = await prompted(server)
        await server.client.hears("agent/session/update")
        assert server.process.stdin is not None
        await server.process.stdin.aclose()

        assert (await server.client.response(turn))["stopReason"] == "cancelled"
        assert await server.exited() == 0


async def test_a_client_that_stops_reading_cannot_keep_it_alive(tmp_path: Path) -> None:
    """Its pipe is full, and much more waits to be written, when the input ends."""
    unread, written = os.pipe()
    model = script(tmp_path, [{"text": "x" * 3_000_000, "chunk": 3_000}])
    process = await anyio.open_process(
        [PROGRAM, "lsp", "--model", model], stdin=PIPE, stdout=written, env=environment(tmp_path)
    )
    assert process.stdin is not None
    client = LspClient(nothing, process.stdin.send)
    root = tmp_path.as_uri()
    with anyio.fail_after(60):
        async with process:
            await client.ask("initialize", hello(capabilities=PLUGIN, rootUri=root))
            await client.notify("initialized", {})
            command = {"command": "agent.prompt", "arguments": ["go"]}
            await client.ask("workspace/executeCommand", command)
            await wait_until_async(lambda: is_full(written))
            await process.stdin.aclose()

            assert await process.wait() == 0
    os.close(written)
    os.close(unread)


async def test_it_ends_when_the_editor_it_was_told_of_is_gone(tmp_path: Path) -> None:
    """Its input stays open: in the hands of a child of the editor, say."""
    editor = await anyio.open_process([sys.executable, "-c", "input()"])
    async with editor, running(tmp_path) as server:
        await server.client.initialize(server.root, processId=editor.pid)
        await server.client.request("agent/session/list", {})
        editor.kill()
        await editor.wait()

        assert await server.exited() == 0


async def test_an_editor_whose_process_is_unknown_here_is_not_taken_for_dead(
    tmp_path: Path,
) -> None:
    """It may live outside our container."""
    gone = await anyio.open_process([sys.executable, "-c", ""])
    async with gone:
        await gone.wait()
        async with running(tmp_path) as server:
            await server.client.initialize(server.root, processId=gone.pid)
            for _ in range(3):
                await server.client.request("agent/session/list", {})

            assert server.process.returncode is None


async def test_an_unsaved_buffer_is_what_the_agent_edits(tmp_path: Path) -> None:
    async with running(
        tmp_path, edit_step("a.py", "unsaved", "edited"), {"text": "Done."}, capabilities=STOCK
    ) as server:
        path = server.root / "a.py"
        path.write_text("on disk\n")
        before = path.stat().st_mtime_ns
        await server.client.initialize(server.root)
        uri = await server.client.open(path, "unsaved\n")
        await server.client.command("agent.prompt", "go")
        shown = await server.client.hears("window/showMessage")

        assert (shown["message"], server.client.buffers[uri][1]) == ("Done.", "edited\n")
        assert (path.read_text(), path.stat().st_mtime_ns) == ("on disk\n", before)
