"""Checkpoints and restoring: files as they were before a turn, others' changes left alone, undoable (F30, I14)."""

import stat
import tempfile
from pathlib import Path

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_server.edits.checkpoint import checkpoints
from agent_server.edits.documents import Documents
from agent_server.edits.journal import Cause
from agent_server.edits.ports import Editor, NoEditor
from agent_server.edits.proposal import (
    new_proposal,
    propose_create,
    propose_delete,
    propose_rename,
    propose_write,
)
from agent_server.edits.transaction import Approval, Transactions
from agent_server.edits.undo_run import Rewound, look, restore
from agent_server.loop.errors import ClientMistake, EditRefused
from agent_server.loop.model import TurnId
from agent_server.loop.proposal import FileChange, accept_all
from tests.edits.editors import HonestEditor
from tests.fakes.journal import MemoryJournal, transactions

pytestmark = pytest.mark.anyio


class World:
    """A folder and one session's edits in it."""

    def __init__(self, root: Path, editor: Editor | None = None) -> None:
        self.root = root
        connected = editor or NoEditor()
        self.documents = Documents(lambda: connected)
        self.transactions: Transactions = transactions(self.documents, MemoryJournal())

    def path(self, name: str) -> str:
        return str(self.root / name)

    async def edit(self, turn: str, *changes: FileChange) -> str:
        """One transaction of a turn; its name."""
        proposal = new_proposal(*changes)
        await self.transactions.propose(proposal, Cause("call", f"edit in {turn}"))
        applied = await self.transactions.apply(
            proposal, accept_all(proposal), Approval(TurnId(turn), gated=True)
        )
        assert applied.state == "applied", applied
        return proposal.txn

    async def write(self, turn: str, name: str, text: str) -> str:
        """The whole text of a file, old or new."""
        path = self.path(name)
        if await self.documents.exists(path):
            await self.documents.read(path)
        return await self.edit(turn, await propose_write(self.documents, path, text))

    async def ids(self) -> list[str]:
        return [one.id for one in checkpoints(await self.transactions.all())]

    async def restore(self, id: str, *, others: bool = False) -> Rewound:
        with anyio.fail_after(5):
            return await restore(self.transactions, id, others=others)

    def files(self) -> dict[str, tuple[bytes, int]]:
        """Bytes and mode of every file."""
        found = sorted(path for path in self.root.rglob("*") if path.is_file())
        return {
            str(path.relative_to(self.root)): (path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
            for path in found
        }


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


async def test_a_turn_has_one_checkpoint_however_many_edits_it_made(world: World):
    await world.write("t1", "a.py", "one\n")
    await world.write("t1", "b.py", "two\n")
    await world.write("t2", "a.py", "three\n")
    first, second = checkpoints(await world.transactions.all())

    assert (first.turn, second.turn) == ("t1", "t2")
    assert first.files == ((world.path("a.py"), "create"), (world.path("b.py"), "create"))
    assert first.title == "edit in t1, and 1 more"


async def test_a_turn_that_changed_nothing_has_none(world: World):
    proposal = new_proposal(await propose_create(world.documents, world.path("a.py"), "a\n"))
    await world.transactions.propose(proposal, Cause("call", "create a.py"))

    assert await world.ids() == []


async def test_restoring_takes_every_file_back_to_where_it_was_before_the_turn(world: World):
    (world.root / "old.py").write_text("old\n")
    await world.write("t1", "a.py", "one\n")
    before = world.files()
    await world.write("t2", "a.py", "two\n")
    await world.write("t2", "new/b.py", "b\n")
    await world.edit("t3", await propose_delete(world.documents, world.path("old.py")))
    _, second, _ = await world.ids()
    rewound = await world.restore(second)

    assert world.files() == before
    assert rewound.left == ()
    assert not (world.root / "new").exists()


async def test_looking_first_says_what_would_change_and_changes_nothing(world: World):
    await world.write("t1", "a.py", "one\n")
    before = world.files()
    (first,) = await world.ids()
    would = await look(world.transactions, first, others=False)

    assert [(c.path, c.kind) for c in would.changes] == [(world.path("a.py"), "delete")]
    assert world.files() == before


async def test_a_restore_can_be_undone_and_the_undo_too(world: World):
    await world.write("t1", "a.py", "one\n")
    await world.write("t2", "a.py", "two\n")
    before = world.files()
    _, second = await world.ids()
    rewound = await world.restore(second)
    assert rewound.undo is not None
    undone = await world.restore(rewound.undo)
    assert undone.undo is not None
    assert world.files() == before
    await world.restore(undone.undo)

    assert (world.root / "a.py").read_text() == "one\n"


async def test_a_file_that_somebody_else_changed_is_left_and_named(world: World):
    await world.write("t1", "a.py", "one\n")
    await world.write("t1", "b.py", "b\n")
    (world.root / "a.py").write_text("theirs\n")
    (first,) = await world.ids()
    rewound = await world.restore(first)

    assert [left.path for left in rewound.left] == [world.path("a.py")]
    assert [*world.files()] == ["a.py"]


async def test_a_change_of_somebody_else_between_two_of_ours_is_left_too(world: World):
    await world.write("t1", "a.py", "one\n")
    (world.root / "a.py").write_text("theirs\n")
    await world.write("t2", "a.py", "theirs, and ours\n")
    first, second = await world.ids()

    assert (await world.restore(first)).changes == ()
    await world.restore(second)
    assert (world.root / "a.py").read_text() == "theirs\n"


async def test_told_to_it_takes_others_changes_back_as_well_and_that_can_be_undone(world: World):
    await world.write("t1", "a.py", "one\n")
    (world.root / "a.py").write_text("theirs\n")
    (first,) = await world.ids()
    rewound = await world.restore(first, others=True)
    assert not (world.root / "a.py").exists()
    assert rewound.undo is not None
    await world.restore(rewound.undo)

    assert (world.root / "a.py").read_text() == "theirs\n"


async def test_encoding_and_mode_come_back_with_a_deleted_file(world: World):
    path = world.root / "run.sh"
    path.write_bytes("#!/bin/sh\necho é\n".encode("cp1252"))
    path.chmod(0o755)
    before = world.files()
    await world.edit("t1", await propose_delete(world.documents, str(path)))
    await world.restore((await world.ids())[0])

    assert world.files() == before


async def test_a_renamed_file_gets_its_name_back(world: World):
    (world.root / "a.py").write_text("a\n")
    before = world.files()
    rename = await propose_rename(world.documents, world.path("a.py"), world.path("d/b.py"))
    await world.edit("t1", rename)
    await world.restore((await world.ids())[0])

    assert world.files() == before


async def test_an_open_document_is_restored_in_the_editor(tmp_path: Path):
    editor = HonestEditor()
    world = World(tmp_path, editor)
    (tmp_path / "a.py").write_text("on disk\n")
    editor.show(world.path("a.py"), "one\n")
    await world.write("t1", "a.py", "two\n")
    await world.restore((await world.ids())[0])

    assert editor.open[world.path("a.py")].text == "one\n"
    assert (tmp_path / "a.py").read_text() == "on disk\n"


async def test_a_created_file_that_is_open_stays_and_is_named(tmp_path: Path):
    editor = HonestEditor()
    world = World(tmp_path, editor)
    await world.write("t1", "a.py", "a\n")
    editor.show(world.path("a.py"), "a\n")
    rewound = await world.restore((await world.ids())[0])

    assert "open in the editor" in rewound.left[0].why
    assert (tmp_path / "a.py").read_text() == "a\n"


async def test_a_file_that_became_binary_is_left_and_named(world: World):
    await world.write("t1", "a.py", "a\n")
    (world.root / "a.py").write_bytes(b"\x7fELF\0\0")
    rewound = await world.restore((await world.ids())[0])

    assert "not text" in rewound.left[0].why


async def test_an_unknown_checkpoint_is_a_mistake_by_name(world: World):
    with pytest.raises(ClientMistake, match="'c-nope'"):
        await world.restore("c-nope")


NAMES = ("a.py", "b.py", "d/c.py")
TEXTS = ("", "x\n", "x\ny\n", "y\r\nx", "é\n")
DEEDS = st.tuples(
    st.sampled_from(["write", "write", "delete", "rename", "theirs", "turn"]),
    st.sampled_from(NAMES),
    st.sampled_from(TEXTS),
    st.sampled_from(NAMES),
)


@pytest.mark.timeout(120)  # hundreds of histories, each of them synced to the disk
@given(st.lists(DEEDS, min_size=1, max_size=10), st.data())
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_undoing_a_rewind_is_as_if_nothing_had_been(
    deeds: list[tuple[str, str, str, str]], data: st.DataObject
):
    """I14: bytes and modes of every file, whatever was done before, and whoever did it."""
    with tempfile.TemporaryDirectory() as folder:
        anyio.run(_rewind_and_undo, Path(folder), deeds, data)


async def _rewind_and_undo(
    root: Path, deeds: list[tuple[str, str, str, str]], data: st.DataObject
) -> None:
    world, turn = World(root), 1
    for deed, name, text, other in deeds:
        turn += deed == "turn"
        await _do(world, f"t{turn}", deed, name, text, other)
    ids = await world.ids()
    if not ids:
        return
    before = world.files()
    rewound = await world.restore(data.draw(st.sampled_from(ids)), others=data.draw(st.booleans()))
    if rewound.proposal is not None:
        assert rewound.state == "applied"
        assert rewound.undo is not None
        undone = await world.restore(rewound.undo)
        assert undone.left == ()
    assert world.files() == before


async def _do(world: World, turn: str, deed: str, name: str, text: str, other: str) -> None:
    path = world.root / name
    try:
        match deed:
            case "write":
                await world.write(turn, name, text)
            case "delete":
                await world.edit(turn, await propose_delete(world.documents, str(path)))
            case "rename":
                rename = await propose_rename(world.documents, str(path), world.path(other))
                await world.edit(turn, rename)
            case "theirs":
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(text.encode("cp1252"))
                path.chmod(0o640)
            case _:
                pass
    except EditRefused:
        return  # nothing to delete, or nothing would change
