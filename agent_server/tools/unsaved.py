"""Files whose newest text is only in the editor: what a command would not see (lsp.md §4.3)."""

import os

import anyio
from anyio import to_thread

from agent_server.edits.documents import Documents
from agent_server.edits.files import read_text
from agent_server.loop.errors import AgentServerError

SAVE_S = 3.0
"""For one file. An editor that formats on save takes a second; one that hangs must not hold up the command for ever."""


class Unsaved:
    """The files this session has changed through the editor."""

    def __init__(self) -> None:
        """None yet."""
        self._paths: set[str] = set()

    def note(self, path: str) -> None:
        """The file was changed; whether its editor saved that is found out when it matters."""
        self._paths.add(path)

    async def stale(self, documents: Documents, cwd: str) -> tuple[str, ...]:
        """Files that a command sees with an older text than the editor has; the user's own below `cwd` too."""
        stale: list[str] = []
        for path in sorted(self._paths):
            if await _is_on_disk(documents, path):
                self._paths.discard(path)
            else:
                stale.append(path)
        real, known = await to_thread.run_sync(os.path.realpath, cwd), set(stale)
        others = [
            path
            for path in await documents.editor.unsaved()
            if path not in known and path.startswith(real + os.sep)
        ]
        return (*stale, *others)

    async def save(self, documents: Documents, path: str) -> None:
        """Have the editor save a file that was changed with the user's consent, if it has it open."""
        with anyio.move_on_after(SAVE_S):
            await documents.editor.save(path)


async def _is_on_disk(documents: Documents, path: str) -> bool:
    try:
        document = await documents.in_editor(path)
        if document is None:  # the disk has all there is of it, also where the file was deleted
            return True
        return (await to_thread.run_sync(read_text, path)).text == document.text
    except (
        AgentServerError
    ):  # deleted below the editor, or an editor that does not answer: not proved to be there
        return False
