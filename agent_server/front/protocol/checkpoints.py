"""Going back on the wire: taking edits back, and the checkpoints that files can be restored to."""

from agent_server.front.protocol.base import Wire
from agent_server.front.protocol.edits import ProposedFile
from agent_server.loop.proposal import ChangeKind, EditState


class RevertEdit(Wire):
    """Take back an edit that was applied, or a part of it: one file, one hunk."""

    txn: str
    revision: int
    """The one last heard of."""
    uri: str | None = None
    """Null: all of it."""
    hunk: str | None = None
    """Null: all of the file."""


class LeftAlone(Wire):
    """Something that was not taken back."""

    uri: str
    hunk: str | None = None
    """Null: the whole file."""
    why: str
    """A sentence for the person."""


class EditReverted(Wire):
    """What came of it."""

    txn: str | None
    """The edit that takes the other one back, and can be taken back itself; null when there was nothing to do."""
    state: EditState
    """Of `txn`. `applied` without `txn`: nothing of the edit was there any more; `conflict`: all of it was left."""
    left: tuple[LeftAlone, ...] = ()


class ListCheckpoints(Wire):
    """Asks what a session can be taken back to."""

    session_id: str


class TouchedFile(Wire):
    """What happens, or happened, to a file."""

    uri: str
    change: ChangeKind


class CheckpointShown(Wire):
    """The moment before a turn changed its first file, or before a restore or a revert."""

    id: str
    turn_id: str | None
    """Null: a restore or a revert."""
    at: str
    """ISO 8601 in UTC."""
    title: str
    files: tuple[TouchedFile, ...]
    """What happened to files up to the next checkpoint."""


class CheckpointList(Wire):
    """Oldest first."""

    checkpoints: tuple[CheckpointShown, ...]


class RestoreCheckpoint(Wire):
    """Take the files of a session back; shows first what that would do, unless told otherwise."""

    session_id: str
    id: str
    files: bool = True
    chat: bool = False
    """Not served yet: only false."""
    dry_run: bool = True
    """Only say what would change."""
    others: bool = False
    """Also files that somebody else changed since; else they are left alone."""


class CheckpointRestored(Wire):
    """What would change (`dryRun`), or the edit that did it."""

    would: tuple[TouchedFile, ...] | None = None
    """With `dryRun`."""
    diffs: tuple[ProposedFile, ...] | None = None
    """With `dryRun`: the same, from what the files have now to what they would have, to be shown."""
    txn: str | None = None
    """Null: there was nothing to change."""
    state: EditState | None = None
    """Of `txn`: `applied`, or why it is not, in `left`."""
    undo: str | None = None
    """The checkpoint to restore to undo this."""
    left: tuple[LeftAlone, ...] = ()
