"""A whole write of a file of 50,000 lines: proposal, difference, journal and file, until all of it stands (spec §11).

In one process, with the real database and the real texts beside it, so every sync is in it. Each round writes a text of
its own: a text that is kept already costs nothing. CPU stands beside the clock, because disks and neighbours differ.
"""

import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio

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


async def write(folder: Path, shape: Shape) -> tuple[float, float]:
    """Median milliseconds of the clock and of CPU."""
    store = SessionStore(folder / "sessions.db")
    session = await store.create(str(folder))
    documents = Documents(NoEditor)
    blobs = BlobStore(folder / "blobs")
    transactions = Transactions(documents, store.journal(session.id), blobs, Leases())
    rounds = [await _once(folder / "a.py", transactions, shape, n) for n in range(TIMES)]
    await store.aclose()
    return median([wall for wall, _ in rounds]), median([cpu for _, cpu in rounds])


async def _once(
    path: Path, transactions: Transactions, shape: Shape, number: int
) -> tuple[float, float]:
    lines = [f"    value_{n % 9_000} = compute({n}, {number})\n" for n in range(LINES)]
    await anyio.Path(path).write_text("".join(lines), encoding="utf-8")
    for place, line in shape:
        lines[place] = f"{number} {line}"
    await transactions.documents.read(str(path))
    wall, cpu = time.perf_counter(), time.process_time()
    change = await propose_write(transactions.documents, str(path), "".join(lines))
    proposal = new_proposal(change)
    await transactions.propose(proposal, Cause("call", "write a.py"))
    applied = await transactions.apply(proposal, accept_all(proposal), Approval(gated=True))
    taken = (time.perf_counter() - wall) * 1000, (time.process_time() - cpu) * 1000
    assert applied.state == "applied", applied
    return taken


def main() -> None:
    """Measure and print."""
    print(f"{'changed':>16}{'ms':>10}{'CPU':>8}{'goal':>8}")
    for name, shape in SHAPES.items():
        with tempfile.TemporaryDirectory() as folder:
            wall, cpu = anyio.run(write, Path(folder), shape)
        print(f"{name:>16}{wall:>10.1f}{cpu:>8.1f}{GOAL_MS:>8}")


if __name__ == "__main__":
    main()
