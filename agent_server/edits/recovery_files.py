"""What a crash left of one file: compared by content, and the remains of our own writing cleared away."""

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

from anyio import to_thread

from agent_server.edits.checkpoint_targets import Seen, is_same
from agent_server.edits.disk import remove_folders
from agent_server.edits.files import read_bytes, real_path
from agent_server.edits.journal import Blobs, Content, FileRecord, Touch
from agent_server.loop.errors import AgentServerError, EditRefused

Found = Literal["new", "old", "between", "other"]
"""What we wrote · what was there before · a step of our own on the way · something else."""

_TEMPORARY = re.compile(r"\.(?P<name>.{1,60})\.[0-9a-f]{12}\.tmp", re.DOTALL)
"""As `disk.py` names the file beside the one it replaces."""


async def compare(seen: Seen, blobs: Blobs, file: FileRecord, touch: Touch) -> Found:
    """What is at a path that a transaction was about to change."""
    try:
        document = await seen.at(touch.path)
    except EditRefused:
        return "other"
    if is_same(document, touch.after):
        return "new"
    if is_same(document, touch.before):
        return "old"
    if file.kind == "rename" and touch.path == file.path and is_same(document, file.before):
        return "between"  # it has its new name already, and not yet its new text
    torn = await to_thread.run_sync(_is_torn, touch, blobs)
    return "between" if torn else "other"


def clear(files: Sequence[FileRecord], blobs: Blobs, undone: bool) -> None:
    """Remove files beside ours that we had begun to write, and with `undone` the folders that were made for them.

    Only what holds the beginning of what we were about to write is ours.
    """
    for file in files:
        wanted = _bytes(file.after, blobs)
        if wanted is not None:
            for path in (file.path, *((file.old_path,) if file.old_path else ())):
                _clear_beside(real_path(path), wanted)
    if undone:
        folders = {Path(folder) for file in files for folder in file.folders}
        remove_folders(sorted(folders, key=lambda folder: len(folder.parts)))


def _is_torn(touch: Touch, blobs: Blobs) -> bool:
    """Whether a file that is rewritten in place (hard links) has the start of the new bytes and the rest of the old."""
    old, new = _bytes(touch.before, blobs), _bytes(touch.after, blobs)
    if old is None or new is None:
        return False
    try:
        live, _ = read_bytes(real_path(touch.path))
    except (OSError, AgentServerError):
        return False
    same = next(
        (i for i, pair in enumerate(zip(live, new, strict=False)) if pair[0] != pair[1]), None
    )
    written = min(len(live), len(new)) if same is None else same
    return written > 0 and live[written:] == old[written:]


def _clear_beside(target: Path, wanted: bytes) -> None:
    with suppress(OSError):
        for beside in target.parent.iterdir():
            named = _TEMPORARY.fullmatch(beside.name)
            if named is None or named["name"] != target.name[:60]:
                continue
            with suppress(OSError, AgentServerError):
                if wanted.startswith(read_bytes(beside)[0]):
                    beside.unlink()


def _bytes(content: Content | None, blobs: Blobs) -> bytes | None:
    """As they are on disk; None when they cannot be known."""
    if content is None or content.form is None:
        return None
    try:
        return content.form.encoding.encode(blobs.get(content.hash))
    except AgentServerError:
        return None
