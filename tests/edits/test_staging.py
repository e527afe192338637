"""What is staged: the agent reads it, the engine that writes does not, and it comes to one change per file."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_server.edits.documents import Documents
from agent_server.edits.ports import NoEditor
from agent_server.edits.proposal import (
    propose_create,
    propose_delete,
    propose_edit,
    propose_rename,
    propose_write,
)
from agent_server.edits.staging import Overlay
from agent_server.edits.text.hunks import apply_hunks, hunks
from agent_server.edits.text.match import Replacement
from agent_server.loop.errors import EditRefused
from agent_server.loop.proposal import FileChange

pytestmark = pytest.mark.anyio


@pytest.fixture
def documents() -> Documents:
    return Documents(NoEditor)


@pytest.fixture
def path(tmp_path: Path) -> str:
    (tmp_path / "a.py").write_text("one\ntwo\n")
    return str(tmp_path / "a.py")


def disk(path: str, text: bytes | None = None) -> str:
    """What the file says; with `text`, from now on."""
    if text is not None:
        Path(path).write_bytes(text)
    return Path(path).read_text(errors="replace")


def swap(old: str, new: str) -> list[Replacement]:
    return [Replacement(old, new)]


async def test_a_staged_text_is_read_and_edited_and_the_disk_and_the_engine_keep_theirs(
    documents: Documents, path: str
) -> None:
    await documents.stage(await propose_edit(documents, path, swap("one", "1")))
    await documents.stage(await propose_edit(documents, path, swap("1\ntwo", "1\n2")))

    assert (await documents.read(path)).text == "1\n2\n"
    assert ((await documents.peek(path)).text, disk(path)) == ("one\ntwo\n",) * 2


async def test_what_was_staged_is_known_to_the_model_so_it_may_write_over_it(
    documents: Documents, path: str
) -> None:
    await documents.read(path)
    await documents.stage(await propose_edit(documents, path, swap("one", "1")))

    assert (await propose_write(documents, path, "all new\n")).base_text == "1\ntwo\n"


async def test_a_staged_new_file_exists_for_the_agent_alone(
    documents: Documents, tmp_path: Path
) -> None:
    new = str(tmp_path / "b.py")
    await documents.stage(await propose_create(documents, new, "b\n"))

    assert (await documents.read(new)).text == "b\n"
    assert (await documents.is_there(new), await documents.exists(new)) == (True, False)
    with pytest.raises(EditRefused, match="exists already"):
        await propose_create(documents, new, "c\n")


async def test_a_staged_removal_is_gone_for_the_agent_alone(
    documents: Documents, path: str
) -> None:
    await documents.stage(await propose_delete(documents, path))

    assert (await documents.is_there(path), await documents.exists(path)) == (False, True)
    with pytest.raises(EditRefused, match="its removal is staged"):
        await documents.read(path)


async def test_a_name_that_is_staged_is_taken(documents: Documents, path: str) -> None:
    new = str(Path(path).parent / "b.py")
    await documents.stage(await propose_create(documents, new, "b\n"))

    with pytest.raises(EditRefused, match="exists already"):
        await propose_rename(documents, path, new)


async def test_a_file_is_staged_under_every_name_it_has(documents: Documents, path: str) -> None:
    link = Path(path).parent / "link.py"
    link.symlink_to(path)
    await documents.stage(await propose_edit(documents, str(link), swap("one", "1")))

    assert (await documents.read(path)).text == "1\ntwo\n"
    assert len(documents.overlay.net()) == 1


async def test_the_encoding_of_the_file_still_counts(documents: Documents, path: str) -> None:
    """ED-04."""
    disk(path, "// caf\xe9\nint a;\n".encode("latin-1"))
    await documents.stage(await propose_edit(documents, path, swap("int a", "int b")))

    with pytest.raises(EditRefused, match="ISO-8859-1"):
        await propose_edit(documents, path, swap("int b", "int \u2192"))


TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\n"]), max_size=5).map("".join)


@given(st.none() | TEXTS, st.lists(st.none() | TEXTS, min_size=1, max_size=5))
def test_however_it_was_staged_the_net_change_makes_the_last_text_of_the_first(
    base: str | None, texts: list[str | None]
) -> None:
    overlay, now = Overlay(), base
    for text in texts:
        kind = "create" if now is None else "delete" if text is None else "edit"
        overlay.add("/a", FileChange("/a", kind, now, text, hunks(now or "", text or "")))
        now = text
    net = overlay.net().get("/a")

    if base == now:
        assert net is None
        return
    assert net is not None
    assert (net.base_text, net.new_text) == (base, now)
    assert apply_hunks(base or "", net.hunks, {h.id for h in net.hunks}) == (now or "")
    assert net.kind == ("create" if base is None else "delete" if now is None else "edit")
