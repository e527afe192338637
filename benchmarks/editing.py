"""A whole write of a file of 50,000 lines: proposal, difference, journal and file, until all of it stands (spec §11).

In one process, with the real database and the real texts beside it, so every sync is in it. Each round writes a text of
its own: a text that is kept already costs nothing. CPU stands beside the clock, because disks and neighbours differ.

The floor takes its turns in between: old and new text hashed and kept in a synced file each, the new one once more
beside the file and renamed over it, and nothing else: no difference, no journal, no proof.
"""

import hashlib
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio
from anyio import to_thread

from agent_server.edits.documents import Documents
from agent_server.edits.journal import Cause
from agent_server.edits.ports import NoEditor
from agent_server.edits.proposal import new_proposal, propose_write
from agent_server.edits.transaction import Approval, Transactions
from agent_server.edits.transaction_lease import Leases
from agent_server.loop.proposal import accept_all
from agent_server.store.blobs import BlobStore
from agent_server.store.sessions import SessionStore
from benchmarks.wire import median

LINES = 50_000
TIMES = 7
GOAL_MS = "300"

Shape = Sequence[tuple[int, str]]
"""Lines written anew, by their place."""
SHAPES: Mapping[str, Shape] = {
    "one line": ((LINES // 2, "new\n"),),
    "100 places": tuple((n, f"new {n}\n") for n in range(0, LINES, 500)),
    "10,000 places": tuple((n, f"new {n}\n") for n in range(0, LINES, 5)),
    "every line": tuple((n, f"new {n}\n") for n in range(LINES)),
}


async def write(folder: Path, shape: Shape) -> tuple[float, float, float]:
    """Median milliseconds: of the clock, of CPU, and of the floor's clock."""
    store = SessionStore(folder / "sessions.db")
    session = await store.create(str(folder))
    documents = Documents(NoEditor)
    blobs = BlobStore(folder / "blobs")
    transactions = Transactions(documents, store.journal(session.id), blobs, Leases())
    rounds: list[tuple[float, float]] = []
    floors: list[float] = []
    for number in range(TIMES):
        old, new = _texts(shape, number)
        floors.append(await to_thread.run_sync(_floor, folder, old, new))
        rounds.append(await _once(folder / "a.py", transactions, old, new))
    await store.aclose()
    return median([w for w, _ in rounds]), median([cpu for _, cpu in rounds]), median(floors)


def _texts(shape: Shape, number: int) -> tuple[str, str]:
    lines = [f"    value_{n % 9_000} = compute({n}, {number})\n" for n in range(LINES)]
    old = "".join(lines)
    for place, line in shape:
        lines[place] = f"{number} {line}"
    return old, "".join(lines)


def _floor(folder: Path, old: str, new: str) -> float:
    """Milliseconds for what no careful write can do without."""
    target = folder / "floor.py"
    target.write_text(old, encoding="utf-8")
    began = time.perf_counter()
    target.read_text(encoding="utf-8")
    for text, name in ((old, "old"), (new, "new"), (new, "beside")):
        data = text.encode()
        hashlib.sha256(data).hexdigest()
        with (folder / f"floor.{name}").open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    (folder / "floor.beside").replace(target)
    return (time.perf_counter() - began) * 1000


async def _once(path: Path, transactions: Transactions, old: str, new: str) -> tuple[float, float]:
    await anyio.Path(path).write_text(old, encoding="utf-8")
    await transactions.documents.read(str(path))
    wall, cpu = time.perf_counter(), time.process_time()
    change = await propose_write(transactions.documents, str(path), new)
    proposal = new_proposal(change)
    await transactions.propose(proposal, Cause("call", "write a.py"))
    applied = await transactions.apply(proposal, accept_all(proposal), Approval(gated=True))
    taken = (time.perf_counter() - wall) * 1000, (time.process_time() - cpu) * 1000
    assert applied.state == "applied", applied
    return taken


def main() -> None:
    """Measure and print."""
    print(f"{'changed':>16}{'ms':>10}{'CPU':>8}{'floor':>8}{'ratio':>8}{'goal':>8}")
    for name, shape in SHAPES.items():
        with tempfile.TemporaryDirectory() as folder:
            wall, cpu, floor = anyio.run(write, Path(folder), shape)
        print(f"{name:>16}{wall:>10.1f}{cpu:>8.1f}{floor:>8.1f}{wall / floor:>8.1f}{GOAL_MS:>8}")


if __name__ == "__main__":
    main()
