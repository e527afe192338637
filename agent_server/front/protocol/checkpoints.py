"""Going back on the wire: taking edits back, and the checkpoints that files can be restored to."""

from typing import Literal

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
    """The moment before a turn, before a restore or a revert, or before the conversation was taken back."""

    id: str
    turn_id: str | None
    """Null: before something else than a turn."""
    at: str
    """ISO 8601 in UTC."""
    title: str
    files: tuple[TouchedFile, ...]
    """What happened to files up to the next checkpoint; none for a turn that changed nothing."""
    prompt: str | None = None
    """What the person said in that turn, in full."""
    chat: bool = False
    """Whether the conversation can be taken back to here."""


class CheckpointList(Wire):
    """Oldest first."""

    checkpoints: tuple[CheckpointShown, ...]


class RestoreCheckpoint(Wire):
    """Take a session back: its files, its conversation, or both; shows first what that would do, unless told otherwise.

    Refused with `turn_running` while a prompt is answered.
    """

    session_id: str
    id: str
    files: bool = True
    chat: bool = False
    """Nothing is deleted, and it can be undone. `session/load` shows the conversation as it stands then."""
    dry_run: bool = True
    """Only say what would change."""
    others: bool = False
    """Also files that somebody else changed since; else they are left alone."""


class MovedPrompt(Wire):
    """Something the person said, with what the agent answered."""

    text: str
    change: Literal["goes", "comes"]
    """Out of the conversation, or, when a rewinding is undone, back into it."""


class CheckpointRestored(Wire):
    """What would change (`dryRun`), or what did."""

    would: tuple[TouchedFile, ...] | None = None
    """With `dryRun`."""
    diffs: tuple[ProposedFile, ...] | None = None
    """With `dryRun`: the same, from what the files have now to what they would have, to be shown."""
    txn: str | None = None
    """The edit that took the files back; null: there was nothing to change."""
    state: EditState | None = None
    """Of `txn`: `applied`, or why it is not, in `left`; then the conversation stays too."""
    chat: bool = False
    """Whether the conversation was, or would be, taken back."""
    prompts: tuple[MovedPrompt, ...] = ()
    """What that takes out of it, oldest first."""
    undo: str | None = None
    """The checkpoint to restore, with the same `files` and `chat`, to undo this."""
    left: tuple[LeftAlone, ...] = ()
    note: str | None = None
    """What is not covered, in a sentence for the person: what commands did since then."""
