"""A proposed edit as our clients see it: `edit/proposed`, `edit/state`, `edit/content` (front/protocol/edits.py)."""

from collections.abc import Callable
from typing import Literal

from agent_server.front.blocks import Json
from agent_server.front.uris import file_uri
from agent_server.loop.action import Scope
from agent_server.loop.events import EditChanged
from agent_server.loop.model import SessionId
from agent_server.loop.proposal import FileChange, Hunk, Proposal

INLINE_LIMIT = 1024 * 1024
"""Bytes of UTF-8 of one text; a larger one is null and fetched with `edit/content` (protocol.md)."""

Review = Literal["ask", "staged", "applied"]
VersionOf = Callable[[str], int | None]
"""A path → the version of the document that the editor has open there; None: not open, or there are no versions."""


def proposed(
    session: SessionId,
    proposal: Proposal,
    *,
    call_id: str,
    turn: str | None,
    revision: int,
    review: Review,
    reason: str | None,
    scopes: tuple[Scope, ...],
) -> Json:
    """The whole proposal, to be shown and (`ask`) decided."""
    return {
        "sessionId": session,
        "turnId": turn,
        "toolCallId": call_id,
        "txn": proposal.txn,
        "revision": revision,
        "review": review,
        "reason": reason,
        "scopes": list(scopes),
        "files": [file_diff(change) for change in proposal.files],
    }


def edit_state(
    session: SessionId, event: EditChanged, *, revision: int, version_of: VersionOf
) -> Json:
    """Where the edit stands, file by file and hunk by hunk."""
    hashes = dict(event.hashes)
    states = {(path, hunk): state for path, hunk, state in event.hunks}
    left = {path: (state, why) for path, state, why in event.left}
    return {
        "sessionId": session,
        "txn": event.proposal.txn,
        "revision": revision,
        "state": event.state,
        "files": [
            {
                "uri": file_uri(change.path),
                "state": left.get(change.path, (event.state, None))[0],
                "version": version_of(change.path),
                "hash": hashes.get(change.path),
                "message": left.get(change.path, (None, event.message))[1],
                "hunks": [
                    {"id": hunk.id, "state": states.get((change.path, hunk.id), "pending")}
                    for hunk in change.hunks
                ],
            }
            for change in event.proposal.files
        ],
    }


def file_diff(change: FileChange) -> Json:
    """One changed file: both texts, where they are not too large, and what differs."""
    texts = (change.base_text, change.new_text)
    inline = all(text is None or _fits(text) for text in texts)
    return {
        "uri": file_uri(change.path),
        "oldUri": file_uri(change.old_path) if change.old_path else None,
        "kind": change.kind,
        "baseVersion": change.base_version,
        "baseHash": change.base_hash,
        "baseText": change.base_text if inline else None,
        "newText": change.new_text if inline else None,
        "hunks": [_hunk(hunk) for hunk in change.hunks],
    }


def _fits(text: str) -> bool:
    return len(text) <= INLINE_LIMIT and len(text.encode("utf-8", "surrogatepass")) <= INLINE_LIMIT


def _hunk(hunk: Hunk) -> Json:
    """Whole lines, so that a range means the same in every position encoding."""
    return {
        "id": hunk.id,
        "range": {
            "start": {"line": hunk.start, "character": 0},
            "end": {"line": hunk.start + len(hunk.removed), "character": 0},
        },
        "oldText": "".join(hunk.removed),
        "newText": "".join(hunk.added),
    }
