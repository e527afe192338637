"""The handshake, bad messages and the end, over the real connection in memory (LSP 3.17; lsp.md §1.3)."""

import json
import sys
from pathlib import Path

import anyio
import pytest

from agent_server.front.lsp.names import COMMANDS, FEATURES, METHODS, NOTIFICATIONS, SETTLES_CANCEL
from agent_server.front.methods import dispatch
from agent_server.front.protocol import catalogue
from agent_server.front.vocabulary import Vocabulary
from agent_server.loop.errors import StoreFailure
from tests.fakes.loop import Say
from tests.front.lsp.lsp_client import Refused, framed
from tests.front.lsp.world import World, served

pytestmark = pytest.mark.anyio


def hello(root: Path) -> dict[str, object]:
    return {"processId": None, "rootUri": root.as_uri(), "capabilities": {}}


async def code_of(world: World, method: str, params: object) -> int:
    with pytest.raises(Refused) as refused:
        await world.client.request(method, params)
    assert "Traceback" not in json.dumps(refused.value.data)
    return refused.value.code


async def test_the_answer_to_initialize_says_what_is_served(tmp_path: Path) -> None:
    async with served(tmp_path, initialize=False) as world:
        result = await world.client.initialize(world.root)

    capabilities = result["capabilities"]
    assert result["serverInfo"]["name"] == "agent-server"
    assert capabilities["positionEncoding"] == "utf-16"
    assert capabilities["textDocumentSync"]["change"] == 2
    assert capabilities["executeCommandProvider"]["commands"] == list(COMMANDS)
    assert capabilities["experimental"]["agent"] == {
        "version": 1,
        "methods": [*METHODS, *NOTIFICATIONS],
        "commands": list(COMMANDS),
    }


def test_what_is_advertised_is_the_table() -> None:
    def never() -> object:
        raise AssertionError

    table = dispatch(never, Vocabulary.LSP)  # pyright: ignore[reportArgumentType]

    assert set(METHODS) == set(table.requests)
    assert set(NOTIFICATIONS) == set(table.notifications)
    assert table.settles_cancel == SETTLES_CANCEL
    assert list(COMMANDS) == [command.name for command in catalogue.COMMANDS]


async def test_what_is_handled_of_lsp_is_what_the_agent_serves(tmp_path: Path) -> None:
    async with served(tmp_path) as world:
        await world.client.request("agent/session/list", {})
        service = world.server._service

        assert service is not None
        assert set(service.features) == set(FEATURES)
        assert set(service.commands) == set(COMMANDS)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_the_clients_encoding_is_taken(tmp_path: Path, encoding: str) -> None:
    async with served(tmp_path, initialize=False, encoding=encoding) as world:
        result = await world.client.initialize(world.root)

    assert result["capabilities"]["positionEncoding"] == encoding


@pytest.mark.parametrize("method", ["agent/session/list", "workspace/executeCommand", "x/unknown"])
async def test_a_request_before_initialize_is_refused(tmp_path: Path, method: str) -> None:
    async with served(tmp_path, initialize=False) as world:
        assert await code_of(world, method, {}) == -32002


@pytest.mark.parametrize("method", ["agent/session/list", "workspace/executeCommand", "shutdown"])
async def test_a_request_after_shutdown_is_refused(tmp_path: Path, method: str) -> None:
    async with served(tmp_path) as world:
        assert await world.client.request("shutdown", None) is None
        assert await code_of(world, method, {}) == -32600


@pytest.mark.parametrize("method", ["agent/session/list", "workspace/executeCommand"])
async def test_both_protocols_give_the_same_reason(tmp_path: Path, method: str) -> None:
    async with served(tmp_path, initialize=False) as world:
        with pytest.raises(Refused) as refused:
            await world.client.request(method, {})

    assert (refused.value.data or {})["reason"] == "not_initialized"


async def test_a_second_initialize_is_refused(tmp_path: Path) -> None:
    async with served(tmp_path) as world:
        assert await code_of(world, "initialize", hello(world.root)) == -32600


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("textDocument/hover", {"textDocument": 5}, -32601),
        ("workspace/executeCommand", {}, -32602),
        ("workspace/executeCommand", {"command": "agent.cancel", "arguments": 5}, -32602),
        ("workspace/executeCommand", {"command": "agent.nothing"}, -32602),
        ("workspace/executeCommand", {"command": "agent.prompt", "arguments": [5]}, -32602),
        ("workspace/executeCommand", {"command": "agent.setMode", "arguments": [{}]}, -32602),
        ("agent/session/prompt", {"sessionId": 5}, -32602),
        ("agent/session/prompt", {"sessionId": "nobody", "prompt": []}, -32602),
        ("agent/edit/resolve", {"txn": "x"}, -32602),
        ("agent/nothing", {}, -32601),
        ("textDocument/didOpen", {}, -32601),
    ],
)
async def test_a_bad_request_is_answered_and_the_next_one_works(
    tmp_path: Path, method: str, params: object, code: int
) -> None:
    async with served(tmp_path) as world:
        assert await code_of(world, method, params) == code
        assert await world.client.request("agent/session/list", {}) == {"sessions": []}


async def test_a_bad_notification_is_ignored_without_a_popup(tmp_path: Path) -> None:
    async with served(tmp_path) as world:
        await world.client.notify("textDocument/didOpen", {"textDocument": 5})
        await world.client.notify("textDocument/didChange", {"nonsense": True})
        await world.client.notify("$/unknown", {})
        await world.client.notify("x/unknown", {})
        await world.client.request("agent/session/list", {})

        assert world.client.of("window/showMessage") == []


async def test_nested_objects_that_look_like_messages_stay_objects(tmp_path: Path) -> None:
    async with served(tmp_path) as world:
        inner = {"jsonrpc": "2.0", "method": "initialize", "id": 1, "params": {}}

        assert await world.client.command("agent.cancel", {"message": inner}) is None


async def test_rubbish_is_answered_and_the_next_request_works(tmp_path: Path) -> None:
    async with served(tmp_path) as world:
        await world.client.send(framed(b'{"jsonrpc": "2.0", "id": '))
        await world.client.send(framed(b'{"jsonrpc": "2.0", "id": 1.5, "method": "x"}'))

        assert (await world.client.until(lambda m: m.get("error", {}).get("code") == -32700))[
            "id"
        ] is None
        assert await world.client.request("agent/session/list", {}) == {"sessions": []}


async def test_exit_after_shutdown_is_0(tmp_path: Path) -> None:
    async with served(tmp_path) as world:
        await world.client.request("shutdown", None)
        await world.client.notify("exit")
        await world.ended.wait()

        assert world.exit_codes == [0]


async def test_exit_without_shutdown_is_1(tmp_path: Path) -> None:
    async with served(tmp_path) as world:
        await world.client.notify("exit")
        await world.ended.wait()

        assert world.exit_codes == [1]


async def test_shutdown_and_exit_in_one_packet_are_both_heard(tmp_path: Path) -> None:
    async with served(tmp_path) as world:
        await world.client.tell({"id": 99, "method": "shutdown"}, {"method": "exit"})
        assert await world.client.response(99) is None
        await world.ended.wait()

        assert world.exit_codes == [0]


async def test_the_end_of_input_ends_it(tmp_path: Path) -> None:
    async with served(tmp_path) as world:
        assert await world.hang_up() == 0


async def test_a_cancelled_request_is_answered_once(tmp_path: Path) -> None:
    async with served(tmp_path) as world:
        list_it = {"method": "agent/session/list", "params": {}}
        cancels = [{"method": "$/cancelRequest", "params": {"id": n}} for n in range(100, 130)]
        await world.client.tell(*({"id": n, **list_it} for n in range(100, 130)), *cancels)
        await world.client.request("agent/session/list", {})

        answers = [m for m in world.client.received if m.get("id") in range(100, 130)]
        assert [m["error"]["code"] for m in answers] == [-32800] * 30


async def test_a_command_that_waits_for_the_agent_to_start_can_be_cancelled(tmp_path: Path) -> None:
    async with served(tmp_path, opening=anyio.Event()) as world:
        params = {"command": "agent.prompt", "arguments": ["hi"]}
        waiting = await world.client.ask("workspace/executeCommand", params)
        await world.client.notify("$/cancelRequest", {"id": waiting})

        with pytest.raises(Refused) as refused:
            await world.client.response(waiting)
        assert refused.value.code == -32800


async def test_what_comes_before_the_agent_has_started_is_answered_once_it_has(
    tmp_path: Path,
) -> None:
    opening = anyio.Event()
    async with served(tmp_path, Say("hello"), opening=opening) as world:
        made = await world.client.ask("agent/session/new", {"uri": world.root.as_uri()})
        opening.set()
        session = (await world.client.response(made))["sessionId"]

        assert (await world.client.prompt(session, "hi"))["stopReason"] == "end_turn"


async def test_the_clients_options_open_the_sessions(tmp_path: Path) -> None:
    async with served(tmp_path, initialize=False) as world:
        options = {"agent": {"model": "scripted:x"}}
        await world.client.initialize(world.root, initializationOptions=options)
        await world.client.request("agent/session/list", {})

        assert world.options == [{"model": "scripted:x"}]


async def test_an_agent_that_cannot_start_says_so_and_stays_a_language_server(
    tmp_path: Path,
) -> None:
    async with served(tmp_path, failing=StoreFailure("no disk")) as world:
        assert await code_of(world, "agent/session/list", {}) == -32603
        assert (
            await code_of(world, "workspace/executeCommand", {"command": "agent.cancel"}) == -32603
        )
        assert await world.client.request("shutdown", None) is None


def test_nothing_of_the_engine_is_imported_to_answer_initialize() -> None:
    """A list of modules, not a time: what the server imports is what the editor waits for (spec §11)."""
    import subprocess

    code = "import agent_server.front.lsp.server, agent_server.front.lsp.endpoint, sys; print('\\n'.join(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    ).stdout.split()

    late = ("pydantic", "sqlite3", "httpx2", "litellm", "rich", "agent_server.session.sessions")
    assert [name for name in late if name in loaded] == []
