"""From changes to what the journal says of them, and back. Blocking: callers on the event loop use a thread."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agent_server.edits.disk import missing_folders
from agent_server.edits.documents import Document
from agent_server.edits.encodings import UTF8
from agent_server.edits.files import Form, form_of
from agent_server.edits.fit import Fitted
from agent_server.edits.hashes import bytes_hash, content_hash
from agent_server.edits.journal import Blobs, Content, FileRecord, KeptDecision, Transaction
from agent_server.edits.outcome import FileOutcome
from agent_server.edits.text.hunks import hunks
from agent_server.loop.errors import EditRefused
from agent_server.loop.proposal import FileChange, PartDecision, Proposal


def asked(change: FileChange, blobs: Blobs) -> FileRecord:
    """A change that is proposed, its texts kept.

    Raises:
        StoreFailure: a text was not kept.
    """
    before, after = (
        None if text is None else Content(blobs.put(text))
        for text in (change.base_text, change.new_text)
    )
    return FileRecord(change.path, change.kind, before, after, change.old_path)


def about_to(fitted: Fitted, blobs: Blobs, forms: Mapping[str, Form]) -> FileRecord:
    """A change that is about to be made: what will be replaced by what, its texts kept.

    Raises:
        StoreFailure: a text was not kept.
    """
    change, document = fitted.change, fitted.document
    for text in (change.base_text, change.new_text):
        if text is not None:
            blobs.put(text)
    before = _before(fitted)
    folders = () if change.kind in ("edit", "delete") else missing_folders(change.path)
    return FileRecord(
        change.path,
        change.kind,
        before,
        _after(change, document, forms.get(change.path)),
        change.old_path,
        tuple(map(str, folders)),
    )


def standing(
    files: Sequence[FileRecord], outcomes: Sequence[FileOutcome], blobs: Blobs
) -> tuple[FileRecord, ...]:
    """What is there, or may be, of what was about to be made; laid out as the editor has it.

    Raises:
        StoreFailure: a text was not kept.
    """
    stands = {
        o.change.path: o
        for o in outcomes
        if o.change is not None and o.state in ("applied", "unknown")
    }
    return tuple(_laid_out(file, stands[file.path], blobs) for file in files if file.path in stands)


def _laid_out(file: FileRecord, outcome: FileOutcome, blobs: Blobs) -> FileRecord:
    if not outcome.formatted or outcome.change is None or outcome.change.new_text is None:
        return file
    return replace(file, after=Content(blobs.put(outcome.change.new_text)))


def content_of(document: Document) -> Content:
    """What a document has now."""
    file = document.file
    if file is None:
        return Content(document.hash)
    return Content(document.hash, form_of(file), file.digest)


def proposal_of(transaction: Transaction, blobs: Blobs) -> Proposal:
    """The transaction as it can be shown.

    Raises:
        StoreFailure: a text is not there any more.
    """
    return Proposal(
        transaction.txn,
        tuple(change_of(file, blobs) for file in transaction.files),
        transaction.revision,
    )


def kept(decisions: Sequence[PartDecision], blobs: Blobs) -> tuple[KeptDecision, ...]:
    """Decisions as the journal has them, the user's own texts kept.

    Raises:
        StoreFailure: a text was not kept.
    """
    return tuple(
        KeptDecision(
            one.path,
            one.hunk,
            one.accept,
            None if one.edited_text is None else blobs.put(one.edited_text),
        )
        for one in decisions
    )


def decisions_of(transaction: Transaction, blobs: Blobs) -> tuple[PartDecision, ...]:
    """What had been decided of a transaction that was left open.

    Raises:
        StoreFailure: a text is not there any more.
    """
    return tuple(
        PartDecision(
            one.path, one.hunk, one.accept, None if one.edited is None else blobs.get(one.edited)
        )
        for one in transaction.decisions
    )


def change_of(file: FileRecord, blobs: Blobs) -> FileChange:
    """One file of it."""
    before = None if file.before is None else blobs.get(file.before.hash)
    after = None if file.after is None else blobs.get(file.after.hash)
    return FileChange(
        file.path,
        file.kind,
        before,
        after,
        hunks(before or "", after or ""),
        base_hash=None if file.before is None else file.before.hash,
        old_path=file.old_path,
    )


def changes_something(files: Sequence[FileRecord]) -> tuple[FileRecord, ...]:
    """Without those that only found their change made already."""
    return tuple(f for f in files if f.kind != "edit" or f.before != f.after)


def _before(fitted: Fitted) -> Content | None:
    if fitted.document is None or fitted.change.kind == "create":
        return None
    content = content_of(fitted.document)
    return content if fitted.form is None else replace(content, form=fitted.form)


def _after(change: FileChange, document: Document | None, form: Form | None) -> Content | None:
    if change.new_text is None:
        return None
    digest = content_hash(change.new_text)
    if document is not None and document.file is None:
        return Content(digest)
    own = Form(UTF8) if document is None or document.file is None else form_of(document.file)
    written = form or own
    try:
        return Content(digest, written, bytes_hash(written.encoding.encode(change.new_text)))
    except EditRefused:  # it will fail for the same reason, and say so
        return Content(digest, written)
