"""After a crash or a fault at any step: all files old or all new, and the journal says which (lsp.md §4.5, I13)."""

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from agent_server.edits.documents import Documents
from agent_server.edits.journal import Cause, Line, Transaction
from agent_server.edits.ports import Editor, NoEditor
from agent_server.edits.proposal import new_proposal, propose_create, propose_delete, propose_edit
from agent_server.edits.recovery import Recovered, recover, tidy
from agent_server.edits.text.match import Replacement
from agent_server.edits.transaction import Approval, Transactions
from agent_server.edits.transaction_lease import Leases
from agent_server.loop.model import CallKey
from agent_server.loop.proposal import Proposal, Resolution, accept_all
from tests.edits.crash_points import NEW, OLD
from tests.edits.editors import HonestEditor
from tests.fakes.journal import MemoryBlobs, MemoryJournal

pytestmark = pytest.mark.anyio
CALL = CallKey(1, 0)
BEFORE = {"a.py": "a old\n", "b.py": "b old\n"}
AFTER = {"a.py": "a new\n", "new/d.py": "d new\n"}


class Died(BaseException):
    """Where a process would have ended."""


class DyingJournal(MemoryJournal):
    """Ends the process before the line that would say how it went."""

    async def append(self, *lines: Line) -> None:
        if lines[-1].state == "verifying":
            raise Died
        await super().append(*lines)


class World:
    """A folder, and a session that can be opened again."""

    def __init__(self, root: Path, editor: Editor | None = None) -> None:
        self.root = root / "w"
        self.root.mkdir()
        for name, text in BEFORE.items():
            (self.root / name).write_text(text)
        connected = editor or NoEditor()
        self.documents = Documents(lambda: connected)
        self.journal, self.blobs = MemoryJournal(), MemoryBlobs()

    def open(self, journal: MemoryJournal | None = None) -> Transactions:
        return Transactions(self.documents, journal or self.journal, self.blobs, Leases())

    async def proposal(self) -> Proposal:
        docs, root = self.documents, self.root
        return new_proposal(
            await propose_edit(docs, str(root / "a.py"), [Replacement("old", "new")]),
            await propose_create(docs, str(root / "new" / "d.py"), "d new\n"),
            await propose_delete(docs, str(root / "b.py")),
        )

    async def crash(self) -> None:
        """Everything is made, and nobody wrote down that it was."""
        dying = DyingJournal()
        transactions, proposal = self.open(dying), await self.proposal()
        await transactions.propose(proposal, Cause("call", "patch", CALL))
        with pytest.raises(Died):
            await transactions.apply(proposal, accept_all(proposal), Approval(gated=True))
        self.journal.lines = dying.lines
        assert self.files() == AFTER

    async def recovered(self, *answered: CallKey) -> tuple[Recovered, ...]:
        with anyio.fail_after(5):
            return await recover(self.open(), answered.__contains__)

    async def transaction(self) -> Transaction:
        (transaction,) = await self.open().all()
        return transaction

    def files(self) -> dict[str, str]:
        """Without what could not be cleared away because clearing failed."""
        found = sorted(p for p in self.root.rglob("*") if p.is_file() and p.suffix != ".tmp")
        return {str(path.relative_to(self.root)): path.read_text() for path in found}


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


# ---- crashes ---------------------------------------------------------------------------------------------


@pytest.mark.timeout(180)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="each step dies in a process of its own")
def test_a_process_that_dies_at_any_step_leaves_all_files_old_or_all_new(tmp_path: Path):
    """Five files: an edit, a deletion, a creation, a renaming with an edit, and one with two names."""
    ran = subprocess.run(
        [sys.executable, "-m", "tests.edits.crash_points", str(tmp_path)],
        capture_output=True, text=True, timeout=170, check=True,
    )  # fmt: skip
    reports: list[Any] = [json.loads(line) for line in ran.stdout.splitlines()]

    wrong = [
        r for r in reports if (r["state"], r["files"]) not in (("abandoned", OLD), ("applied", NEW))
    ]
    assert wrong == []
    assert all(report["again"] for report in reports)  # recovering twice is recovering once
    assert {report["state"] for report in reports} == {"abandoned", "applied"}
    assert len(reports) > 30
    names = {tuple(report["names"]) for report in reports}
    assert names == {tuple(sorted(OLD)), ("a.py", "e.py", "linked.py", "new", "new/d.py")}


async def test_what_was_made_whole_is_applied(world: World):
    await world.crash()
    (recovered,) = await world.recovered()

    assert (recovered.was, recovered.transaction.state) == ("applying", "applied")
    assert len(recovered.transaction.files) == 3
    assert world.files() == AFTER


async def test_what_was_made_in_part_is_taken_back_whole(world: World):
    await world.crash()
    (world.root / "a.py").write_text("a old\n")
    (recovered,) = await world.recovered()

    assert (recovered.transaction.state, recovered.taken_back) == ("abandoned", True)
    assert world.files() == BEFORE
    assert not (world.root / "new").exists()


async def test_what_somebody_else_changed_since_is_a_conflict_and_nothing_is_touched(world: World):
    await world.crash()
    (world.root / "a.py").write_text("a theirs\n")
    before = world.files()
    (recovered,) = await world.recovered()

    assert recovered.transaction.state == "conflict"
    assert world.files() == before
    assert recovered.transaction.message is not None
    assert "a.py has neither the old nor the new text" in recovered.transaction.message
    assert "d.py has the new text" in recovered.transaction.message


async def test_a_buffer_is_compared_in_the_editor(tmp_path: Path):
    editor = HonestEditor()
    world = World(tmp_path, editor)
    editor.show(str(world.root / "a.py"), "a old\n")
    dying = DyingJournal()
    transactions = world.open(dying)
    change = await propose_edit(
        world.documents, str(world.root / "a.py"), [Replacement("old", "new")]
    )
    proposal = new_proposal(change)
    await transactions.propose(proposal, Cause("call", "edit", CALL))
    with pytest.raises(Died):
        await transactions.apply(proposal, accept_all(proposal), Approval())
    world.journal.lines = dying.lines
    (recovered,) = await world.recovered()

    assert recovered.transaction.state == "applied"
    assert world.files() == BEFORE  # it was never saved


async def test_a_proposal_of_a_dead_session_is_abandoned_and_can_still_be_looked_at(world: World):
    proposal = await world.proposal()
    await world.open().propose(proposal, Cause("call", "patch", CALL))
    (recovered,) = await world.recovered()

    assert (recovered.was, recovered.transaction.state) == ("proposed", "abandoned")
    assert {world.blobs.get(f.after.hash) for f in recovered.transaction.files if f.after} == {
        "a new\n", "d new\n",
    }  # fmt: skip


async def test_a_proposal_whose_call_was_answered_was_rejected(world: World):
    await world.open().propose(await world.proposal(), Cause("call", "patch", CALL))

    assert await world.recovered(CALL) == ()
    assert (await world.transaction()).state == "rejected"


async def test_recovering_again_finds_nothing_to_do(world: World):
    await world.crash()
    await world.recovered()
    lines = len(world.journal.lines)

    assert await world.recovered() == ()
    assert len(world.journal.lines) == lines


# ---- the end of a turn -----------------------------------------------------------------------------------


async def test_at_the_end_of_a_turn_what_was_asked_about_is_committed(world: World):
    transactions, proposal = world.open(), await world.proposal()
    await transactions.propose(proposal, Cause("call", "patch", CALL))
    await transactions.apply(proposal, accept_all(proposal), Approval(gated=True))
    await tidy(transactions, lambda call: call == CALL)

    assert (await world.transaction()).state == "committed"


async def test_what_a_mode_let_through_stays_open_to_review(world: World):
    transactions, proposal = world.open(), await world.proposal()
    await transactions.propose(proposal, Cause("call", "patch", CALL))
    await transactions.apply(proposal, accept_all(proposal), Approval(gated=False))
    await tidy(transactions, lambda call: call == CALL)

    assert (await world.transaction()).state == "applied"


async def test_an_open_question_of_a_living_turn_is_left_alone(world: World):
    transactions = world.open()
    await transactions.propose(await world.proposal(), Cause("call", "patch", CALL))
    await tidy(transactions, lambda _: False)

    assert (await world.transaction()).state == "proposed"


async def test_two_tidyings_at_once_come_to_what_one_comes_to(world: World):
    """A turn that ends and a title that comes right after each begin one."""
    transactions, proposal = world.open(), await world.proposal()
    await transactions.propose(proposal, Cause("call", "patch", CALL))
    await transactions.apply(proposal, accept_all(proposal), Approval(gated=True))
    async with anyio.create_task_group() as group:
        for _ in range(2):
            group.start_soon(tidy, transactions, lambda call: call == CALL)

    assert world.journal.states[-2:] == ["applied", "committed"]


# ---- faults ----------------------------------------------------------------------------------------------


def failing(
    monkeypatch: pytest.MonkeyPatch, number: int, fails: Callable[[int], bool]
) -> Callable[[], int]:
    """Changing system calls raise `number` where `fails` says so, counted from 0; gives how many were made."""
    made = 0

    def broken(original: Callable[..., Any], name: str) -> Callable[..., Any]:
        def call(*args: Any, **more: Any) -> Any:
            nonlocal made
            if name == "open" and not args[1] & (os.O_WRONLY | os.O_RDWR):
                return original(*args, **more)
            made += 1
            if fails(made - 1):
                raise OSError(number, os.strerror(number))
            return original(*args, **more)

        return call

    for name in ("open", "write", "fsync", "replace", "link", "unlink", "mkdir", "chmod"):
        monkeypatch.setattr(os, name, broken(getattr(os, name), name))
    return lambda: made


async def applied_under(world: World, fails: Callable[[int], bool], number: int) -> int:
    """Apply while the disk fails; how many changing calls there were."""
    transactions, proposal = world.open(), await world.proposal()
    await transactions.propose(proposal, Cause("call", "patch", CALL))
    with pytest.MonkeyPatch.context() as patch:
        made = failing(patch, number, fails)
        await transactions.apply(proposal, accept_all(proposal), Approval(gated=True))
        return made()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES, errno.EINTR, errno.EIO])
async def test_one_fault_at_any_call_leaves_all_files_old_or_all_new(tmp_path: Path, number: int):
    step, made = 0, 1
    while made >= step:  # until the fault comes after the last call
        root = tmp_path / str(step)
        root.mkdir()
        world = World(root)
        made = await applied_under(world, lambda call, at=step: call == at, number)
        transaction = await world.transaction()
        if transaction.state == "applied":
            assert (step, world.files()) == (step, AFTER)
        else:
            assert (step, transaction.state, world.files()) == (step, "failed", BEFORE)
            assert transaction.files == ()
        step += 1

    assert step > 8


async def test_a_disk_that_stays_full_never_leaves_a_lie(tmp_path: Path):
    """When taking back fails as well, the journal names exactly the files that stand."""
    step, made = 0, 1
    while made >= step:  # until the fault comes after the last call
        root = tmp_path / str(step)
        root.mkdir()
        world = World(root)
        made = await applied_under(world, lambda call, at=step: call >= at, errno.ENOSPC)
        transaction, files = await world.transaction(), world.files()
        standing = {Path(f.path).name: f.after is not None for f in transaction.files}
        for name, old, new in (("a.py", "a old\n", "a new\n"), ("b.py", "b old\n", None)):
            assert (step, name, files.get(name)) == (step, name, new if name in standing else old)
        assert ("d.py" in standing) == ("new/d.py" in files)
        step += 1


async def test_a_rejected_edit_touches_no_byte_and_no_time(world: World):
    """I13."""
    before = {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in world.root.iterdir()}
    transactions, proposal = world.open(), await world.proposal()
    await transactions.propose(proposal, Cause("call", "patch", CALL))
    await transactions.apply(proposal, Resolution(()), Approval())

    assert {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in world.root.iterdir()} == before
