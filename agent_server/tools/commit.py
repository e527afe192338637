"""The second half of `write` and `edit`: apply what was decided, and tell the model what really stands."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from agent_server.edits.journal import Cause
from agent_server.edits.outcome import FileOutcome
from agent_server.edits.transaction import Approval
from agent_server.edits.unified import unified
from agent_server.loop.action import Action
from agent_server.loop.errors import EditRefused
from agent_server.loop.events import EditChanged
from agent_server.loop.model import CallKey, Location, ToolResult
from agent_server.loop.ports import CallContext, Prepared
from agent_server.loop.proposal import (
    EditState,
    FileChange,
    FileDecision,
    Hunk,
    HunkState,
    Proposal,
    Resolution,
    accept_all,
)
from agent_server.tools.output import counted, middle_cut
from agent_server.tools.paths import Place, still_there
from agent_server.tools.services import Services


@dataclass(frozen=True, slots=True)
class Pending:
    """One proposed change of one file, waiting for its decision."""

    services: Services
    place: Place
    proposal: Proposal
    title: str

    @property
    def change(self) -> FileChange:
        """The change as the model asked for it."""
        return self.proposal.files[0]

    async def prepared(self, tool: str, key: CallKey) -> Prepared:
        """The call, ready for judgement; what it asks for is in the journal."""
        await self.services.transactions.propose(self.proposal, Cause("call", self.title, key))
        line = self.change.hunks[0].start + 1 if self.change.hunks else 1
        return Prepared(
            Action("write", tool, (self.place.real,)),
            self.title,
            self.run,
            (Location(self.place.named, line),),
            self.proposal,
        )

    async def run(self, ctx: CallContext, resolution: Resolution | None) -> ToolResult:
        """Apply the accepted part; None means all of it."""
        decision = _of_file(resolution or accept_all(self.proposal), self.change.path)
        if (elsewhere := await still_there(self.place)) is not None:
            await self._failed(ctx, decision, elsewhere.output)
            return elsewhere
        self._tell(ctx, "applying", decision)
        applied = await self.services.transactions.apply(
            self.proposal, Resolution((decision,)), Approval(ctx.turn, ctx.gated)
        )
        (outcome,) = applied.outcomes
        self._tell(ctx, applied.state, decision, message=outcome.message, revision=applied.revision)
        if outcome.state == "applied" and outcome.change is not None:
            self.services.unsaved.note(outcome.change.path)
            return self._applied(outcome.change, decision, outcome.message)
        return self._not_applied(outcome)

    async def _failed(self, ctx: CallContext, decision: FileDecision, message: str) -> None:
        """It came to nothing before anything was tried."""
        failed = await self.services.transactions.move(
            self.proposal.txn, "failed", files=(), message=message
        )
        self._tell(ctx, "failed", decision, message=message, revision=failed.revision)

    def _tell(
        self,
        ctx: CallContext,
        state: EditState,
        decision: FileDecision,
        *,
        message: str | None = None,
        revision: int = 1,
    ) -> None:
        hunks: tuple[tuple[str, str, HunkState], ...] = tuple(
            (self.change.path, h.id, _hunk_state(h, decision, state)) for h in self.change.hunks
        )
        proposal = replace(self.proposal, revision=revision)
        ctx.emit(EditChanged(ctx.turn, proposal, state, hunks, message, ctx.gated))

    def _applied(self, done: FileChange, decision: FileDecision, message: str | None) -> ToolResult:
        blocks = [self._headline(done, decision)]
        if done.kind != "create" or decision.edited_text is not None:
            blocks.append(self._diff(done))
        rejected = _rejected(self.change, decision)
        if rejected:
            blocks.append(
                f"rejected by the person, not applied:\n{self._diff(replace(self.change, hunks=rejected))}"
            )
        if message:
            blocks.append(message)
        limit = self.services.limits.output_chars
        return ToolResult(
            True,
            middle_cut("\n".join(blocks), limit),
            changes=(done,),
            locations=(Location(self.place.named, done.hunks[0].start + 1 if done.hunks else 1),),
            summary=_sizes(done.hunks) + (" (in part)" if rejected else ""),
        )

    def _headline(self, done: FileChange, decision: FileDecision) -> str:
        shown = self.place.shown
        if decision.edited_text is not None:
            return f"the person changed this edit of {shown} before applying it; what was really applied:"
        if rejected := _rejected(self.change, decision):
            kept = len(self.change.hunks) - len(rejected)
            return f"the person accepted {kept} of {counted(len(self.change.hunks), 'hunk')} in {shown}; applied:"
        if done.kind == "create":
            lines = len(done.hunks[0].added) if done.hunks else 0
            return f"created {shown} ({counted(lines, 'line')})"
        if done.base_hash != self.change.base_hash:
            return f"{shown} had changed meanwhile; the edit was fitted to it. Applied:"
        return f"applied to {shown}:"

    def _diff(self, change: FileChange) -> str:
        return unified(change, name=self.place.shown).rstrip("\n")

    def _not_applied(self, outcome: FileOutcome) -> ToolResult:
        shown = self.place.shown
        why = outcome.message or outcome.state
        match outcome.state:
            case "unknown":
                text = f"whether the edit of {shown} was applied is unknown: {why}. Read the file before trying again"
            case "declined":
                text = f"the edit of {shown} was not applied: {why}"
            case _:
                text = f"nothing was changed in {shown}: {why}"
        return ToolResult(
            False, text, code=outcome.state, changes=(self.change,), summary=outcome.state
        )


def refused(services: Services, place: Place, error: EditRefused) -> ToolResult:
    """The result for an edit that cannot even be proposed; says nothing of a file that may not be read unasked."""
    if not services.reading.reads_freely(place.real):
        text = f"{place.shown} cannot be edited as asked; read it first (the person will be asked)"
        return ToolResult(False, text, code="refused", summary="refused")
    return ToolResult(False, str(error), code=error.reason, summary=error.reason.replace("_", " "))


def _of_file(resolution: Resolution, path: str) -> FileDecision:
    """The decision about the one file; one that is not named is rejected."""
    return next((d for d in resolution.files if d.path == path), FileDecision(path, frozenset()))


def _rejected(change: FileChange, decision: FileDecision) -> tuple[Hunk, ...]:
    if decision.whole or decision.edited_text is not None:
        return ()
    return tuple(h for h in change.hunks if h.id not in decision.accepted)


def _hunk_state(hunk: Hunk, decision: FileDecision, state: EditState) -> HunkState:
    if not (decision.whole or decision.edited_text is not None or hunk.id in decision.accepted):
        return "rejected"
    match state:
        case "applied":
            return "applied"
        case "conflict":
            return "conflict"
        case "rejected":
            return "rejected"
        case _:
            return "accepted"


def _sizes(hunks: Iterable[Hunk]) -> str:
    added, removed = 0, 0
    for hunk in hunks:
        added, removed = added + len(hunk.added), removed + len(hunk.removed)
    return f"+{added} \u2212{removed}"
