"""Transactions: in the journal before anything changes, and what it says is what stands (lsp.md §4.2, I13)."""

from pathlib import Path

import anyio
import pytest

from agent_server.edits import disk
from agent_server.edits.documents import Documents
from agent_server.edits.hashes import bytes_hash, content_hash
from agent_server.edits.journal import Cause, Line
from agent_server.edits.ports import Editor, NoEditor
from agent_server.edits.proposal import new_proposal, propose_create, propose_edit, propose_write
from agent_server.edits.text.match import Replacement
from agent_server.edits.transaction import Applied, Approval, Transactions
from agent_server.edits.transaction_lease import Leases
from agent_server.loop.errors import EditRefused, StoreFailure
from agent_server.loop.model import CallKey, TurnId
from agent_server.loop.proposal import FileDecision, Proposal, Resolution, accept_all
from tests.edits.editors import HonestEditor, LateEditor
from tests.fakes.journal import MemoryBlobs, MemoryJournal

pytestmark = pytest.mark.anyio
BASE = "".join(f"line {n}\n" for n in range(10))
CAUSE = Cause("call", "edit a.py", CallKey(1, 0))
YES = Approval(TurnId("t1"), gated=True)
USUAL = ["proposed", "approved", "applying", "verifying", "applied"]


class World:
    """One session's transactions over a folder."""

    def __init__(self, root: Path, editor: Editor | None = None) -> None:
        self.path = root / "a.py"
        self.path.write_text(BASE, newline="")
        connected = editor or NoEditor()
        self.documents = Documents(lambda: connected)
        self.journal, self.blobs = MemoryJournal(), MemoryBlobs()
        self.transactions = Transactions(self.documents, self.journal, self.blobs, Leases())

    async def propose(self, *words: str) -> Proposal:
        """`line 5` becomes `five`, and so on."""
        numbers = {"two": 2, "five": 5, "eight": 8}
        edits = [Replacement(f"line {numbers[w]}\n", f"{w}\n") for w in words]
        proposal = new_proposal(await propose_edit(self.documents, str(self.path), edits))
        await self.transactions.propose(proposal, CAUSE)
        return proposal

    async def apply(self, proposal: Proposal, resolution: Resolution | None = None) -> Applied:
        with anyio.fail_after(5):
            return await self.transactions.apply(proposal, resolution or accept_all(proposal), YES)

    def fingerprint(self) -> tuple[bytes, int, int]:
        status = self.path.stat()
        return self.path.read_bytes(), status.st_mode, status.st_mtime_ns


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


async def test_an_accepted_edit_goes_through_every_state(world: World):
    applied = await world.apply(await world.propose("five"))

    assert world.journal.states == USUAL
    assert [line.revision for line in world.journal.lines] == [1, 2, 3, 4, 5]
    assert (applied.state, applied.revision) == ("applied", 5)


async def test_the_journal_has_old_and_new_before_the_first_byte_changes(tmp_path: Path):
    class Watching(MemoryJournal):
        async def append(self, *lines: Line) -> None:
            await super().append(*lines)
            seen.append((lines[-1].state, world.path.read_text()))

    seen: list[tuple[str, str]] = []
    world = World(tmp_path)
    world.transactions = Transactions(world.documents, Watching(), world.blobs, Leases())
    await world.apply(await world.propose("five"))
    (proposed, applying, verifying, _) = seen

    assert proposed == ("proposed", BASE)
    assert applying == ("applying", BASE)
    assert verifying == ("verifying", BASE.replace("line 5", "five"))
    assert set(world.blobs.texts.values()) == {BASE, BASE.replace("line 5", "five")}


async def test_approving_and_applying_are_one_commit(world: World):
    await world.apply(await world.propose("five"))

    assert [[line.state for line in lines] for lines in world.journal.commits] == [
        ["proposed"], ["approved", "applying"], ["verifying"], ["applied"],
    ]  # fmt: skip


async def test_a_line_says_how_the_bytes_were_and_will_be(world: World):
    await world.apply(await world.propose("five"))
    (file,) = next(t.files for t in await world.transactions.all())
    assert file.before is not None
    assert file.after is not None

    assert file.before.digest == bytes_hash(BASE.encode())
    assert file.after.digest == bytes_hash(world.path.read_bytes())
    assert file.after.hash == content_hash(world.path.read_text())


async def test_a_journal_that_cannot_be_kept_changes_nothing(world: World):
    proposal, before = await world.propose("five"), world.fingerprint()
    world.journal.full = True
    with pytest.raises(StoreFailure):
        await world.apply(proposal)

    assert world.fingerprint() == before
    assert world.journal.states == ["proposed"]


async def test_a_text_that_cannot_be_kept_changes_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    proposal, before = await world.propose("five"), world.fingerprint()

    def full(text: str) -> str:
        raise StoreFailure("the disk is full")

    monkeypatch.setattr(world.blobs, "put", full)
    with pytest.raises(StoreFailure):
        await world.apply(proposal)

    assert world.fingerprint() == before


async def test_a_rejected_edit_leaves_bytes_mode_and_mtime_and_is_journaled(world: World):
    before = world.fingerprint()
    applied = await world.apply(await world.propose("five"), Resolution(()))

    assert world.fingerprint() == before
    assert (applied.state, world.journal.states) == ("rejected", ["proposed", "rejected"])
    (transaction,) = await world.transactions.all()
    assert len(transaction.files) == 1  # still to be looked at


async def test_only_what_was_accepted_stands_in_the_journal(world: World):
    proposal = await world.propose("two", "five")
    two, _ = proposal.files[0].hunks
    taken = FileDecision(str(world.path), frozenset({two.id}))
    await world.apply(proposal, Resolution((taken,)))
    (transaction,) = await world.transactions.all()
    (file,) = transaction.files
    assert file.after is not None

    assert world.blobs.get(file.after.hash) == BASE.replace("line 2", "two")


async def test_a_conflict_says_that_nothing_stands(world: World):
    proposal = await world.propose("five")
    world.path.write_text(BASE.replace("line 5", "theirs"), newline="")
    applied = await world.apply(proposal)
    (transaction,) = await world.transactions.all()

    assert applied.state == transaction.state == "conflict"
    assert transaction.files == ()
    assert transaction.message is not None
    assert "line 6" in transaction.message


async def test_an_edit_that_was_fitted_anew_is_written_down_anew(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    proposal, moved = await world.propose("five"), BASE.replace("line 0", "theirs")
    original, lost = disk.replace_text, [EditRefused("moved", reason="stale")]

    def first_too_late(*args: object) -> object:
        if lost:
            world.path.write_text(moved, newline="")
            raise lost.pop()
        return original(*args)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(disk, "replace_text", first_too_late)
    await world.apply(proposal)
    (transaction,) = await world.transactions.all()
    (file,) = transaction.files
    assert file.before is not None

    assert world.journal.states == ["proposed", "approved", "applying", *USUAL[2:]]
    assert world.blobs.get(file.before.hash) == moved
    assert world.path.read_text() == moved.replace("line 5", "five")


async def test_a_failure_in_the_second_file_leaves_nothing_standing(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    before = world.fingerprint()
    edit = await propose_edit(world.documents, str(world.path), [Replacement("line 5\n", "five\n")])
    create = await propose_create(world.documents, str(world.path.parent / "new" / "b.py"), "b\n")
    proposal = new_proposal(edit, create)
    await world.transactions.propose(proposal, CAUSE)

    def no(*args: object) -> None:
        raise EditRefused("it is read-only", reason="read_only")

    monkeypatch.setattr(disk, "replace_text", no)
    applied = await world.apply(proposal)
    (transaction,) = await world.transactions.all()

    assert (applied.state, transaction.files) == ("failed", ())
    assert world.fingerprint() == before
    assert [path.name for path in world.path.parent.iterdir()] == ["a.py"]


async def test_what_could_not_be_proved_is_no_success(tmp_path: Path):
    editor = LateEditor()
    world = World(tmp_path, editor)
    editor.show(str(world.path), BASE)
    applied = await world.apply(await world.propose("five"))
    (transaction,) = await world.transactions.all()

    assert applied.state == "conflict"
    assert len(transaction.files) == 1  # it may stand


async def test_a_buffer_is_journaled_by_its_text_alone(tmp_path: Path):
    editor = HonestEditor()
    world = World(tmp_path, editor)
    editor.show(str(world.path), BASE)
    await world.apply(await world.propose("five"))
    (transaction,) = await world.transactions.all()
    (file,) = transaction.files
    assert file.after is not None

    assert (file.after.form, file.after.digest) == (None, None)
    assert world.path.read_text() == BASE


async def test_a_file_changed_again_right_after_is_said_to_be(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    proposal, original = await world.propose("five"), disk.replace_text

    def and_formatted(*args: object) -> object:
        written = original(*args)  # pyright: ignore[reportArgumentType]
        world.path.write_text("formatted\n")
        return written

    monkeypatch.setattr(disk, "replace_text", and_formatted)
    (outcome,) = (await world.apply(proposal)).outcomes

    assert outcome.state == "applied"
    assert outcome.message is not None
    assert "changed again" in outcome.message


async def test_what_a_person_takes_back_the_model_does_not_know(world: World):
    await world.documents.read(str(world.path))
    change = await propose_write(world.documents, str(world.path), "mine\n")
    proposal = new_proposal(change)
    await world.transactions.propose(proposal, CAUSE)
    await world.transactions.apply(
        proposal, accept_all(proposal), Approval(gated=True, author="person")
    )

    with pytest.raises(EditRefused, match="changed since you read it"):
        await propose_write(world.documents, str(world.path), "again\n")


async def test_the_journal_read_again_gives_the_same_transactions(world: World):
    await world.apply(await world.propose("five"))
    await world.propose("two")
    again = Transactions(world.documents, world.journal, world.blobs, Leases())

    assert await again.all() == await world.transactions.all()


async def test_two_sessions_that_change_one_file_at_once_lose_neither_change(tmp_path: Path):
    one, leases = World(tmp_path), Leases()
    sessions = [
        Transactions(one.documents, MemoryJournal(), MemoryBlobs(), leases) for _ in range(2)
    ]
    proposals: list[Proposal] = []
    for session, word in zip(sessions, ("two", "eight"), strict=True):
        number = {"two": 2, "eight": 8}[word]
        edit = [Replacement(f"line {number}\n", f"{word}\n")]
        proposals.append(new_proposal(await propose_edit(one.documents, str(one.path), edit)))
        await session.propose(proposals[-1], CAUSE)
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            for session, proposal in zip(sessions, proposals, strict=True):
                group.start_soon(session.apply, proposal, accept_all(proposal), YES)

    assert one.path.read_text() == BASE.replace("line 2", "two").replace("line 8", "eight")


async def test_a_state_that_may_not_follow_is_a_defect(world: World):
    proposal = await world.propose("five")
    with pytest.raises(ValueError, match="proposed cannot become committed"):
        await world.transactions.move(proposal.txn, "committed")

    assert world.journal.states == ["proposed"]


async def test_a_cancelled_application_that_has_begun_is_carried_to_its_end(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    proposal, original = await world.propose("five"), disk.replace_text
    with anyio.fail_after(5), anyio.CancelScope() as scope:

        def cancelled(*args: object) -> object:
            anyio.from_thread.run_sync(scope.cancel)
            return original(*args)  # pyright: ignore[reportArgumentType]

        monkeypatch.setattr(disk, "replace_text", cancelled)
        await world.transactions.apply(proposal, accept_all(proposal), YES)

    assert world.journal.states == USUAL
    assert world.path.read_text() == BASE.replace("line 5", "five")
