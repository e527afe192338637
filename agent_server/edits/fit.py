"""Fitting a wanted change to the text as it is now: as it is, rebased, or a conflict."""

from dataclasses import replace
from typing import assert_never

from anyio import to_thread

from agent_server.edits.documents import Document, Documents
from agent_server.edits.files import Form, form_of, read_text
from agent_server.edits.hashes import content_hash
from agent_server.edits.outcome import FileOutcome
from agent_server.edits.text.hunks import apply_hunks
from agent_server.edits.text.rebase import rebase
from agent_server.frozen import frozen
from agent_server.loop.errors import EditRefused
from agent_server.loop.proposal import ChangeKind, FileChange, Hunk


@frozen
class Fitted:
    """A change whose base is the live text, and where that text lives."""

    change: FileChange
    document: Document | None
    """None: the file is to be created."""
    rebased: bool = False
    form: Form | None = None
    """How the file of an open document that goes away is written down, so that it can come back like that."""


async def fit(documents: Documents, change: FileChange) -> Fitted | FileOutcome:
    """The change against the live text, or why it cannot be made. Changes nothing."""
    match change.kind:
        case "create":
            return await _taken(documents, change) or await _fit_creation(documents, change)
        case "edit" | "delete":
            return await _fit_existing(documents, change, change.path)
        case "rename":
            taken = await _taken(documents, change)
            return taken or await _fit_existing(documents, change, change.old_path or change.path)
        case _:
            assert_never(change.kind)


async def _taken(documents: Documents, change: FileChange) -> FileOutcome | None:
    """The conflict of a new name that something has by now; an empty document without a file is nothing.

    Editors have a line end in it, or none.
    """
    document = await documents.in_editor(change.path)
    is_blank = document is None or document.text in ("", "\n", "\r\n", "\r")
    if is_blank and not await documents.on_disk(change.path):
        return None
    return FileOutcome(change.path, "conflict", message=f"{change.path} exists by now")


async def _form(document: Document, path: str, kind: ChangeKind) -> Form | None:
    if document.source == "disk" or kind == "edit":
        return None
    try:
        file = await to_thread.run_sync(read_text, path)
    except EditRefused:
        return None
    return form_of(file)


async def _fit_creation(documents: Documents, change: FileChange) -> Fitted:
    """In the document that an editor has open for a file that is not there yet, where it has one."""
    document = await documents.in_editor(change.path)
    if document is None:
        return Fitted(change, None)
    return Fitted(replace(change, path=document.path, base_version=document.version), document)


async def _fit_existing(
    documents: Documents, change: FileChange, path: str
) -> Fitted | FileOutcome:
    try:
        document = await documents.peek(path)
    except EditRefused as error:
        state = "conflict" if error.reason == "missing" else "failed"
        return FileOutcome(change.path, state, message=str(error))
    if document.hash == change.base_hash:
        here = document.path if change.kind == "edit" else change.path
        fitted = replace(change, path=here, base_version=document.version)
        return Fitted(fitted, document, form=await _form(document, path, change.kind))
    if change.kind != "edit" or change.base_text is None:
        return FileOutcome(
            change.path, "conflict", message=f"{path} changed since its {change.kind} was proposed"
        )
    return await to_thread.run_sync(_rebased, change, change.base_text, document)


def _rebased(change: FileChange, base_text: str, document: Document) -> Fitted | FileOutcome:
    result = rebase(base_text, change.hunks, document.text)
    if result.conflicts:
        return FileOutcome(
            change.path, "conflict", message=_touching(change.path, result.conflicts)
        )
    new_text = apply_hunks(document.text, result.hunks, {hunk.id for hunk in result.hunks})
    live = FileChange(
        document.path,
        "edit",
        document.text,
        new_text,
        result.hunks,
        document.version,
        content_hash(document.text),
    )
    return Fitted(live, document, rebased=True)


def _touching(path: str, conflicts: tuple[Hunk, ...]) -> str:
    lines = ", ".join(str(hunk.start + 1) for hunk in conflicts)
    return f"{path} changed since the edit was proposed, in the same place (line {lines} of the text it was made for)"
