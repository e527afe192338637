"""A transaction over three files that dies at one step after the other, and what recovery makes of each.

Run as a program: `crash_points.py <folder>`. For every system call that changes a file, and for each side of every
append to the journal, a child process runs the transaction in a fresh folder and exits there without cleaning up;
another one opens the session again. Prints one JSON object per step.
"""

import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anyio

from agent_server.edits.documents import Documents
from agent_server.edits.journal import Cause, EditJournal, Line
from agent_server.edits.ports import NoEditor
from agent_server.edits.proposal import (
    new_proposal,
    propose_create,
    propose_delete,
    propose_edit,
    propose_rename,
)
from agent_server.edits.recovery import recover
from agent_server.edits.text.match import Replacement
from agent_server.edits.transaction import Approval, Transactions
from agent_server.edits.transaction_lease import Leases
from agent_server.loop.model import CallKey, SessionId
from agent_server.loop.proposal import accept_all
from agent_server.store.blobs import BlobStore
from agent_server.store.sessions import SessionStore

CALLS = ("open", "write", "fsync", "replace", "link", "unlink", "mkdir", "chmod", "ftruncate")
OLD = {
    "a.py": "a old, and longer\n",
    "b.py": "b old\n",
    "c.py": "c old\n",
    "linked.py": "l old, long\n",
}
NEW = {"a.py": "a new\n", "new/d.py": "d new\n", "e.py": "c new\n", "linked.py": "l new\n"}


class Fuse:
    """Ends the process at the given step."""

    def __init__(self, at: int) -> None:
        self.left = at
        self.lit = False

    def step(self) -> None:
        if not self.lit:
            return
        if self.left == 0:
            os._exit(9)
        self.left -= 1


class FusedJournal:
    """Dies before or after an append."""

    def __init__(self, journal: EditJournal, fuse: Fuse) -> None:
        self._journal = journal
        self._fuse = fuse

    async def read(self) -> Sequence[Line]:
        return await self._journal.read()

    async def append(self, *lines: Line) -> None:
        self._fuse.step()
        await self._journal.append(*lines)
        self._fuse.step()


def fused(fuse: Fuse, name: str) -> None:
    """Make a system call end the process before it is made."""
    original: Callable[..., Any] = getattr(os, name)

    def call(*args: Any, **more: Any) -> Any:
        if name != "open" or args[1] & (os.O_WRONLY | os.O_RDWR):
            fuse.step()
        return original(*args, **more)

    setattr(os, name, call)


def prepare(root: Path) -> None:
    (root / "w").mkdir(parents=True)
    for name, text in OLD.items():
        (root / "w" / name).write_text(text)
    os.link(root / "w" / "linked.py", root / "twin")


async def run(root: Path, at: int) -> None:
    """The transaction; returns when the fuse was too long for it."""
    fuse = Fuse(at)
    for name in CALLS:
        fused(fuse, name)
    store = SessionStore(root / "sessions.db")
    record = await store.create(str(root))
    (root / "session").write_text(record.id)
    documents = Documents(NoEditor)
    journal = FusedJournal(store.journal(record.id), fuse)
    transactions = Transactions(documents, journal, BlobStore(root / "blobs"), Leases())
    w = root / "w"
    changes = [
        await propose_edit(documents, str(w / "a.py"), [Replacement("old, and longer", "new")]),
        await propose_delete(documents, str(w / "b.py")),
        await propose_create(documents, str(w / "new" / "d.py"), "d new\n"),
        await propose_rename(
            documents,
            str(w / "c.py"),
            str(w / "e.py"),
            changed=await propose_edit(documents, str(w / "c.py"), [Replacement("old", "new")]),
        ),
        await propose_edit(documents, str(w / "linked.py"), [Replacement("old, long", "new")]),
    ]
    proposal = new_proposal(*changes)
    await transactions.propose(proposal, Cause("call", "patch", CallKey(1, 0)))
    fuse.lit = True
    await transactions.apply(proposal, accept_all(proposal), Approval(gated=True))
    os._exit(0)


async def look(root: Path) -> None:
    """Open the session again, recover twice, and print what it came to."""
    session = SessionId((root / "session").read_text())
    store = SessionStore(root / "sessions.db")
    await store.acquire(session)
    reports: list[Any] = []
    for _ in range(2):
        journal, blobs = store.journal(session), BlobStore(root / "blobs")
        transactions = Transactions(Documents(NoEditor), journal, blobs, Leases())
        await recover(transactions, lambda _: False)
        (transaction,) = await transactions.all()
        names = sorted(str(path.relative_to(root / "w")) for path in (root / "w").rglob("*"))
        reports.append((transaction.state, files(root / "w"), names))
    await store.aclose()
    state, texts, names = reports[0]
    again = reports[0] == reports[1]
    report = json.dumps({"state": state, "files": texts, "names": names, "again": again})
    sys.stdout.write(f"{report}\n")


def files(root: Path) -> dict[str, str]:
    return {
        str(path.relative_to(root)): path.read_text()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def child(work: Callable[[], None]) -> int:
    """The exit code of a process of its own that does this."""
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        work()
        sys.stdout.flush()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def main() -> None:
    folder, step = Path(sys.argv[1]), 0
    while True:
        root = folder / str(step)
        prepare(root)
        ended = child(lambda root=root, step=step: anyio.run(run, root, step))
        child(lambda root=root: anyio.run(look, root))
        if ended == 0:
            break
        step += 1


if __name__ == "__main__":
    main()
