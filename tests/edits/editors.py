"""Editors that hold documents: one honest, and one for each way of not being so."""

from collections.abc import Awaitable, Callable

from agent_server.edits.ports import Applied, Outcome, Refreshed, Snapshot
from agent_server.loop.proposal import ChangeKind, FileChange


class HonestEditor:
    """Compares first, applies, proves it. `calls` keeps what it was asked."""

    def __init__(self, **texts: str) -> None:
        self.open: dict[str, Snapshot] = {}
        self.occupies: dict[str, str] = {}
        """What it has open that is no text, and the sentence about it."""
        self.calls: list[FileChange] = []
        self.before: Callable[[FileChange], Awaitable[None]] | None = None
        """Something that happens between the question and the answer, once."""

    def show(self, path: str, text: str, version: int | None = 1) -> None:
        self.open[path] = Snapshot(text, version)

    async def snapshot(self, path: str) -> Snapshot | None:
        return self.open.get(path)

    def takes(self, kind: ChangeKind) -> bool:
        return kind == "edit"

    async def apply(self, change: FileChange, *, txn: str, label: str) -> Applied:
        assert txn
        assert label
        self.calls.append(change)
        happens, self.before = self.before, None
        if happens is not None:
            await happens(change)
        return await self.answer(change)

    async def answer(self, change: FileChange) -> Applied:
        now = self.open.get(change.path)
        if now is None:
            return Applied("failed", None, reason="not open")
        if now.text != change.base_text:
            return Applied("stale", now.text, now.version, reason="the version moved")
        assert change.new_text is not None
        version = None if now.version is None else now.version + 1
        self.show(change.path, change.new_text, version)
        return Applied("applied", change.new_text, version)

    async def occupied(self, path: str) -> str | None:
        return self.occupies.get(path)

    async def save(self, path: str) -> bool:
        return path in self.open

    async def refresh(self) -> tuple[Refreshed, ...]:
        return ()

    async def unsaved(self) -> tuple[str, ...]:
        return ()


class LyingEditor(HonestEditor):
    """Says `applied` and does nothing."""

    async def answer(self, change: FileChange) -> Applied:
        return Applied("applied", None)


class BoastingEditor(HonestEditor):
    """Says `applied`, shows the text that was wanted as proof of nothing: it reports what it was before."""

    async def answer(self, change: FileChange) -> Applied:
        return Applied("applied", change.base_text)


class HalfEditor(HonestEditor):
    """Applies the first hunk only, and says `applied`."""

    async def answer(self, change: FileChange) -> Applied:
        lines = (change.base_text or "").splitlines(keepends=True)
        first = change.hunks[0]
        lines[first.start : first.start + len(first.removed)] = first.added
        self.show(change.path, "".join(lines), 2)
        return Applied("applied", None)


class FormattingEditor(HonestEditor):
    """Applies, then does to the text what `formats` says, as on save; what it can prove is `outcome`."""

    outcome: Outcome = "applied"

    def __init__(self, formats: Callable[[str], str]) -> None:
        super().__init__()
        self.formats = formats

    async def answer(self, change: FileChange) -> Applied:
        done = await super().answer(change)
        if done.outcome != "applied" or done.text is None:
            return done
        self.show(change.path, self.formats(done.text), 3)
        return Applied(self.outcome, None)


class LateEditor(HonestEditor):
    """Could not prove anything in time."""

    async def answer(self, change: FileChange) -> Applied:
        return Applied("unknown", None, reason="no proof within 2 s")


class LateButDoneEditor(HonestEditor):
    """Did it, and could not prove it in time."""

    async def answer(self, change: FileChange) -> Applied:
        await super().answer(change)
        return Applied("unknown", None)


class DecliningEditor(HonestEditor):
    """Refuses."""

    async def answer(self, change: FileChange) -> Applied:
        return Applied("declined", None, reason="document has changed")


class ClosingEditor(HonestEditor):
    """Closes the document while it is asked, and says `applied`."""

    async def answer(self, change: FileChange) -> Applied:
        del self.open[change.path]
        return Applied("applied", None)


class OpeningEditor(HonestEditor):
    """Opens a document right after it said that it does not have it."""

    opens: tuple[str, str] | None = None

    async def snapshot(self, path: str) -> Snapshot | None:
        now = self.open.get(path)
        if self.opens is not None and now is None:
            self.show(*self.opens)
        return now
