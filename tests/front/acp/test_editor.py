"""The client's files as documents: its text is the truth, and what it did is told by content."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from agent_server.edits.ports import Applied, Editor, Snapshot
from agent_server.front.acp import editor as acp_editor
from agent_server.loop.model import JsonObject, ToolResult
from agent_server.loop.ports import CallContext
from agent_server.loop.proposal import FileChange
from tests.fakes.acp_client import FILES, NEVER, STOCK, AcpClient, Message, Refused
from tests.fakes.front import served
from tests.fakes.loop import FakeTool, Say

pytestmark = pytest.mark.anyio

READ_ONLY: dict[str, Any] = {"fs": {"readTextFile": True}}


def change(path: str, base: str | None = "old\n", new: str | None = "new\n") -> FileChange:
    return FileChange(path, "edit", base, new, ())


async def with_editor(
    home: Path,
    use: Callable[[Editor], Awaitable[Any]],
    *,
    capabilities: dict[str, Any] = FILES,
    prepare: Callable[[AcpClient], None] = lambda client: None,
) -> Any:
    """What `use` gives when a tool uses the session's editor during a turn."""
    got: list[Any] = []

    async def body(context: CallContext, arguments: JsonObject) -> ToolResult:
        got.append(await use(world.sessions.get(session).client.editor))  # pyright: ignore[reportArgumentType]
        return ToolResult(True, "used")

    steps = (Say("", (("use", "{}"),)), Say("Done."))
    async with served(
        home, *steps, tools=[FakeTool("use", body)], capabilities=capabilities
    ) as world:
        prepare(world.client)
        session = await world.client.new(str(home))
        await world.client.prompt(session, "go")
    return got[0]


async def test_a_snapshot_is_the_clients_text_unsaved_changes_included(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("on disk\n")
    found = await with_editor(
        tmp_path,
        lambda editor: editor.snapshot(str(path)),
        prepare=lambda client: client.files.update({str(path): "in the buffer\n"}),
    )
    assert found == Snapshot("in the buffer\n", None)


async def test_a_path_that_the_client_does_not_have_is_the_disks(tmp_path: Path) -> None:
    assert await with_editor(tmp_path, lambda editor: editor.snapshot("/w/none.py")) is None


async def test_a_client_without_files_is_never_asked(tmp_path: Path) -> None:
    """Rule 33; the oracle would object to the request."""
    found = await with_editor(
        tmp_path, lambda editor: editor.snapshot("/w/a.py"), capabilities=STOCK
    )
    assert found is None


async def test_a_client_that_does_not_know_what_it_advertised_is_asked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Message] = []

    def unknown(client: AcpClient, message: Message) -> Any:
        asked.append(message)
        raise Refused({"code": -32601, "message": "unknown method"})

    async def twice(editor: Editor) -> list[Snapshot | None]:
        return [await editor.snapshot("/w/a.py"), await editor.snapshot("/w/b.py")]

    monkeypatch.setattr(AcpClient, "_result", unknown)
    assert await with_editor(tmp_path, twice) == [None, None]
    assert len(asked) == 1


async def test_a_missing_file_shown_as_empty_is_missing(tmp_path: Path) -> None:
    path = str(tmp_path / "missing.py")
    found = await with_editor(
        tmp_path,
        lambda editor: editor.snapshot(path),
        prepare=lambda client: client.files.update({path: ""}),
    )
    assert found is None


async def test_a_text_that_the_client_could_not_decode_is_the_disks(tmp_path: Path) -> None:
    found = await with_editor(
        tmp_path,
        lambda editor: editor.snapshot("/w/latin.txt"),
        prepare=lambda client: client.files.update({"/w/latin.txt": "caf\ufffd\n"}),
    )
    assert found is None


@pytest.mark.parametrize(
    ("buffer", "expected"),
    [("one\ntwo\n", None), ("one\nTWO\n", Snapshot("one\nTWO\n", None))],
)
async def test_a_client_that_only_reads_owns_just_its_unsaved_texts(
    tmp_path: Path, buffer: str, expected: Snapshot | None
) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"one\r\ntwo\r\n")
    found = await with_editor(
        tmp_path,
        lambda editor: editor.snapshot(str(path)),
        capabilities=READ_ONLY,
        prepare=lambda client: client.files.update({str(path): buffer}),
    )
    assert found == expected


async def test_an_edit_is_written_and_seen_to_be_there(tmp_path: Path) -> None:
    applied = await with_editor(
        tmp_path,
        lambda editor: editor.apply(change("/w/a.py"), txn="x1", label="edit"),
        prepare=lambda client: client.files.update({"/w/a.py": "old\n"}),
    )
    assert applied == Applied("applied", "new\n")


async def test_a_document_that_moved_on_is_left_alone(tmp_path: Path) -> None:
    written: list[Message] = []
    applied = await with_editor(
        tmp_path,
        lambda editor: editor.apply(change("/w/a.py"), txn="x1", label="edit"),
        prepare=lambda client: (
            client.files.update({"/w/a.py": "typed meanwhile\n"}),
            setattr(client, "write", lambda c, m: written.append(m)),
        )[0],
    )
    assert applied == Applied("stale", "typed meanwhile\n")
    assert written == []


def lies(client: AcpClient, message: Message) -> Any:
    return None


def refuses(client: AcpClient, message: Message) -> Any:
    raise Refused({"code": -32603, "message": "read-only file system"})


def garbles(client: AcpClient, message: Message) -> Any:
    client.files[message["params"]["path"]] = "formatted otherwise\n"


def writes_and_fails(client: AcpClient, message: Message) -> Any:
    client.files[message["params"]["path"]] = message["params"]["content"]
    raise Refused({"code": -32603, "message": "hook failed"})


def writes_silently(client: AcpClient, message: Message) -> Any:
    client.files[message["params"]["path"]] = message["params"]["content"]
    return NEVER


@pytest.mark.parametrize(
    ("write", "outcome"),
    [
        (lies, "failed"),
        (refuses, "failed"),
        (garbles, "unknown"),
        (writes_and_fails, "applied"),
        (writes_silently, "applied"),
    ],
)
async def test_what_a_client_says_proves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Any, outcome: str
) -> None:
    monkeypatch.setattr(acp_editor, "PROOF_S", 0.1)
    monkeypatch.setattr(acp_editor, "WRITE_S", 0.1)

    def prepare(client: AcpClient) -> None:
        client.files["/w/a.py"] = "old\n"
        client.write = write

    applied = await with_editor(
        tmp_path,
        lambda editor: editor.apply(change("/w/a.py"), txn="x1", label="edit"),
        prepare=prepare,
    )
    assert applied.outcome == outcome


async def test_a_client_that_cannot_write_declines(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("saved\n")
    applied = await with_editor(
        tmp_path,
        lambda editor: editor.apply(change(str(path), "unsaved\n"), txn="x1", label="edit"),
        capabilities=READ_ONLY,
        prepare=lambda client: client.files.update({str(path): "unsaved\n"}),
    )
    assert applied.outcome == "declined"
