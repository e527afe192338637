"""Open documents whose files were changed beneath them: found by comparing, reloaded by the client where it can."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final
from weakref import WeakKeyDictionary

import anyio
from anyio import to_thread

from agent_server.edits.beneath import Beneath, text_of
from agent_server.edits.ports import Refreshed
from agent_server.front.blocks import Json
from agent_server.front.lsp.documents import Document, Documents
from agent_server.front.params import as_object
from agent_server.loop.model import JsonObject

RELOAD: Final = "agent/editor/reload"
ARRIVAL_S: Final = 2.0
"""How long the reloaded text may take to arrive: editors collect changes for up to 0.2 s (lsp.md §2.3)."""
_BOM: Final = "\ufeff"


class Reloading:
    """Of one session, over the documents that all share."""

    def __init__(
        self,
        documents: Callable[[], Documents],
        can_reload: Callable[[], bool],
        ask: Callable[[str, Json], Awaitable[object]],
    ) -> None:
        """`ask` sends a request and gives its result, an exception object or None."""
        self._documents = documents
        self._can_reload = can_reload
        self._ask = ask
        self._beneath: WeakKeyDictionary[Document, Beneath] = WeakKeyDictionary()

    async def refresh(self, session: str | None) -> tuple[Refreshed, ...]:
        """See `edits.ports.Editor`."""
        found: list[Refreshed] = []
        behind: list[Document] = []
        for document, path in self._files():
            beneath = self._beneath.setdefault(document, Beneath(same=document.opened_with))
            match await to_thread.run_sync(beneath.compare, path, _text(document)):
                case "followed":
                    found.append(Refreshed(path, "followed"))
                case "other":
                    behind.append(document)
                case _:
                    pass
        if not behind:
            return tuple(found)
        said: dict[str, JsonObject] = {}
        if self._can_reload():
            said = await self._asked(session, behind)
        found += [await self._outcome(document, said) for document in behind]
        return tuple(found)

    async def unsaved(self) -> tuple[str, ...]:
        """See `edits.ports.Editor`."""
        texts = [(path, _text(document)) for document, path in self._files()]
        return await to_thread.run_sync(_unsaved, texts)

    def _files(self) -> list[tuple[Document, str]]:
        return [
            (document, document.real_path)
            for document in self._documents().opened
            if document.real_path is not None
        ]

    async def _asked(
        self, session: str | None, behind: Sequence[Document]
    ) -> dict[str, JsonObject]:
        """What the client said of each, by its URI."""
        uris = [document.uri for document in behind]
        answer = as_object(await self._ask(RELOAD, {"sessionId": session, "uris": uris})) or {}
        listed = answer.get("documents")
        items = listed if isinstance(listed, list) else []  # pyright: ignore[reportUnknownVariableType]
        said = [one for item in items if (one := as_object(item)) is not None]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        return {str(one.get("uri")): one for one in said}

    async def _outcome(self, document: Document, said: Mapping[str, JsonObject]) -> Refreshed:
        """What is there now, whatever was said; a reloaded text is waited for."""
        path = document.real_path or ""
        outcome = said.get(document.uri, {}).get("outcome")
        if outcome in ("reloaded", "unchanged"):
            with anyio.move_on_after(ARRIVAL_S):
                while document.is_open and not await self._is_same(document, path):
                    await document.changed()
        if await self._is_same(document, path):
            return Refreshed(path, "reloaded")
        return Refreshed(path, "modified" if outcome == "modified" else "differs")

    async def _is_same(self, document: Document, path: str) -> bool:
        fresh = Beneath()
        if await to_thread.run_sync(fresh.compare, path, _text(document)) != "same":
            return False
        self._beneath[document] = fresh
        return True


def _unsaved(texts: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Blocking."""
    return tuple(path for path, text in texts if text_of(path) != text)


def _text(document: Document) -> str:
    return document.source.removeprefix(_BOM)
