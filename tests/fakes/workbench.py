"""Equipment with the real tools and a real journal, around a model that follows a list."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from agent_server.edits.documents import Documents
from agent_server.edits.transaction import Transactions
from agent_server.edits.transaction_lease import Leases
from agent_server.loop.ports import Model
from agent_server.session.ports import Kit, Place, SubAgentTerms
from agent_server.session.sessions import Sessions
from agent_server.store.blobs import BlobStore
from agent_server.store.sessions import SessionStore
from agent_server.tools.registry import build
from agent_server.tools.services import Services
from agent_server.tools.staged import StagedEdits
from tests.fakes.loop import FakePolicy, FakeTool, ListModel, Say
from tests.fakes.session import FakeEquipment
from tests.fakes.team import TaskModel
from tests.tools.desk import LIFELINE


class Open:
    """A policy on reading that has no secrets."""

    def conceals(self, path: str) -> bool:
        return False

    def reads_freely(self, path: str) -> bool:
        return True


class JournaledWorkbench(FakeEquipment):
    """`write` and `edit` as they are, over a store in `home`."""

    save_accepted = False
    """As `[edits] save` says."""

    def __init__(
        self,
        home: Path,
        *steps: Say,
        policy: FakePolicy | None = None,
        tools: Sequence[FakeTool] = (),
        tasks: Mapping[str, Sequence[Say]] | None = None,
        depth: int = 1,
    ) -> None:
        """`tasks` are what may be delegated, and what the sub-agent says then; `depth` is how deep."""
        terms = SubAgentTerms(max_depth=depth if tasks else 0, model="list/child")
        super().__init__(ListModel(*steps), tools, policy or FakePolicy(), subagents=terms)
        self._tasks = {task: ListModel(*script) for task, script in (tasks or {}).items()}
        self.store = SessionStore(home / "sessions.db")
        self.blobs = BlobStore(home / "blobs")

    def models(self) -> tuple[str, ...]:
        return (*super().models(), "list/child")

    def model(self, name: str) -> Model:
        return TaskModel(self._tasks, name) if name == "list/child" else super().model(name)

    async def kit(self, place: Place) -> Kit:
        journal = self.store.journal(place.id)
        transactions = place.transactions or Transactions(
            Documents(place.editor), journal, self.blobs, Leases()
        )
        services = Services(
            place.cwd,
            transactions,
            Open(),
            diagnostics=place.diagnostics,
            questions=place.questions,
            subagents=place.subagents,
            lifeline=LIFELINE,
            save_accepted=self.save_accepted,
        )
        fakes = {tool.name: tool for tool in self.tools}
        staging = StagedEdits(services, lambda: place.review() == "turn")
        return Kit({**build(services), **fakes}, self.policy, transactions, staging)

    def sessions(self) -> Sessions:
        """The sessions of the store; use once."""
        return Sessions(self.store, lambda _: self)
