"""`patch`: several files, all or none, one question."""

from pathlib import Path

import pytest

from agent_server.loop.events import EditChanged
from agent_server.loop.proposal import FileDecision, Resolution
from tests.tools.desk import BufferEditor, Desk

pytestmark = pytest.mark.anyio


def patch(*lines: str) -> str:
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch"])


FOUR = patch(
    "*** Update File: a.py",
    " one",
    "-two",
    "+TWO",
    "*** Add File: new/b.py",
    "+made",
    "*** Delete File: c.py",
    "*** Update File: d.py",
    "*** Move to: moved/d.py",
    "-old",
    "+new",
)


def four(desk: Desk) -> None:
    desk.file("a.py", "one\ntwo\n")
    desk.file("c.py", "gone\n")
    desk.file("d.py", "old\n")


def tree(root: Path) -> dict[str, str]:
    return {str(p.relative_to(root)): p.read_text() for p in root.rglob("*") if p.is_file()}


async def test_one_question_carries_every_file_and_nothing_is_touched(desk: Desk) -> None:
    four(desk)
    before = tree(desk.root)
    prepared = await desk.prepared("patch", patch=FOUR)

    assert prepared.proposal is not None
    assert [(f.kind, Path(f.path).name) for f in prepared.proposal.files] == [
        ("edit", "a.py"),
        ("create", "b.py"),
        ("delete", "c.py"),
        ("rename", "d.py"),
    ]
    assert prepared.title == "patch a.py, new/b.py, c.py and 1 more"
    assert (prepared.action.kind, prepared.action.paths) == (
        "delete",
        tuple(str(desk.root / n) for n in ("a.py", "new/b.py", "c.py", "d.py", "moved/d.py")),
    )
    assert tree(desk.root) == before


async def test_a_yes_makes_all_of_it_and_says_what_stands(desk: Desk) -> None:
    four(desk)
    result = await desk.call("patch", patch=FOUR)

    assert tree(desk.root) == {"a.py": "one\nTWO\n", "new/b.py": "made\n", "moved/d.py": "new\n"}
    assert (result.ok, result.summary) == (True, "4 files, +3 \u22123")
    assert result.output == (
        "applied to a.py:\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n"
        "created new/b.py (1 line)\n"
        "deleted c.py\n"
        "renamed d.py → moved/d.py, changed on the way:\n--- a/d.py\n"
        "+++ b/moved/d.py\n@@ -1 +1 @@\n-old\n+new"
    )
    assert [e.state for e in desk.events if isinstance(e, EditChanged)] == ["applying", "applied"]


async def test_when_one_hunk_does_not_fit_no_file_is_changed_and_it_is_named(desk: Desk) -> None:
    """ED-12."""
    four(desk)
    before = tree(desk.root)
    broken = FOUR.replace("-two", "-tow").replace("-old", "-odl")
    result = await desk.refused("patch", patch=broken)

    assert tree(desk.root) == before
    assert result.code == "not_found"
    assert result.output.startswith("no file was changed, because the patch does not fit:\n")
    assert "a.py: hunk 1: its lines are not in the file; the nearest lines are:\n1: one" in (
        result.output
    )
    assert "d.py: hunk 1: its lines are not in the file" in result.output
    assert (await desk.call("patch", patch=FOUR)).ok  # the resend of all of it works


async def test_a_file_that_changes_after_the_question_is_left_alone_and_named(desk: Desk) -> None:
    four(desk)
    prepared = await desk.prepared("patch", patch=FOUR)
    (desk.root / "c.py").write_text("theirs\n")
    result = await desk.run(prepared)

    assert tree(desk.root) == {
        "a.py": "one\nTWO\n", "new/b.py": "made\n", "c.py": "theirs\n", "moved/d.py": "new\n",
    }  # fmt: skip
    assert result.ok
    assert (result.summary or "").endswith("(in part)")
    assert "nothing was changed in c.py: " in result.output
    assert "applied to a.py:" in result.output


async def test_some_files_are_taken_and_the_others_named(desk: Desk) -> None:
    four(desk)
    prepared = await desk.prepared("patch", patch=FOUR)
    first = str(desk.root / "a.py")
    result = await desk.run(prepared, Resolution((FileDecision(first, frozenset(), whole=True),)))

    assert (desk.root / "c.py").exists()
    assert (result.ok, result.summary) == (True, "+1 \u22121 (in part)")
    assert f"the edit of c.py was not applied: the edit of {desk.root}/c.py was rejected" in (
        result.output
    )


async def test_an_open_buffer_and_a_file_on_disk_are_changed_together(tmp_path: Path) -> None:
    """ED-17."""
    path = tmp_path / "a.py"
    path.write_text("saved\n")
    (tmp_path / "b.py").write_text("b\n")
    editor = BufferEditor({str(path): "unsaved\n"})
    text = patch(
        "*** Update File: a.py", "-unsaved", "+edited", "*** Update File: b.py", "-b", "+B"
    )
    desk = Desk(tmp_path, editor=editor)
    assert (await desk.call("patch", patch=text)).ok

    assert (editor.buffers[str(path)], path.read_text()) == ("edited\n", "saved\n")
    assert (tmp_path / "b.py").read_text() == "B\n"


@pytest.mark.parametrize("name", ["a.py", "./a.py", "link.py"])
async def test_sections_about_one_file_are_one_change_of_it(desk: Desk, name: str) -> None:
    """Models write one for each hunk. All of them are found in the text that the file has now."""
    four(desk)
    (desk.root / "link.py").symlink_to("a.py")
    text = patch("*** Update File: a.py", "-two", "+2", f"*** Update File: {name}", "-one", "+1")
    prepared = await desk.prepared("patch", patch=text)
    await desk.run(prepared)

    assert prepared.proposal is not None
    assert len(prepared.proposal.files) == 1
    assert (desk.root / "a.py").read_text() == "1\n2\n"


async def test_the_last_section_about_a_file_may_rename_it(desk: Desk) -> None:
    four(desk)
    first, then = ("*** Update File: a.py", "-two", "+2"), ("*** Update File: a.py",)
    await desk.call("patch", patch=patch(*first, *then, "*** Move to: n.py", "-one", "+1"))

    assert (desk.root / "n.py").read_text() == "1\n2\n"
    assert not (desk.root / "a.py").exists()


@pytest.mark.parametrize(
    ("lines", "code", "says"),
    [
        (("*** Add File: a.py", "+x"), "exists", "a.py exists already"),
        (("*** Delete File: none.py",), "missing", "none.py"),
        (
            ("*** Delete File: a.py", "*** Update File: ./a.py", "-one"),
            "duplicate",
            "twice, as `Delete File: a.py` and as `Update File: ./a.py`",
        ),
        (
            ("*** Update File: a.py", "*** Move to: n.py", "*** Update File: a.py", "-one"),
            "duplicate",
            "as `Update File: a.py, Move to: n.py` and as `Update File: a.py`",
        ),
        (
            ("*** Update File: a.py", "-one", "+x", "*** Update File: a.py", "-one", "+y"),
            "overlap",
            "hunks 1 and 2",
        ),
        (
            ("*** Update File: a.py", "-one", "+x", "*** Update File: a.py", "-x", "+y"),
            "not_found",
            "hunk 2: its lines are not in the file",
        ),
        (("*** Update File: a.py", "*** Move to: c.py"), "exists", "c.py exists already"),
        (("*** Update File: a.py", "*** Move to: a.py"), "no_change", "has that name already"),
        (("nonsense",), "bad_patch", "line 2 of the patch"),
    ],
)
async def test_what_cannot_be_done_is_said_before_anybody_is_asked(
    desk: Desk, lines: tuple[str, ...], code: str, says: str
) -> None:
    four(desk)
    before = tree(desk.root)
    result = await desk.refused("patch", patch=patch(*lines))

    assert (result.code, says in result.output) == (code, True)
    assert tree(desk.root) == before


async def test_a_patch_is_judged_by_every_file_it_touches(desk: Desk, tmp_path: Path) -> None:
    """SC-03."""
    four(desk)
    text = patch("*** Update File: a.py", "-two", "+2", "*** Add File: ../out.py", "+x")
    action = (await desk.prepared("patch", patch=text)).action

    assert desk.policy.decide(action).floor
    assert not (tmp_path / "out.py").exists()


async def test_a_link_swapped_in_under_one_file_stops_all(desk: Desk, tmp_path: Path) -> None:
    """SC-04."""
    four(desk)
    prepared = await desk.prepared("patch", patch=FOUR)
    (desk.root / "new").symlink_to(tmp_path)
    result = await desk.run(prepared)

    assert (result.ok, result.code) == (False, "moved")
    assert (desk.root / "a.py").read_text() == "one\ntwo\n"
    assert not (tmp_path / "b.py").exists()
