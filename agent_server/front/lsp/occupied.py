"""Files that the editor has open as something else than text, by its answer to `editor/openFiles`. Pure."""

import os
from typing import Final

from agent_server.front.params import as_list, as_object
from agent_server.front.uris import path_of

_KINDS: Final = {"notebook": "as a notebook", "custom": "in an editor that does not show its text"}
"""By the protocol's word."""


def why_occupied(answer: object, path: str) -> str | None:
    """Why the file at `path` is not to be changed, as a sentence; None when nothing is in the way."""
    real = os.path.realpath(path)
    for entry in as_list((as_object(answer) or {}).get("files")) or ():
        file = as_object(entry) or {}
        uri, kind = file.get("uri"), file.get("kind")
        named = path_of(uri) if isinstance(uri, str) else None
        if named is None or not isinstance(kind, str) or kind not in _KINDS:
            continue
        if os.path.realpath(named) == real:
            unsaved = ", with unsaved changes" if file.get("dirty") is True else ""
            return (
                f"{path} is open {_KINDS[kind]}{unsaved}: it is not changed beneath it. "
                "Ask the user to close it there, or to open it as text."
            )
    return None
