"""`list`, `glob` and `search`: what is found, what is left out, and where it stops."""

import os
import sys
from pathlib import Path

import anyio
import pytest
from anyio import create_task_group, fail_after

from agent_server.loop.events import CallProgress, Event
from agent_server.loop.model import Location
from agent_server.tools import glob, search
from agent_server.tools.services import Limits
from tests.tools.desk import Desk

pytestmark = pytest.mark.anyio


@pytest.fixture
def project(desk: Desk) -> Desk:
    """A small tree with ignored, hidden, secret and binary files."""
    desk.file(".gitignore", "ignored.py\nnode_modules/\n")
    desk.file("src/dates.py", "import re\n\ndef parse_date(text):\n    return text\n")
    desk.file("src/deep/util.ts", "parse_date\n")
    desk.file("ignored.py", "parse_date\n")
    desk.file("node_modules/x/a.py", "parse_date\n")
    desk.file(".github/ci.yml", "run: parse_date\n")
    desk.file(".git/config", "parse_date\n")
    desk.file(".env", "KEY=parse_date\n")
    desk.file("blob.bin", b"parse_date\0\n")
    desk.file("crlf.txt", "x\r\nparse_date\r\n")
    return desk


# ---- search ----------------------------------------------------------------------------------------


async def test_hits_are_grouped_by_file_with_their_lines(project: Desk) -> None:
    result = await project.call("search", pattern=r"parse_\w+\(")

    assert result.output == "src/dates.py\n3:def parse_date(text):"
    assert result.summary == "1 hit in 1 file"
    assert result.locations == (Location(str(project.root / "src/dates.py"), 3),)


async def test_ignored_binary_and_gits_own_files_are_left_out_and_a_secret_is_counted(
    project: Desk,
) -> None:
    """The floor asks before a secret is read: a search must not show it unasked."""
    result = await project.call("search", pattern="parse_date")

    assert result.output == (
        ".github/ci.yml\n1:run: parse_date\n\ncrlf.txt\n2:parse_date\n\nsrc/dates.py\n3:def parse_date(text):\n\n"
        "src/deep/util.ts\n1:parse_date\n\n"
        "[1 file with hits left out: not to be read unasked; search it by its own path]"
    )


async def test_a_pipe_is_refused_and_not_waited_for(desk: Desk) -> None:
    os.mkfifo(desk.root / "pipe")

    with fail_after(5):
        result = await desk.call("search", pattern="x", path="pipe")

    assert (result.ok, result.code) == (False, "not_a_file")
    assert result.output == "pipe is a device, pipe or socket, not a file"


async def test_a_secret_that_was_asked_for_by_name_is_searched(project: Desk) -> None:
    prepared = await project.prepared("search", pattern="KEY", path=".env")

    assert project.policy.decide(prepared.action).floor
    assert (await project.run(prepared)).output == ".env\n1:KEY=parse_date"


@pytest.mark.parametrize(
    ("pattern", "files"),
    [
        ("*.py", ["src/dates.py"]),
        ("src/**", ["src/dates.py", "src/deep/util.ts"]),
        ("src/*", ["src/dates.py"]),
        ("**/*.{ts,yml}", [".github/ci.yml", "src/deep/util.ts"]),
        ("src/{deep/util,x}.ts", ["src/deep/util.ts"]),
        ("!src/**", [".github/ci.yml", "crlf.txt"]),
    ],
)
async def test_a_glob_narrows_the_files_and_brings_no_ignored_one_back(
    project: Desk, pattern: str, files: list[str]
) -> None:
    result = await project.call("search", pattern="parse_date", glob=pattern)
    paths = [block.split("\n")[0] for block in result.output.split("\n\n")]

    assert [p for p in paths if not p.startswith("[")] == files


async def test_paths_are_relative_to_the_session_also_from_a_folder_or_file(project: Desk) -> None:
    inner = await project.call("search", pattern="parse_date", path="src/deep")
    alone = await project.call("search", pattern="parse_date", path="src/deep/util.ts")

    assert inner.output == alone.output == "src/deep/util.ts\n1:parse_date"


async def test_plain_text_context_and_several_lines(project: Desk) -> None:
    literal = await project.call("search", pattern="parse_date(text)", literal=True, context=1)
    several = await project.call("search", pattern=r"re\n\ndef")

    assert literal.output == "src/dates.py\n2-\n3:def parse_date(text):\n4-    return text"
    assert several.output == "src/dates.py\n1:import re\n2:\n3:def parse_date(text):"


async def test_nothing_found_is_no_failure(project: Desk) -> None:
    result = await project.call("search", pattern="nowhere_at_all")

    assert (result.ok, result.output, result.summary) == (True, "no hits", "0 hits in 0 files")


@pytest.mark.parametrize("pattern", ["(", "[z-a]"])
async def test_a_broken_pattern_is_explained(project: Desk, pattern: str) -> None:
    result = await project.call("search", pattern=pattern)

    assert (result.ok, result.code, "regex parse error" in result.output) == (
        False,
        "search_failed",
        True,
    )


async def test_a_pattern_that_looks_like_an_option_is_a_pattern(project: Desk) -> None:
    project.file("a.txt", "x --files y\n")

    assert (await project.call("search", pattern="--files")).output == "a.txt\n1:x --files y"


async def test_too_many_hits_stop_and_say_so(tmp_path: Path) -> None:
    desk = Desk(tmp_path, limits=Limits(hits=3))
    desk.file("a.txt", "hit\n" * 10)
    result = await desk.call("search", pattern="hit")

    assert result.output.endswith(
        "3:hit\n\n[… stopped after 3 hits; narrow the pattern, the path or the glob …]"
    )
    assert result.summary == "3 hits+ in 1 file"


async def test_a_line_of_megabytes_is_cut(desk: Desk) -> None:
    desk.file("min.js", "x" * 3_000_000 + "needle" + "y" * 3_000_000)
    result = await desk.call("search", pattern="needle")

    assert (result.summary, len(result.output) < 1_000) == ("1 hit in 1 file", True)


@pytest.mark.skipif(sys.platform == "darwin", reason="its file systems hold no such name")
async def test_a_name_that_is_no_utf_8_does_no_harm(desk: Desk) -> None:
    odd = desk.file(os.fsdecode(b"\xff.txt"), "needle\n")
    (desk.root / "link").symlink_to(odd.name)
    found = await desk.call("search", pattern="needle")
    named = await desk.call("glob", pattern="*.txt")
    listed = await desk.call("list")

    assert (found.output, named.output) == ("\ufffd.txt\n1:needle", "\ufffd.txt")
    assert listed.output == "link -> ?.txt\n?.txt  7"


async def test_a_folder_outside_is_judged_and_one_swapped_in_is_refused(
    desk: Desk, tmp_path: Path
) -> None:
    """SC-03, SC-04."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("needle\n")
    (desk.root / "out").symlink_to(outside)
    (desk.root / "sub").mkdir()
    for tool, more in (("search", {"pattern": "needle"}), ("glob", {"pattern": "*"}), ("list", {})):
        action = (await desk.prepared(tool, path="out", **more)).action
        assert (action.paths, desk.policy.decide(action).verdict) == ((str(outside),), "ask")
        prepared = await desk.prepared(tool, path="sub", **more)
        (desk.root / "sub").rmdir()
        (desk.root / "sub").symlink_to(outside)
        result = await desk.run(prepared)
        assert (result.ok, "a.txt" in result.output) == (False, False)
        (desk.root / "sub").unlink()
        (desk.root / "sub").mkdir()
    assert (await desk.call("search", pattern="needle")).output == "no hits"


async def test_the_first_hits_are_shown_while_the_search_goes_on_and_cancel_ends_it(
    desk: Desk,
) -> None:
    os.mkfifo(desk.root / "zz")
    desk.file("a.txt", "needle\n" * 400)
    for number in range(300):
        desk.file(f"d{number}/x.txt", "needle\n" * 50)
    shown = anyio.Event()

    def hear(event: Event) -> None:
        if isinstance(event, CallProgress):
            shown.set()

    desk.heard = hear
    prepared = await desk.prepared("search", pattern="needle")
    with fail_after(10):
        async with create_task_group() as group:

            async def run() -> None:
                await desk.run(prepared)

            group.start_soon(run)
            await shown.wait()
            group.cancel_scope.cancel()


async def test_without_ripgrep_it_says_what_is_missing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "find_ripgrep", lambda: None)
    monkeypatch.setattr(glob, "find_ripgrep", lambda: None)

    assert (await desk.call("search", pattern="x")).code == "no_ripgrep"
    assert (await desk.call("glob", pattern="x")).code == "no_ripgrep"


# ---- glob ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "path", "files"),
    [
        ("*.py", None, ["src/dates.py"]),
        ("src/**/*.ts", None, ["src/deep/util.ts"]),
        ("**/*.ts", "src", ["src/deep/util.ts"]),
        ("deep/*", "src", ["src/deep/util.ts"]),
        ("*.{yml,ts}", None, [".github/ci.yml", "src/deep/util.ts"]),
        ("[cd]*.??*", None, ["crlf.txt", ".github/ci.yml", "src/dates.py"]),
        ("./src/*", None, ["src/dates.py"]),
        (".env", None, [".env"]),
    ],
)
async def test_files_are_found_by_name(
    project: Desk, pattern: str, path: str | None, files: list[str]
) -> None:
    result = await project.call("glob", pattern=pattern, path=path)

    assert sorted(result.output.splitlines()) == sorted(files)


async def test_files_come_sorted_and_counted(desk: Desk) -> None:
    for name in ("b.py", "a.py", "c/d.py"):
        desk.file(name)
    result = await desk.call("glob", pattern="*.py")

    assert (result.output, result.summary) == ("a.py\nb.py\nc/d.py", "3 files")


async def test_no_file_is_no_failure_and_too_many_stop(tmp_path: Path) -> None:
    desk = Desk(tmp_path, limits=Limits(entries=2))
    for number in range(5):
        desk.file(f"{number}.py")
    none, many = await desk.call("glob", pattern="*.ts"), await desk.call("glob", pattern="*.py")

    assert (none.ok, none.output, none.summary) == (True, "no file matches", "0 files")
    assert many.output == "0.py\n1.py\n[… stopped after 2; narrow the pattern or the path …]"
    assert many.summary == "2 files+"


@pytest.mark.parametrize(
    "pattern", ["/etc/*", "~/x", "../*", "a/../../b", "{" + ",".join("ab" * 200) + "}"]
)
async def test_a_pattern_that_leads_elsewhere_or_explodes_is_refused(
    desk: Desk, pattern: str
) -> None:
    assert (await desk.refused("glob", pattern=pattern)).code == "bad_pattern"


async def test_glob_in_a_file_is_a_result(desk: Desk) -> None:
    desk.file("a.py")

    assert (await desk.call("glob", pattern="*", path="a.py")).code == "not_a_folder"


# ---- list ------------------------------------------------------------------------------------------


async def test_a_folder_is_listed_with_folders_sizes_and_links(desk: Desk) -> None:
    desk.file("src/a.py")
    desk.file("b.txt", "x" * 1234)
    (desk.root / "link").symlink_to("b.txt")
    result = await desk.call("list")

    assert (result.output, result.summary) == ("b.txt  1,234\nlink -> b.txt\nsrc/", "3 names")


async def test_an_empty_folder_a_file_and_nothing_are_told_apart(desk: Desk) -> None:
    (desk.root / "sub").mkdir()
    desk.file("a.py")

    assert (await desk.call("list", path="sub")).output == "sub is empty"
    assert (await desk.call("list", path="a.py")).output == "a.py is a file; read it instead"
    assert (await desk.call("list", path="nope")).code == "missing"


async def test_a_full_folder_is_cut(tmp_path: Path) -> None:
    desk = Desk(tmp_path, limits=Limits(entries=2))
    for number in range(5):
        desk.file(str(number))

    assert (await desk.call("list")).output.endswith("[… 3 more; use glob to narrow it down …]")


@pytest.mark.parametrize(
    "glob", ["{" + ",".join("ab" * 200) + "}", "!{" + ",".join("ab" * 200) + "}"]
)
async def test_a_glob_that_explodes_is_refused_also_when_it_excludes(desk: Desk, glob: str) -> None:
    assert (await desk.refused("search", pattern="x", glob=glob)).code == "bad_pattern"


async def test_a_bare_return_ends_a_line_for_search_as_for_read(desk: Desk) -> None:
    """FC-11: one number for both, and for the place that the client is told."""
    desk.file("a.txt", "alpha\nbeta\rcarriage\ngamma NEEDLE\r\nlast NEEDLE\n")
    desk.file("b.txt", "one\r\nNEEDLE\r\n")
    found = await desk.call("search", pattern="NEEDLE")
    read = await desk.call("read", path="a.txt")

    assert "4:gamma NEEDLE" in found.output
    assert "5:last NEEDLE" in found.output
    assert "2:NEEDLE" in found.output
    assert "4\tgamma NEEDLE" in read.output
    assert [place.line for place in found.locations] == [4, 2]


@pytest.mark.parametrize("tool", ["list", "read"])
async def test_a_folder_is_no_place_that_a_client_could_open(desk: Desk, tool: str) -> None:
    desk.file("src/a.py", "a\n")
    prepared = await desk.prepared(tool, path="src")

    assert prepared.locations == ()
