"""What the model is told of changes that are not its own (loop.md F39, ED-15). Decided by content."""

import os
from pathlib import Path

import pytest

from agent_server.edits.documents import Documents
from agent_server.edits.outside import MARKS, Marks, News, Outside, note
from agent_server.edits.proposal import propose_edit
from agent_server.edits.text.match import Replacement
from tests.tools.desk import BufferEditor

pytestmark = pytest.mark.anyio


class Ground:
    """A file that the model has read, and who tells of it."""

    def __init__(self, root: Path, editor: BufferEditor | None = None) -> None:
        connected = editor or BufferEditor({})
        self.documents = Documents(lambda: connected)
        self.marks = Marks()
        self.outside = Outside(self.documents, self.marks)
        self.path = root / "a.py"
        self.path.write_text("one\n")

    async def read(self) -> None:
        await self.documents.read(str(self.path))

    async def news(self) -> list[str]:
        return [f"{news.how} {Path(news.path).name}" for news in await self.outside.news()]


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return Ground(tmp_path)


async def test_a_file_that_changed_since_it_was_read_is_told_once(ground: Ground) -> None:
    await ground.read()
    assert await ground.news() == []
    ground.path.write_text("two\n")

    assert (await ground.news(), await ground.news()) == (["changed a.py"], [])


async def test_a_file_that_goes_on_changing_is_not_told_again_before_it_is_read_again(
    ground: Ground,
) -> None:
    await ground.read()
    found: list[list[str]] = []
    for text in ("two\n", "three\n"):
        ground.path.write_text(text)
        found.append(await ground.news())

    assert found == [["changed a.py"], []]


async def test_a_change_between_reading_and_the_first_look_is_told(ground: Ground) -> None:
    await ground.read()
    ground.path.write_text("two\n")

    assert await ground.news() == ["changed a.py"]


async def test_after_it_was_read_again_the_next_change_is_told_again(ground: Ground) -> None:
    for text in ("two\n", "three\n"):
        await ground.read()
        await ground.news()
        ground.path.write_text(text)
        assert await ground.news() == ["changed a.py"]


async def test_a_change_of_the_same_size_with_the_old_time_is_told(ground: Ground) -> None:
    """ED-15."""
    times = ground.path.stat().st_atime_ns, ground.path.stat().st_mtime_ns
    await ground.read()
    await ground.news()
    ground.path.write_text("eno\n")
    os.utime(ground.path, ns=times)

    assert await ground.news() == ["changed a.py"]


async def test_a_file_the_model_never_read_is_no_news(ground: Ground) -> None:
    ground.marks.add([str(ground.path)])
    ground.path.write_text("two\n")

    assert await ground.news() == []


async def test_a_touch_and_a_save_of_the_same_text_are_no_news(ground: Ground) -> None:
    await ground.read()
    await ground.news()
    ground.path.touch()
    ground.path.write_text("one\n")
    ground.marks.add([str(ground.path)])

    assert await ground.news() == []


async def test_our_own_edit_is_no_news(ground: Ground) -> None:
    await ground.read()
    change = await propose_edit(ground.documents, str(ground.path), [Replacement("one", "1")])
    ground.path.write_text("1\n")
    await ground.documents.note_applied(change, authored=False)
    ground.marks.add([str(ground.path)])

    assert await ground.news() == []


async def test_a_deleted_file_is_told_as_such(ground: Ground) -> None:
    await ground.read()
    ground.path.unlink()

    assert await ground.news() == ["deleted a.py"]


async def test_a_watched_file_is_looked_at_when_it_is_marked_and_not_before(
    ground: Ground,
) -> None:
    await ground.read()
    ground.marks.covers((str(ground.path.parent),))
    await ground.news()
    ground.path.write_text("two\n")
    assert await ground.news() == []
    ground.marks.add([str(ground.path)])

    assert await ground.news() == ["changed a.py"]


async def test_what_changed_between_the_last_look_and_the_watch_is_told(ground: Ground) -> None:
    await ground.read()
    await ground.news()
    ground.path.write_text("two\n")
    ground.marks.covers((str(ground.path.parent),))

    assert await ground.news() == ["changed a.py"]


async def test_more_marks_than_are_kept_mean_that_everything_is_looked_at(ground: Ground) -> None:
    await ground.read()
    await ground.news()
    ground.marks.covers((str(ground.path.parent),))
    ground.path.write_text("two\n")
    ground.marks.add(f"/x/{n}" for n in range(MARKS + 1))

    assert await ground.news() == ["changed a.py"]


async def test_an_open_buffer_is_what_counts_and_not_the_disk_below(tmp_path: Path) -> None:
    """F42."""
    path = str(tmp_path / "a.py")
    editor = BufferEditor({path: "unsaved\n"})
    ground = Ground(tmp_path, editor)
    await ground.read()
    ground.path.write_text("two\n")
    ground.marks.add([path])
    assert await ground.news() == []
    editor.buffers[path] = "typed\n"
    ground.marks.add([path])

    assert await ground.news() == ["changed a.py"]


def test_the_note_names_files_as_the_model_knows_them() -> None:
    news = [News("/w/src/a.py", "changed"), News("/w/b.py", "deleted"), News("/o/c.py", "changed")]

    assert note(news, "/w") == (
        "(changed since you read it, not by an edit of yours: src/a.py, ../o/c.py; deleted since you "
        "read it, not by an edit of yours: b.py. Read again before you rely on what you saw.)"
    )
    assert note([], "/w") is None


def test_a_note_about_very_many_files_counts_the_rest() -> None:
    said = note([News(f"/w/{n}", "changed") for n in range(30)], "/w")

    assert said is not None
    assert "19 and 10 more. Read" in said
