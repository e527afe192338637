"""Documents: the buffer before the disk, and what the model may overwrite (ED-15, 17)."""

import os
from pathlib import Path

import pytest

from agent_server.edits.apply import Terms, apply
from agent_server.edits.documents import Documents
from agent_server.edits.hashes import content_hash
from agent_server.edits.ports import NoEditor
from agent_server.edits.proposal import new_proposal, propose_create, propose_edit, propose_write
from agent_server.edits.text.match import Replacement
from agent_server.loop.errors import EditRefused
from agent_server.loop.proposal import FileChange, accept_all
from tests.edits.editors import HonestEditor

pytestmark = pytest.mark.anyio


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "a.txt"
    found.write_bytes(b"one\r\ntwo\r\n")
    return found


@pytest.fixture
def documents() -> Documents:
    return Documents(NoEditor)


def content(path: Path) -> bytes:
    return path.read_bytes()


def fill(path: Path, data: bytes) -> None:
    """Somebody else writes, and leaves the times as they were."""
    status = path.stat()
    path.write_bytes(data)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


async def apply_all(documents: Documents, change: FileChange) -> None:
    proposal = new_proposal(change)
    (outcome,) = await apply(documents, proposal, accept_all(proposal), Terms("Agent"))
    assert outcome.state == "applied"


async def refusal(documents: Documents, path: Path, content: str) -> EditRefused:
    with pytest.raises(EditRefused) as caught:
        await propose_write(documents, str(path), content)
    return caught.value


async def test_an_open_buffer_is_the_truth(path: Path) -> None:
    editor = HonestEditor()
    editor.show(str(path), "unsaved", 3)
    document = await Documents(lambda: editor).read(str(path))
    assert (document.text, document.source, document.version, document.file) == (
        "unsaved",
        "editor",
        3,
        None,
    )
    assert document.hash == content_hash("unsaved")


async def test_a_buffer_without_a_file_exists(tmp_path: Path) -> None:
    editor = HonestEditor()
    editor.show(str(tmp_path / "new"), "x")
    assert await Documents(lambda: editor).exists(str(tmp_path / "new"))
    assert not await Documents(lambda: editor).exists(str(tmp_path / "other"))


async def test_a_file_that_is_not_open_comes_from_the_disk(
    path: Path, documents: Documents
) -> None:
    document = await documents.read(str(path))
    assert (document.text, document.source, document.version) == ("one\r\ntwo\r\n", "disk", None)


async def test_a_file_never_read_is_not_overwritten(path: Path, documents: Documents) -> None:
    assert (await refusal(documents, path, "x\n")).reason == "not_read"


async def test_peeking_is_not_reading(path: Path, documents: Documents) -> None:
    await documents.peek(str(path))
    assert (await refusal(documents, path, "x\n")).reason == "not_read"


async def test_a_file_that_was_read_is_written_with_its_own_line_ends(
    path: Path, documents: Documents
) -> None:
    await documents.read(str(path))
    await apply_all(documents, await propose_write(documents, str(path), "one\nTWO\n"))
    assert content(path) == b"one\r\nTWO\r\n"


async def test_a_change_since_the_read_is_refused_with_the_difference_even_of_equal_size_and_time(
    path: Path, documents: Documents
) -> None:
    await documents.read(str(path))
    fill(path, b"one\r\nTWO\r\n")
    error = await refusal(documents, path, "x\n")
    assert error.reason == "stale"
    assert "-two\n+TWO\n" in str(error)


async def test_after_reading_again_it_may_be_written(path: Path, documents: Documents) -> None:
    await documents.read(str(path))
    fill(path, b"else\n")
    await documents.read(str(path))
    await apply_all(documents, await propose_write(documents, str(path), "x\n"))
    assert content(path) == b"x\n"


async def test_our_own_edits_do_not_make_it_stale(path: Path, documents: Documents) -> None:
    await documents.read(str(path))
    await apply_all(documents, await propose_edit(documents, str(path), [Replacement("one", "1")]))
    await apply_all(documents, await propose_edit(documents, str(path), [Replacement("two", "2")]))
    await apply_all(documents, await propose_write(documents, str(path), "x\n"))
    assert content(path) == b"x\r\n"


async def test_our_own_edit_does_not_hide_a_change_of_somebody_else(
    path: Path, documents: Documents
) -> None:
    await documents.read(str(path))
    fill(path, b"one\r\ntwo\r\nthree\r\n")
    await apply_all(documents, await propose_edit(documents, str(path), [Replacement("one", "1")]))
    assert (await refusal(documents, path, "x\n")).reason == "stale"


async def test_a_file_the_model_made_is_known_to_it(tmp_path: Path, documents: Documents) -> None:
    new = tmp_path / "new"
    await apply_all(documents, await propose_create(documents, str(new), "a\n"))
    await apply_all(documents, await propose_write(documents, str(new), "b\n"))
    assert new.read_bytes() == b"b\n"


async def test_a_file_read_by_a_link_is_known_by_its_real_name(
    path: Path, documents: Documents
) -> None:
    (path.parent / "link").symlink_to(path)
    await documents.read(str(path.parent / "link"))
    assert (await propose_write(documents, str(path), "x\n")).kind == "edit"
