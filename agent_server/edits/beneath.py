"""Files beneath open documents: whether one says something else than its document, and since when. Blocking."""

from pathlib import Path
from typing import Literal

from agent_server.edits.files import read_text
from agent_server.frozen import mutable
from agent_server.loop.errors import EditRefused

Signature = tuple[int, int, int]
"""How a file looks without reading it: two that differ may be the same text, two that are equal are."""


@mutable
class Beneath:
    """What is known of the file beneath one document."""

    same: Signature | None = None
    """When its text was last seen to be the document's."""
    told: Signature | None = None
    """When it was last told to say something else."""

    def compare(self, path: str, text: str) -> Literal["same", "followed", "other", "told"] | None:
        """The file at a path against a document's text; None where there is no such text file. Remembers what it saw.

        `followed`: both changed to the same. `told`: another text, as was told already.
        """
        seen = signature(path)
        if seen is None or seen == self.same:  # no file, or only the document was changed
            return None
        if seen == self.told:
            return "told"
        on_disk = text_of(path)
        if on_disk is None:
            return None
        if on_disk == text:
            followed, self.same, self.told = self.same is not None, seen, None
            return "followed" if followed else "same"
        self.told = seen
        return "other"


def signature(path: str) -> Signature | None:
    """Of the file at a path; None where there is none."""
    try:
        seen = Path(path).stat()
    except (OSError, ValueError):
        return None
    return seen.st_mtime_ns, seen.st_size, seen.st_ino


def text_of(path: str) -> str | None:
    """The text of the file, without byte order mark; None where there is no text file."""
    try:
        return read_text(path).text
    except EditRefused:
        return None
