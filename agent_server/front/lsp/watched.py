"""Files that the editor says have changed: its own documents as they are typed in, and the disk where it watches that.

Beside our own watch: it tells what only the editor knows, and of folders that our watch leaves out. What really changed
is decided by content (`edits/outside.py`).
"""

import os
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from lsprotocol import types

from agent_server.front.lsp.documents import Documents
from agent_server.front.rpc.connection import Connection
from agent_server.front.rpc.errors import ConnectionClosed, RemoteError
from agent_server.front.uris import path_of

REGISTRATION: Final = "agent-watched-files"


async def register(connection: Connection) -> None:
    """Ask the editor to tell; one that refuses is not asked again."""
    watchers = [{"globPattern": "**/*"}]
    registration = {
        "id": REGISTRATION,
        "method": types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
        "registerOptions": {"watchers": watchers},
    }
    try:
        await connection.request("client/registerCapability", {"registrations": [registration]})
    except (RemoteError, ConnectionClosed):
        return


def real_paths(uris: Iterable[str], documents: Documents) -> set[str]:
    """The files that the URIs name, links resolved; what is no file is left out."""
    found: set[str] = set()
    for uri in uris:
        known = documents.real_path_of(uri)
        path = path_of(uri) if known is None else None
        if known is not None:
            found.add(known)
        elif path is not None:
            folder, name = os.path.split(path)
            found.add(os.path.join(_real_folder(folder), name))  # noqa: PTH118  text, no disk
    return found


@lru_cache(maxsize=1024)
def _real_folder(folder: str) -> str:
    """Editors name thousands of files of few folders at once."""
    return os.path.realpath(folder)
