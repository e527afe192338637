"""The second half of the tools that edit: propose, and when it is decided, apply, and say what really stands."""

from collections.abc import Mapping
from dataclasses import replace

from agent_server.edits.journal import Cause
from agent_server.edits.proposal import new_proposal
from agent_server.edits.transaction import Applied, Approval
from agent_server.frozen import frozen
from agent_server.loop.action import Action
from agent_server.loop.errors import EditRefused
from agent_server.loop.events import EditChanged
from agent_server.loop.model import CallKey, ToolResult
from agent_server.loop.ports import CallContext, Prepared
from agent_server.loop.proposal import (
    EditState,
    FileDecision,
    Proposal,
    Resolution,
    accept_all,
)
from agent_server.tools.aftermath import look, with_new_errors
from agent_server.tools.paths import Place, still_there
from agent_server.tools.services import Services
from agent_server.tools.told import (
    Part,
    decisions,
    every_hunk,
    hunk_states,
    left_out,
    location,
    result,
    staged,
)


@frozen
class Pending:
    """Proposed changes of one or several files, waiting for their decision."""

    services: Services
    parts: tuple[Part, ...]
    """One per file, in the proposal's order."""
    proposal: Proposal
    title: str

    @staticmethod
    def of(services: Services, title: str, *parts: Part) -> "Pending":
        """The parts as one proposal.

        Raises:
            EditRefused: `duplicate`.
        """
        return Pending(services, parts, new_proposal(*(p.change for p in parts)), title)

    async def prepared(self, tool: str, key: CallKey | None) -> Prepared:
        """The call, ready for judgement; what it asks for is in the journal. No `key`: it is no call of the model."""
        await self.services.transactions.propose(self.proposal, Cause("call", self.title, key))
        removes = any(part.change.kind in ("delete", "rename") for part in self.parts)
        paths = dict.fromkeys(place.real for place in self._places)
        return Prepared(
            Action("delete" if removes else "write", tool, tuple(paths)),
            self.title,
            self.run,
            tuple(location(part.place, part.change) for part in self.parts),
            self.proposal,
            # A renamed file keeps what a text alone does not tell: its mode, its encoding.
            stage=None if any(part.change.kind == "rename" for part in self.parts) else self.stage,
        )

    async def stage(self, ctx: CallContext, resolution: Resolution | None) -> ToolResult:
        """Let the agent's own reads see it; nothing on disk changes before the review."""
        del resolution
        for place in self._places:
            if (elsewhere := await still_there(place)) is not None:
                await self._failed(ctx, decisions(self.parts, Resolution(())), elsewhere.output)
                return elsewhere
        for part in self.parts:
            await self.services.documents.stage(part.change)
        self.services.staged.append(self.proposal)
        hunks = every_hunk(self.proposal, "pending")
        ctx.emit(EditChanged(ctx.turn, self.proposal, "proposed", hunks, gated=True))
        return staged(self.parts, limit=self.services.limits.output_chars)

    async def run(self, ctx: CallContext, resolution: Resolution | None) -> ToolResult:
        """Apply the accepted part; None means all of it."""
        decided = decisions(self.parts, resolution or accept_all(self.proposal))
        for place in self._places:
            if (elsewhere := await still_there(place)) is not None:
                await self._failed(ctx, decided, elsewhere.output)
                return elsewhere
        await self.services.look_beneath()
        before = await look(self.services, [part.change.path for part in self.parts])
        self._tell(ctx, "applying", decided)
        applied = await self.services.transactions.apply(
            self.proposal, Resolution(tuple(decided.values())), Approval(ctx.turn, ctx.gated)
        )
        ended = await self._ended(ctx, decided, applied)
        if self.services.save_accepted:
            await self._save(applied)
        if ended.ok:
            ended = await with_new_errors(self.services, ended, before)
        return self.services.with_notes(ended)

    async def _save(self, applied: Applied) -> None:
        """Have the editor write down what was accepted in open documents, as the settings say."""
        for outcome in applied.outcomes:
            if (
                outcome.state == "applied"
                and outcome.change is not None
                and outcome.change.new_text
            ):
                await self.services.unsaved.save(self.services.documents, outcome.change.path)

    async def _ended(
        self, ctx: CallContext, decided: Mapping[str, FileDecision], applied: Applied
    ) -> ToolResult:
        said = [o for o in applied.outcomes if applied.state != "applied" or o.state == "applied"]
        message = next((o.message for o in said if o.message), None)
        kept = await self.services.transactions.find(self.proposal.txn)
        self._tell(
            ctx,
            applied.state,
            decided,
            message=message,
            revision=applied.revision,
            hashes=() if kept is None else kept.hashes,
            left=left_out(decided, applied),
        )
        for outcome in applied.outcomes:
            if outcome.state == "applied" and outcome.change is not None:
                self.services.unsaved.note(outcome.change.path)
        return result(self.parts, decided, applied, limit=self.services.limits.output_chars)

    @property
    def _places(self) -> tuple[Place, ...]:
        """Everything that is touched."""
        each = [(part.source, part.place) for part in self.parts]
        return tuple(place for pair in each for place in pair if place is not None)

    async def _failed(
        self, ctx: CallContext, decided: Mapping[str, FileDecision], message: str
    ) -> None:
        """It came to nothing before anything was tried."""
        failed = await self.services.transactions.move(
            self.proposal.txn, "failed", files=(), message=message
        )
        self._tell(ctx, "failed", decided, message=message, revision=failed.revision)

    def _tell(
        self,
        ctx: CallContext,
        state: EditState,
        decided: Mapping[str, FileDecision],
        *,
        message: str | None = None,
        revision: int = 1,
        hashes: tuple[tuple[str, str], ...] = (),
        left: tuple[tuple[str, EditState, str], ...] = (),
    ) -> None:
        hunks = hunk_states(self.parts, decided, state, left)
        proposal = replace(self.proposal, revision=revision)
        ctx.emit(
            EditChanged(
                ctx.turn, proposal, state, hunks, message, ctx.gated, hashes=hashes, left=left
            )
        )


def refused(services: Services, place: Place, error: EditRefused) -> ToolResult:
    """The result for an edit that cannot even be proposed; says nothing of a file that may not be read unasked."""
    if not services.reading.reads_freely(place.real):
        text = f"{place.shown} cannot be edited as asked; read it first (the person will be asked)"
        return ToolResult(False, text, code="refused", summary="refused")
    summary = error.reason.replace("_", " ")
    return services.with_notes(ToolResult(False, str(error), code=error.reason, summary=summary))
