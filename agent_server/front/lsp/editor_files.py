"""Creations, deletions and renamings of open documents: what the editor is asked, and what proves that it did it."""

import os
from collections.abc import Callable
from typing import Final

import anyio
from anyio import to_thread

from agent_server.edits.hashes import content_hash
from agent_server.edits.ports import Applied
from agent_server.edits.text.hunks import hunks, text_edits
from agent_server.edits.text.positions import PositionEncoding
from agent_server.front.blocks import Json
from agent_server.front.lsp.documents import Document, Documents
from agent_server.front.lsp.edit_objects import Said, edit_object
from agent_server.front.uris import file_uri
from agent_server.frozen import frozen
from agent_server.loop.proposal import FileChange

LOOK_S: Final = 0.05
"""Between two looks at the disk, which tells nobody that it changed."""


@frozen
class FileRequest:
    """A change of a file that is open in the editor."""

    change: FileChange
    document: Document | None
    """The one that is there now: the empty one of a file to be created, else the one to go or to move."""
    encoding: PositionEncoding

    @property
    def source(self) -> str:
        """The path that the editor has it by."""
        return self.change.old_path or self.change.path

    @property
    def base(self) -> str:
        """The text as it was shown; of a new file what an editor has in an empty document."""
        if self.change.base_text is None and self.document is not None:
            return self.document.source
        return self.change.base_text or ""

    def own(self) -> Json:
        """What `agent/edit/apply` says beside session, txn and label."""
        change, new = self.change, self.change.new_text
        edits = text_edits(self.base, hunks(self.base, new or ""), self.encoding)
        return {
            "uri": file_uri(self.source),
            "version": None if self.document is None else self.document.version,
            "kind": change.kind,
            "newUri": file_uri(change.path) if change.kind == "rename" else None,
            "baseHash": content_hash(self.base),
            "edits": [] if new is None else [edit_object(edit) for edit in edits],
            "resultHash": content_hash(new or ""),
        }

    def stock(self) -> list[Json]:
        """The document changes of `workspace/applyEdit`."""
        change, uri = self.change, file_uri(self.change.path)
        match change.kind:
            case "delete":
                return [{"kind": "delete", "uri": uri, "options": {"ignoreIfNotExists": True}}]
            case "rename":
                operation: Json = {
                    "kind": "rename", "oldUri": file_uri(self.source), "newUri": uri,
                    "options": {"overwrite": False},
                }  # fmt: skip
            case "create" | "edit":
                operation = {"kind": "create", "uri": uri, "options": {"ignoreIfExists": True}}
        edits = text_edits(self.base, hunks(self.base, change.new_text or ""), self.encoding)
        changes: list[Json] = [edit_object(edit) for edit in edits]
        target: Json = {"uri": uri, "version": None}
        return [operation, *([{"textDocument": target, "edits": changes}] if changes else [])]


async def arrive(request: FileRequest, documents: Callable[[], Documents], limit_s: float) -> None:
    """Wait until the files and documents are as wanted, or `limit_s` is over."""
    with anyio.move_on_after(limit_s):
        while await _missing(request, documents()) is not None:  # noqa: ASYNC110  the disk tells nobody
            await anyio.sleep(LOOK_S)


async def judge(request: FileRequest, said: Said, documents: Documents) -> Applied:
    """What stands, from the disk and the documents; a document may still be on its way when the client proved it."""
    change, missing = request.change, await _missing(request, documents)
    if missing is None:
        return Applied("applied", change.new_text, said.version)
    if not await _is_made(request):
        outcome = "stale" if said.outcome == "stale" else "declined"
        return Applied(outcome, None, said.version, said.reason or missing)
    if change.new_text is None:
        return Applied("applied", None, reason=f"{missing} in the editor, without a file")
    document = documents.at(change.path)
    text = None if document is None else document.source.removeprefix("\ufeff")
    if said.hash == content_hash(change.new_text) and text in (None, request.base):
        return Applied("applied", change.new_text, said.version)
    return Applied("unknown", text, said.version, missing)


async def _is_made(request: FileRequest) -> bool:
    """Whether the disk shows the operation."""
    gone = not await _on_disk(request.source)
    match request.change.kind:
        case "delete":
            return gone
        case "rename":
            return gone and await _on_disk(request.change.path)
        case "create" | "edit":
            return not gone


async def _missing(request: FileRequest, documents: Documents) -> str | None:
    """What is not as it should be; None when everything is."""
    change = request.change
    if not await _is_made(request):
        return f"the editor did not {change.kind} {request.source}"
    if change.kind != "create" and documents.at(request.source) is not None:
        return f"{request.source} is still open"
    document = documents.at(change.path)
    if document is None or document.source.removeprefix("\ufeff") == change.new_text:
        return None
    return f"{change.path} has another text"


async def _on_disk(path: str) -> bool:
    return await to_thread.run_sync(os.path.lexists, path)
