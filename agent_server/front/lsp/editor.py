"""The editor's documents as `edits` sees them: read from the mirror, changed by asking, proved by comparing contents.

An answer proves nothing: editors say `applied: true` of edits that they dropped (lsp.md §2.2). What counts is the text
that arrives by didChange. The one other proof is the hash in the answer of a client with our plugin.
"""

from collections.abc import Callable, Sequence
from typing import Final, Literal, Protocol

import anyio

from agent_server.edits.hashes import content_hash
from agent_server.edits.ports import Applied, Refreshed, Snapshot
from agent_server.edits.text.formatting import further
from agent_server.edits.text.hunks import apply_hunks, hunks, text_edits
from agent_server.edits.text.positions import TextEdit
from agent_server.front.blocks import Json
from agent_server.front.capabilities import Capabilities
from agent_server.front.lsp.capabilities import Stock
from agent_server.front.lsp.documents import Document, Documents
from agent_server.front.lsp.edit_objects import Said, edit_object, read_answer, reason_of
from agent_server.front.lsp.editor_files import FileRequest, arrive, judge
from agent_server.front.lsp.occupied import why_occupied
from agent_server.front.lsp.reloading import Reloading
from agent_server.front.params import as_object
from agent_server.front.rpc.errors import ConnectionClosed, RemoteError
from agent_server.loop.model import JsonObject, SessionId
from agent_server.loop.proposal import ChangeKind, FileChange, Hunk

ANSWER_S: Final = 7.0
"""How long an editor may take to answer a request to apply or save: no person is asked, but it may be busy."""
PROOF_S: Final = 2.0
"""How long the change may take to arrive after the answer: editors collect changes for up to 0.2 s (lsp.md §2.3)."""
_OUT_OF_STEP: Final = "the editor's changes did not arrive in order; save and reopen the document"
_BOM: Final = "\ufeff"


class Asks(Protocol):
    """Sends requests to the client."""

    async def request(self, method: str, params: JsonObject) -> object:
        """The result.

        Raises:
            RemoteError, ConnectionClosed: there is none.
        """
        ...


class Seated(Protocol):
    """The session whose edits these are, and what its client can do (front.peer.Seat)."""

    @property
    def session(self) -> SessionId | None:
        """Said with each edit."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """Of ours."""
        ...


class LspEditor:
    """See the module. One per session, over the documents that all share."""

    def __init__(
        self,
        client: Asks,
        documents: Callable[[], Documents],
        *,
        seat: Seated,
        stock: Stock,
    ) -> None:
        """`documents` are looked up at each use: there are none before `initialize`."""
        self._client = client
        self._documents = documents
        self._seat = seat
        self._stock = stock
        self._reloading = Reloading(documents, lambda: seat.capabilities.reload, self._answer)

    async def snapshot(self, path: str) -> Snapshot | None:
        """The open document as the editor shows it, as far as it has told us."""
        document = self._documents().at(path)
        if document is None:
            return None
        return Snapshot(document.source.removeprefix(_BOM), document.version)

    def takes(self, kind: ChangeKind) -> bool:
        """See `Editor`."""
        if kind == "edit" or self._seat.capabilities.edit_files:
            return True
        return self._stock.apply_edit and kind in self._stock.file_operations

    async def apply(self, change: FileChange, *, txn: str, label: str) -> Applied:
        """Change the document, and say what is proved. Once begun it is not cancelled, so that the end is known."""
        if change.kind != "edit":
            return await self._apply_to_file(change, txn=txn, label=label)
        document = self._documents().at(change.path)
        if document is None:
            return Applied("failed", None, reason=f"{change.path} is not open in the editor")
        if (refusal := self._refusal(document, change)) is not None:
            return refusal
        bom = _BOM if document.source.startswith(_BOM) else ""
        wanted = bom + (change.new_text or "")
        if document.source == wanted:
            return _now("applied", document)
        edits = text_edits(
            document.source, _hunks(change, document.source, wanted), document.encoding
        )
        base, said = document.source, Said("silent")
        with anyio.CancelScope(shield=True):
            said = await self._ask(document, edits, wanted, txn=txn, label=label)
            if said.outcome in ("applied", "silent"):
                await _arrival(document, said, base=base, wanted=wanted)
        return _judged(document, said, base=base, wanted=wanted, edits=edits)

    async def save(self, path: str) -> bool:
        """Ask for a save, where the client can be asked."""
        document = self._documents().at(path)
        if document is None or not self._seat.capabilities.save:
            return False
        answer = await self._answer("agent/editor/save", {"uri": document.uri})
        saved = as_object(answer)
        return saved is not None and saved.get("saved") is True

    async def occupied(self, path: str) -> str | None:
        """Ask, where the client can be asked, what it has open that is no text."""
        if self._documents().at(path) is not None or not self._seat.capabilities.open_files:
            return None
        return why_occupied(await self._answer("agent/editor/openFiles", {}), path)

    async def refresh(self) -> tuple[Refreshed, ...]:
        """Ask for a reload of the documents whose files were changed, where the client can be asked."""
        return await self._reloading.refresh(self._seat.session)

    async def unsaved(self) -> tuple[str, ...]:
        """Those that say something else than their files."""
        return await self._reloading.unsaved()

    async def _apply_to_file(self, change: FileChange, *, txn: str, label: str) -> Applied:
        """Create, delete or rename a file whose document is open."""
        open_now = self._documents()
        document = open_now.at(change.old_path or change.path)
        if document is not None and (refusal := self._file_refusal(document, change)) is not None:
            return refusal
        request = FileRequest(change, document, open_now.unit)
        said, made = Said("silent"), Applied("unknown", None)
        with anyio.CancelScope(shield=True):
            said = await self._ask_about_file(request, txn=txn, label=label)
            if said.outcome in ("applied", "silent"):
                await arrive(request, self._documents, PROOF_S)
            made = await judge(request, said, self._documents())
        return made  # noqa: RET504  a scope may swallow, says the type checker

    def _file_refusal(self, document: Document, change: FileChange) -> Applied | None:
        text = document.source.removeprefix(_BOM)
        if not self.takes(change.kind):
            reason = f"{change.path} is open in the editor; close it to {change.kind} it"
            return Applied("declined", text, document.version, reason)
        if not document.in_step:
            return Applied("failed", None, document.version, _OUT_OF_STEP)
        is_blank = change.base_text is None and text in ("", "\n", "\r\n", "\r")
        if text != change.base_text and not is_blank:
            return Applied("stale", text, document.version, "the document has changed since")
        return None

    async def _ask_about_file(self, request: FileRequest, *, txn: str, label: str) -> Said:
        if not self._seat.capabilities.edit_files:
            edit: Json = {"documentChanges": request.stock()}
            return _stock_answer(
                await self._answer("workspace/applyEdit", {"label": label, "edit": edit})
            )
        params: Json = {"sessionId": self._seat.session, "txn": txn, "label": label} | request.own()
        return read_answer(await self._answer("agent/edit/apply", params))

    def _refusal(self, document: Document, change: FileChange) -> Applied | None:
        """Why the editor is not even asked."""
        text = document.source.removeprefix(_BOM)
        if not document.in_step:
            return Applied("failed", None, document.version, _OUT_OF_STEP)
        if text != (change.base_text or ""):
            return Applied("stale", text, document.version, "the document has changed since")
        if not (self._seat.capabilities.edit_apply or self._stock.apply_edit):
            reason = f"{change.path} is open in an editor that takes no edits; close it first"
            return Applied("declined", text, document.version, reason)
        return None

    # ---- asking ------------------------------------------------------------------------------------

    async def _ask(
        self, document: Document, edits: tuple[TextEdit, ...], wanted: str, *, txn: str, label: str
    ) -> Said:
        changes = [edit_object(edit) for edit in edits]
        if not self._seat.capabilities.edit_apply:
            return await self._ask_stock(document, changes, label)
        params: Json = {
            "sessionId": self._seat.session,
            "txn": txn,
            "uri": document.uri,
            "version": document.version,
            "baseHash": content_hash(document.source),
            "edits": changes,
            "resultHash": content_hash(wanted),
            "label": label,
        }
        return read_answer(await self._answer("agent/edit/apply", params))

    async def _ask_stock(self, document: Document, changes: list[Json], label: str) -> Said:
        """One file per request, with the version it is for: all that a stock editor can check."""
        versioned: Json = {"uri": document.uri, "version": document.version}
        edit: Json = {"documentChanges": [{"textDocument": versioned, "edits": changes}]}
        return _stock_answer(
            await self._answer("workspace/applyEdit", {"label": label, "edit": edit})
        )

    async def _answer(self, method: str, params: Json) -> object:
        """The result; an exception object where there is none, None when it took too long."""
        with anyio.move_on_after(ANSWER_S):
            try:
                return await self._client.request(method, params)
            except (RemoteError, ConnectionClosed) as error:
                return error
        return None


# ---- proving ---------------------------------------------------------------------------------------


def _stock_answer(answer: object) -> Said:
    said = as_object(answer)
    if said is None:
        return Said("silent", reason_of(answer))
    applied, reason = said.get("applied") is True, said.get("failureReason")
    return Said("applied" if applied else "declined", reason if isinstance(reason, str) else None)


async def _arrival(document: Document, said: Said, *, base: str, wanted: str) -> None:
    """Until the document is as wanted, or closed, or `PROOF_S` is over.

    An editor that formats at once never shows what was wanted. Where the client has proved that it was there, any other
    text is what came after it, from the version on that the answer names: what is there before is a part of the edit,
    still on its way.
    """
    proved = said.hash == content_hash(wanted)
    with anyio.move_on_after(PROOF_S):
        while document.is_open and document.source != wanted:
            if proved and _reached(document, said) and document.source != base:
                return
            await document.changed()


def _reached(document: Document, said: Said) -> bool:
    """Whether the document is as the client had it when it answered; never, where it does not say."""
    return said.version is not None and (document.version or 0) >= said.version


def _judged(
    document: Document, said: Said, *, base: str, wanted: str, edits: Sequence[TextEdit]
) -> Applied:
    """What stands, from the text that is there and, only where that cannot tell, from what was said."""
    if document.source == wanted:
        return _now("applied", document)
    if said.outcome == "applied" and said.hash == content_hash(wanted):
        return _proved(document, said, base=base, wanted=wanted)
    if not document.is_open:
        return Applied("unknown", None, reason="the document was closed meanwhile")
    moved = document.source != base
    match said.outcome:
        case "applied" | "silent" if not moved:
            reason = said.reason or "the editor did not show that it applied the edit"
            return _now("unknown", document, reason)
        case "applied" | "silent" if _traces(edits, base, document.source):
            return _now("unknown", document, "the document changed while the edit was applied")
        case "applied" | "silent":
            return _now("stale", document, "the document changed before the edit was applied")
        case "failed":
            return _now("failed", document, said.reason or "the editor could not apply the edit")
        case "stale" | "declined":
            outcome = "stale" if moved else said.outcome
            return _now(outcome, document, said.reason or "the editor did not apply the edit")


def _proved(document: Document, said: Said, *, base: str, wanted: str) -> Applied:
    """What stands of an edit whose result the client had: a document that is still on its way says nothing of it."""
    ours, theirs = wanted.removeprefix(_BOM), document.source.removeprefix(_BOM)
    arrived = _reached(document, said) or further(base.removeprefix(_BOM), ours, theirs) is not None
    if document.is_open and document.source != base and arrived:
        return _now("applied", document)
    return Applied("applied", ours, said.version)


def _traces(edits: Sequence[TextEdit], base: str, text: str) -> bool:
    """Whether something that we put in may be in the text: an editor that rebases (Zed) puts it elsewhere."""
    return any(e.new_text and e.new_text in text and e.new_text not in base for e in edits)


def _now(
    outcome: Literal["applied", "stale", "declined", "failed", "unknown"],
    document: Document,
    reason: str | None = None,
) -> Applied:
    return Applied(outcome, document.source.removeprefix(_BOM), document.version, reason)


def _hunks(change: FileChange, base: str, wanted: str) -> tuple[Hunk, ...]:
    """The change's own hunks where they say the same; after the person's own changes they do not."""
    try:
        same = apply_hunks(base, change.hunks, {hunk.id for hunk in change.hunks}) == wanted
    except ValueError:
        same = False
    return change.hunks if same else hunks(base, wanted)
