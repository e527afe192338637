"""`read`. Spec §14 for its lines; ED-05, ED-23, ED-24, SC-03, SC-04."""

import os
import sys
from pathlib import Path

import anyio
import pytest
from anyio import from_thread

from agent_server.loop.errors import BadArguments
from agent_server.loop.model import Location
from agent_server.tools.services import Limits
from tests.tools.desk import KEY, BufferEditor, Desk

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parents[2]

PNG = b"\x89PNG\r\n\x1a\n" + bytes(50)


async def test_lines_come_with_their_numbers(desk: Desk) -> None:
    desk.file("a.py", "one\n\ttwo\r\n\nfour")
    result = await desk.call("read", path="a.py")

    assert (result.output, result.summary) == ("1\tone\n2\t\ttwo\n3\t\n4\tfour", "4 lines")


async def test_a_part_says_how_to_read_on(desk: Desk) -> None:
    desk.file("a.txt", "".join(f"l{n}\n" for n in range(1, 101)))
    result = await desk.call("read", path="a.txt", start_line=10, line_count=2)

    assert result.output == "10\tl10\n11\tl11\n[lines 10 to 11 of 100; read on with start_line=12]"
    assert result.summary == "lines 10 to 11 of 100"


async def test_reading_on_reaches_the_end_and_says_no_more(desk: Desk) -> None:
    desk.file("a.txt", "a\nb\nc\n")

    assert (await desk.call("read", path="a.txt", start_line=2)).output == "2\tb\n3\tc"


async def test_a_negative_start_counts_from_the_end(desk: Desk) -> None:
    desk.file("a.txt", "a\nb\nc\n")

    assert (await desk.call("read", path="a.txt", start_line=-2)).output == "2\tb\n3\tc"
    assert (await desk.call("read", path="a.txt", start_line=-9)).output == "1\ta\n2\tb\n3\tc"


async def test_a_start_past_the_end_says_how_many_lines_there_are(desk: Desk) -> None:
    desk.file("a.txt", "a\nb\n")
    result = await desk.call("read", path="a.txt", start_line=3)

    assert (result.ok, result.code, result.output) == (False, "past_end", "a.txt has only 2 lines")


async def test_an_empty_file_says_so(desk: Desk) -> None:
    desk.file("a.txt")

    assert (await desk.call("read", path="a.txt")).output == "(a.txt is empty)"


async def test_a_long_file_and_a_long_line_are_cut(tmp_path: Path) -> None:
    desk = Desk(tmp_path, limits=Limits(read_chars=100, line_chars=20))
    desk.file("a.txt", "x" * 500 + "\n" + "y\n" * 500)
    result = await desk.call("read", path="a.txt")

    assert result.output.startswith(f"1\t{'x' * 20} [… line of 500 characters]\n2\ty\n")
    assert result.output.endswith("of 501; read on with start_line=13]")


async def test_unsaved_changes_are_read(tmp_path: Path) -> None:
    """ED-17: an open buffer is the truth."""
    path = tmp_path / "a.py"
    path.write_text("saved\n")
    desk = Desk(tmp_path, editor=BufferEditor({str(path): "unsaved\n"}))

    assert (await desk.call("read", path="a.py")).output == "1\tunsaved"


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("program", b"\x7fELF\x02\x01\x01" + bytes(100), "ELF program"),
        ("picture.txt", PNG, "PNG image"),
        ("sheet.ods", b"PK\x03\x04" + bytes(40), "ZIP archive"),
        ("blob", bytes(range(256)), "a binary file"),
    ],
)
async def test_a_binary_file_is_refused_with_type_and_size(
    desk: Desk, name: str, content: bytes, kind: str
) -> None:
    """ED-24."""
    desk.file(name, content)
    result = await desk.call("read", path=name)

    assert (result.ok, result.code) == (False, "binary")
    assert f"not text: {kind}, {len(content)} bytes" in result.output


async def test_utf_16_is_read_as_text(desk: Desk) -> None:
    """ED-05."""
    desk.file("notes.txt", "\ufeffgrün\r\nzwei".encode("utf-16-le"))

    assert (await desk.call("read", path="notes.txt")).output == "1\tgrün\n2\tzwei"


async def test_a_folder_points_to_list(desk: Desk) -> None:
    (desk.root / "src").mkdir()
    result = await desk.call("read", path="src")

    assert (result.ok, result.output) == (False, "src is a folder; use list")


async def test_a_missing_file_is_a_result(desk: Desk) -> None:
    result = await desk.call("read", path="nope.py")

    assert (result.ok, result.code) == (False, "missing")


@pytest.mark.parametrize("path", ["", "  ", "~/x", "~root", "a\0b"])
async def test_a_path_that_is_none_is_refused(desk: Desk, path: str) -> None:
    assert (await desk.refused("read", path=path)).code == "bad_path"


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({}, "path"),
        ({"path": 3}, "path"),
        ({"path": "a", "start_line": 0}, "start_line"),
        ({"path": "a", "line_count": 0}, "line_count"),
        (
            {"path": "a", "offset": 5},
            "offset: no such argument; the arguments are: path, start_line",
        ),
    ],
)
@pytest.mark.row("R84")
async def test_arguments_that_do_not_fit_name_the_field(
    desk: Desk, arguments: dict[str, object], field: str
) -> None:
    """ST-18, R84."""
    with pytest.raises(BadArguments, match=field):
        await desk.tools["read"].prepare(arguments, KEY)


async def test_null_and_digits_are_taken_for_what_is_meant(desk: Desk) -> None:
    desk.file("a.txt", "a\nb\nc\n")
    result = await desk.call("read", path="a.txt", start_line="3", line_count=None)

    assert result.output == "3\tc"


async def test_the_action_names_the_real_path_and_the_location_the_editors(tmp_path: Path) -> None:
    """SC-03: a workspace root that is itself a link works, and the policy sees where it leads."""
    real = tmp_path / "real"
    real.mkdir()
    (real / "a.py").write_text("x\n")
    link = tmp_path / "link"
    link.symlink_to(real)
    desk = Desk(link)
    prepared = await desk.prepared("read", path="a.py", start_line=4)

    assert prepared.action.paths == (str(real / "a.py"),)
    assert prepared.locations == (Location(str(link / "a.py"), 4),)
    assert prepared.title == "read a.py from line 4"
    assert (await desk.call("read", path="a.py")).output == "1\tx"


async def test_a_link_out_of_the_workspace_is_judged_by_its_target(
    desk: Desk, tmp_path: Path
) -> None:
    """SC-03, SC-04: also through a folder, also when nothing is there yet, also with `..`."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (desk.root / "out").symlink_to(outside)
    (desk.root / "draft.md").symlink_to(outside / "nothing")
    for path in ("out/secret", "draft.md", "out/../outside/secret", "../outside/secret"):
        action = (await desk.prepared("read", path=path)).action
        assert action.paths[0].startswith(f"{outside}/")
        assert desk.policy.decide(action).verdict == "ask"


async def test_a_link_inside_the_workspace_is_followed(desk: Desk) -> None:
    desk.file("src/a.py", "x\n")
    (desk.root / "b.py").symlink_to("src/a.py")
    prepared = await desk.prepared("read", path="b.py")

    assert prepared.action.paths == (str(desk.root / "src" / "a.py"),)
    assert (await desk.run(prepared)).output == "1\tx"


async def test_a_path_that_was_swapped_for_a_link_after_it_was_judged_is_refused(
    desk: Desk, tmp_path: Path
) -> None:
    """SC-04, R97."""
    inside = desk.file("a.py", "inside\n")
    secret = tmp_path / "secret"
    secret.write_text("outside\n")
    prepared = await desk.prepared("read", path="a.py")
    inside.unlink()
    inside.symlink_to(secret)
    result = await desk.run(prepared)

    assert (result.ok, result.code) == (False, "moved")
    assert "outside" not in result.output


READER = """
import resource, sys
from pathlib import Path
import anyio
from tests.tools.desk import Desk

async def main(root):
    desk = Desk(Path(root))
    await desk.call("read", path="small.txt")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for start, count in ((1, None), (99_999, 1), (-2, None)):
        result = await desk.call("read", path="big.log", start_line=start, line_count=count)
        rows = result.output.splitlines()
        print(rows[0][:20], rows[0][-30:], rows[-1], sep=" ... ")
    edits = [{"old_text": "end", "new_text": "END"}]
    print((await desk.call("edit", path="big.log", edits=edits)).output)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)

anyio.run(main, sys.argv[1])
"""


async def test_a_huge_file_is_read_in_parts(desk: Desk) -> None:
    """ED-23: 200 MB, most of it one line; in a process whose memory nothing else has grown."""
    desk.file("small.txt", "x\n")
    with (desk.root / "big.log").open("wb") as file:
        file.write((b"x" * 99 + b"\n") * 100_000 + b"y" * 10_000)
        file.seek(200_000_000)  # what is left out takes no room on the disk
        file.write(b"\nend\n")
    ran = await anyio.run_process(
        [sys.executable, "-c", READER, str(desk.root)], cwd=ROOT, stderr=None
    )
    *said, grown = ran.stdout.decode().splitlines()
    unit = 1024 if sys.platform == "linux" else 1
    x, y = "x" * 99, "y" * 2_000

    assert said == [
        f"1\t{x[:18]} ... {x[:30]} ... [lines 1 to 577 of 100,002; read on with start_line=578]",
        f"99999\t{x[:14]} ... {x[:30]} ... [lines 99,999 to 99,999 of 100,002; read on with start_line=100000]",
        f"100001\t{y[:13]} ...  [… line of 190,000,000 bytes] ... 100002\tend",
        (f"{desk.root}/big.log is 200,000,005 bytes; a file above 8,388,608 is read in parts"
        " (start_line, line_count) and not edited"),
    ]  # fmt: skip
    assert int(grown) * unit < 50_000_000


async def test_a_cancel_does_not_wait_until_a_huge_file_is_counted(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = desk.file("log.txt", "a\n" * 10_000)
    os.truncate(path, 1 << 40)
    scope, read = anyio.CancelScope(), os.pread

    def cancelling(descriptor: int, length: int, offset: int) -> bytes:
        from_thread.run_sync(scope.cancel)
        assert offset < 1 << 30, "it reads on"
        return read(descriptor, length, offset)

    monkeypatch.setattr(os, "pread", cancelling)
    with scope:
        await desk.call("read", path="log.txt")

    assert scope.cancelled_caught


async def test_a_huge_binary_file_is_refused(desk: Desk) -> None:
    desk.file("big.bin", b"\x7fELF" + bytes(9_000_000))
    result = await desk.call("read", path="big.bin")

    assert (result.code, "ELF program, 9,000,004 bytes" in result.output) == ("binary", True)
