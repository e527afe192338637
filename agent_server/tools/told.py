"""What the model is told of a decided edit: what really stands, file by file. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from agent_server.edits.outcome import FileOutcome, FileState
from agent_server.edits.transaction import Applied
from agent_server.edits.unified import unified
from agent_server.frozen import frozen
from agent_server.loop.model import Location, ToolResult
from agent_server.loop.proposal import (
    ChangeKind,
    EditState,
    FileChange,
    FileDecision,
    Hunk,
    HunkState,
    Proposal,
    Resolution,
)
from agent_server.tools.output import counted, middle_cut
from agent_server.tools.paths import Place

STAGED = "staged"
"""The code of a result that says so; a session that is loaded finds by it what was never reviewed."""
_STAGED: Mapping[ChangeKind, str] = {
    "edit": "changed", "create": "new", "delete": "removed", "rename": "renamed",
}  # fmt: skip
_WORST: tuple[FileState, ...] = ("unknown", "conflict", "stale", "declined", "failed")
"""Which failure names the whole, the first that is there."""


@frozen
class Part:
    """One file of a proposal, and where its paths lead."""

    change: FileChange
    """As the model asked for it."""
    place: Place
    source: Place | None = None
    """Where a renamed file was."""

    @property
    def shown(self) -> str:
        """The file's name in output; for a renamed one both."""
        return (
            self.place.shown if self.source is None else f"{self.source.shown} → {self.place.shown}"
        )


def decisions(parts: Iterable[Part], resolution: Resolution) -> dict[str, FileDecision]:
    """The decision about each file, by path; one that is not named is rejected."""
    named = {d.path: d for d in resolution.files}
    paths = [part.change.path for part in parts]
    return {path: named.get(path, FileDecision(path, frozenset())) for path in paths}


def hunk_states(
    parts: Iterable[Part],
    decided: Mapping[str, FileDecision],
    state: EditState,
    left: Sequence[tuple[str, EditState, str]] = (),
) -> tuple[tuple[str, str, HunkState], ...]:
    """Every hunk with what became of it; `left` are the files that did not become part of it."""
    states: dict[str, EditState] = {path: its_state for path, its_state, _ in left}
    return tuple(
        (path, hunk.id, _hunk_state(hunk, decided[path], states.get(path, state)))
        for part in parts
        for path in (part.change.path,)
        for hunk in part.change.hunks
    )


def left_out(
    decided: Mapping[str, FileDecision], applied: Applied
) -> tuple[tuple[str, EditState, str], ...]:
    """Files of an applied edit that somebody said yes to and that were not changed all the same, and why."""
    if applied.state != "applied":
        return ()
    return tuple(
        (o.path, "conflict" if o.state in ("conflict", "stale") else "failed", o.message or o.state)
        for o in applied.outcomes
        if o.state != "applied" and wanted(decided[o.path])
    )


def wanted(decision: FileDecision) -> bool:
    """Whether any of the file was accepted."""
    return decision.whole or decision.edited_text is not None or bool(decision.accepted)


def every_hunk(proposal: Proposal, state: HunkState) -> tuple[tuple[str, str, HunkState], ...]:
    """All hunks of a proposal in one state."""
    return tuple((file.path, hunk.id, state) for file in proposal.files for hunk in file.hunks)


def result(
    parts: Sequence[Part], decided: Mapping[str, FileDecision], applied: Applied, *, limit: int
) -> ToolResult:
    """The result of applying; `limit` in characters."""
    pairs = list(zip(parts, applied.outcomes, strict=True))
    blocks = [_block(part, decided[part.change.path], outcome) for part, outcome in pairs]
    output = middle_cut("\n".join(blocks), limit)
    if applied.state != "applied":
        code = next((s for s in _WORST if s in {o.state for _, o in pairs}), "failed")
        changes = tuple(part.change for part in parts)
        return ToolResult(False, output, code=code, changes=changes, summary=code)
    done = [(part.place, o.change) for part, o in pairs if o.change is not None]
    changes = tuple(change for _, change in done)
    partly = len(done) < len(parts) or any(
        rejected(p.change, decided[p.change.path]) for p in parts
    )
    return ToolResult(
        True,
        output,
        changes=changes,
        locations=tuple(location(place, change) for place, change in done),
        summary=_sizes(changes) + (" (in part)" if partly else ""),
    )


def staged(parts: Sequence[Part], *, limit: int) -> ToolResult:
    """The result of an edit that waits for the review; `limit` in characters."""
    head = (
        "staged, not yet on disk: your own tools see it, and nobody else does. The person reviews it before a "
        "command runs, or when you are done"
    )
    shown = [f"{part.shown}: {_STAGED[part.change.kind]}" for part in parts]
    diffs = [_diff(part, part.change) for part in parts if part.change.kind == "edit"]
    changes = tuple(part.change for part in parts)
    return ToolResult(
        True,
        middle_cut("\n".join([head, *shown, *diffs]), limit),
        code=STAGED,
        changes=changes,
        locations=tuple(location(part.place, part.change) for part in parts),
        summary=f"staged, {_sizes(changes)}",
    )


def location(place: Place, change: FileChange) -> Location:
    """Where a change begins."""
    return Location(place.named, change.hunks[0].start + 1 if change.hunks else 1)


def rejected(change: FileChange, decision: FileDecision) -> tuple[Hunk, ...]:
    """The hunks that the person did not want."""
    if decision.whole or decision.edited_text is not None:
        return ()
    return tuple(h for h in change.hunks if h.id not in decision.accepted)


def _block(part: Part, decision: FileDecision, outcome: FileOutcome) -> str:
    if outcome.state != "applied" or outcome.change is None:
        return _not_applied(part, outcome)
    done = outcome.change
    lines = [_headline(part, done, decision)]
    told_by_headline = done.kind in ("create", "delete") and decision.edited_text is None
    if done.hunks and not told_by_headline:
        lines.append(_diff(part, done))
    if out := rejected(part.change, decision):
        diff = _diff(part, replace(part.change, hunks=out))
        lines.append(f"rejected by the person, not applied:\n{diff}")
    if outcome.message:
        lines.append(outcome.message)
    return "\n".join(lines)


def _headline(part: Part, done: FileChange, decision: FileDecision) -> str:
    shown = part.shown
    if decision.edited_text is not None:
        return (
            f"the person changed this edit of {shown} before applying it; what was really applied:"
        )
    if out := rejected(part.change, decision):
        hunks = len(part.change.hunks)
        return f"the person accepted {hunks - len(out)} of {counted(hunks, 'hunk')} in {shown}; applied:"
    match done.kind:
        case "create":
            lines = len(done.hunks[0].added) if done.hunks else 0
            return f"created {shown} ({counted(lines, 'line')})"
        case "delete":
            return f"deleted {shown}"
        case "rename":
            return f"renamed {shown}" + (", changed on the way:" if done.hunks else "")
        case "edit" if done.base_hash != part.change.base_hash:
            return f"{shown} had changed meanwhile; the edit was fitted to it. Applied:"
        case "edit":
            return f"applied to {shown}:"


def _diff(part: Part, change: FileChange) -> str:
    before = None if part.source is None else part.source.shown
    return unified(replace(change, old_path=before), name=part.place.shown).rstrip("\n")


def _not_applied(part: Part, outcome: FileOutcome) -> str:
    why = outcome.message or outcome.state
    match outcome.state:
        case "unknown":
            return f"whether the edit of {part.shown} was applied is unknown: {why}. Read the file before trying again"
        case "declined":
            return f"the edit of {part.shown} was not applied: {why}"
        case _:
            return f"nothing was changed in {part.shown}: {why}"


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


def _sizes(changes: Sequence[FileChange]) -> str:
    hunks = [hunk for change in changes for hunk in change.hunks]
    added, removed = sum(len(h.added) for h in hunks), sum(len(h.removed) for h in hunks)
    files = f"{len(changes)} files, " if len(changes) > 1 else ""
    return f"{files}+{added} \u2212{removed}"
