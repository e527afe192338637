"""Applying: every file or none, believed only when seen (ED-12, 13, 15, 17, 18, 27)."""

import os
from collections.abc import Callable
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from agent_server.edits import disk, step
from agent_server.edits.apply import Terms, apply
from agent_server.edits.documents import Documents
from agent_server.edits.outcome import FileOutcome
from agent_server.edits.ports import Applied, Editor, NoEditor, Outcome
from agent_server.edits.proposal import (
    new_proposal,
    propose_create,
    propose_delete,
    propose_edit,
    propose_rename,
)
from agent_server.edits.text.match import Replacement
from agent_server.loop.errors import EditRefused
from agent_server.loop.proposal import (
    FileChange,
    FileDecision,
    Proposal,
    Resolution,
    accept_all,
)
from tests.edits.editors import (
    BoastingEditor,
    ClosingEditor,
    DecliningEditor,
    FormattingEditor,
    HalfEditor,
    HonestEditor,
    LateButDoneEditor,
    LateEditor,
    LyingEditor,
    OpeningEditor,
)

pytestmark = pytest.mark.anyio
BACK = Terms("undo", author="person")
BASE = "".join(f"line {n}\n" for n in range(10))


def documents(editor: Editor | None = None) -> Documents:
    chosen = editor or NoEditor()
    return Documents(lambda: chosen)


async def edit(docs: Documents, path: Path, *words: str) -> FileChange:
    """`line 5` becomes `five`, and so on."""
    numbers = {"zero": 0, "two": 2, "five": 5, "eight": 8}
    return await propose_edit(
        docs, str(path), [Replacement(f"line {numbers[w]}\n", f"{w}\n") for w in words]
    )


async def run(
    docs: Documents,
    proposal: Proposal,
    resolution: Resolution | None = None,
    terms: Terms = Terms("Agent: a.py"),  # noqa: B008  frozen
) -> tuple[FileOutcome, ...]:
    with anyio.fail_after(5):
        return await apply(docs, proposal, resolution or accept_all(proposal), terms)


def fingerprint(path: Path) -> tuple[bytes, int, int]:
    status = path.stat()
    return path.read_bytes(), status.st_mode, status.st_mtime_ns


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def file(tmp_path: Path, name: str = "a.py", text: str = BASE) -> Path:
    path = tmp_path / name
    path.write_text(text, newline="")
    return path


# ---- on disk -----------------------------------------------------------------------------------------------


async def test_an_accepted_edit_is_on_disk(tmp_path: Path) -> None:
    path, docs = file(tmp_path), documents()
    change = await edit(docs, path, "five")
    assert await run(docs, new_proposal(change)) == (FileOutcome(str(path), "applied", change),)
    assert path.read_text() == BASE.replace("line 5", "five")


async def test_only_accepted_hunks_are_applied_and_reported(tmp_path: Path) -> None:
    path, docs = file(tmp_path), documents()
    change = await edit(docs, path, "two", "five", "eight")
    two, _, eight = change.hunks
    taken = Resolution((FileDecision(str(path), frozenset({two.id, eight.id})),))
    (outcome,) = await run(docs, new_proposal(change), taken)
    assert outcome.change is not None
    assert outcome.change.hunks == (two, eight)
    assert path.read_text() == BASE.replace("line 2", "two").replace("line 8", "eight")


async def test_the_text_as_the_person_edited_it_is_applied_and_reported(tmp_path: Path) -> None:
    path, docs = file(tmp_path), documents()
    change = await edit(docs, path, "five")
    mine = BASE.replace("line 5", "my own five")
    (outcome,) = await run(
        docs, new_proposal(change), Resolution((FileDecision(str(path), frozenset(), mine),))
    )
    assert outcome.change is not None
    assert (path.read_text(), outcome.change.new_text) == (mine, mine)
    assert outcome.change.hunks[0].added == ("my own five\n",)


async def test_a_rejected_edit_leaves_bytes_mode_and_mtime(tmp_path: Path) -> None:
    path, docs = file(tmp_path), documents()
    before = fingerprint(path)
    (outcome,) = await run(docs, new_proposal(await edit(docs, path, "five")), Resolution(()))
    assert (outcome.state, outcome.change, fingerprint(path)) == ("declined", None, before)


async def test_a_change_of_somebody_else_elsewhere_is_kept(tmp_path: Path) -> None:
    path, docs = file(tmp_path), documents()
    change = await edit(docs, path, "five")
    path.write_text("top\n" + BASE)
    (outcome,) = await run(docs, new_proposal(change))
    assert outcome.change is not None
    assert path.read_text() == "top\n" + BASE.replace("line 5", "five")
    assert [(h.id, h.start) for h in outcome.change.hunks] == [(change.hunks[0].id, 6)]


async def test_a_change_of_somebody_else_in_the_same_place_is_a_conflict(tmp_path: Path) -> None:
    path, docs = file(tmp_path), documents()
    change = await edit(docs, path, "five")
    path.write_text(BASE.replace("line 5", "FIVE"))
    before = fingerprint(path)
    (outcome,) = await run(docs, new_proposal(change))
    assert (outcome.state, fingerprint(path)) == ("conflict", before)
    assert "line 6 of the text it was made for" in (outcome.message or "")


async def test_a_file_that_was_deleted_meanwhile_is_not_brought_back(tmp_path: Path) -> None:
    path, docs = file(tmp_path), documents()
    change = await edit(docs, path, "five")
    path.unlink()
    (outcome,) = await run(docs, new_proposal(change))
    assert (outcome.state, path.exists()) == ("conflict", False)


async def test_what_somebody_else_did_already_counts_as_applied(tmp_path: Path) -> None:
    path, docs = file(tmp_path), documents()
    change = await edit(docs, path, "five")
    path.write_text(BASE.replace("line 5", "five"))
    before = fingerprint(path)
    (outcome,) = await run(docs, new_proposal(change))
    assert (outcome.state, fingerprint(path)) == ("applied", before)
    assert outcome.change is not None
    assert outcome.change.hunks == ()


async def test_a_change_at_the_last_moment_is_caught_and_rebased(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, docs = file(tmp_path), documents()
    change = await edit(docs, path, "five")
    dress = disk._dress

    def late(*arguments: object) -> None:
        monkeypatch.setattr(disk, "_dress", dress)
        path.write_text("top\n" + BASE)

    monkeypatch.setattr(disk, "_dress", late)
    (outcome,) = await run(docs, new_proposal(change))
    assert (outcome.state, path.read_text()) == (
        "applied",
        "top\n" + BASE.replace("line 5", "five"),
    )


async def test_a_new_file_is_created_with_its_folders(tmp_path: Path) -> None:
    docs, path = documents(), tmp_path / "x" / "y" / "new.py"
    (outcome,) = await run(docs, new_proposal(await propose_create(docs, str(path), "hi\n")))
    assert (outcome.state, path.read_text()) == ("applied", "hi\n")


async def test_an_empty_new_file_is_created_though_it_has_no_hunks(tmp_path: Path) -> None:
    docs, path = documents(), tmp_path / "__init__.py"
    await run(docs, new_proposal(await propose_create(docs, str(path), "")))
    assert path.read_bytes() == b""


async def test_a_file_that_appeared_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    docs, path = documents(), tmp_path / "new.py"
    change = await propose_create(docs, str(path), "ours\n")
    path.write_text("theirs\n")
    (outcome,) = await run(docs, new_proposal(change))
    assert (outcome.state, path.read_text()) == ("conflict", "theirs\n")


async def test_a_file_is_deleted_only_as_it_was_shown(tmp_path: Path) -> None:
    docs, path = documents(), file(tmp_path)
    change = await propose_delete(docs, str(path))
    path.write_text("changed\n")
    (kept,) = await run(docs, new_proposal(change))
    (gone,) = await run(docs, new_proposal(await propose_delete(docs, str(path))))
    assert (kept.state, gone.state, path.exists()) == ("conflict", "applied", False)


async def test_a_file_is_renamed_and_edited_on_the_way(tmp_path: Path) -> None:
    docs, path, new = documents(), file(tmp_path), tmp_path / "d" / "b.py"
    path.chmod(0o755)
    change = await propose_rename(
        docs, str(path), str(new),
        changed=await propose_edit(docs, str(path), [Replacement("line 5", "five")]),
    )  # fmt: skip
    (outcome,) = await run(docs, new_proposal(change))
    assert (outcome.state, path.exists(), new.read_text()) == ("applied", False, change.new_text)
    assert fingerprint(new)[1] & 0o777 == 0o755


async def test_a_renaming_never_covers_a_file(tmp_path: Path) -> None:
    docs, path, new = documents(), file(tmp_path), tmp_path / "b.py"
    change = await propose_rename(docs, str(path), str(new))
    new.write_text("theirs\n")
    (outcome,) = await run(docs, new_proposal(change))
    assert (outcome.state, path.read_text(), new.read_text()) == ("conflict", BASE, "theirs\n")


async def test_a_file_open_in_the_editor_is_neither_renamed_nor_deleted(tmp_path: Path) -> None:
    path, editor = file(tmp_path), HonestEditor()
    docs = documents(editor)
    changes = [
        await propose_rename(docs, str(path), str(tmp_path / "b")),
        await propose_delete(docs, str(path)),
    ]
    editor.show(str(path), BASE)
    outcomes = [await run(docs, new_proposal(change)) for change in changes]
    assert [outcome.state for (outcome,) in outcomes] == ["declined", "declined"]
    assert names(tmp_path) == ["a.py"]


def laid_out(text: str) -> str:
    """As a formatter would: our line indented, another one too."""
    return text.replace("five\n", "    five,\n").replace("line 8", "line  8")


@pytest.mark.parametrize("said", ["applied", "unknown"])
async def test_an_edit_that_the_editor_formatted_is_applied_and_says_what_stands(
    tmp_path: Path, said: Outcome
) -> None:
    path, editor = file(tmp_path), FormattingEditor(laid_out)
    editor.show(str(path), BASE)
    editor.outcome = said
    docs = documents(editor)
    await docs.read(str(path))
    (outcome,) = await run(docs, new_proposal(await edit(docs, path, "five")))
    live = editor.open[str(path)].text
    assert (outcome.state, outcome.formatted) == ("applied", True)
    assert "changed further (formatting)" in (outcome.message or "").replace(f"{path} ", "")
    assert outcome.change is not None
    assert outcome.change.new_text == live == laid_out(BASE.replace("line 5", "five"))
    assert [h.added for h in outcome.change.hunks] == [("    five,\n",), ("line  8\n",)]
    await docs.check_known(await docs.peek(str(path)))


async def test_an_editor_that_also_changed_other_text_is_told_apart_from_one_that_formats(
    tmp_path: Path,
) -> None:
    path = file(tmp_path)
    editor = FormattingEditor(lambda text: text.replace("line 8", "typed"))
    editor.show(str(path), BASE)
    docs = documents(editor)
    (outcome,) = await run(docs, new_proposal(await edit(docs, path, "five")))
    assert (outcome.state, outcome.formatted) == ("applied", False)
    assert "also elsewhere" in (outcome.message or "")


async def test_an_editor_that_changed_our_words_is_a_conflict(tmp_path: Path) -> None:
    path, editor = file(tmp_path), FormattingEditor(lambda text: text.replace("five", "six"))
    editor.show(str(path), BASE)
    docs = documents(editor)
    (outcome,) = await run(docs, new_proposal(await edit(docs, path, "five")))
    assert outcome.state == "conflict"


@pytest.mark.parametrize(
    ("formats", "left"),
    [(laid_out, BASE), (lambda t: t.replace("line 8", "typed"), BASE.replace("line 8", "typed"))],
)
async def test_a_formatted_edit_is_taken_back_with_the_rest_and_nothing_else_is(
    tmp_path: Path, formats: Callable[[str], str], left: str
) -> None:
    one, two = file(tmp_path, "one"), file(tmp_path, "two")
    editor = FormattingEditor(formats)
    docs = documents(editor)
    editor.show(str(one), BASE)
    proposal = new_proposal(await edit(docs, one, "five"), await propose_delete(docs, str(two)))

    async def opened(_: FileChange) -> None:
        editor.formats = lambda text: text
        editor.show(str(two), BASE)  # so that it cannot be deleted

    editor.before = opened
    editor.formats = formats
    make = editor.answer

    async def formatting_once(change: FileChange) -> Applied:
        editor.formats, editor.answer = formats, make
        done = await make(change)
        editor.formats = lambda text: text
        return done

    editor.answer = formatting_once
    outcomes = await run(docs, proposal, terms=BACK)
    assert [o.state for o in outcomes] == ["failed", "declined"]
    assert editor.open[str(one)].text == left


async def test_a_renaming_is_taken_back_with_the_rest(tmp_path: Path) -> None:
    one, two, docs = file(tmp_path, "one"), file(tmp_path, "two"), documents()
    proposal = new_proposal(
        await propose_rename(
            docs,
            str(one),
            str(tmp_path / "d" / "new"),
            changed=await propose_edit(docs, str(one), [Replacement("line 5", "five")]),
        ),
        await propose_delete(docs, str(two)),
    )
    before = fingerprint(one), fingerprint(two)
    unlink = os.unlink

    def fail(path: str | Path) -> None:
        if Path(path) == two:
            raise PermissionError(1, "no")
        unlink(path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "unlink", fail)
        outcomes = await run(docs, proposal)
    assert [outcome.state for outcome in outcomes] == ["failed", "failed"]
    assert (fingerprint(one), fingerprint(two), names(tmp_path)) == (*before, ["one", "two"])


# ---- all or nothing ----------------------------------------------------------------------------------------


async def test_a_conflict_in_one_file_does_not_stop_the_others(tmp_path: Path) -> None:
    one, two, docs = file(tmp_path, "one"), file(tmp_path, "two"), documents()
    proposal = new_proposal(
        await edit(docs, one, "five"),
        await edit(docs, two, "five"),
        await propose_create(docs, str(tmp_path / "d" / "new"), "x\n"),
    )
    two.write_text("else\n")
    states = [outcome.state for outcome in await run(docs, proposal)]
    assert states == ["applied", "conflict", "applied"]
    assert one.read_text() == BASE.replace("line 5", "five")
    assert (two.read_text(), (tmp_path / "d" / "new").read_text()) == ("else\n", "x\n")


async def test_a_conflict_in_one_file_leaves_all_files_when_going_back(tmp_path: Path) -> None:
    one, two, docs = file(tmp_path, "one"), file(tmp_path, "two"), documents()
    proposal = new_proposal(
        await edit(docs, one, "five"),
        await edit(docs, two, "five"),
        await propose_create(docs, str(tmp_path / "d" / "new"), "x\n"),
    )
    two.write_text("else\n")
    before = fingerprint(one)
    states = [outcome.state for outcome in await run(docs, proposal, terms=BACK)]
    assert states == ["failed", "conflict", "failed"]
    assert (fingerprint(one), (tmp_path / "d").exists()) == (before, False)


async def test_a_failure_on_the_way_takes_back_what_was_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two, docs = file(tmp_path, "one"), file(tmp_path, "two"), documents()
    made = tmp_path / "x" / "y" / "new"
    proposal = new_proposal(
        await edit(docs, one, "five"),
        await edit(docs, two, "five"),
        await propose_create(docs, str(made), "x\n"),
    )
    before = fingerprint(one), fingerprint(two)
    _fail_replacing(monkeypatch, two)
    first, second, third = await run(docs, proposal)
    assert [first.state, second.state, third.state] == ["failed", "failed", "failed"]
    assert "disk is full" in (second.message or "")
    assert "taken back" in (first.message or "")
    assert (fingerprint(one), fingerprint(two)) == before
    assert names(tmp_path) == ["one", "two"]


async def test_what_changed_again_before_it_could_be_taken_back_stands_and_is_said_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two, docs = file(tmp_path, "one"), file(tmp_path, "two"), documents()
    proposal = new_proposal(await edit(docs, one, "five"), await edit(docs, two, "five"))
    _fail_replacing(monkeypatch, two, first=lambda: one.write_text("somebody else\n"))
    first, second = await run(docs, proposal)
    assert (first.state, second.state, one.read_text()) == ("applied", "failed", "somebody else\n")
    assert first.change == proposal.files[0]
    assert "it stands though the proposal failed" in (first.message or "")


def _fail_replacing(
    monkeypatch: pytest.MonkeyPatch, path: Path, first: Callable[[], object] | None = None
) -> None:
    move = os.replace

    def full(source: str | Path, target: str | Path) -> None:
        if Path(target) == path:
            if first is not None:
                first()
            raise OSError(28, "No space left on device")
        move(source, target)

    monkeypatch.setattr(os, "replace", full)


async def test_creations_come_before_edits_and_deletions_last(tmp_path: Path) -> None:
    one, two, docs = file(tmp_path, "one"), file(tmp_path, "two"), documents()
    proposal = new_proposal(
        await propose_delete(docs, str(one)),
        await edit(docs, two, "five"),
        await propose_create(docs, str(tmp_path / "three"), BASE),
    )
    outcomes = await run(docs, proposal)
    assert [o.path for o in outcomes] == [f.path for f in proposal.files]
    assert names(tmp_path) == ["three", "two"]


async def test_the_same_file_twice_is_no_proposal(tmp_path: Path) -> None:
    path, docs = file(tmp_path), documents()
    change = await edit(docs, path, "five")
    with pytest.raises(EditRefused, match="twice"):
        new_proposal(change, change)


# ---- through the editor ------------------------------------------------------------------------------------


async def test_an_open_document_is_changed_in_the_editor_and_the_disk_is_left_alone(
    tmp_path: Path,
) -> None:
    path, editor = file(tmp_path), HonestEditor()
    editor.show(str(path), "unsaved\n" + BASE, 7)
    before, docs = fingerprint(path), documents(editor)
    change = await propose_edit(docs, str(path), [Replacement("unsaved\n", "seen\n")])
    (outcome,) = await run(docs, new_proposal(change))
    assert (outcome.state, editor.open[str(path)].text) == ("applied", "seen\n" + BASE)
    assert (editor.calls[0].base_version, fingerprint(path)) == (7, before)


async def test_an_edit_over_the_unsaved_lines_is_a_conflict(tmp_path: Path) -> None:
    path, editor = file(tmp_path), HonestEditor()
    docs = documents(editor)
    change = await edit(docs, path, "five")
    editor.show(str(path), BASE.replace("line 5", "typing"), 8)
    (outcome,) = await run(docs, new_proposal(change))
    assert (outcome.state, editor.calls) == ("conflict", [])


async def test_a_moved_version_is_rebased_once_and_sent_for_the_new_version(tmp_path: Path) -> None:
    path, editor = file(tmp_path), HonestEditor()
    editor.show(str(path), BASE, 7)
    docs = documents(editor)

    async def typed(change: FileChange) -> None:
        editor.show(change.path, "typed\n" + BASE, 8)

    editor.before = typed
    (outcome,) = await run(docs, new_proposal(await edit(docs, path, "five")))
    assert [call.base_version for call in editor.calls] == [7, 8]
    assert editor.open[str(path)].text == "typed\n" + BASE.replace("line 5", "five")
    assert outcome.state == "applied"


@pytest.mark.parametrize(
    ("editor", "state"),
    [
        (LyingEditor(), "stale"),
        (BoastingEditor(), "stale"),
        (HalfEditor(), "conflict"),
        (LateEditor(), "unknown"),
        (LateButDoneEditor(), "applied"),
        (DecliningEditor(), "declined"),
        (ClosingEditor(), "unknown"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else value,
)
async def test_an_editor_is_believed_only_by_its_text(
    tmp_path: Path, editor: HonestEditor, state: str
) -> None:
    path = file(tmp_path)
    editor.show(str(path), BASE, 7)
    before, docs = fingerprint(path), documents(editor)
    (outcome,) = await run(docs, new_proposal(await edit(docs, path, "two", "eight")))
    assert (outcome.state, fingerprint(path)) == (state, before)
    assert state == "applied" or outcome.message


async def test_the_reason_of_an_editor_that_declines_is_told(tmp_path: Path) -> None:
    path, editor = file(tmp_path), DecliningEditor()
    editor.show(str(path), BASE, 7)
    docs = documents(editor)
    (outcome,) = await run(docs, new_proposal(await edit(docs, path, "five")))
    assert outcome.message == "document has changed"


async def test_an_editor_that_hangs_ends_as_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, editor = file(tmp_path), HonestEditor()
    editor.show(str(path), BASE, 7)
    docs = documents(editor)

    async def hang(change: FileChange) -> None:
        await anyio.sleep_forever()

    editor.before = hang
    monkeypatch.setattr(step, "EDITOR_LIMIT_S", 0.01)
    (outcome,) = await run(docs, new_proposal(await edit(docs, path, "five")))
    assert outcome.state == "unknown"


async def test_a_file_that_is_opened_meanwhile_is_changed_in_the_editor(tmp_path: Path) -> None:
    path, editor = file(tmp_path), HonestEditor()
    before, docs = fingerprint(path), documents(editor)
    change = await edit(docs, path, "five")
    editor.show(str(path), BASE, 1)
    await run(docs, new_proposal(change))
    assert (editor.open[str(path)].text, fingerprint(path)) == (
        BASE.replace("line 5", "five"),
        before,
    )


async def test_a_file_that_is_opened_at_the_last_moment_is_not_written_beneath_its_buffer(
    tmp_path: Path,
) -> None:
    path, editor = file(tmp_path), OpeningEditor()
    before, docs = fingerprint(path), documents(editor)
    change = await edit(docs, path, "five")
    editor.opens = (str(path), BASE)
    await run(docs, new_proposal(change))
    assert (editor.open[str(path)].text, fingerprint(path)) == (
        BASE.replace("line 5", "five"),
        before,
    )


async def test_a_declined_document_does_not_stop_the_others(tmp_path: Path) -> None:
    one, two, editor = file(tmp_path, "one"), file(tmp_path, "two"), DecliningEditor()
    editor.show(str(two), BASE, 7)
    docs = documents(editor)
    proposal = new_proposal(await edit(docs, one, "five"), await edit(docs, two, "five"))
    states = [outcome.state for outcome in await run(docs, proposal)]
    assert states == ["applied", "declined"]
    assert one.read_text() == BASE.replace("line 5", "five")


async def test_a_failure_on_disk_takes_back_the_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two, editor = file(tmp_path, "one"), file(tmp_path, "two"), HonestEditor()
    editor.show(str(one), BASE, 7)
    docs = documents(editor)
    proposal = new_proposal(await edit(docs, one, "five"), await edit(docs, two, "five"))
    _fail_replacing(monkeypatch, two)
    states = [outcome.state for outcome in await run(docs, proposal)]
    assert (states, editor.open[str(one)].text) == (["failed", "failed"], BASE)


async def test_a_document_opened_by_its_real_name_is_found_behind_a_link(tmp_path: Path) -> None:
    path, editor = file(tmp_path), HonestEditor()
    (tmp_path / "link").symlink_to(path)
    editor.show(str(path), BASE, 7)
    docs = documents(editor)
    await run(docs, new_proposal(await edit(docs, tmp_path / "link", "five")))
    assert editor.open[str(path)].text == BASE.replace("line 5", "five")


async def test_a_cancelled_apply_is_carried_to_its_end(tmp_path: Path) -> None:
    path, editor = file(tmp_path), HonestEditor()
    editor.show(str(path), BASE, 7)
    docs = documents(editor)
    proposal = new_proposal(await edit(docs, path, "five"))
    outcomes: list[FileOutcome] = []
    with anyio.CancelScope() as scope:

        async def cancel(change: FileChange) -> None:
            scope.cancel()
            await anyio.lowlevel.checkpoint()

        editor.before = cancel
        outcomes += await run(docs, proposal)
    assert [outcome.state for outcome in outcomes] == ["applied"]


async def test_a_cancelled_wait_for_the_live_text_changes_nothing(tmp_path: Path) -> None:
    path, docs = file(tmp_path), documents()
    proposal, before = new_proposal(await edit(docs, path, "five")), fingerprint(path)
    with anyio.CancelScope() as scope:
        scope.cancel()
        await run(docs, proposal)
    assert fingerprint(path) == before
