"""What stands of one file after a proposal was applied."""

from dataclasses import dataclass
from typing import Literal

from agent_server.loop.proposal import FileChange

FileState = Literal["applied", "conflict", "failed", "stale", "declined", "unknown"]
"""The change stands · it touches a change of somebody else · an error · the text moved under it · the person or the
editor refused · it could not be verified in time. Only with the first, and perhaps the last, it stands."""


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """One file of an applied proposal."""

    path: str
    state: FileState
    change: FileChange | None = None
    """`applied`: what was really done, against the text as it was then, with the hunks that were not there already;
    `unknown`: what was sent. None otherwise: nothing of it stands."""
    message: str | None = None
    """Why, in a sentence; None when there is nothing to say."""
