"""Long texts for clients that can only open documents: `agent:` ones, or files in the workspace's `.agent/out/`.

The folder arrives with a repository, so nothing in it is trusted: links are not followed, files are ours alone.
"""

import logging
import os
from pathlib import Path
from typing import Final

import anyio.to_thread

from agent_server.front.lsp.capabilities import Stock
from agent_server.front.lsp.messages import INFO, WARNING, show_message
from agent_server.front.lsp.virtual import VirtualDocuments
from agent_server.front.rpc.connection import Connection
from agent_server.front.rpc.errors import ConnectionClosed, RemoteError
from agent_server.front.uris import file_uri

logger = logging.getLogger(__name__)

IGNORED: Final = "out/\ntool-effects.jsonl\n"
"""Content of `.agent/.gitignore`."""


class Pages:
    """Has the editor open a text: as an `agent:` document where it can, else as a file."""

    def __init__(self, connection: Connection, stock: Stock, virtual: VirtualDocuments) -> None:
        self._connection = connection
        self._stock = stock
        self._virtual = virtual

    async def show(self, cwd: str, name: str, text: str) -> None:
        """Show it. A client that cannot open files gets the path told."""
        if not (self._stock.virtual_documents and await self._shown(name, text)):
            await self._show_file(cwd, name, text)

    async def _shown(self, name: str, text: str) -> bool:
        uri, stale = self._virtual.keep(name, text)
        if stale:
            try:
                await self._connection.request(
                    "workspace/textDocumentContent/refresh", {"uri": uri}
                )
            except (RemoteError, ConnectionClosed):
                return False
        return await self._opened(uri)

    async def _show_file(self, cwd: str, name: str, text: str) -> None:
        try:
            path = await anyio.to_thread.run_sync(write_page, Path(cwd), name, text)
        except OSError as error:
            logger.warning("the page %s could not be written: %s", name, error)
            text = f"{name} could not be written to {cwd}/.agent/out: {error.strerror}"
            show_message(self._connection, WARNING, text)
            return
        if not (self._stock.show_document and await self._opened(file_uri(str(path)))):
            show_message(self._connection, INFO, f"See {path}")

    async def _opened(self, uri: str) -> bool:
        params = {"uri": uri, "takeFocus": True}
        try:
            answer = await self._connection.request("window/showDocument", params)
        except (RemoteError, ConnectionClosed):
            return False
        return answer == {"success": True}


def write_page(cwd: Path, name: str, text: str) -> Path:
    """Write `.agent/out/<name>`, readable by its owner only; an older file of that name is replaced.

    Raises:
        OSError: it cannot be written, or something in the way is a link.
    """
    agent = cwd / ".agent"
    out = agent / "out"
    for folder in (agent, out):
        folder.mkdir(mode=0o700, exist_ok=True)
        if folder.is_symlink():
            raise OSError(0, f"{folder} is a link")
    ignore = agent / ".gitignore"
    if not os.path.lexists(ignore):
        ignore.write_text(IGNORED, encoding="utf-8")
    page = out / name
    page.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    with os.fdopen(os.open(page, flags, 0o600), "w", encoding="utf-8", newline="") as file:
        file.write(text)
    return page
