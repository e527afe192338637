"""An edit journal and texts in memory, and transactions over them."""

from collections.abc import Sequence

import anyio

from agent_server.edits.documents import Documents
from agent_server.edits.hashes import content_hash
from agent_server.edits.journal import Line
from agent_server.edits.transaction import Transactions
from agent_server.edits.transaction_lease import Leases
from agent_server.loop.errors import StoreFailure


class MemoryJournal:
    """Durable at once; `full` makes every further append fail."""

    def __init__(self, lines: Sequence[Line] = ()) -> None:
        self.lines = list(lines)
        self.commits: list[tuple[Line, ...]] = []
        self.full = False

    async def read(self) -> Sequence[Line]:
        await anyio.lowlevel.checkpoint()
        return tuple(self.lines)

    async def append(self, *lines: Line) -> None:
        await anyio.lowlevel.checkpoint()
        if self.full:
            raise StoreFailure("the disk is full")
        self.commits.append(lines)
        self.lines += lines

    @property
    def states(self) -> list[str]:
        """Of all lines, in order."""
        return [line.state for line in self.lines]


class MemoryBlobs:
    """Texts in a dictionary."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def put(self, text: str) -> str:
        digest = content_hash(text)
        self.texts[digest] = text
        return digest

    def get(self, hash: str) -> str:
        if hash not in self.texts:
            raise StoreFailure(f"there is no text {hash}")
        return self.texts[hash]


def transactions(documents: Documents, journal: MemoryJournal | None = None) -> Transactions:
    """Of a session that nobody keeps."""
    return Transactions(documents, journal or MemoryJournal(), MemoryBlobs(), Leases())
