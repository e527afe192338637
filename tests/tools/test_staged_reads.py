"""What is staged, as `search`, `glob` and `list` see it (protocol.md, `review = "turn"`)."""

import pytest

from agent_server.loop.events import EditChanged
from agent_server.loop.model import TurnId
from agent_server.loop.ports import CallContext
from tests.tools.desk import KEY, Desk

pytestmark = pytest.mark.anyio


async def stage(desk: Desk, tool: str, **arguments: object) -> None:
    """An edit that waits for the review of the turn."""
    prepared = await desk.prepared(tool, **arguments)
    assert prepared.stage is not None
    result = await prepared.stage(CallContext(TurnId("t1"), KEY, desk.hear), None)
    assert result.ok, result
    assert "your own tools see it" in result.output


async def staged(desk: Desk) -> Desk:
    """A changed file, a new one in a new folder, and a removed one."""
    desk.file("src/a.py", "one\nneedle\n")
    desk.file("src/b.py", "needle\n")
    desk.file("src/gone.py", "needle\n")
    edits = [{"old_text": "one\nneedle", "new_text": "one\ntwo\nneedles"}]
    await stage(desk, "edit", path="src/a.py", edits=edits)
    await stage(desk, "write", path="src/new/c.py", content="a\nneedle\n")
    gone = "*** Begin Patch\n*** Delete File: src/gone.py\n*** End Patch"
    await stage(desk, "patch", patch=gone)
    assert (desk.root / "src/a.py").read_text() == "one\nneedle\n"
    return desk


async def test_a_search_finds_the_staged_text_with_its_lines_and_not_what_it_replaces(desk: Desk):
    result = await (await staged(desk)).call("search", pattern="needle")

    assert result.output == ("src/a.py\n3:needles\n\nsrc/b.py\n1:needle\n\nsrc/new/c.py\n2:needle")
    assert result.summary == "3 hits in 3 files"


@pytest.mark.parametrize(
    ("more", "output"),
    [
        ({"path": "src/a.py"}, "src/a.py\n3:needles"),
        ({"path": "src/new/c.py"}, "src/new/c.py\n2:needle"),
        ({"path": "src/new"}, "src/new/c.py\n2:needle"),
        ({"glob": "c.*"}, "src/new/c.py\n2:needle"),
        ({"glob": "!c.py"}, "src/a.py\n3:needles\n\nsrc/b.py\n1:needle"),
        ({"glob": "src/*.py"}, "src/a.py\n3:needles\n\nsrc/b.py\n1:needle"),
        ({"path": "src/a.py", "context": 1}, "src/a.py\n2-two\n3:needles"),
    ],
)
async def test_places_globs_and_context_hold_for_staged_files_too(
    desk: Desk, more: dict[str, object], output: str
):
    result = await (await staged(desk)).call("search", pattern="needle", **more)

    assert result.output == output


async def test_a_search_in_a_folder_that_is_nowhere_is_still_refused(desk: Desk):
    result = await (await staged(desk)).call("search", pattern="needle", path="nowhere")

    assert result.code == "missing"


async def test_a_large_staged_text_that_ripgrep_stops_reading_ends_the_search(desk: Desk):
    """It is told the limit of hits long before the text is through."""
    await stage(desk, "write", path="big.txt", content="needle\n" * 200_000)
    result = await desk.call("search", pattern="needle")

    assert "stopped after 500 hits" in result.output


async def test_a_secret_that_is_staged_is_not_shown_unasked(desk: Desk):
    await stage(desk, "write", path=".env", content="KEY=needle\n")
    result = await desk.call("search", pattern="needle")

    assert "KEY" not in result.output
    assert "1 file with hits left out" in result.output


async def test_names_of_staged_files_are_found_and_removed_ones_are_not(desk: Desk):
    result = await (await staged(desk)).call("glob", pattern="*.py")

    assert result.output == "src/a.py\nsrc/b.py\nsrc/new/c.py"


async def test_names_in_a_folder_that_is_only_staged_are_found(desk: Desk):
    await staged(desk)

    assert (await desk.call("glob", pattern="*", path="src/new")).output == "src/new/c.py"
    assert (await desk.call("list", path="src/new")).output == "c.py  9 (staged)"


async def test_a_folder_lists_what_is_staged_and_says_so(desk: Desk):
    result = await (await staged(desk)).call("list", path="src")

    assert result.output == "a.py  16 (staged)\nb.py  7\nnew/"


async def test_what_is_not_staged_any_more_is_not_seen(desk: Desk):
    await staged(desk)
    desk.services.documents.overlay.clear()

    assert (await desk.call("glob", pattern="*.py")).output == "src/a.py\nsrc/b.py\nsrc/gone.py"
    assert not any(isinstance(e, EditChanged) and e.state == "applied" for e in desk.events)
