"""Edits that wait for the review at the end of the turn (`review = "turn"`)."""

from collections.abc import Callable
from dataclasses import field, replace

from anyio import to_thread

from agent_server.frozen import mutable
from agent_server.loop.events import EditChanged, Event
from agent_server.loop.model import TurnId
from agent_server.loop.ports import Prepared
from agent_server.loop.proposal import EditState, Proposal
from agent_server.tools.commit import Pending
from agent_server.tools.paths import Place, shown
from agent_server.tools.services import Services
from agent_server.tools.told import Part, every_hunk

TITLE = "Review changes"


@mutable
class StagedEdits:
    """Implements `loop.ports.Staging` over a session's overlay."""

    services: Services
    wanted: Callable[[], bool]
    """Whether the person reviews edits by turn, as of now."""
    _asked: Proposal | None = field(default=None, init=False)
    """What the review is about, once it was asked for."""

    @property
    def active(self) -> bool:
        """See `Staging`."""
        return self.wanted()

    @property
    def holds(self) -> bool:
        """See `Staging`."""
        return bool(self.services.staged)

    async def review(self) -> Prepared | None:
        """See `Staging`."""
        net = await to_thread.run_sync(self.services.documents.overlay.net)
        if not net:
            return None
        cwd = self.services.cwd
        parts = [
            Part(change, Place(real, change.path, shown(change.path, cwd)))
            for real, change in net.items()
        ]
        pending = Pending.of(self.services, TITLE, *parts)
        self._asked = pending.proposal
        return replace(await pending.prepared("review", None), stage=None)

    async def release(
        self, turn: TurnId, emit: Callable[[Event], None], why: str, *, left_open: bool = False
    ) -> None:
        """See `Staging`."""
        proposals, asked = tuple(self.services.staged), self._asked
        self.services.staged.clear()
        self.services.documents.overlay.clear()
        self._asked = None
        if left_open and asked is None:
            return  # each is `proposed` in the journal, and is found there when the session is loaded
        if asked is not None and not left_open:
            await self._close(asked, "rejected", why)
        for proposal in proposals:
            closed = await self._close(proposal, "abandoned", why)
            if closed is not None:
                hunks = every_hunk(proposal, "rejected")
                emit(EditChanged(turn, closed, "abandoned", hunks, why))

    async def _close(self, proposal: Proposal, state: EditState, why: str) -> Proposal | None:
        """The proposal as it ends; None when it has ended otherwise."""
        transactions = self.services.transactions
        found = await transactions.find(proposal.txn)
        if found is None or found.state not in ("proposed", "approved"):
            return None
        moved = await transactions.move(proposal.txn, state, files=(), message=why)
        return replace(proposal, revision=moved.revision)
