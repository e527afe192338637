"""Undo, three-way: of what a transaction wrote, everything goes that is still as it wrote it; the rest is listed.

Several transactions are taken back newest first, on texts in memory, so that the result is one change of each file.
"""

from collections.abc import Container, Sequence

from anyio import to_thread

from agent_server.edits.checkpoint_targets import Left, Seen, Target
from agent_server.edits.files import form_of
from agent_server.edits.hashes import content_hash
from agent_server.edits.journal import Blobs, Content, FileRecord, Transaction
from agent_server.edits.text.hunks import hunks
from agent_server.edits.text.rebase import take_out
from agent_server.frozen import frozen
from agent_server.loop.errors import ClientMistake, EditRefused


@frozen
class Part:
    """Which part of a transaction goes."""

    path: str | None = None
    """None: all of it."""
    hunk: str | None = None
    """None: all of the file."""

    def has(self, file: FileRecord) -> bool:
        """Whether the file is meant."""
        return self.path in (None, file.path, file.old_path)


ALL = Part()


@frozen
class Undone:
    """Where files have to go."""

    targets: dict[str, Target | None]
    left: tuple[Left, ...]


async def undoing(
    seen: Seen, blobs: Blobs, transactions: Sequence[Transaction], part: Part = ALL
) -> Undone:
    """What takes the transactions back; they come newest first.

    Raises:
        ClientMistake: the part names what is not in them.
        StoreFailure: a text is not there any more.
    """
    work = _Work(seen, blobs)
    files = [f for t in transactions for f in reversed(t.files) if part.has(f)]
    if not files and part.path is not None:
        raise ClientMistake(f"there is nothing of this edit in {part.path}")
    for file in files:
        await work.take_back(file, part.hunk)
    return Undone(work.targets, tuple(work.left))


class _Work:
    """Texts as they become while changes are taken back, one after the other."""

    def __init__(self, seen: Seen, blobs: Blobs) -> None:
        self.targets: dict[str, Target | None] = {}
        self.left: list[Left] = []
        self._seen = seen
        self._blobs = blobs

    async def take_back(self, file: FileRecord, hunk: str | None) -> None:
        """One file of a transaction."""
        try:
            now = await self._now(file.path)
            old = None if file.old_path is None else await self._now(file.old_path)
        except EditRefused as error:
            self.left.append(Left(file.path, str(error), hunk))
            return
        match file.kind:
            case "edit" | "rename" if now is None:
                self.left.append(Left(file.path, f"{file.path} does not exist any more", hunk))
            case "edit":
                self.targets[file.path] = await self._without(file, now, hunk)
            case "rename" if old is not None:
                self.left.append(Left(file.path, f"{file.old_path} exists again"))
            case "rename":
                self.targets[file.old_path or file.path] = await self._without(file, now, hunk)
                self.targets[file.path] = None
            case "create":
                self._uncreate(file, now)
            case "delete":
                await self._undelete(file, now)

    async def _now(self, path: str) -> Target | None:
        if path in self.targets:
            return self.targets[path]
        document = await self._seen.at(path)
        if document is None:
            return None
        return Target(document.text, form_of(document.file) if document.file else None)

    def _uncreate(self, file: FileRecord, now: Target | None) -> None:
        """Only an untouched file goes: what the person put into it is nowhere else."""
        if now is None:
            return
        if file.after is not None and content_hash(now.text) == file.after.hash:
            self.targets[file.path] = None
        else:
            self.left.append(Left(file.path, f"{file.path} was changed since it was created"))

    async def _undelete(self, file: FileRecord, now: Target | None) -> None:
        if now is not None:
            self.left.append(Left(file.path, f"{file.path} exists again"))
        elif file.before is not None:
            text = await self._text(file.before)
            self.targets[file.path] = Target(text, file.before.form)

    async def _without(
        self, file: FileRecord, now: Target | None, hunk: str | None
    ) -> Target | None:
        """The text without what the transaction put in."""
        if now is None:
            return None
        before, after = await self._text(file.before), await self._text(file.after)
        text, stuck = await to_thread.run_sync(
            _taken_out, before, after, now.text, None if hunk is None else {hunk}
        )
        why = f"{file.path} was changed since, in the same place"
        self.left += [Left(file.path, why, one) for one in stuck]
        return Target(text, now.form)

    async def _text(self, content: Content | None) -> str:
        if content is None:
            return ""
        return await to_thread.run_sync(self._blobs.get, content.hash)


def _taken_out(
    before: str, after: str, live: str, wanted: Container[str] | None
) -> tuple[str, list[str]]:
    """`live` without the hunks that made `before` into `after`, and the ids of those that stick.

    Raises:
        ClientMistake: a wanted hunk is none of them.
    """
    made = hunks(before, after)
    meant = {h.id for h in made if wanted is None or h.id in wanted}
    if wanted is not None and not meant:
        raise ClientMistake(f"this edit has no such hunk in this file: {wanted}")
    text, stuck = take_out(after, made, live, meant)
    return text, [h.id for h in stuck]
