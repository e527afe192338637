"""Making one fitted change, and taking it back: on disk, or through the editor and verified by content."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import assert_never

import anyio
from anyio import to_thread

from agent_server.edits import disk
from agent_server.edits.documents import Documents
from agent_server.edits.encodings import UTF8
from agent_server.edits.files import FileText, Form
from agent_server.edits.fit import Fitted, fit
from agent_server.edits.hashes import content_hash
from agent_server.edits.outcome import FileOutcome, FileState, changed_further
from agent_server.edits.ports import Applied
from agent_server.edits.text.formatting import further
from agent_server.edits.text.hunks import apply_hunks, hunks, invert
from agent_server.edits.text.rebase import rebase
from agent_server.frozen import frozen
from agent_server.loop.errors import AgentServerError, EditRefused
from agent_server.loop.proposal import ChangeKind, FileChange

EDITOR_LIMIT_S = 10.0
"""How long an editor may take to answer at all: its adapter gives up on the proof after 2 s, this is for a hang."""

Undo = Callable[[], Awaitable[str | None]]
"""Take the change back; None when that worked, else why it stands."""


@frozen
class Step:
    """A change that was tried."""

    outcome: FileOutcome
    undo: Undo | None = None
    """None when nothing of it is ours to take back."""


class Stepper:
    """Makes the changes of one transaction, one at a time."""

    def __init__(
        self,
        documents: Documents,
        *,
        txn: str,
        label: str,
        forms: Mapping[str, Form] = MappingProxyType({}),
    ) -> None:
        """`label` names the undo step in the editor; `forms` are those that files get on disk instead of their own."""
        self._documents = documents
        self._txn = txn
        self._label = label
        self._forms = forms

    async def make(self, fitted: Fitted) -> Step:
        """Make the change; never raises for what a disk or an editor does."""
        change = fitted.change
        if change.kind == "edit" and change.new_text == change.base_text:
            return Step(
                FileOutcome(
                    change.path, "applied", change, f"{change.path} has this change already"
                )
            )
        if fitted.document is not None and fitted.document.source == "editor":
            return await self._in_editor(change)
        try:
            await self._check_free(change)
            if change.kind == "rename" and await self._is_open(change.path):
                return await self._in_editor(change)
            if await self._is_open(change.path):
                return _failed(
                    change, f"{change.path} was opened in the editor meanwhile", state="stale"
                )
            undo = await self._on_disk(change, fitted.document.file if fitted.document else None)
        except EditRefused as error:
            state = "stale" if error.reason in ("stale", "missing", "exists") else "failed"
            return _failed(change, str(error), state=state)
        except (AgentServerError, TimeoutError) as error:
            return _failed(
                change, f"the editor could not say whether it has {change.path} open: {error}"
            )
        return Step(FileOutcome(change.path, "applied", change), undo)

    async def _is_open(self, path: str) -> bool:
        with anyio.fail_after(EDITOR_LIMIT_S):
            return await self._documents.in_editor(path) is not None

    async def _check_free(self, change: FileChange) -> None:
        with anyio.fail_after(EDITOR_LIMIT_S):
            paths = (change.path, change.old_path or change.path)
            await self._documents.check_free(*dict.fromkeys(paths))

    # ---- on disk -----------------------------------------------------------------------------------------------

    async def _on_disk(self, change: FileChange, file: FileText | None) -> Undo:
        if file is None:
            return await self._create(change)
        if change.new_text is None:
            await to_thread.run_sync(disk.delete_file, file)
            return partial(_undone, partial(disk.recreate_file, file))
        if change.kind == "rename":
            return await self._rename(change, file, change.new_text)
        form = self._forms.get(change.path)
        written = await to_thread.run_sync(disk.replace_text, file, change.new_text, form)
        return partial(_undone, partial(disk.restore_text, written, file))

    async def _create(self, change: FileChange) -> Undo:
        folders = await to_thread.run_sync(disk.missing_folders, change.path)
        form = self._forms.get(change.path, Form(UTF8))
        make = partial(disk.create_text, mode=form.mode)
        made = await to_thread.run_sync(make, change.path, change.new_text or "", form.encoding)
        return partial(_undone, partial(disk.remove_created, made, folders))

    async def _rename(self, change: FileChange, file: FileText, text: str) -> Undo:
        folders = await to_thread.run_sync(disk.missing_folders, change.path)
        moved = await to_thread.run_sync(disk.rename_file, file, change.path, text)
        return partial(_undone, partial(disk.rename_back, moved, file, folders))

    # ---- through the editor ------------------------------------------------------------------------------------

    async def _in_editor(self, change: FileChange) -> Step:
        if not self._documents.editor.takes(change.kind):
            return _failed(
                change,
                f"{change.old_path or change.path} is open in the editor; close it to {change.kind} it",
                state="declined",
            )
        outcome = await self._verified(change)
        if outcome.state != "applied" or outcome.change is None:
            return Step(outcome)
        if change.kind != "edit":
            return Step(outcome, partial(self._undo_file, outcome.change))
        return Step(outcome, partial(self._undo_in_editor, change, outcome.change.new_text or ""))

    async def _undo_file(self, change: FileChange) -> str | None:
        """Take a creation, a deletion or a renaming back, wherever the file is by now."""
        fitted = await fit(self._documents, _inverse(change))
        if isinstance(fitted, FileOutcome):
            return fitted.message or fitted.state
        outcome = (await self.make(fitted)).outcome
        return None if outcome.state == "applied" else outcome.message or outcome.state

    async def _undo_in_editor(self, change: FileChange, live: str) -> str | None:
        """Take `change` out of what the editor has since."""
        mine, base = change.new_text or "", change.base_text or ""
        back = base if live == mine else await to_thread.run_sync(_without, change, live)
        if back is None:
            return f"{change.path} was changed further in the same place"
        inverse = replace(
            change, base_text=live, new_text=back, hunks=hunks(live, back),
            base_version=None, base_hash=None,
        )  # fmt: skip
        outcome = await self._verified(inverse)
        return None if outcome.state == "applied" else outcome.message or outcome.state

    async def _verified(self, change: FileChange) -> FileOutcome:
        """Ask the editor, and believe only the text that is there afterwards."""
        answer = await self._answer(change)
        text = answer.text
        if change.new_text is None and answer.outcome == "applied":
            return FileOutcome(change.path, "applied", change, answer.reason)
        if text is None and answer.outcome in ("applied", "unknown"):
            text = await self._text_now(change.path)
        if text is not None and text == change.new_text:
            return FileOutcome(change.path, "applied", change)
        if text is not None and answer.outcome in ("applied", "unknown"):
            stands = await to_thread.run_sync(changed_further, change, text)
            if stands is not None:
                return stands
        path = change.path
        match answer.outcome:
            case "applied" if text is None:
                message = f"{path} is no longer open in the editor, and what stands is not known"
                return FileOutcome(path, "unknown", change, message)
            case "applied" if text == change.base_text:
                return FileOutcome(
                    path, "stale", message=f"the editor reported success, but {path} is unchanged"
                )
            case "applied":
                return FileOutcome(
                    path, "conflict", message=f"{path} is now neither the old nor the new text"
                )
            case "unknown":
                return FileOutcome(
                    path, "unknown", change, answer.reason or f"{path} could not be verified"
                )
            case "stale" | "declined" | "failed":
                return FileOutcome(
                    path, answer.outcome, message=answer.reason or _REFUSED[answer.outcome]
                )
            case _:
                assert_never(answer.outcome)

    async def _answer(self, change: FileChange) -> Applied:
        with anyio.move_on_after(EDITOR_LIMIT_S):
            try:
                return await self._documents.editor.apply(change, txn=self._txn, label=self._label)
            except AgentServerError as error:
                return Applied("unknown", None, reason=str(error))
        return Applied("unknown", None, reason=f"the editor did not answer for {change.path}")

    async def _text_now(self, path: str) -> str | None:
        with anyio.move_on_after(EDITOR_LIMIT_S), suppress(AgentServerError):
            document = await self._documents.in_editor(path)
            return None if document is None else document.text
        return None


_REFUSED = {
    "stale": "the document changed in the editor meanwhile",
    "declined": "the editor declined the edit",
    "failed": "the editor could not make the edit",
}


def _inverse(change: FileChange) -> FileChange:
    """What takes a change of a whole file back."""
    base, new = change.base_text, change.new_text
    kinds: Mapping[ChangeKind, ChangeKind] = {"create": "delete", "delete": "create"}
    return replace(
        change,
        path=change.old_path or change.path,
        old_path=change.path if change.old_path else None,
        kind=kinds.get(change.kind, change.kind),
        base_text=new,
        new_text=base,
        hunks=hunks(new or "", base or ""),
        base_version=None,
        base_hash=None if new is None else content_hash(new),
    )


def _without(change: FileChange, live: str) -> str | None:
    """The live text without our change; None where it cannot be told apart any more."""
    mine, base = change.new_text or "", change.base_text or ""
    if further(base, mine, live) == "formatted":
        return base
    placed = rebase(mine, invert(hunks(base, mine)), live)
    if placed.conflicts:
        return None
    return apply_hunks(live, placed.hunks, {hunk.id for hunk in placed.hunks})


def _failed(change: FileChange, message: str, *, state: FileState = "failed") -> Step:
    return Step(FileOutcome(change.path, state, message=message))


async def _undone(take_back: Callable[[], None]) -> str | None:
    try:
        await to_thread.run_sync(take_back)
    except EditRefused as error:
        return str(error)
    return None
