"""What is said to an editor about an edit, and what it says back, read with suspicion."""

from typing import Literal

from agent_server.edits.text.positions import TextEdit
from agent_server.front.blocks import Json
from agent_server.front.params import as_object
from agent_server.front.rpc.errors import ConnectionClosed, RemoteError
from agent_server.frozen import frozen


@frozen
class Said:
    """What the client answered."""

    outcome: Literal["applied", "stale", "declined", "failed", "silent"]
    reason: str | None = None
    version: int | None = None
    hash: str | None = None


def edit_object(edit: TextEdit) -> Json:
    """A `TextEdit` of LSP."""
    start, end = edit.range.start, edit.range.end
    return {
        "range": {
            "start": {"line": start.line, "character": start.character},
            "end": {"line": end.line, "character": end.character},
        },
        "newText": edit.new_text,
    }


def read_answer(answer: object) -> Said:
    """`EditApplied`, read with suspicion."""
    given = as_object(answer)
    if given is None:
        return Said("silent", reason_of(answer))
    reason, version, digest = given.get("reason"), given.get("version"), given.get("hash")
    details = (
        reason if isinstance(reason, str) else None,
        version if isinstance(version, int) else None,
        digest if isinstance(digest, str) else None,
    )
    match given.get("outcome"):
        case "applied":
            return Said("applied", *details)
        case "stale":
            return Said("stale", *details)
        case "declined":
            return Said("declined", *details)
        case _:
            return Said("failed", *details)


def reason_of(answer: object) -> str:
    """Why there is no answer."""
    match answer:
        case RemoteError() | ConnectionClosed():
            return f"the editor answered with an error: {answer}"
        case _:
            return "the editor did not answer"
