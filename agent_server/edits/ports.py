"""What editing needs of the connected editor.

Implemented in front/ (ACP `fs/*`, LSP documents); `NoEditor` stands in where there is none.
"""

from collections.abc import Sequence
from typing import Literal, Protocol

from agent_server.frozen import frozen
from agent_server.loop.proposal import ChangeKind, FileChange


@frozen
class Snapshot:
    """A document as the editor has it, unsaved changes included."""

    text: str
    """Its own line ends, no BOM."""
    version: int | None
    """The document version the editor counts; None where the protocol has none (ACP)."""


Outcome = Literal["applied", "stale", "declined", "failed", "unknown"]
"""What stands now, proved by content: ours · something else, nothing of ours · the editor or person refused ·
an error, nothing of ours · could not be verified in time."""


@frozen
class Applied:
    """The answer of an editor, already verified by content (an editor's `applied: true` proves nothing)."""

    outcome: Outcome
    text: str | None
    """The document as it is now, when known."""
    version: int | None = None
    reason: str | None = None


@frozen
class Refreshed:
    """An open document whose file was changed beneath it."""

    path: str
    outcome: Literal["followed", "reloaded", "modified", "differs"]
    """The editor had taken the file's text by itself · it did so when asked · it has unsaved changes and was left
    alone · it still shows another text than the file's, and cannot be asked."""


class Editor(Protocol):
    """The documents of the connected editor."""

    async def snapshot(self, path: str) -> Snapshot | None:
        """The document at this absolute path; None when the editor does not have it (then the disk is the truth)."""
        ...

    def takes(self, kind: ChangeKind) -> bool:
        """Whether it can make such a change of a document that it has open."""
        ...

    async def apply(self, change: FileChange, *, txn: str, label: str) -> Applied:
        """Make `change.base_text` into `change.new_text` in the document, as one undo step, without saving.

        A change of another kind than `edit`, where it `takes` that, creates, deletes or renames the file too.

        Compare first: when the document is no longer `base_text`, change nothing and say `stale`. Bounded: 2 s for
        the proof, then `unknown`.
        """
        ...

    async def occupied(self, path: str) -> str | None:
        """Why a file must not be changed beneath the editor, as a sentence: it has it open, but not as text.

        Such as a notebook, which may have unsaved cells and would overwrite the file. None: nothing is known of that.
        """
        ...

    async def save(self, path: str) -> bool:
        """Ask the editor to save the document; False when it cannot be asked or did not."""
        ...

    async def refresh(self) -> tuple[Refreshed, ...]:
        """Bring open documents up to date whose files were changed beneath them; never writes, never drops changes.

        Each state of a file is told once. Bounded.
        """
        ...

    async def unsaved(self) -> tuple[str, ...]:
        """Open documents that say something else than their files, as far as the editor tells of them."""
        ...


Severity = Literal["error", "warning", "information", "hint"]


@frozen
class Diagnostic:
    """One thing that the editor, or a language server of it, has to say about a line."""

    line: int
    """0-based."""
    severity: Severity
    message: str
    source: str | None = None
    """Who says it: `pyright`."""
    code: str | None = None


@frozen
class Diagnosed:
    """What the editor has to say about one file."""

    path: str
    """As it was asked for; otherwise as the editor spells it."""
    diagnostics: tuple[Diagnostic, ...]
    settled: bool | None
    """Whether it is about the text as it is now; None when the editor cannot tell."""


class Diagnostics(Protocol):
    """What the connected editor knows to be wrong with files."""

    async def diagnostics(self, paths: Sequence[str] | None) -> tuple[Diagnosed, ...] | None:
        """Of these absolute paths, or of every file; files that the editor does not watch are left out.

        None: it cannot be asked, or did not answer. Bounded.
        """
        ...


class NoDiagnostics:
    """A client that cannot be asked."""

    async def diagnostics(self, paths: Sequence[str] | None) -> tuple[Diagnosed, ...] | None:
        """Always None."""
        del paths
        return None


class NoEditor:
    """A client that has no documents: everything is read from and written to the disk."""

    async def snapshot(self, path: str) -> Snapshot | None:
        """Always None."""
        del path
        return None

    def takes(self, kind: ChangeKind) -> bool:
        """Never asked: nothing is open."""
        return kind == "edit"

    async def apply(self, change: FileChange, *, txn: str, label: str) -> Applied:
        """Never reached: nothing is open."""
        del txn, label
        return Applied("failed", None, reason=f"{change.path} is not open in an editor")

    async def occupied(self, path: str) -> str | None:
        """Always None."""
        del path
        return None

    async def save(self, path: str) -> bool:
        """Nothing to save."""
        del path
        return False

    async def refresh(self) -> tuple[Refreshed, ...]:
        """Nothing is open."""
        return ()

    async def unsaved(self) -> tuple[str, ...]:
        """Nothing is open."""
        return ()
