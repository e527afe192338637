"""What a person's decision makes of a proposed change. Pure."""

from dataclasses import replace

from agent_server.edits.text.hunks import apply_hunks, hunks
from agent_server.loop.proposal import FileChange, FileDecision, Proposal, Resolution


def decided(proposal: Proposal, resolution: Resolution) -> dict[str, FileChange | None]:
    """For each file of the proposal, in order, the change the person wants; None for none."""
    decisions = {decision.path: decision for decision in resolution.files}
    return {change.path: wanted(change, decisions.get(change.path)) for change in proposal.files}


def wanted(change: FileChange, decision: FileDecision | None) -> FileChange | None:
    """The accepted part of one change; accepted hunks keep their ids, an edited text makes new ones.

    A file is created, deleted or renamed as a whole or not at all.
    """
    if decision is None:
        return None
    if decision.edited_text is not None:
        return _edited(change, decision.edited_text)
    accepted = tuple(hunk for hunk in change.hunks if hunk.id in decision.accepted)
    if decision.whole or (accepted and len(accepted) == len(change.hunks)):
        return change
    if change.kind != "edit" or change.base_text is None or not accepted:
        return None
    new_text = apply_hunks(change.base_text, accepted, decision.accepted)
    return replace(change, new_text=new_text, hunks=accepted)


def _edited(change: FileChange, text: str) -> FileChange | None:
    if text == change.base_text and change.kind != "rename":
        return None
    kind = "edit" if change.kind == "delete" else change.kind
    return replace(change, kind=kind, new_text=text, hunks=hunks(change.base_text or "", text))
