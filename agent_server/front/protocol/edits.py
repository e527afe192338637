"""The life of a proposed edit on the wire: proposed, decided, applied."""

from typing import Literal

from agent_server.front.protocol.base import Range, Wire
from agent_server.loop.action import Scope
from agent_server.loop.proposal import ChangeKind, EditState, HunkState


class ProposedHunk(Wire):
    """One contiguous replacement, which can be decided alone."""

    id: str
    """Stable while its lines and their surroundings stay the same; not an index."""
    range: Range
    """In the base text."""
    old_text: str
    new_text: str


class ProposedFile(Wire):
    """The change to one file."""

    uri: str
    old_uri: str | None = None
    """Where a renamed file was."""
    kind: ChangeKind
    base_version: int | None = None
    """The document version the change was made against; null: not open in the editor."""
    base_hash: str | None = None
    """`sha256:…` over the UTF-8 of the base text: its own line ends, no byte order mark. Null: created."""
    base_text: str | None = None
    """Null: created, or larger than 1 MiB (then ask `agent/edit/content`)."""
    new_text: str | None = None
    """Null: deleted, or larger than 1 MiB (then ask `agent/edit/content`)."""
    hunks: tuple[ProposedHunk, ...] = ()


class EditProposed(Wire):
    """An edit to show as a diff. A new revision is sent whole again."""

    session_id: str
    turn_id: str | None
    tool_call_id: str
    txn: str
    """Names this edit in every message about it."""
    revision: int
    """Counts the changes of the proposal; a decision names the one it was made on."""
    review: Literal["ask", "staged", "applied"]
    """`ask`: the turn waits for `agent/edit/resolve`. `staged`: not on disk, asked about later together with others.
    `applied`: done already, shown for review."""
    reason: str | None = None
    """Why the person is asked."""
    scopes: tuple[Scope, ...] = ("once",)
    """How far a yes may reach."""
    files: tuple[ProposedFile, ...]


class EditDecision(Wire):
    """A verdict on one hunk, one file (no `hunk`) or everything (no `uri`)."""

    uri: str | None = None
    hunk: str | None = None
    verdict: Literal["accept", "reject"]
    edited_text: str | None = None
    """With `accept` of a whole file: the text that the person wants instead of the proposed one."""


class ResolveEdit(Wire):
    """Decisions on a proposal. They accumulate; the gate opens when nothing is left undecided."""

    txn: str
    revision: int
    decisions: tuple[EditDecision, ...]
    remember: Scope = "once"
    feedback: str | None = None
    """Words for the model, mostly why not."""


class EditResolved(Wire):
    """What the proposal is now. Answered before anything is applied."""

    txn: str
    revision: int
    state: Literal["proposed", "approved", "rejected"]
    """`proposed`: some hunks are still undecided."""


class GetEdit(Wire):
    """Asks for a proposal again, after a stale revision or a restart of the client."""

    txn: str


class EditContentRequest(Wire):
    """Asks for a text that was too large to be in `agent/edit/proposed`."""

    txn: str
    uri: str
    side: Literal["base", "new"]


class EditContent(Wire):
    """One side of a change, whole; null where that side does not exist."""

    text: str | None


class TextChange(Wire):
    """One replacement in a document."""

    range: Range
    new_text: str


class ApplyEdit(Wire):
    """Compare the document with `baseHash`; when equal apply as one undo step, and do not save.

    With capability `edit.files` also another `kind`, of documents that are open. `create`: put the text into the empty
    document and save it. `delete`: remove the file, and close the document though it has unsaved changes. `rename`:
    move the file to `newUri`; the document carries on there, with its text, and unsaved where it was.
    """

    session_id: str
    txn: str
    uri: str
    version: int | None
    """The document version that `edits` are for."""
    base_hash: str
    edits: tuple[TextChange, ...]
    """All in the document as it was; none overlap; first to last."""
    result_hash: str
    """Of the document once they are applied."""
    label: str
    """For the undo menu."""
    kind: Literal["edit", "create", "delete", "rename"] = "edit"
    """Other than `edit` only with capability `edit.files`."""
    new_uri: str | None = None
    """`rename`: where to; nothing is there but perhaps an empty document without a file."""


class EditApplied(Wire):
    """What the client did. `applied` without `hash` is verified by waiting ≤ 2 s for didChange."""

    outcome: Literal["applied", "stale", "declined", "failed"]
    version: int | None = None
    hash: str | None = None
    """Of the document as it is now."""
    reason: str | None = None


class HunkNow(Wire):
    """A hunk's state."""

    id: str
    state: HunkState


class FileNow(Wire):
    """A file's part in the state of an edit."""

    uri: str
    state: EditState
    version: int | None = None
    """Of the document as we know it; null: not open in the editor, or it says no versions (ACP)."""
    hash: str | None = None
    """Of the text that the edit left behind, with `applied` and `committed`; null else, and where the file is gone."""
    message: str | None = None
    """Why, for the person."""
    hunks: tuple[HunkNow, ...] = ()


class EditStateChanged(Wire):
    """Sent after every change of an edit's state."""

    session_id: str
    txn: str
    revision: int
    state: EditState
    files: tuple[FileNow, ...]
