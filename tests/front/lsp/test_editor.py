"""Edits of open documents: asked for, then believed only as far as the text shows (lsp.md §2.2, §4.3)."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from jsonschema import Draft202012Validator
from lsprotocol import types
from pygls.workspace import Workspace

from agent_server.edits.hashes import content_hash
from agent_server.edits.ports import Applied
from agent_server.edits.text.hunks import hunks
from agent_server.edits.text.positions import (
    Position,
    PositionEncoding,
    Range,
    TextEdit,
    apply_text_edits,
)
from agent_server.front.capabilities import Capabilities
from agent_server.front.lsp import editor as module
from agent_server.front.lsp.capabilities import Stock
from agent_server.front.lsp.documents import Documents
from agent_server.front.lsp.editor import LspEditor
from agent_server.front.rpc.errors import RemoteError
from agent_server.loop.model import JsonObject, SessionId
from agent_server.loop.proposal import FileChange

pytestmark = pytest.mark.anyio

PATH, URI = "/w/a.py", "file:///w/a.py"
PLUGIN = Capabilities(updates=True, own=True, edit_proposed=True, edit_apply=True, save=True)
NOTHING = Capabilities()
APPLIES = Stock(apply_edit=True)


class FakeEditor:
    """An editor with one open document; `behave` decides what it does with a request."""

    def __init__(
        self,
        text: str,
        *,
        own: Capabilities = NOTHING,
        stock: Stock = APPLIES,
        encoding: PositionEncoding = "utf-16",
    ) -> None:
        kind = types.PositionEncodingKind(encoding)
        self.documents = Documents.like(Workspace("file:///w", position_encoding=kind))
        self.documents.put_text_document(types.TextDocumentItem(URI, "python", 7, text))
        self.encoding: PositionEncoding = encoding
        self.text, self.version = text, 7
        self.asked: list[tuple[str, JsonObject]] = []
        self.behave: Callable[[str, JsonObject], object] = self.honest
        self.session, self.capabilities = SessionId("s1"), own
        self.subject = LspEditor(self, lambda: self.documents, seat=self, stock=stock)

    async def request(self, method: str, params: JsonObject) -> object:
        self.asked.append((method, params))
        answer = self.behave(method, params)
        if isinstance(answer, Exception):
            raise answer
        if answer is Ellipsis:
            await anyio.sleep_forever()
        return answer

    def honest(self, method: str, params: JsonObject) -> object:
        asked: Any = params
        edits: list[Any] = asked.get("edits") or asked["edit"]["documentChanges"][0]["edits"]
        made = [as_edit(edit) for edit in edits]
        self.becomes(apply_text_edits(self.text, made, self.encoding))
        return {"applied": True} if method == "workspace/applyEdit" else {"outcome": "applied"}

    def becomes(self, text: str) -> None:
        """The document changes, and the server is told."""
        self.text, self.version = text, self.version + 1
        self.documents.change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(self.version, URI),
                [types.TextDocumentContentChangeWholeDocument(text)],
            )
        )


def as_edit(edit: Any) -> TextEdit:
    start, end = edit["range"]["start"], edit["range"]["end"]
    return TextEdit(Range(Position(**start), Position(**end)), edit["newText"])


def change(base: str, new: str) -> FileChange:
    return FileChange(PATH, "edit", base, new, hunks(base, new), 7, content_hash(base))


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ANSWER_S", 0.05)
    monkeypatch.setattr(module, "PROOF_S", 0.05)


async def apply(editor: FakeEditor, base: str, new: str) -> module.Applied:
    with anyio.fail_after(5):
        return await editor.subject.apply(change(base, new), txn="x1", label="Agent: a.py")


async def test_a_snapshot_is_the_buffer_not_the_disk() -> None:
    editor = FakeEditor("unsaved\n")

    assert await editor.subject.snapshot(PATH) == module.Snapshot("unsaved\n", 7)
    assert await editor.subject.snapshot("/w/other.py") is None


async def test_a_stock_editor_gets_one_versioned_edit_of_the_file() -> None:
    editor = FakeEditor("one\ntwo\n")

    done = await apply(editor, "one\ntwo\n", "one\n2\n")

    assert (done.outcome, done.text, done.version) == ("applied", "one\n2\n", 8)
    [(method, params)] = editor.asked
    assert method == "workspace/applyEdit"
    assert params["edit"] == {
        "documentChanges": [
            {
                "textDocument": {"uri": URI, "version": 7},
                "edits": [
                    {
                        "range": {
                            "start": {"line": 1, "character": 0},
                            "end": {"line": 2, "character": 0},
                        },
                        "newText": "2\n",
                    }
                ],
            }
        ]
    }


async def test_a_client_with_the_plugin_is_asked_to_compare_and_apply() -> None:
    editor = FakeEditor("one\n", own=PLUGIN)

    done = await apply(editor, "one\n", "1\n")

    assert done is not None
    assert done.outcome == "applied"
    [(method, params)] = editor.asked
    assert method == "agent/edit/apply"
    assert (params["baseHash"], params["resultHash"]) == (
        content_hash("one\n"),
        content_hash("1\n"),
    )
    schema = json.loads((Path(__file__).parents[3] / "protocol/schema.json").read_text())
    shape = {"$ref": "#/$defs/ApplyEdit", "$defs": schema["$defs"]}
    Draft202012Validator(shape).validate(params)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_an_edit_at_the_end_of_an_unterminated_line_counts_in_the_negotiated_encoding(
    encoding: PositionEncoding,
) -> None:
    editor = FakeEditor('a\ns = "😋"', encoding=encoding)

    done = await apply(editor, 'a\ns = "😋"', 'a\ns = "😋😋"\n')

    assert (done.outcome, editor.text) == ("applied", 'a\ns = "😋😋"\n')


async def test_an_edit_that_was_dropped_while_applied_was_said_is_not_believed() -> None:
    editor = FakeEditor("one\n")

    def dropped(method: str, params: JsonObject) -> object:
        editor.becomes("one, and what the person typed\n")
        return {"applied": True}

    editor.behave = dropped
    done = await apply(editor, "one\n", "two\n")

    assert (done.outcome, done.text) == ("stale", "one, and what the person typed\n")


async def test_applied_without_any_change_is_unknown() -> None:
    editor = FakeEditor("one\n")
    editor.behave = lambda *_: {"applied": True}

    assert (await apply(editor, "one\n", "two\n")).outcome == "unknown"


async def test_an_edit_that_the_editor_rebased_is_unknown_not_stale() -> None:
    editor = FakeEditor("one\ntwo\n")

    def rebased(method: str, params: JsonObject) -> object:
        editor.becomes("typed\none\n2\n")
        return {"applied": True}

    editor.behave = rebased

    assert (await apply(editor, "one\ntwo\n", "one\n2\n")).outcome == "unknown"


async def test_a_change_that_arrives_after_the_answer_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "PROOF_S", 5)
    editor = FakeEditor("one\n")
    editor.behave = lambda *_: {"applied": True}

    async def later() -> None:
        while not editor.asked:
            await anyio.lowlevel.checkpoint()
        editor.becomes("two\n")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(later)

        assert (await apply(editor, "one\n", "two\n")).outcome == "applied"


async def test_the_hash_in_the_plugins_answer_is_proof() -> None:
    editor = FakeEditor("one\n", own=PLUGIN)
    editor.behave = lambda *_: {"outcome": "applied", "version": 8, "hash": content_hash("two\n")}

    done = await apply(editor, "one\n", "two\n")

    assert (done.outcome, done.text, done.version) == ("applied", "two\n", 8)


async def test_an_editor_that_formats_at_once_is_not_waited_for_and_its_text_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Our text was there, says the hash, and another one is by the time that we look (F41)."""
    monkeypatch.setattr(module, "PROOF_S", 60)
    editor = FakeEditor("one\n", own=PLUGIN)

    def formats(method: str, params: JsonObject) -> object:
        editor.honest(method, params)
        made = content_hash(editor.text)
        editor.becomes("  two\n")
        return {"outcome": "applied", "version": 8, "hash": made}

    editor.behave = formats
    done = await apply(editor, "one\n", "two\n")

    assert (done.outcome, done.text, done.version) == ("applied", "  two\n", 9)


@pytest.mark.parametrize("version", [9, None], ids=["named", "unnamed"])
async def test_an_edit_that_arrives_in_parts_is_judged_when_it_is_whole(
    monkeypatch: pytest.MonkeyPatch, version: int | None
) -> None:
    """Neovim sends the first change of a buffer at once and the others 50 ms later."""
    monkeypatch.setattr(module, "PROOF_S", 5)
    editor = FakeEditor("one\ntwo\nthree\n", own=PLUGIN)
    wanted = "1\ntwo\n3\n"

    def in_parts(method: str, params: JsonObject) -> object:
        editor.becomes("one\ntwo\n3\n")
        return {"outcome": "applied", "version": version, "hash": content_hash(wanted)}

    editor.behave = in_parts

    async def rest() -> None:
        while editor.version == 7:
            await anyio.lowlevel.checkpoint()
        await anyio.wait_all_tasks_blocked()
        editor.becomes(wanted)

    done: Applied | None = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(rest)
        done = await apply(editor, "one\ntwo\nthree\n", wanted)

    assert done is not None
    assert (done.outcome, done.text) == ("applied", wanted)


@pytest.mark.parametrize("version", [9, None], ids=["named", "unnamed"])
async def test_an_edit_of_which_only_a_part_ever_arrives_is_what_the_client_proved(
    version: int | None,
) -> None:
    editor = FakeEditor("one\ntwo\nthree\n", own=PLUGIN)

    def half(method: str, params: JsonObject) -> object:
        editor.becomes("one\ntwo\n3\n")
        proof = content_hash("1\ntwo\n3\n")
        return {"outcome": "applied", "version": version, "hash": proof}

    editor.behave = half
    done = await apply(editor, "one\ntwo\nthree\n", "1\ntwo\n3\n")

    assert (done.outcome, done.text) == ("applied", "1\ntwo\n3\n")


async def test_a_stock_editor_that_sends_an_edit_in_parts_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "PROOF_S", 5)
    editor = FakeEditor("one\ntwo\nthree\n")

    def in_parts(method: str, params: JsonObject) -> object:
        editor.becomes("one\ntwo\n3\n")
        return {"applied": True}

    editor.behave = in_parts

    async def rest() -> None:
        while editor.version == 7:
            await anyio.lowlevel.checkpoint()
        await anyio.wait_all_tasks_blocked()
        editor.becomes("1\ntwo\n3\n")

    done: Applied | None = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(rest)
        done = await apply(editor, "one\ntwo\nthree\n", "1\ntwo\n3\n")

    assert done is not None
    assert done.outcome == "applied"


async def test_a_wrong_hash_proves_nothing() -> None:
    editor = FakeEditor("one\n", own=PLUGIN)
    editor.behave = lambda *_: {"outcome": "applied", "version": 8, "hash": content_hash("x\n")}

    assert (await apply(editor, "one\n", "two\n")).outcome == "unknown"


async def test_a_refusal_carries_the_editors_reason() -> None:
    editor = FakeEditor("one\n")
    editor.behave = lambda *_: {"applied": False, "failureReason": "buffer is read-only"}

    done = await apply(editor, "one\n", "two\n")

    assert (done.outcome, done.reason) == ("declined", "buffer is read-only")


async def test_a_refusal_because_the_document_moved_is_stale() -> None:
    editor = FakeEditor("one\n")

    def moved(method: str, params: JsonObject) -> object:
        editor.becomes("three\n")
        return {"applied": False, "failureReason": "version 8, not 7"}

    editor.behave = moved
    done = await apply(editor, "one\n", "two\n")

    assert (done.outcome, done.reason, done.text) == ("stale", "version 8, not 7", "three\n")


@pytest.mark.parametrize("answer", [..., None, RemoteError(-32601, "no such method"), "nonsense"])
async def test_no_usable_answer_and_no_change_is_unknown(answer: object) -> None:
    editor = FakeEditor("one\n")
    editor.behave = lambda *_: answer

    assert (await apply(editor, "one\n", "two\n")).outcome == "unknown"


async def test_an_editor_that_never_answers_but_applies_is_believed() -> None:
    editor = FakeEditor("one\n")

    def silent(method: str, params: JsonObject) -> object:
        editor.becomes("two\n")
        return ...

    editor.behave = silent

    assert (await apply(editor, "one\n", "two\n")).outcome == "applied"


async def test_a_document_that_changed_before_is_not_touched() -> None:
    editor = FakeEditor("newer\n")

    done = await apply(editor, "one\n", "two\n")

    assert (done.outcome, done.text, editor.asked) == ("stale", "newer\n", [])


async def test_a_document_out_of_step_is_not_edited() -> None:
    editor = FakeEditor("one\n")
    document = editor.documents.at(PATH)
    assert document is not None
    document.take(3, [types.TextDocumentContentChangePartial(ZERO, "x")])

    done = await apply(editor, "one\n", "two\n")

    assert (done.outcome, editor.asked) == ("failed", [])


async def test_an_editor_that_takes_no_edits_declines() -> None:
    editor = FakeEditor("one\n", stock=Stock())

    done = await apply(editor, "one\n", "two\n")

    assert (done.outcome, editor.asked) == ("declined", [])


async def test_the_persons_own_text_is_sent_although_the_hunks_say_otherwise() -> None:
    editor = FakeEditor("one\ntwo\n")
    proposed = change("one\ntwo\n", "1\n2\n")
    edited = FileChange(PATH, "edit", "one\ntwo\n", "1\ntwo!\n", proposed.hunks)

    done = await editor.subject.apply(edited, txn="x1", label="Agent: a.py")

    assert (done.outcome, editor.text) == ("applied", "1\ntwo!\n")


async def test_a_byte_order_mark_in_the_buffer_stays() -> None:
    editor = FakeEditor("\ufeffone\n")

    done = await apply(editor, "one\n", "two\n")

    assert (done.outcome, done.text, editor.text) == ("applied", "two\n", "\ufefftwo\n")


async def test_cancelling_waits_until_the_end_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PROOF_S", 5)
    editor = FakeEditor("one\n")
    editor.behave = lambda *_: {"applied": True}
    ended: list[str] = []

    async def applying() -> None:
        ended.append((await apply(editor, "one\n", "two\n")).outcome)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(applying)
        while not editor.asked:
            await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()
        editor.becomes("two\n")

    assert ended == ["applied"]


async def test_a_save_is_asked_for_only_where_the_client_can() -> None:
    plugin, stock = FakeEditor("one\n", own=PLUGIN), FakeEditor("one\n")
    plugin.behave = lambda *_: {"saved": True}

    assert await plugin.subject.save(PATH)
    assert not await stock.subject.save(PATH)
    assert stock.asked == []


ZERO = types.Range(types.Position(0, 0), types.Position(0, 0))


@pytest.mark.parametrize(
    ("kind", "dirty", "said"),
    [
        ("notebook", True, "is open as a notebook, with unsaved changes"),
        ("notebook", False, "is open as a notebook:"),
        ("custom", True, "is open in an editor that does not show its text"),
        ("text", True, None),
        (None, False, None),
    ],
)
async def test_a_file_that_is_open_as_something_else_than_text_is_named(
    kind: str | None, dirty: bool, said: str | None
) -> None:
    fake = FakeEditor("one\n", own=Capabilities(open_files=True))
    file = {"uri": "file:///w/x.ipynb", "dirty": dirty} | ({} if kind is None else {"kind": kind})
    fake.behave = lambda method, params: {"files": [file]}

    why = await fake.subject.occupied("/w/x.ipynb")

    assert (why is None) if said is None else (why is not None and said in why)
    assert await fake.subject.occupied("/w/other.txt") is None


async def test_a_client_that_cannot_be_asked_occupies_nothing() -> None:
    fake = FakeEditor("one\n")

    assert await fake.subject.occupied("/w/x.ipynb") is None
    assert fake.asked == []
