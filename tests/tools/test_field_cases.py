"""Files as they are found in the field, edited through the real tools; docs/edits.md lists all cases."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.tools.desk import BufferEditor, Desk
from tests.tools.test_edit import edits, state_of

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[2]
BINARIES = {
    "tool": b"\x7fELF\x02\x01\x01" + bytes(40),
    "image.txt": b"\x89PNG\r\n\x1a\n" + bytes(9),
    "sheet.ods": b"PK\x03\x04\x14\0\0\0" + bytes(40),
}


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
async def test_a_crlf_file_edited_with_line_feeds_differs_in_the_span_alone(desk: Desk) -> None:
    """ED-01."""
    lines = [f"line {n};\r\n" for n in range(1, 31)]
    path = desk.file("a.cs", "".join(lines))
    _git(desk.root, "init", "-q")
    _git(desk.root, "config", "core.autocrlf", "false")
    _git(desk.root, "add", "a.cs")
    old, new = "line 10;\nline 11;\nline 12;\n", "line 10;\nnew 1;\nnew 2;\nline 12;\n"
    await desk.call("edit", path="a.cs", edits=edits((old, new)))

    assert path.read_bytes().decode() == "".join(
        [*lines[:10], "new 1;\r\n", "new 2;\r\n", *lines[11:]]
    )
    rows = re.findall(r"^[-+][^-+].*$", _git(desk.root, "diff"), re.MULTILINE)
    assert [row.rstrip() for row in rows] == ["-line 11;", "+new 1;", "+new 2;"]


def _git(root: Path, *words: str) -> str:
    ran = subprocess.run(["git", "-C", str(root), *words], capture_output=True, check=True)
    return ran.stdout.decode()


@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b""])
async def test_a_byte_order_mark_is_neither_lost_nor_invented(desk: Desk, mark: bytes) -> None:
    """ED-03: the first line is found without it."""
    path = desk.file("f.txt", mark + b"one\r\n2\r\n3\r\n4\r\nfive\r\n")
    shown = await desk.call("read", path="f.txt")
    result = await desk.call("edit", path="f.txt", edits=edits(("one\n2", "ONE\n2"), ("five", "V")))

    assert shown.output.startswith("1\tone\n")
    assert result.ok
    assert path.read_bytes() == mark + b"ONE\r\n2\r\n3\r\n4\r\nV\r\n"


async def test_utf_16_is_read_edited_and_stays_utf_16(desk: Desk) -> None:
    """ED-05."""
    text = "first note\r\nsecond, caf\xe9\r\n"
    path = desk.file("notes.txt", b"\xff\xfe" + text.encode("utf-16-le"))
    shown = await desk.call("read", path="notes.txt")
    await desk.call("edit", path="notes.txt", edits=edits(("second", "third")))

    assert "second, caf\xe9" in shown.output
    assert path.read_bytes() == b"\xff\xfe" + text.replace("second", "third").encode("utf-16-le")


async def test_quotes_spaces_and_dashes_of_other_lines_stay_and_new_ones_are_written_as_given(
    desk: Desk,
) -> None:
    """ED-07."""
    around = "one\n\u201ctwo\u201d \u2014\xa0x  \n{}\n\u2018four\u2019\xa0\u2013  \nfive\n"
    path = desk.file("a.py", around.format('say("three")'))
    old, new = "say(\u201cthree\u201d)", 'say("it\u2019s three")'
    await desk.call("edit", path="a.py", edits=edits((old, new)))

    assert path.read_text() == around.format(new)
    assert b"\xe2\x80\x99s three" in path.read_bytes()


@pytest.mark.parametrize("indent", ["\t", " " * 8])
async def test_tabs_of_a_makefile_are_kept_however_the_model_quotes_them(
    desk: Desk, indent: str
) -> None:
    """ED-08."""
    text = "all:\n\tcc -c a.c\n\tcc -o a a.o\n\nclean:\n\trm a.o\n"
    path = desk.file("Makefile", text)
    old, new = f"{indent}cc -c a.c\n", f"{indent}cc -O2 -c a.c\n"
    await desk.call("edit", path="Makefile", edits=edits((old, new)))

    assert path.read_text() == text.replace("cc -c", "cc -O2 -c")


async def test_a_text_that_stands_three_times_is_refused_with_its_lines_or_replaced_three_times(
    desk: Desk,
) -> None:
    """ED-10."""
    text = "".join("same\n" if n in (10, 50, 90) else f"line {n}\n" for n in range(1, 100))
    path = desk.file("a.txt", text)
    before = state_of(path)
    result = await desk.refused("edit", path="a.txt", edits=edits(("same", "new")))
    assert "at lines 10, 50, 90" in result.output
    assert state_of(path) == before

    every = [{"old_text": "same", "new_text": "new", "replace_all": True}]
    await desk.call("edit", path="a.txt", edits=every)
    assert path.read_text() == text.replace("same", "new")


@pytest.mark.parametrize(
    ("pairs", "says"),
    [
        ((("3\n4\n5\n6\n", "x\n"), ("5\n6\n7\n8\n", "y\n")), "edits 1 and 2 overlap at line 5"),
        ((("3\n", "new\n"), ("new\n", "newer\n")), "edit 2"),
    ],
)
async def test_edits_that_overlap_or_build_on_each_other_are_refused_by_their_numbers(
    desk: Desk, pairs: tuple[tuple[str, str], ...], says: str
) -> None:
    """ED-11: all edits of a call are matched against the text as it was."""
    path = desk.file("a.txt", "".join(f"{n}\n" for n in range(1, 10)))
    before = state_of(path)
    result = await desk.refused("edit", path="a.txt", edits=edits(*pairs))

    assert says in result.output
    assert state_of(path) == before


async def test_when_the_third_of_three_files_fails_nothing_is_there_and_the_resend_works(
    desk: Desk,
) -> None:
    """ED-12."""
    one, two = desk.file("a.txt", "a\n"), desk.file("b.txt", "b\n")
    before = state_of(one), state_of(two)
    patch = (
        "*** Begin Patch\n*** Add File: new/c.txt\n+c\n*** Update File: a.txt\n@@\n-a\n+A\n"
        "*** Update File: b.txt\n@@\n-{}\n+B\n*** End Patch\n"
    )
    result = await desk.refused("patch", patch=patch.format("nowhere"))
    assert "b.txt" in result.output
    assert (state_of(one), state_of(two), (desk.root / "new").exists()) == (*before, False)

    assert (await desk.call("patch", patch=patch.format("b"))).ok
    made = [(desk.root / name).read_text() for name in ("a.txt", "b.txt", "new/c.txt")]
    assert made == ["A\n", "B\n", "c\n"]


async def test_a_line_that_the_person_typed_over_since_the_question_is_theirs(
    tmp_path: Path,
) -> None:
    """ED-17: the buffer counts, also for the edit that overlaps what is not saved; the disk is not written."""
    path = tmp_path / "a.py"
    path.write_text("one\ntwo\nthree\n")
    editor = BufferEditor({str(path): "one\ntwo\nthree\nonly here\n"})
    desk = Desk(tmp_path, editor=editor)
    assert (await desk.call("edit", path="a.py", edits=edits(("only here", "edited")))).ok
    prepared = await desk.prepared("edit", path="a.py", edits=edits(("two", "2")))
    editor.buffers[str(path)] = editor.buffers[str(path)].replace("two", "typed")
    result = await desk.run(prepared)

    assert result.code == "conflict"
    assert editor.buffers[str(path)] == "one\ntyped\nthree\nedited\n"
    assert path.read_text() == "one\ntwo\nthree\n"


async def test_a_file_too_large_to_edit_is_refused_with_its_size(desk: Desk) -> None:
    """ED-23; reading it in parts is tested beside `read`."""
    path = desk.file("big.log", b"x" * 99 + b"\n" + b"some line\n" * 900_000)
    before = path.stat().st_mtime_ns
    result = await desk.refused("edit", path="big.log", edits=edits(("xxx\n", "y\n")))

    assert (result.code, "9,000,100 bytes" in result.output) == ("too_large", True)
    assert path.stat().st_mtime_ns == before


@pytest.mark.parametrize("name", BINARIES)
async def test_a_binary_is_neither_read_nor_edited_whatever_its_name(desk: Desk, name: str) -> None:
    """ED-24."""
    path = desk.file(name, BINARIES[name])
    shown = await desk.call("read", path=name)
    result = await desk.refused("edit", path=name, edits=edits(("E", "F")))

    assert (shown.code, result.code) == ("binary", "binary")
    assert f"{len(BINARIES[name])} bytes" in shown.output
    assert "\0" not in shown.output
    assert path.read_bytes() == BINARIES[name]


def test_the_page_of_promises_names_tests_that_are_there() -> None:
    listed = re.findall(r"`(test_\w+)`", (ROOT / "docs" / "edits.md").read_text("utf-8"))
    code = "".join(path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py"))

    assert len(listed) > 80
    assert [name for name in listed if f"def {name}(" not in code] == []
