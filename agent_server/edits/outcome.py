"""What stands of one file after a proposal was applied."""

from dataclasses import replace
from typing import Literal

from agent_server.edits.text.formatting import further
from agent_server.edits.text.hunks import hunks
from agent_server.frozen import frozen
from agent_server.loop.proposal import FileChange

FileState = Literal["applied", "conflict", "failed", "stale", "declined", "unknown"]
"""The change stands · it touches a change of somebody else · an error · the text moved under it · the person or the
editor refused · it could not be verified in time. Only with the first, and perhaps the last, it stands."""


@frozen
class FileOutcome:
    """One file of an applied proposal."""

    path: str
    state: FileState
    change: FileChange | None = None
    """`applied`: what was really done, against the text as it was then, with the hunks that were not there already;
    `unknown`: what was sent. None otherwise: nothing of it stands."""
    message: str | None = None
    """Why, in a sentence; None when there is nothing to say."""
    formatted: bool = False
    """The editor laid our text out anew, and `change` is about that; taking it back takes both back."""


def changed_further(change: FileChange, live: str) -> FileOutcome | None:
    """The outcome of a change that an editor made and went beyond, with the text that stands; None when it did not.

    Blocking: compares texts (loop.md F41).
    """
    base = change.base_text or ""
    how = further(base, change.new_text or "", live)
    if how is None or live == base:
        return None
    stands = replace(change, new_text=live, hunks=hunks(base, live))
    formatted = how == "formatted"
    what = "further (formatting)" if formatted else "further, also elsewhere"
    message = f"the editor changed {change.path} {what}; the text shown here is what stands"
    return FileOutcome(change.path, "applied", stands, message, formatted)
