"""Proposals: changes against the text as it is, or a refusal that says why."""

from pathlib import Path

import pytest

from agent_server.edits.decided import decided, wanted
from agent_server.edits.documents import Documents
from agent_server.edits.hashes import content_hash
from agent_server.edits.ports import NoEditor
from agent_server.edits.proposal import (
    new_proposal,
    propose_create,
    propose_delete,
    propose_edit,
    propose_write,
)
from agent_server.edits.text.match import Replacement
from agent_server.loop.errors import EditRefused
from agent_server.loop.proposal import FileDecision, Resolution, accept_all
from tests.edits.editors import HonestEditor

pytestmark = pytest.mark.anyio


@pytest.fixture
def documents() -> Documents:
    return Documents(NoEditor)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "a.txt"
    found.write_bytes(b"one\ntwo\nthree\n")
    return found


@pytest.fixture
def latin(tmp_path: Path) -> Path:
    found = tmp_path / "latin.txt"
    found.write_bytes("café ça et là\n".encode("latin-1"))
    return found


async def test_an_edit_carries_both_texts_hunks_and_hash(path: Path, documents: Documents) -> None:
    change = await propose_edit(documents, str(path), [Replacement("two", "2")])
    assert (change.kind, change.base_text, change.new_text) == (
        "edit",
        "one\ntwo\nthree\n",
        "one\n2\nthree\n",
    )
    assert (change.base_hash, change.base_version) == (content_hash("one\ntwo\nthree\n"), None)
    assert [(h.start, h.removed, h.added) for h in change.hunks] == [(1, ("two\n",), ("2\n",))]


async def test_an_edit_of_an_open_document_names_its_version(path: Path) -> None:
    editor = HonestEditor()
    editor.show(str(path), "buffer two\n", 7)
    change = await propose_edit(Documents(lambda: editor), str(path), [Replacement("two", "2")])
    assert (change.base_text, change.base_version) == ("buffer two\n", 7)


async def test_a_refused_match_names_the_file(path: Path, documents: Documents) -> None:
    with pytest.raises(
        EditRefused, match=rf"^{path}: edit 1: old_text is not in the file"
    ) as caught:
        await propose_edit(documents, str(path), [Replacement("zzz", "x")])
    assert caught.value.reason == "not_found"


async def test_a_write_of_the_same_text_is_refused(path: Path, documents: Documents) -> None:
    await documents.read(str(path))
    with pytest.raises(EditRefused) as caught:
        await propose_write(documents, str(path), "one\ntwo\nthree\n")
    assert caught.value.reason == "no_change"


async def test_a_character_the_encoding_lacks_is_refused_before_anybody_is_asked(
    latin: Path, documents: Documents
) -> None:
    with pytest.raises(EditRefused, match="ISO-8859-1") as caught:
        await propose_edit(documents, str(latin), [Replacement("et", "→")])
    assert caught.value.reason == "unencodable"


async def test_a_write_of_a_missing_file_creates_it(tmp_path: Path, documents: Documents) -> None:
    change = await propose_write(documents, str(tmp_path / "new"), "a\n")
    assert (change.kind, change.base_text, change.base_hash, change.new_text) == (
        "create",
        None,
        None,
        "a\n",
    )


async def test_creating_what_exists_is_refused(path: Path, documents: Documents) -> None:
    with pytest.raises(EditRefused, match="exists already"):
        await propose_create(documents, str(path), "x")


async def test_proposals_have_ids_of_their_own(path: Path, documents: Documents) -> None:
    change = await propose_edit(documents, str(path), [Replacement("two", "2")])
    assert new_proposal(change).txn != new_proposal(change).txn


async def test_accepting_all_wants_each_change_as_proposed(
    path: Path, documents: Documents
) -> None:
    proposal = new_proposal(await propose_edit(documents, str(path), [Replacement("two", "2")]))
    assert decided(proposal, accept_all(proposal)) == {str(path): proposal.files[0]}
    assert decided(proposal, Resolution(())) == {str(path): None}


async def test_a_deletion_is_never_done_in_part(path: Path, documents: Documents) -> None:
    change = await propose_delete(documents, str(path))
    assert wanted(change, FileDecision(str(path), frozenset())) is None
    assert wanted(change, FileDecision(str(path), frozenset(h.id for h in change.hunks))) == change


async def test_a_text_edited_back_to_what_it_was_wants_nothing(
    path: Path, documents: Documents
) -> None:
    change = await propose_edit(documents, str(path), [Replacement("two", "2")])
    assert (
        wanted(change, FileDecision(str(path), frozenset(), edited_text="one\ntwo\nthree\n"))
        is None
    )


async def test_a_deletion_that_the_person_edited_is_an_edit(
    path: Path, documents: Documents
) -> None:
    change = wanted(
        await propose_delete(documents, str(path)),
        FileDecision(str(path), frozenset(), edited_text="x\n"),
    )
    assert change is not None
    assert (change.kind, change.new_text) == ("edit", "x\n")
