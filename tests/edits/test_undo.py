"""Undo: of an edit goes what is still as it was written, the rest is named; and git sees only what was accepted."""

import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_server.edits.checkpoint import checkpoints
from agent_server.edits.journal import Cause, Transaction
from agent_server.edits.proposal import (
    new_proposal,
    propose_create,
    propose_delete,
    propose_edit,
    propose_rename,
)
from agent_server.edits.text.match import Replacement
from agent_server.edits.transaction import Approval
from agent_server.edits.transaction_record import proposal_of
from agent_server.edits.undo import Part
from agent_server.edits.undo_run import restore, revert, undo_last
from agent_server.loop.errors import ClientMistake, EditRefused
from agent_server.loop.model import TurnId
from agent_server.loop.proposal import FileDecision, Resolution
from tests.edits.editors import FormattingEditor, HonestEditor
from tests.edits.test_checkpoints import World

pytestmark = pytest.mark.anyio
BASE = "".join(f"line {n}\n" for n in range(10))
NUMBERS = {"two": 2, "five": 5, "eight": 8}


@pytest.fixture
def world(tmp_path: Path) -> World:
    (tmp_path / "a.py").write_text(BASE, newline="")
    return World(tmp_path)


async def edited(world: World, *words: str, turn: str = "t1") -> str:
    edits = [Replacement(f"line {NUMBERS[w]}\n", f"{w}\n") for w in words]
    return await world.edit(turn, await propose_edit(world.documents, world.path("a.py"), edits))


async def state(world: World, txn: str) -> str:
    transaction = await world.transactions.find(txn)
    assert transaction is not None
    return transaction.state


def text(world: World) -> str:
    return (world.root / "a.py").read_text()


@pytest.mark.parametrize("back", ["revert", "restore"])
@pytest.mark.parametrize("typed", [False, True])
async def test_what_the_editor_laid_out_anew_goes_back_too_and_what_was_typed_meanwhile_does_not(
    tmp_path: Path, back: str, typed: bool
):
    def formats(text: str) -> str:
        return text.replace("line 8", "typed") if typed else text.replace("five\n", "  five,\n")

    path, editor = tmp_path / "a.py", FormattingEditor(formats)
    path.write_text(BASE, newline="")
    editor.show(str(path), BASE)
    world = World(tmp_path, editor)
    txn = await edited(world, "five")
    editor.formats = lambda text: text
    if back == "revert":
        left = (await revert(world.transactions, txn)).left
    else:
        (checkpoint,) = checkpoints(await world.transactions.all())
        left = (await restore(world.transactions, checkpoint.id, others=False)).left

    live = editor.open[str(path)].text
    match back, typed:
        case _, False:
            assert (live, left) == (BASE, ())
        case "revert", True:
            assert (live, left) == (BASE.replace("line 8", "typed"), ())
        case _:
            assert live == BASE.replace("line 5", "five").replace("line 8", "typed")
            assert "changed by somebody else" in left[0].why


async def test_an_edit_taken_back_is_as_if_it_had_not_been(world: World):
    before = world.files()
    txn = await edited(world, "two", "eight")
    rewound = await revert(world.transactions, txn)

    assert world.files() == before
    assert (rewound.left, await state(world, txn)) == ((), "reverted")


async def test_others_changes_beside_it_stay(world: World):
    txn = await edited(world, "five")
    (world.root / "a.py").write_text("theirs\n" + text(world))
    await revert(world.transactions, txn)

    assert text(world) == "theirs\n" + BASE


async def test_a_hunk_that_somebody_else_changed_stays_and_is_named(world: World):
    txn = await edited(world, "two", "eight")
    (world.root / "a.py").write_text(text(world).replace("two\n", "two, theirs\n"))
    rewound = await revert(world.transactions, txn)
    (left,) = rewound.left

    assert text(world) == BASE.replace("line 2\n", "two, theirs\n")
    assert (left.path, "same place" in left.why) == (world.path("a.py"), True)
    assert left.hunk is not None
    assert await state(world, txn) == "applied"


async def test_one_hunk_can_be_taken_back_alone(world: World):
    txn = await edited(world, "two", "eight")
    shown = (await _hunks(world, txn))[0]
    await revert(world.transactions, txn, Part(world.path("a.py"), shown))

    assert text(world) == BASE.replace("line 8\n", "eight\n")
    assert await state(world, txn) == "applied"


async def _hunks(world: World, txn: str) -> list[str]:
    transaction = await world.transactions.find(txn)
    assert transaction is not None
    return [h.id for h in proposal_of(transaction, world.transactions.blobs).files[0].hunks]


async def test_taking_back_what_takes_back_brings_it_again(world: World):
    txn = await edited(world, "five")
    after = world.files()
    rewound = await revert(world.transactions, txn)
    assert rewound.proposal is not None
    await revert(world.transactions, rewound.proposal.txn)

    assert world.files() == after


async def test_an_earlier_edit_can_be_taken_back_under_a_later_one(world: World):
    first = await edited(world, "two")
    await edited(world, "eight", turn="t2")
    await revert(world.transactions, first)

    assert text(world) == BASE.replace("line 8\n", "eight\n")


async def test_a_created_file_goes_only_untouched(world: World):
    txn = await world.edit(
        "t1", await propose_create(world.documents, world.path("n/new.py"), "new\n")
    )
    (world.root / "n" / "new.py").write_text("new\nand theirs\n")
    rewound = await revert(world.transactions, txn)
    assert "changed since it was created" in rewound.left[0].why
    (world.root / "n" / "new.py").write_text("new\n")
    await revert(world.transactions, txn)

    assert not (world.root / "n").exists()


async def test_a_deleted_file_comes_back_unless_there_is_another(world: World):
    before = world.files()
    txn = await world.edit("t1", await propose_delete(world.documents, world.path("a.py")))
    (world.root / "a.py").write_text("another\n")
    rewound = await revert(world.transactions, txn)
    assert "exists again" in rewound.left[0].why
    (world.root / "a.py").unlink()
    await revert(world.transactions, txn)

    assert world.files() == before


async def test_a_renamed_file_takes_later_changes_along_when_it_goes_back(world: World):
    rename = await propose_rename(
        world.documents, world.path("a.py"), world.path("b.py"),
        changed=await propose_edit(
            world.documents, world.path("a.py"), [Replacement("line 5\n", "five\n")]
        ),
    )  # fmt: skip
    txn = await world.edit("t1", rename)
    (world.root / "b.py").write_text("theirs\n" + (world.root / "b.py").read_text())
    await revert(world.transactions, txn)

    assert text(world) == "theirs\n" + BASE
    assert not (world.root / "b.py").exists()


async def test_undo_takes_the_last_edit_back_and_then_the_one_before(world: World):
    await edited(world, "two")
    await edited(world, "eight", turn="t2")
    await undo_last(world.transactions)
    assert text(world) == BASE.replace("line 2\n", "two\n")
    await undo_last(world.transactions)
    assert text(world) == BASE
    with pytest.raises(EditRefused, match="no edit to take back"):
        await undo_last(world.transactions)


async def test_undoing_a_turn_takes_all_of_its_edits_back_at_once(world: World):
    await edited(world, "two")
    before = world.files()
    await edited(world, "five", turn="t2")
    await world.write("t2", "a.py", text(world).replace("five", "FIVE"))
    await world.write("t2", "b.py", "b\n")
    rewound = await undo_last(world.transactions, turn=True)

    assert world.files() == before
    assert len(rewound.changes) == 2
    assert rewound.left == ()


async def test_what_does_not_stand_cannot_be_taken_back(world: World):
    txn = await edited(world, "two")
    await revert(world.transactions, txn)
    with pytest.raises(EditRefused, match="is reverted"):
        await revert(world.transactions, txn)
    with pytest.raises(ClientMistake, match="no edit 'x0'"):
        await revert(world.transactions, "x0")


async def test_a_part_that_is_not_there_is_a_mistake(world: World):
    txn = await edited(world, "two")
    with pytest.raises(ClientMistake):
        await revert(world.transactions, txn, Part(world.path("z.py")))
    with pytest.raises(ClientMistake, match="h0"):
        await revert(world.transactions, txn, Part(world.path("a.py"), "h0"))


@given(st.permutations(["two", "five", "eight"]), st.lists(st.integers(0, 9), max_size=3))
@settings(max_examples=60, deadline=None)
def test_hunks_taken_back_in_any_order_while_others_type_leave_only_what_was_typed(
    order: list[str], typed: list[int]
):
    """Lsp.md §4.4 over the engine: what touches a hunk is named and stays, all else goes back."""
    anyio.run(_take_back_under_typing, order, typed)


async def _take_back_under_typing(order: list[str], typed: list[int]) -> None:
    with TemporaryDirectory() as root:
        path, editor = Path(root) / "a.py", HonestEditor()
        editor.show(str(path), BASE)
        world = World(Path(root), editor)
        txn = await edited(world, *order)
        made = proposal_of(await _transaction(world, txn), world.transactions.blobs)
        ids = {hunk.added[0].strip(): hunk.id for hunk in made.files[0].hunks}
        pending, kept, lines = list(order), set[int](), BASE.splitlines()
        while pending:
            word = pending.pop(0)
            if typed:
                at = typed.pop()
                text = editor.open[str(path)].text.splitlines()
                text[at] = lines[at] = f"typed {at}"
                editor.show(str(path), "\n".join(text) + "\n")
                kept.add(at)
            rewound = await revert(world.transactions, txn, Part(str(path), ids[word]))
            number = NUMBERS[word]
            touched = {number - 1, number, number + 1} & kept
            assert [left.hunk for left in rewound.left] == ([ids[word]] if touched else [])
            if touched and number not in kept:
                lines[number] = word

        assert editor.open[str(path)].text == "\n".join(lines) + "\n"


async def _transaction(world: World, txn: str) -> Transaction:
    transaction = await world.transactions.find(txn)
    assert transaction is not None
    return transaction


# ---- git -------------------------------------------------------------------------------------------------


def git(root: Path, *words: str) -> str:
    ran = subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@t", "-C", str(root), *words],
        capture_output=True, check=True,
    )  # fmt: skip
    return ran.stdout.decode("utf-8", "surrogateescape")


BYTES = st.sampled_from(
    [
        BASE.encode(),
        BASE.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + BASE.encode(),
        BASE.rstrip("\n").encode(),
        (BASE + "caf\u00e9\n").encode("cp1252"),
        BASE.replace("line 3\n", "line 3\r\n").encode(),
    ]
)


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
@pytest.mark.timeout(120)  # git, several times for each case
@given(BYTES, st.sets(st.sampled_from([0, 1, 2]), min_size=1))
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_git_diff_after_an_accepted_edit_shows_only_the_accepted_hunks(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, taken: set[int]
):
    anyio.run(_accept_and_diff, tmp_path_factory.mktemp("git"), data, taken)


async def _accept_and_diff(root: Path, data: bytes, taken: set[int]) -> None:
    world, path = World(root), root / "a.py"
    path.write_bytes(data)
    git(root, "init", "-q")
    git(root, "config", "core.autocrlf", "false")
    git(root, "add", "a.py")
    git(root, "commit", "-qm", "base")
    words = ["two", "five", "eight"]
    edits = [
        Replacement(f"line {number}", word) for number, word in zip((2, 5, 8), words, strict=True)
    ]
    proposal = new_proposal(await propose_edit(world.documents, str(path), edits))
    await world.transactions.propose(proposal, Cause("call", "edit a.py"))
    ids = frozenset(proposal.files[0].hunks[i].id for i in taken)
    await world.transactions.apply(
        proposal, Resolution((FileDecision(str(path), ids),)), Approval(TurnId("t1"), gated=True)
    )
    rows = git(root, "diff", "-U0").splitlines()
    added = [row[1:].strip() for row in rows if row.startswith("+") and not row.startswith("+++")]
    removed = [row[1:].strip() for row in rows if row.startswith("-") and not row.startswith("---")]

    assert added == [words[i] for i in sorted(taken)]
    assert removed == [f"line {(2, 5, 8)[i]}" for i in sorted(taken)]
    assert git(root, "status", "--porcelain").splitlines() == [" M a.py"]
    await revert(world.transactions, proposal.txn)
    assert git(root, "status", "--porcelain") == ""
    assert path.read_bytes() == data
