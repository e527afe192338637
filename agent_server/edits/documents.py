"""Documents: what a file says now, an open buffer before the disk, and what the model knows of it."""

from collections.abc import Callable, Mapping
from typing import Literal

from anyio import to_thread

from agent_server.edits import files
from agent_server.edits.files import FileText
from agent_server.edits.hashes import content_hash
from agent_server.edits.ports import Editor
from agent_server.edits.staging import Overlay
from agent_server.edits.text.hunks import hunks
from agent_server.edits.unified import unified
from agent_server.frozen import frozen
from agent_server.loop.errors import EditRefused
from agent_server.loop.proposal import FileChange

REMEMBERED_CHARS = 256 * 1024
"""Largest text kept for the difference `since you read it`; of larger ones only the hash is kept."""
SHOWN_CHARS = 8_000
"""Most of such a difference that the model is shown."""


@frozen
class Document:
    """A text as it is at this moment."""

    path: str
    """Absolute; as the editor spells it when the editor has it."""
    text: str
    """Its own line ends, no BOM."""
    source: Literal["editor", "disk"]
    version: int | None
    """The editor's version; None where there is none."""
    hash: str
    """`sha256:…` of the text (`hashes.content_hash`)."""
    file: FileText | None
    """The file behind it; None when the editor has it, whose file is not ours to touch."""


@frozen
class Known:
    """What the model last saw of a file."""

    hash: str
    text: str | None
    """None when it is too large to be kept."""
    in_editor: bool
    """It was the editor's text, which a look at the disk says nothing about."""


class Documents:
    """The documents of one session. The editor is asked anew each time, because it may come and go."""

    def __init__(self, editor: Callable[[], Editor]) -> None:
        """`editor` gives the one that is connected now."""
        self.overlay = Overlay()
        """What is staged: `view` and `is_there` see it, and nothing that writes does."""
        self._editor = editor
        self._known: dict[str, Known] = {}

    @property
    def editor(self) -> Editor:
        """The one connected now."""
        return self._editor()

    @property
    def known(self) -> Mapping[str, Known]:
        """What the model has seen, by the file's real path."""
        return self._known

    async def read(self, path: str) -> Document:
        """The document at an absolute path, remembered as read by the model.

        Raises:
            EditRefused: as `peek`.
        """
        document = await self.view(path)
        here = await _identity(path)
        self._remember(here, document.text, document.hash, in_editor=document.source == "editor")
        return document

    async def view(self, path: str) -> Document:
        """The document as the agent sees it: what is staged before what there is. The model has not seen it.

        Raises:
            EditRefused: as `peek`.
        """
        staged = self.overlay.get(await _identity(path))
        if staged is None:
            return await self.peek(path)
        if staged.text is None:
            raise EditRefused(f"{path} does not exist: its removal is staged", reason="missing")
        file = (await self.peek(path)).file if await self.exists(path) else None
        version = staged.first.base_version
        digest = content_hash(staged.text)
        return Document(staged.first.path, staged.text, "disk", version, digest, file)

    async def is_there(self, path: str) -> bool:
        """Whether the agent sees something there: staged, or not staged and `exists`."""
        staged = self.overlay.get(await _identity(path))
        return await self.exists(path) if staged is None else staged.text is not None

    async def stage(self, change: FileChange) -> None:
        """Let the agent see a change that nobody has confirmed."""
        self.overlay.add(await _identity(change.path), change)
        await self.note_applied(change, authored=change.kind == "create")

    async def peek(self, path: str) -> Document:
        """The document as it is, for our own use: the model has not seen it.

        Raises:
            EditRefused: `missing`, `directory`, `not_a_file`, `too_large`, `binary`, `no_permission` or `io`.
        """
        document = await self.in_editor(path)
        if document is not None:
            return document
        file = await to_thread.run_sync(files.read_text, path)
        return Document(path, file.text, "disk", None, content_hash(file.text), file)

    async def exists(self, path: str) -> bool:
        """Whether the editor has a document there or the disk has anything."""
        return await self.in_editor(path) is not None or await self.on_disk(path)

    async def on_disk(self, path: str) -> bool:
        """Whether the disk has anything there."""
        return await to_thread.run_sync(files.exists, path)

    async def in_editor(self, path: str) -> Document | None:
        """The editor's document, which it may know by the given name or, behind a link, by the real one; else None."""
        for name in dict.fromkeys((path, await _identity(path))):
            snapshot = await self.editor.snapshot(name)
            if snapshot is not None:
                return Document(
                    name,
                    snapshot.text,
                    "editor",
                    snapshot.version,
                    content_hash(snapshot.text),
                    None,
                )
        return None

    async def check_free(self, *paths: str) -> None:
        """Pass when the editor holds none of the files in a way that it could not be told of a change.

        Raises:
            EditRefused: `occupied`.
        """
        for path in paths:
            if (why := await self.editor.occupied(path)) is not None:
                raise EditRefused(why, reason="occupied")

    # ---- what the model knows ----------------------------------------------------------------------------------

    def forget(self) -> None:
        """The model has seen nothing, because what it saw is no longer in its conversation."""
        self._known.clear()

    async def check_known(self, document: Document) -> None:
        """Pass when the model has seen exactly this text, so that it may replace it whole.

        Raises:
            EditRefused: `not_read`, or `stale` with what changed since.
        """
        known = self._known.get(await _identity(document.path))
        if known is None:
            raise EditRefused(
                f"{document.path} exists and was not read; read it first", reason="not_read"
            )
        if known.hash == document.hash:
            return
        difference = (
            ""
            if known.text is None
            else await to_thread.run_sync(_difference, document, known.text)
        )
        raise EditRefused(
            f"{document.path} changed since you read it; read it again before writing it{difference}",
            reason="stale",
        )

    async def note_applied(self, change: FileChange, *, authored: bool) -> None:
        """Keep up with our own edit: the model knows the result if it wrote all of it or knew what was there before."""
        path = await _identity(change.path)
        known = self._known.get(await _identity(change.old_path or change.path))
        if change.old_path is not None:
            self._known.pop(await _identity(change.old_path), None)
        if change.new_text is None:
            self._known.pop(path, None)
        elif authored or (known is not None and known.hash == change.base_hash):
            in_editor = change.base_version is not None or (known is not None and known.in_editor)
            digest = content_hash(change.new_text)
            self._remember(path, change.new_text, digest, in_editor=in_editor)

    def _remember(self, path: str, text: str, digest: str, *, in_editor: bool) -> None:
        kept = text if len(text) <= REMEMBERED_CHARS else None
        self._known[path] = Known(digest, kept, in_editor)


async def _identity(path: str) -> str:
    return str(await to_thread.run_sync(files.real_path, path))


def _difference(document: Document, known: str) -> str:
    change = FileChange(document.path, "edit", known, document.text, hunks(known, document.text))
    shown = unified(change)
    cut = shown if len(shown) <= SHOWN_CHARS else f"{shown[:SHOWN_CHARS]}\n… (cut)\n"
    return f". What changed:\n{cut}"
