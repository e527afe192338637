"""Code lenses on edits that wait for a decision: accept, reject, show (spec §5.2). For clients that have none.

They stand where the change would be, as long as the document is what the edit was made for; else on its first line, and
for the whole edit only.
"""

from collections.abc import Callable, Iterator
from typing import Final

import anyio
from lsprotocol import types

from agent_server.front.lsp.documents import Documents
from agent_server.front.proposals import Proposals
from agent_server.front.rpc.connection import Connection
from agent_server.front.rpc.errors import ConnectionClosed, RemoteError
from agent_server.front.shown_edit import ShownEdit
from agent_server.front.uris import file_uri, path_of
from agent_server.loop.proposal import FileChange

_BOM: Final = "\ufeff"


class Lenses:
    """The code lenses of one connection."""

    def __init__(self, proposals: Proposals, documents: Callable[[], Documents]) -> None:
        self._proposals = proposals
        self._documents = documents

    def of(self, uri: str) -> list[types.CodeLens]:
        """Those of one document, from its first line to its last."""
        path, undecided = path_of(uri), self._proposals.undecided
        if path is None or not undecided:
            return []  # asked again and again while the person types: the text is not even looked at
        document = self._documents().at(path)
        text = None if document is None else document.source.removeprefix(_BOM)
        lenses = [
            lens
            for entry in undecided
            for change in entry.proposal.files
            if path in (change.path, change.old_path)
            for lens in _lenses(entry, change, moved=text not in (None, change.base_text))
        ]
        return sorted(lenses, key=lambda lens: lens.range.start.line)


class Refresher:
    """Has the client ask for its lenses again, once for all that changed meanwhile. Run it in a task."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._stale = anyio.Event()

    def refresh(self) -> None:
        """Something changed. Never blocks."""
        self._stale.set()

    async def run(self) -> None:
        """Until cancelled, or the client cannot be asked any more."""
        while True:
            await self._stale.wait()
            self._stale = anyio.Event()
            try:
                await self._connection.request("workspace/codeLens/refresh", {})
            except RemoteError:
                continue
            except ConnectionClosed:
                return


def _lenses(entry: ShownEdit, change: FileChange, *, moved: bool) -> Iterator[types.CodeLens]:
    hunks = [] if moved or change.kind != "edit" else list(change.hunks)
    for hunk in hunks:
        if not entry.verdicts.is_open(change.path, hunk.id):
            continue
        named: dict[str, object] = {
            "txn": entry.proposal.txn,
            "revision": entry.revision,
            "uri": file_uri(change.path),
            "hunk": hunk.id,
        }
        yield _lens(hunk.start, "Accept", "agent.acceptHunk", named)
        yield _lens(hunk.start, "Reject", "agent.rejectHunk", named)
    first = hunks[0].start if hunks else 0
    whole: dict[str, object] = {"txn": entry.proposal.txn}
    yield _lens(first, "Show changes", "agent.showChanges", whole)
    yield _lens(first, "Accept all", "agent.acceptAll", whole)
    yield _lens(first, "Reject all", "agent.rejectAll", whole)


def _lens(line: int, title: str, command: str, argument: dict[str, object]) -> types.CodeLens:
    place = types.Position(line, 0)
    return types.CodeLens(
        types.Range(place, place), types.Command(title, command, arguments=[argument])
    )
