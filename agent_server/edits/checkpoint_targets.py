"""From texts that files should have to changes that the engine makes: the one way of restore, undo and recovery.

What a file has is looked at once (`Seen`), so that the change is made against the text that was judged; whoever writes
in between is met by the engine's own fitting.
"""

from collections.abc import Mapping
from dataclasses import replace

from anyio import to_thread

from agent_server.edits.documents import Document, Documents
from agent_server.edits.files import Form, form_of
from agent_server.edits.hashes import content_hash
from agent_server.edits.journal import Blobs, Content
from agent_server.edits.proposal import edit_of
from agent_server.edits.text.hunks import hunks
from agent_server.frozen import frozen
from agent_server.loop.errors import EditRefused
from agent_server.loop.proposal import ChangeKind, FileChange


@frozen
class Target:
    """What a file should have."""

    text: str
    form: Form | None = None
    """None: written down as it is now, or as new files are."""


Targets = Mapping[str, Target | None]
"""By path; None is no file."""


@frozen
class Left:
    """Something that is not taken back, because it is not ours alone any more."""

    path: str
    why: str
    hunk: str | None = None
    """None: the whole file."""


@frozen
class Changes:
    """What has to be done."""

    changes: tuple[FileChange, ...]
    forms: Mapping[str, Form]
    left: tuple[Left, ...]


class Seen:
    """Files as they were at the first look."""

    def __init__(self, documents: Documents) -> None:
        """Nothing is looked at yet."""
        self._documents = documents
        self._seen: dict[str, Document | EditRefused | None] = {}

    async def at(self, path: str) -> Document | None:
        """The document; None when there is no file.

        Raises:
            EditRefused: something is there that is no text we could edit.
        """
        if path not in self._seen:
            self._seen[path] = await self._look(path)
        seen = self._seen[path]
        if isinstance(seen, EditRefused):
            raise seen
        return seen

    def editor_takes(self, kind: ChangeKind) -> bool:
        """Whether the connected editor can make such a change of a document that it has open."""
        return self._documents.editor.takes(kind)

    async def _look(self, path: str) -> Document | EditRefused | None:
        try:
            return await self._documents.peek(path)
        except EditRefused as error:
            return None if error.reason == "missing" else error


def is_same(document: Document | None, content: Content | None) -> bool:
    """Whether a file has this content: the bytes where both are on disk, else the text."""
    if document is None or content is None:
        return document is None and content is None
    if document.file is not None and content.digest is not None:
        return document.file.digest == content.digest
    return document.hash == content.hash


def target(content: Content | None, blobs: Blobs) -> Target | None:
    """The content as something to go to. Blocking.

    Raises:
        StoreFailure: its text is not there any more.
    """
    return None if content is None else Target(blobs.get(content.hash), content.form)


async def changes_to(seen: Seen, targets: Targets) -> Changes:
    """The changes that lead from what was seen to the targets; what cannot be led there is left."""
    changes: list[FileChange] = []
    forms: dict[str, Form] = {}
    left: list[Left] = []
    for path, wanted in targets.items():
        try:
            document = await seen.at(path)
        except EditRefused as error:
            left.append(Left(path, str(error)))
            continue
        is_open = document is not None and document.source == "editor"
        if wanted is None and is_open and not seen.editor_takes("delete"):
            left.append(Left(path, f"{path} is open in the editor; close it to delete it"))
            continue
        form = _new_form(document, wanted)
        change = await to_thread.run_sync(_change, path, document, wanted, form is not None)
        if change is not None:
            changes.append(change)
            if form is not None:
                forms[change.path] = form
    return Changes(tuple(changes), forms, tuple(left))


def _new_form(document: Document | None, wanted: Target | None) -> Form | None:
    """How the file is to be written down, when that is not how it is."""
    if wanted is None or wanted.form is None:
        return None
    if document is None:
        return wanted.form
    if document.file is None:
        return None  # the editor writes it down
    own = form_of(document.file)
    mode = own.mode if wanted.form.mode is None else wanted.form.mode
    form = replace(wanted.form, mode=mode)
    return None if form == own else form


def _change(
    path: str, document: Document | None, wanted: Target | None, reformed: bool
) -> FileChange | None:
    if document is None:
        if wanted is None:
            return None
        return FileChange(path, "create", None, wanted.text, hunks("", wanted.text))
    if wanted is None:
        return FileChange(
            document.path, "delete", document.text, None, hunks(document.text, ""),
            document.version, content_hash(document.text),
        )  # fmt: skip
    if wanted.text == document.text and not reformed:
        return None
    return edit_of(document, wanted.text)
