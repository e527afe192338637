"""The kinds behind the field cases: files, names and folders that are odd, through the real tools."""

import fcntl
import os
import tempfile
from pathlib import Path

import pytest

from agent_server.edits import disk
from agent_server.tools.paths import names_device
from tests.tools.desk import Desk
from tests.tools.test_edit import edits, state_of
from tests.tools.test_patch import patch, tree

pytestmark = pytest.mark.anyio

MIXED = b"one\r\ntwo\nthree\rfour\r\nfive"
"""Each line with an end of its own, the last with none."""
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""A file system that is not the one of the workspace, where there is one."""


# ---- lines ---------------------------------------------------------------------------------------------


async def test_every_line_keeps_its_own_end_and_the_last_stays_without_one(desk: Desk) -> None:
    """ED-01 and its kind."""
    path = desk.file("mixed.txt", MIXED)
    result = await desk.call(
        "edit",
        path="mixed.txt",
        edits=edits(("two\nthree\nfour", "two\n3\n3b\nfour"), ("five", "5")),
    )

    assert result.ok, result.output
    assert path.read_bytes() == b"one\r\ntwo\n3\r3b\rfour\r\n5"


async def test_lines_that_end_in_a_bare_carriage_return_are_lines(desk: Desk) -> None:
    """As on the first Macintosh: numbered, found by line feeds, and left like that."""
    path = desk.file("old.txt", b"one\rtwo\rthree\r")
    shown = await desk.call("read", path="old.txt")
    await desk.call("edit", path="old.txt", edits=edits(("one\ntwo", "one\nnew\ntwo")))

    assert shown.output == "1\tone\n2\ttwo\n3\tthree"
    assert path.read_bytes() == b"one\rnew\rtwo\rthree\r"


@pytest.mark.parametrize("odd", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c"])
async def test_what_only_looks_like_the_end_of_a_line_moves_no_line(desk: Desk, odd: str) -> None:
    path = desk.file("a.txt", f"one{odd}still one\ntwo{odd}\nthree\n")
    hits = await desk.call("search", pattern="three", path="a.txt")
    result = await desk.call("edit", path="a.txt", edits=edits(("three", "3")))

    assert hits.output.endswith("3:three")
    assert "@@ -1,3 +1,3 @@" in result.output
    assert path.read_bytes().decode() == f"one{odd}still one\ntwo{odd}\n3\n"


async def test_a_line_of_megabytes_is_changed_where_it_was_meant_and_shown_in_part(
    desk: Desk,
) -> None:
    path = desk.file("min.js", "a" * 2_000_000 + "needle" + "b" * 2_000_000)
    result = await desk.call("edit", path="min.js", edits=edits(("aneedleb", "aNEEDLEb")))

    assert path.read_text() == "a" * 2_000_000 + "NEEDLE" + "b" * 2_000_000
    assert len(result.output) < 40_000


# ---- bytes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", [0, 5_000, 20_000])
async def test_a_zero_byte_anywhere_makes_it_no_text(desk: Desk, at: int) -> None:
    """ED-24 and its kind: also far behind what is usually looked at."""
    data = b"text\n" * 5_000
    path = desk.file("a.txt", data[:at] + b"\0" + data[at:])
    before = state_of(path)
    for tool, more in (("read", {}), ("edit", {"edits": edits(("text\ntext\n", "x"))})):
        result = await desk.call(tool, path="a.txt", **more)
        assert (result.code, "25,001 bytes" in result.output) == ("binary", True)
    assert state_of(path) == before


async def test_an_empty_file_and_one_that_is_only_a_mark_can_be_written(desk: Desk) -> None:
    for name, data in (("empty.txt", b""), ("mark.txt", b"\xef\xbb\xbf")):
        path = desk.file(name, data)
        await desk.call("read", path=name)
        assert (await desk.call("write", path=name, content="x\n")).ok
        assert path.read_bytes() == data + b"x\n"


# ---- places --------------------------------------------------------------------------------------------


async def test_a_folder_that_becomes_a_link_after_the_question_is_not_followed(
    desk: Desk, tmp_path: Path
) -> None:
    """SC-04 and its kind."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.py").write_text("one\n")
    desk.file("src/a.py", "one\n")
    changes = await desk.prepared("edit", path="src/a.py", edits=edits(("one", "two")))
    makes = await desk.prepared("write", path="src/new.py", content="x\n")
    (desk.root / "src").rename(desk.root / "was")
    (desk.root / "src").symlink_to(outside)

    assert [(await desk.run(one)).code for one in (changes, makes)] == ["moved", "moved"]
    assert tree(outside) == {"a.py": "one\n"}
    assert tree(desk.root / "was") == {"a.py": "one\n"}


async def test_a_file_on_another_file_system_is_replaced_there(desk: Desk) -> None:
    """The new text is made beside the file, wherever that is, so that taking its place is one step."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as other:
        target = Path(other, "a.txt")
        target.write_text("one\n")  # noqa: ASYNC240  a test waits for nobody
        (desk.root / "a.txt").symlink_to(target)
        prepared = await desk.prepared("edit", path="a.txt", edits=edits(("one", "two")))
        await desk.run(prepared)

        assert (desk.root / "a.txt").is_symlink()
        assert tree(Path(other)) == {"a.txt": "two\n"}


async def test_a_name_that_differs_in_case_alone_is_a_new_name(desk: Desk) -> None:
    desk.file("readme.md", "one\n")
    text = patch("*** Update File: readme.md", "*** Move to: README.md", "-one", "+two")
    result = await desk.call("patch", patch=text)

    assert result.ok, result.output
    assert tree(desk.root) == {"README.md": "two\n"}


async def test_a_new_name_that_is_taken_by_the_time_of_the_yes_is_not_overwritten(
    desk: Desk,
) -> None:
    desk.file("a.txt", "one\n")
    text = patch("*** Update File: a.txt", "*** Move to: b.txt", "-one", "+two")
    prepared = await desk.prepared("patch", patch=text)
    desk.file("b.txt", "theirs\n")
    result = await desk.run(prepared)

    assert not result.ok
    assert tree(desk.root) == {"a.txt": "one\n", "b.txt": "theirs\n"}


@pytest.mark.parametrize("name", ["aux.py", "con", "nul.txt", "com1", "LPT9.log"])
async def test_names_that_another_system_reserves_are_files_here(desk: Desk, name: str) -> None:
    assert (await desk.call("write", path=name, content="x\n")).ok
    assert (await desk.call("edit", path=name, edits=edits(("x", "y")))).ok
    assert tree(desk.root) == {name: "y\n"}


@pytest.mark.parametrize(
    ("path", "device"),
    [
        ("NUL", True), ("src\\con.txt", True), ("C:\\w\\aux", True), ("com1.py", True), ("lpt0", False),
        ("console.py", False), ("a/nul/b.txt", True), ("auxiliary.py", False), ("con .txt", True),
    ],
)  # fmt: skip
def test_there_they_are_known_as_devices(path: str, device: bool) -> None:
    assert names_device(path) == device


# ---- disks ---------------------------------------------------------------------------------------------


async def test_a_disk_that_fills_up_in_the_second_of_three_files_leaves_all_as_they_were(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of the second file's bytes get through; the first file is done by then, and taken back."""
    for name in ("a.txt", "b.txt", "c.txt"):
        desk.file(name, f"{name} old\n")
    before = tree(desk.root)
    lines = [f for n in "abc" for f in (f"*** Update File: {n}.txt", f"-{n}.txt old", "+new " * 9)]
    prepared = await desk.prepared("patch", patch=patch(*lines))
    write_all, written = disk._write_all, 0

    def filling(descriptor: int, data: bytes) -> None:
        nonlocal written
        written += 1
        if written == 2:
            os.write(descriptor, data[: len(data) // 2])
            raise OSError(28, "No space left on device")
        write_all(descriptor, data)

    monkeypatch.setattr(disk, "_write_all", filling)
    result = await desk.run(prepared)

    assert (result.ok, "disk is full" in result.output) == (False, True)
    assert tree(desk.root) == before
    assert written >= 3  # one more to take the first file back


async def test_a_file_that_somebody_has_locked_is_said_to_be(desk: Desk) -> None:
    """The issue's “read-only and locked files”."""
    path = desk.file("a.txt", "one\n")
    before = state_of(path)
    with path.open("rb") as theirs:
        fcntl.flock(theirs, fcntl.LOCK_EX)
        result = await desk.call("edit", path="a.txt", edits=edits(("one", "two")))
        assert (result.ok, "is locked by another process" in result.output) == (False, True)
        assert state_of(path) == before
    assert (await desk.call("edit", path="a.txt", edits=edits(("one", "two")))).ok


async def test_a_read_only_file_is_said_to_be(desk: Desk) -> None:
    path = desk.file("a.txt", "one\n")
    path.chmod(0o444)
    before = state_of(path)
    result = await desk.call("edit", path="a.txt", edits=edits(("one", "two")))

    assert (result.ok, "is read-only" in result.output) == (False, True)
    assert state_of(path) == before
