"""`edit` and `write`: what is proposed, what is applied, and what the model is told. Field cases ED-*."""

import json
import os
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from agent_server.loop.errors import BadArguments, EditRefused
from agent_server.loop.events import EditChanged
from agent_server.loop.model import Location, ToolResult
from agent_server.loop.ports import Prepared
from agent_server.loop.proposal import FileDecision, Proposal, Resolution
from tests.edits.editors import FormattingEditor
from tests.tools.desk import BufferEditor, Desk

pytestmark = pytest.mark.anyio

TEXT = "".join(f"line {n}\n" for n in range(1, 21))


def edits(*pairs: tuple[str, str]) -> list[dict[str, object]]:
    return [{"old_text": old, "new_text": new} for old, new in pairs]


async def two_hunks(desk: Desk) -> tuple[Prepared, Proposal]:
    desk.file("a.txt", TEXT)
    prepared = await desk.prepared(
        "edit", path="a.txt", edits=edits(("line 2\n", "LINE 2\n"), ("line 19\n", "LINE 19\n"))
    )
    assert prepared.proposal is not None
    return prepared, prepared.proposal


def state_of(path: Path) -> tuple[bytes, int, int]:
    return path.read_bytes(), path.stat().st_mode, path.stat().st_mtime_ns


async def test_preparing_proposes_and_touches_nothing(desk: Desk) -> None:
    """I13."""
    path = desk.file("a.txt", TEXT)
    before = state_of(path)
    prepared, proposal = await two_hunks(desk)

    assert path.read_bytes() == before[0]
    assert [h.removed for h in proposal.files[0].hunks] == [("line 2\n",), ("line 19\n",)]
    assert (prepared.title, prepared.action.kind) == ("edit a.txt", "write")
    assert prepared.locations == (Location(str(path), 2),)
    assert desk.events == []


async def test_a_whole_yes_applies_all_and_says_what_stands(desk: Desk) -> None:
    prepared, proposal = await two_hunks(desk)
    result = await desk.run(prepared)

    assert (desk.root / "a.txt").read_text() == TEXT.replace("line 2\n", "LINE 2\n").replace(
        "line 19", "LINE 19"
    )
    assert result.ok
    assert result.output.startswith(
        "applied to a.txt:\n--- a/a.txt\n+++ b/a.txt\n@@ -1,5 +1,5 @@\n line 1\n-line 2\n"
    )
    assert result.summary == "+2 \u22122"
    assert [c.hunks for c in result.changes] == [proposal.files[0].hunks]
    assert [e.state for e in desk.events if isinstance(e, EditChanged)] == ["applying", "applied"]


async def test_some_hunks_are_applied_and_the_others_named(desk: Desk) -> None:
    prepared, proposal = await two_hunks(desk)
    first, second = proposal.files[0].hunks
    path = proposal.files[0].path
    result = await desk.run(prepared, Resolution((FileDecision(path, frozenset({second.id})),)))

    assert (desk.root / "a.txt").read_text() == TEXT.replace("line 19", "LINE 19")
    assert result.output.startswith("the person accepted 1 of 2 hunks in a.txt; applied:\n")
    applied, rejected = result.output.split("rejected by the person, not applied:\n")
    assert ("+LINE 19" in applied, "+LINE 2\n" in applied) == (True, False)
    assert ("+LINE 2\n" in rejected, "LINE 19" in rejected) == (True, False)
    assert result.summary == "+1 \u22121 (in part)"
    last = desk.events[-1]
    assert isinstance(last, EditChanged)
    assert last.hunks == ((path, first.id, "rejected"), (path, second.id, "applied"))


async def test_the_persons_own_text_is_what_the_model_hears_of(desk: Desk) -> None:
    prepared, proposal = await two_hunks(desk)
    path = proposal.files[0].path
    own = TEXT.replace("line 2\n", "my line\n")
    result = await desk.run(
        prepared, Resolution((FileDecision(path, frozenset(), edited_text=own),))
    )

    assert (desk.root / "a.txt").read_text() == own
    assert result.output.startswith("the person changed this edit of a.txt before applying it")
    assert "+my line" in result.output
    assert "LINE 19" not in result.output


async def test_a_file_the_resolution_does_not_name_is_left_alone(desk: Desk) -> None:
    prepared, _ = await two_hunks(desk)
    before = state_of(desk.root / "a.txt")
    result = await desk.run(prepared, Resolution(()))

    assert (result.ok, result.code) == (False, "declined")
    assert state_of(desk.root / "a.txt") == before


@pytest.mark.parametrize(
    ("old", "code", "says"),
    [
        ("line 21", "not_found", "old_text is not in the file"),
        ("line 1", "ambiguous", "at lines 1, 10, 11"),
        ("", "empty_old_text", "old_text is empty"),
    ],
)
async def test_a_failed_match_is_a_result_and_changes_nothing(
    desk: Desk, old: str, code: str, says: str
) -> None:
    """ED-10, ED-13."""
    path = desk.file("a.txt", TEXT)
    before = state_of(path)
    result = await desk.refused("edit", path="a.txt", edits=edits((old, "x")))

    assert (result.code, says in result.output) == (code, True)
    assert state_of(path) == before


async def test_when_the_last_edit_of_a_call_fails_none_is_made(desk: Desk) -> None:
    """ED-12."""
    path = desk.file("a.txt", TEXT)
    before = state_of(path)
    result = await desk.refused(
        "edit", path="a.txt", edits=edits(("line 2\n", "x\n"), ("nowhere", "y"))
    )

    assert "edit 2" in result.output
    assert state_of(path) == before


async def test_replace_all_replaces_every_occurrence(desk: Desk) -> None:
    """ED-10."""
    path = desk.file("a.txt", "a b a\nc a\n")
    await desk.call(
        "edit", path="a.txt", edits=[{"old_text": "a", "new_text": "z", "replace_all": True}]
    )

    assert path.read_text() == "z b z\nc z\n"


async def test_edits_as_json_text_are_accepted(desk: Desk) -> None:
    """ED-11, spec §13."""
    path = desk.file("a.txt", "one\n")
    await desk.call("edit", path="a.txt", edits=json.dumps(edits(("one", "two"))))

    assert path.read_text() == "two\n"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("[not json", "edits: neither a list nor JSON text"),
        ([], "edits: empty"),
        ([{"old_text": "a"}], "edits.0.new_text: required"),
        ([{"old_text": "a", "new_text": "b", "old": 1}], "edits.0.old: no such argument"),
    ],
)
async def test_edits_that_do_not_fit_name_the_field(desk: Desk, given: object, says: str) -> None:
    with pytest.raises(BadArguments, match=says.replace("[", r"\[")):
        await desk.understand("edit", path="a.txt", edits=given)


async def test_line_ends_bom_mode_and_links_are_kept(desk: Desk) -> None:
    """ED-01, ED-03, ED-21: through the tool, by the name of the link."""
    path = desk.file("run.sh", "\ufeffone\r\ntwo\r\n")
    path.chmod(0o755)
    (desk.root / "link.sh").symlink_to("run.sh")
    await desk.call("edit", path="link.sh", edits=edits(("one\ntwo", "one\n2\ntwo")))

    assert path.read_bytes() == b"\xef\xbb\xbfone\r\n2\r\ntwo\r\n"
    assert path.stat().st_mode & 0o777 == 0o755
    assert (desk.root / "link.sh").is_symlink()


async def test_a_character_the_files_encoding_lacks_is_refused(desk: Desk) -> None:
    """ED-04."""
    path = desk.file("A.java", "// caf\xe9\nint a;\n".encode("latin-1"))
    result = await desk.refused("edit", path="A.java", edits=edits(("int a", "int \u2192")))
    await desk.call("edit", path="A.java", edits=edits(("int a", "int b")))

    assert "ISO-8859-1" in result.output
    assert path.read_bytes() == "// caf\xe9\nint b;\n".encode("latin-1")


async def test_an_open_buffer_is_edited_and_the_disk_is_not(tmp_path: Path) -> None:
    """ED-17."""
    path = tmp_path / "a.py"
    path.write_text("saved\n")
    editor = BufferEditor({str(path): "unsaved\n"})
    result = await Desk(tmp_path, editor=editor).call(
        "edit", path="a.py", edits=edits(("unsaved", "edited"))
    )

    assert result.ok
    assert (editor.buffers[str(path)], path.read_text()) == ("edited\n", "saved\n")


async def test_a_buffer_that_moved_onto_the_same_line_is_a_conflict(tmp_path: Path) -> None:
    """ED-18: the model is told the reason, nothing goes to the disk instead."""
    path = tmp_path / "a.py"
    path.write_text("one\n")
    editor = BufferEditor({str(path): "one\n"})
    desk = Desk(tmp_path, editor=editor)
    prepared = await desk.prepared("edit", path="a.py", edits=edits(("one", "two")))
    editor.buffers[str(path)] = "uno\n"
    result = await desk.run(prepared)

    assert (result.ok, result.code) == (False, "conflict")
    assert (editor.buffers[str(path)], path.read_text()) == ("uno\n", "one\n")
    assert [e.state for e in desk.events if isinstance(e, EditChanged)] == ["applying", "conflict"]
    assert result.changes != ()


async def test_the_model_is_shown_the_text_after_the_editors_formatter(tmp_path: Path) -> None:
    """F41: what stands, not what was asked for; and it may go on from there."""
    path = tmp_path / "a.py"
    path.write_text("one\nrest\n")
    editor = FormattingEditor(lambda text: text.replace("f(a,b)", "f(a, b)"))
    editor.show(str(path), "one\nrest\n")
    desk = Desk(tmp_path, editor=editor)
    await desk.call("read", path="a.py")
    result = await desk.call("edit", path="a.py", edits=edits(("one", "f(a,b)")))
    editor.formats = lambda text: text
    again = await desk.call("write", path="a.py", content="f(a, b)\n")

    assert result.ok
    assert "+f(a, b)\n" in result.output
    assert "the editor changed" in result.output
    assert "further (formatting)" in result.output
    assert [c.new_text for c in result.changes] == ["f(a, b)\nrest\n"]
    assert again.ok


async def test_an_edit_is_fitted_to_a_file_that_changed_elsewhere(desk: Desk) -> None:
    prepared, _ = await two_hunks(desk)
    (desk.root / "a.txt").write_text("new first\n" + TEXT)
    result = await desk.run(prepared)

    assert result.output.startswith(
        "a.txt had changed meanwhile; the edit was fitted to it. Applied:\n"
    )
    assert (desk.root / "a.txt").read_text().startswith("new first\nline 1\nLINE 2\n")


async def test_an_edit_of_a_file_never_read_is_allowed_but_a_write_is_not(desk: Desk) -> None:
    """Spec §14."""
    path = desk.file("a.txt", "old\n")
    result = await desk.refused("write", path="a.txt", content="new\n")

    assert (result.code, path.read_text()) == ("not_read", "old\n")
    assert (await desk.call("edit", path="a.txt", edits=edits(("old", "edited")))).ok


async def test_a_write_over_a_file_that_changed_since_it_was_read_is_refused_with_the_change(
    desk: Desk,
) -> None:
    """ED-15, F39: same size and the old time too."""
    path = desk.file("a.txt", "one\n")
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    await desk.call("read", path="a.txt")
    path.write_text("two\n")
    os.utime(path, ns=times)
    result = await desk.refused("write", path="a.txt", content="mine\n")

    assert (result.code, "+two" in result.output) == ("stale", True)
    await desk.call("read", path="a.txt")
    assert (await desk.call("write", path="a.txt", content="mine\n")).ok


async def test_our_own_edits_do_not_make_the_file_stale(desk: Desk) -> None:
    """ED-15."""
    path = desk.file("a.txt", "one\ntwo\n")
    await desk.call("read", path="a.txt")
    await desk.call("edit", path="a.txt", edits=edits(("one", "1")))
    await desk.call("edit", path="a.txt", edits=edits(("two", "2")))
    result = await desk.call("write", path="a.txt", content="all new\n")

    assert (result.ok, path.read_text()) == (True, "all new\n")


async def test_a_new_file_is_created_with_its_folders(desk: Desk) -> None:
    prepared = await desk.prepared("write", path="src/new/a.py", content="one\ntwo\n")
    assert (prepared.title, (desk.root / "src").exists()) == ("create src/new/a.py", False)
    result = await desk.run(prepared)

    assert (desk.root / "src/new/a.py").read_text() == "one\ntwo\n"
    assert (result.output, result.summary) == ("created src/new/a.py (2 lines)", "+2 \u22120")


async def test_an_empty_file_can_be_created(desk: Desk) -> None:
    result = await desk.call("write", path="__init__.py", content="")

    assert (result.ok, result.output) == (True, "created __init__.py (0 lines)")
    assert (desk.root / "__init__.py").read_bytes() == b""


@pytest.mark.parametrize("content", [b"\x89PNG\r\n\x1a\n" + bytes(9), bytes(range(256))])
async def test_a_binary_file_is_not_edited(desk: Desk, content: bytes) -> None:
    """ED-24."""
    desk.file("x.txt", content)

    assert (await desk.refused("edit", path="x.txt", edits=edits(("PNG", "GIF")))).code == "binary"


async def test_the_content_of_a_file_nobody_allowed_to_read_is_not_in_the_refusal(
    desk: Desk, tmp_path: Path
) -> None:
    """An edit that fails shows the nearest lines: of a secret, or of a file outside, it must not."""
    outside = tmp_path / "outside.txt"
    outside.write_text("password = hunter2\n")
    desk.file(".env", "KEY=hunter2\n")
    results: list[ToolResult] = [
        await desk.refused("edit", path=path, edits=edits((old, "x")))
        for path, old in (("../outside.txt", "password = hunter3"), (".env", "KEY=hunter3"))
    ]

    assert [("hunter2" in r.output, r.code) for r in results] == [(False, "refused")] * 2


async def test_a_write_outside_is_judged_by_where_it_leads_and_creates_nothing(
    desk: Desk, tmp_path: Path
) -> None:
    """SC-03, SC-04."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (desk.root / "out").symlink_to(outside)
    (desk.root / "draft.md").symlink_to(outside / "draft.md")
    assert (await desk.refused("write", path="draft.md", content="x")).code == "refused"
    for path in ("out/new.txt", "../outside/x"):
        action = (await desk.prepared("write", path=path, content="x")).action
        assert action.paths[0].startswith(f"{outside}/")
        assert desk.policy.decide(action).floor
    assert list(outside.iterdir()) == []


async def test_a_link_swapped_in_after_the_question_is_not_followed(
    desk: Desk, tmp_path: Path
) -> None:
    """SC-04, R97."""
    outside = tmp_path / "outside.md"
    prepared = await desk.prepared("write", path="notes.md", content="mine\n")
    (desk.root / "notes.md").symlink_to(outside)
    result = await desk.run(prepared)

    assert (result.ok, result.code, outside.exists()) == (False, "moved", False)
    assert [e.state for e in desk.events if isinstance(e, EditChanged)] == ["failed"]


@pytest.mark.timeout(60)
async def test_a_link_swapped_in_and_out_during_many_writes_never_leads_outside(
    desk: Desk, tmp_path: Path
) -> None:
    """SC-04, with fewer writes."""
    outside = tmp_path / "outside.md"
    outside.write_text("theirs\n")
    notes = desk.file("notes.md", "n0\n")
    link, spare = desk.root / "link", desk.root / "spare"
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            link.unlink(missing_ok=True)
            link.symlink_to(outside)
            if notes.exists() and not notes.is_symlink():
                notes.replace(spare)
            link.replace(notes)
            if spare.exists():
                spare.replace(notes)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for number in range(60):
            await desk.call("read", path="notes.md")
            prepared = await desk.understand("write", path="notes.md", content=f"n{number + 1}\n")
            if isinstance(prepared, Prepared) and prepared.action.paths == (str(notes),):
                with suppress(
                    EditRefused
                ):  # a link may come and go under the engine's own bookkeeping
                    await desk.run(prepared)
    finally:
        stop.set()
        thread.join()

    assert outside.read_text() == "theirs\n"
