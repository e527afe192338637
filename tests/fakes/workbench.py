"""Equipment with the real tools and a real journal, around a model that follows a list."""

from collections.abc import Sequence
from pathlib import Path

from agent_server.edits.documents import Documents
from agent_server.edits.transaction import Transactions
from agent_server.edits.transaction_lease import Leases
from agent_server.session.ports import Kit, Place
from agent_server.session.sessions import Sessions
from agent_server.store.blobs import BlobStore
from agent_server.store.sessions import SessionStore
from agent_server.tools.registry import build
from agent_server.tools.services import Services
from tests.fakes.loop import FakePolicy, FakeTool, ListModel, Say
from tests.fakes.session import FakeEquipment


class Open:
    """A policy on reading that has no secrets."""

    def conceals(self, path: str) -> bool:
        return False

    def reads_freely(self, path: str) -> bool:
        return True


class JournaledWorkbench(FakeEquipment):
    """`write` and `edit` as they are, over a store in `home`."""

    def __init__(
        self,
        home: Path,
        *steps: Say,
        policy: FakePolicy | None = None,
        tools: Sequence[FakeTool] = (),
    ) -> None:
        super().__init__(ListModel(*steps), tools, policy or FakePolicy())
        self.store = SessionStore(home / "sessions.db")
        self.blobs = BlobStore(home / "blobs")

    async def kit(self, place: Place) -> Kit:
        journal = self.store.journal(place.id)
        transactions = Transactions(Documents(place.editor), journal, self.blobs, Leases())
        services = Services(place.cwd, transactions, Open(), diagnostics=place.diagnostics)
        fakes = {tool.name: tool for tool in self.tools}
        return Kit({**build(services), **fakes}, self.policy, transactions)

    def sessions(self) -> Sessions:
        """The sessions of the store; use once."""
        return Sessions(self.store, lambda _: self)
