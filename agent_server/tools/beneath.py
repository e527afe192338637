"""What the model hears of open documents whose files were changed beneath them: by a command, or by anybody else."""

import os
from collections.abc import Iterable
from typing import Literal

from agent_server.edits.documents import Documents
from agent_server.edits.ports import Refreshed

Who = Literal["command", "somebody"]
_HEAD: dict[Who, str] = {
    "command": "open in the editor and changed by the command",
    "somebody": "open in the editor and changed on disk",
}
_WORDS: dict[str, str] = {
    "followed": "reloaded there",
    "reloaded": "reloaded there",
    "modified": "not reloaded, because it has unsaved changes: the editor and the disk differ",
    "differs": "not reloaded: the editor still shows another text than the disk has",
}


class ChangedBeneath:
    """One session's. What was found is told with the next result of a tool that has to do with files, once."""

    def __init__(self) -> None:
        """Nothing was found yet."""
        self._untold: list[tuple[Who, Refreshed]] = []

    async def look(self, documents: Documents, who: Who = "somebody") -> None:
        """Have open documents brought up to date, before a file is read or changed and after a command ran."""
        for one in await documents.editor.refresh():
            if one.outcome != "followed" or who == "command":
                self._untold.append((who, one))

    def take(self, cwd: str) -> tuple[str, ...]:
        """What was found and not told, in sentences."""
        found, self._untold = self._untold, []
        sentences: list[str] = []
        for who, head in _HEAD.items():
            if theirs := [one for by, one in found if by == who]:
                sentences.append(f"{head}: {_listed(theirs, cwd)}")
        return tuple(sentences)


def _listed(found: Iterable[Refreshed], cwd: str) -> str:
    root = os.path.realpath(cwd)
    return "; ".join(f"{_name(one.path, root)} ({_WORDS[one.outcome]})" for one in found)


def _name(path: str, root: str) -> str:
    return os.path.relpath(path, root) if path.startswith(root + os.sep) else path
