"""A file that the editor has open as something else than text, such as a notebook: refused in words, never written."""

from pathlib import Path

import pytest

from agent_server.edits import apply as applying
from agent_server.edits.apply import Terms
from agent_server.edits.documents import Documents
from agent_server.edits.proposal import (
    new_proposal,
    propose_create,
    propose_delete,
    propose_edit,
    propose_rename,
    propose_write,
)
from agent_server.edits.text.match import Replacement
from agent_server.loop.errors import EditRefused
from agent_server.loop.proposal import FileChange, accept_all
from tests.edits.editors import HonestEditor

pytestmark = pytest.mark.anyio

WHY = "x.ipynb is open as a notebook"


@pytest.fixture
def editor() -> HonestEditor:
    return HonestEditor()


@pytest.fixture
def documents(editor: HonestEditor) -> Documents:
    return Documents(lambda: editor)


@pytest.fixture
def path(tmp_path: Path, editor: HonestEditor) -> str:
    found = tmp_path / "x.ipynb"
    found.write_text("one\n")
    editor.occupies[str(found)] = WHY
    return str(found)


def _read(path: str) -> str:
    return Path(path).read_text()


async def _propose(kind: str, documents: Documents, path: str) -> FileChange:
    match kind:
        case "edit":
            return await propose_edit(documents, path, [Replacement("one", "two")])
        case "write":
            return await propose_write(documents, path, "two\n")
        case "create":
            return await propose_create(documents, path, "two\n")
        case "delete":
            return await propose_delete(documents, path)
        case "rename from":
            return await propose_rename(documents, path, f"{path}.new")
        case _:
            other = Path(path).with_name("other.txt")
            other.write_text("other\n")
            return await propose_rename(documents, str(other), path)


@pytest.mark.parametrize("kind", ["edit", "write", "create", "delete", "rename from", "rename to"])
async def test_no_change_of_it_is_proposed(kind: str, documents: Documents, path: str) -> None:
    with pytest.raises(EditRefused, match="open as a notebook") as refused:
        await _propose(kind, documents, path)

    assert refused.value.reason == "occupied"
    assert _read(path) == "one\n"


@pytest.mark.parametrize("kind", ["edit", "delete", "rename from"])
async def test_nothing_is_written_when_it_was_opened_since(
    kind: str, documents: Documents, editor: HonestEditor, path: str
) -> None:
    why = editor.occupies.pop(path)
    proposal = new_proposal(await _propose(kind, documents, path))
    editor.occupies[path] = why

    (outcome,) = await applying.apply(documents, proposal, accept_all(proposal), Terms("Agent: x"))

    assert (outcome.state, outcome.message) == ("failed", WHY)
    assert _read(path) == "one\n"


async def test_it_can_be_read(documents: Documents, path: str) -> None:
    assert (await documents.read(path)).text == "one\n"
