"""From what the model asks for to what a person is asked: changes against the documents as they are now."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace as replaced
from functools import partial
from secrets import token_hex

from anyio import to_thread

from agent_server.edits.documents import Document, Documents
from agent_server.edits.text.chunks import Chunk, apply_chunks
from agent_server.edits.text.endings import keep_endings
from agent_server.edits.text.hunks import hunks
from agent_server.edits.text.match import Replacement, replace
from agent_server.loop.errors import EditRefused
from agent_server.loop.proposal import FileChange, Proposal


def new_proposal(*changes: FileChange) -> Proposal:
    """A proposal with an id of its own; each file is in it once.

    Raises:
        EditRefused: `duplicate`.
    """
    paths = [change.path for change in changes]
    if twice := next((path for path in paths if paths.count(path) > 1), None):
        raise EditRefused(f"{twice} is in the proposal twice", reason="duplicate")
    return Proposal(f"x{token_hex(8)}", changes)


async def propose_edit(documents: Documents, path: str, edits: Sequence[Replacement]) -> FileChange:
    """Replacements in one existing file, all against its text now; the file need not have been read.

    Raises:
        EditRefused: the reasons of `Documents.peek`, of `match.replace`, `no_change`, `occupied`, or `unencodable`.
    """
    if not edits:
        raise EditRefused(f"{path}: no edits were given", reason="no_change")
    return await _made(documents, path, lambda text: replace(text, edits))


async def propose_patch(documents: Documents, path: str, chunks: Sequence[Chunk]) -> FileChange:
    """The chunks of a patch in one existing file, all against its text now.

    Raises:
        EditRefused: the reasons of `Documents.peek`, of `chunks.apply_chunks`, `no_change`, `occupied`, or
            `unencodable`.
    """
    return await _made(documents, path, lambda text: apply_chunks(text, chunks))


async def _made(documents: Documents, path: str, make: Callable[[str], str]) -> FileChange:
    await documents.check_free(path)
    document = await documents.view(path)
    try:
        new_text = await to_thread.run_sync(make, document.text)
    except EditRefused as error:
        raise EditRefused(f"{path}: {error}", reason=error.reason) from error
    return await _edit(document, new_text)


async def propose_write(documents: Documents, path: str, content: str) -> FileChange:
    """The whole new text of a file; one that exists must be known to the model as it is. Line ends and BOM stay.

    Raises:
        EditRefused: the reasons of `Documents.peek`, `not_read`, `stale`, `no_change`, `occupied`, or `unencodable`.
    """
    if not await documents.is_there(path):
        return await propose_create(documents, path, content)
    await documents.check_free(path)
    document = await documents.view(path)
    await documents.check_known(document)
    new_text = await to_thread.run_sync(keep_endings, document.text, content.removeprefix("\ufeff"))
    return await _edit(document, new_text)


async def propose_create(documents: Documents, path: str, content: str) -> FileChange:
    """A new file.

    Raises:
        EditRefused: `exists`, `occupied`.
    """
    await documents.check_free(path)
    if await documents.is_there(path):
        raise EditRefused(f"{path} exists already", reason="exists")
    return FileChange(path, "create", None, content, await to_thread.run_sync(hunks, "", content))


async def propose_delete(documents: Documents, path: str) -> FileChange:
    """The removal of a text file.

    Raises:
        EditRefused: the reasons of `Documents.peek`, `occupied`.
    """
    await documents.check_free(path)
    document = await documents.view(path)
    return FileChange(
        document.path, "delete", document.text, None,
        await to_thread.run_sync(hunks, document.text, ""), document.version, document.hash,
    )  # fmt: skip


async def propose_rename(
    documents: Documents, path: str, new_path: str, *, changed: FileChange | None = None
) -> FileChange:
    """A text file under a new name, with an edit of it made on the way.

    Raises:
        EditRefused: `exists` for the new name, `symlink`, `occupied`, the reasons of `Documents.peek`.
    """
    await documents.check_free(path, new_path)
    if await documents.is_there(new_path):
        raise EditRefused(f"{new_path} exists already", reason="exists")
    if await to_thread.run_sync(os.path.islink, path):
        raise EditRefused(f"{path} is a symbolic link; rename what it points to", reason="symlink")
    if changed is None:
        document = await documents.view(path)
        changed = FileChange(
            path, "edit", document.text, document.text, (), document.version, document.hash
        )
    return replaced(changed, path=new_path, kind="rename", old_path=changed.path)


async def _edit(document: Document, new_text: str) -> FileChange:
    if new_text == document.text:
        raise EditRefused(
            f"{document.path} already has this text; nothing would change", reason="no_change"
        )
    if document.file is not None:
        try:
            document.file.encoding.encode(new_text)
        except EditRefused as error:
            raise EditRefused(f"{document.path}: {error}", reason=error.reason) from error
    return await to_thread.run_sync(partial(edit_of, document, new_text))


def edit_of(document: Document, new_text: str) -> FileChange:
    """The change of a document into `new_text`."""
    return FileChange(
        document.path, "edit", document.text, new_text,
        hunks(document.text, new_text), document.version, document.hash,
    )  # fmt: skip
