"""Conversations held by a client we did not write: pytest-lsp, on pygls' own client code.

It has no document model, so the test keeps the buffer. Runs on pytest-asyncio, which pytest-lsp brings; the rest of the
suite runs on anyio's plugin.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from pathlib import Path
from typing import Any, TypeVar

import pytest
import pytest_asyncio
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities, make_test_lsp_client

from tests.front.lsp.lsp_process import PROGRAM, Step, edit_step, environment, script

pytestmark = pytest.mark.asyncio

T = TypeVar("T")
OLD, NEW = "print('hi')\n", "print('hello')\n"
EDIT, DONE = edit_step("a.py", "'hi'", "'hello'"), {"text": "Done.", "chunk": 2}
THINKING: Step = {"text": "thinking", "hang": True}
PLUGIN = {"agent": {"version": 1, "sessionUpdate": True, "edit": {"proposed": True}}}

OURS = ("agent/session/update", "agent/status", "agent/edit/proposed", "agent/edit/state")


class Editor:
    """pytest-lsp's client, with one buffer and a queue for each kind of message of ours."""

    def __init__(self, client: LanguageClient, root: Path) -> None:
        self.client = client
        self.path = root / "a.py"
        self.uri = self.path.as_uri()
        self.text, self.version = OLD, 1
        self.drops_edits = False
        self.heard: dict[str, asyncio.Queue[Any]] = {}
        for method in OURS:
            self.heard[method] = asyncio.Queue()
            self._hear(method)

        # pygls marks what it registers, which a bound method does not allow.
        client.feature(types.WORKSPACE_APPLY_EDIT)(lambda params: self.apply(params))

    def _hear(self, method: str) -> None:
        self.client.feature(method)(lambda params: self.heard[method].put_nowait(params))

    async def begin(self, *, plugin: bool = True) -> str:
        """Initialize as a current editor, open the buffer, make a session."""
        capabilities = client_capabilities("visual-studio-code")
        capabilities.experimental = PLUGIN if plugin else None
        root = self.path.parent.as_uri()
        params = types.InitializeParams(capabilities=capabilities, root_uri=root, process_id=None)
        await within(self.client.initialize_session(params))
        item = types.TextDocumentItem(self.uri, "python", self.version, self.text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        new = {"uri": root, "mcpServers": []}
        return (await self.ask("agent/session/new", new)).sessionId

    def prompt(self, session: str, message_id: str = "p1") -> Awaitable[Any]:
        """Start a turn."""
        params = {"sessionId": session, "prompt": [{"type": "text", "text": "go"}]}
        send = self.client.protocol.send_request_async
        return send("agent/session/prompt", params, msg_id=message_id)

    async def ask(self, method: str, params: Any) -> Any:
        """The result of a request."""
        return await within(self.client.protocol.send_request_async(method, params))

    async def next(self, method: str) -> Any:
        """The next notification of that method."""
        return await within(self.heard[method].get())

    def apply(self, params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        """Say yes, and mean it unless edits are dropped."""
        [change] = params.edit.document_changes or []
        assert isinstance(change, types.TextDocumentEdit)
        assert change.text_document.version == self.version
        self.become("typed meanwhile\n" if self.drops_edits else NEW)
        return types.ApplyWorkspaceEditResult(applied=True)

    def become(self, text: str) -> None:
        """The buffer changes, and the server is told."""
        self.text, self.version = text, self.version + 1
        document = types.VersionedTextDocumentIdentifier(self.version, self.uri)
        changes = [types.TextDocumentContentChangeWholeDocument(text)]
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, changes))


async def within(waited: Awaitable[T]) -> T:
    """pytest-lsp has no timeouts."""
    async with asyncio.timeout(60):
        return await waited


@pytest_asyncio.fixture
async def editor(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Editor]:
    """A client of a server whose model replays the steps that the test is parametrized with."""
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "a.py").write_text("on disk\n")
    command = [PROGRAM, "lsp", "--model", script(tmp_path, request.param)]
    config = ClientServerConfig(command, make_test_lsp_client, environment(tmp_path))
    client = await config.start()
    assert isinstance(client, LanguageClient)
    yield Editor(client, tmp_path / "w")
    await within(client.shutdown_session())
    await within(client.stop())


@pytest.mark.parametrize("editor", [(DONE,)], indirect=True, ids=["editor"])
async def test_a_prompt_streams_and_ends(editor: Editor) -> None:
    session = await editor.begin()
    result = await within(editor.prompt(session))

    updates = [editor.heard["agent/session/update"].get_nowait() for _ in range(3)]
    assert [u.seq for u in updates] == [1, 2, 3]
    assert result.stopReason == "end_turn"


@pytest.mark.parametrize(
    "editor",
    [
        (
            EDIT,
            DONE,
        )
    ],
    indirect=True,
    ids=["editor"],
)
async def test_a_proposal_is_accepted_and_the_unsaved_buffer_edited(editor: Editor) -> None:
    session = await editor.begin()
    turn = asyncio.ensure_future(editor.prompt(session))
    proposed = await editor.next("agent/edit/proposed")
    assert proposed.files[0].baseText == OLD
    decisions = [{"uri": proposed.files[0].uri, "verdict": "accept"}]
    params = {"txn": proposed.txn, "revision": proposed.revision, "decisions": decisions}
    answer = await editor.ask("agent/edit/resolve", params)

    assert (answer.state, (await within(turn)).stopReason) == ("approved", "end_turn")
    assert (editor.text, editor.path.read_text()) == (NEW, "on disk\n")


@pytest.mark.parametrize(
    "editor",
    [
        (
            EDIT,
            DONE,
        )
    ],
    indirect=True,
    ids=["editor"],
)
async def test_a_stale_applied_true_is_caught(editor: Editor) -> None:
    editor.drops_edits = True
    session = await editor.begin()
    turn = asyncio.ensure_future(editor.prompt(session))
    proposed = await editor.next("agent/edit/proposed")
    params = {
        "txn": proposed.txn,
        "revision": proposed.revision,
        "decisions": [{"verdict": "accept"}],
    }
    await editor.ask("agent/edit/resolve", params)
    await within(turn)

    states = [editor.heard["agent/edit/state"].get_nowait().state for _ in range(_size(editor))]
    assert "applied" not in states
    assert (editor.text, editor.path.read_text()) == ("typed meanwhile\n", "on disk\n")


@pytest.mark.parametrize(
    "editor",
    [
        (
            THINKING,
            DONE,
        )
    ],
    indirect=True,
    ids=["editor"],
)
@pytest.mark.parametrize("how", ["agent/session/cancel", "$/cancelRequest"])
async def test_a_turn_is_cancelled_and_the_next_one_works(editor: Editor, how: str) -> None:
    session = await editor.begin()
    turn = asyncio.ensure_future(editor.prompt(session, "p1"))
    while (await editor.next("agent/session/update")).update.sessionUpdate != "agent_message_chunk":
        pass
    own = how == "agent/session/cancel"
    params = {"sessionId": session} if own else types.CancelParams("p1")
    editor.client.protocol.notify(how, params)

    assert (await within(turn)).stopReason == "cancelled"
    assert (await within(editor.prompt(session, "p2"))).stopReason == "end_turn"


@pytest.mark.parametrize("editor", [(DONE,)], indirect=True, ids=["editor"])
async def test_a_stock_editor_prompts_by_command_and_is_shown_the_answer(editor: Editor) -> None:
    await editor.begin(plugin=False)
    shown = editor.client.protocol.wait_for_notification_async(types.WINDOW_SHOW_MESSAGE)
    command = types.ExecuteCommandParams("agent.prompt", ["hi"])
    await within(editor.client.workspace_execute_command_async(command))

    assert (await within(shown)).message == "Done."


def _size(editor: Editor) -> int:
    return editor.heard["agent/edit/state"].qsize()
