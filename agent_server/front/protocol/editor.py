"""What the server asks of the editor, each message behind a capability."""

from typing import Literal

from agent_server.front.protocol.base import Range, Wire
from agent_server.loop.proposal import ChangeKind


class SaveDocument(Wire):
    """Save an open document."""

    uri: str


class DocumentSaved(Wire):
    """Whether the document on disk is now what the editor shows."""

    saved: bool


class ReloadDocuments(Wire):
    """Open documents whose file says something else than their text: reload those without unsaved changes.

    Never ask anything, never write, and never throw unsaved changes away.
    """

    session_id: str
    uris: tuple[str, ...]


class ReloadedDocument(Wire):
    """What one document is now."""

    uri: str
    outcome: Literal["reloaded", "modified", "unchanged", "closed"]
    """`modified`: it has unsaved changes and was left alone, which you also show. `unchanged`: its text is the file's,
    or the file cannot be read. `closed`: you do not have it open (any more)."""
    version: int | None = None
    """Of the document after the reload: the server waits for the didChange that leads there, for up to 2 s."""


class DocumentsReloaded(Wire):
    """One for each that was named."""

    documents: tuple[ReloadedDocument, ...]


class LookAtEditor(Wire):
    """Asks what the person has before them, as a turn begins."""

    session_id: str


class EditorSelection(Wire):
    """Where the person is, in the document they are in or were in last."""

    uri: str | None = None
    """Null: in none."""
    range: Range | None = None
    """Empty: only a cursor."""
    text: str | None = None
    """What is selected."""


class EditorFile(Wire):
    """A document that the person has open."""

    uri: str
    dirty: bool = False
    """It has changes that are not saved."""
    kind: Literal["text", "notebook", "custom"] = "text"
    """How: other than as text it has no document of LSP, and the server proposes and writes no edit of it. `custom`: an
    editor of its own that does not show its text, such as one for pictures or bytes."""


class EditorFiles(Wire):
    """In tabs or windows; not what only a plugin holds open."""

    files: tuple[EditorFile, ...]


class DiffFile(Wire):
    """A file of an edit."""

    uri: str
    old_uri: str | None = None
    """Where a renamed file was."""
    kind: ChangeKind


class OpenDiff(Wire):
    """Show an edit; its texts came with `agent/edit/proposed`, or are in `agent/edit/content`."""

    session_id: str
    txn: str
    files: tuple[DiffFile, ...]


class DiffOpened(Wire):
    """Whether the person sees it; decides nothing."""

    shown: bool


class DiagnosticsRequest(Wire):
    """What is wrong with these files, as the editor knows now."""

    session_id: str
    uris: tuple[str, ...] | None = None
    """Null: every file that you have diagnostics of."""


class WireDiagnostic(Wire):
    """One diagnostic, as in LSP."""

    range: Range
    severity: Literal[1, 2, 3, 4] | None = None
    """Error, warning, information, hint; null: error."""
    code: int | str | None = None
    source: str | None = None
    message: str


class DocumentDiagnostics(Wire):
    """The diagnostics of one file."""

    uri: str
    version: int | None = None
    """Of the document they are about; null: not open, or not known."""
    settled: bool | None = None
    """Whether they are about the text as it is now; null: you cannot tell."""
    diagnostics: tuple[WireDiagnostic, ...]


class DiagnosticsReport(Wire):
    """One item per file that you watch, also when nothing is wrong with it; no item for others."""

    items: tuple[DocumentDiagnostics, ...]
