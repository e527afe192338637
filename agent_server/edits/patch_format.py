"""The multi-file patch format that models learn from Codex: text in, files out. Pure; nothing is looked up on disk.

*** Begin Patch
*** Add File: path          then `+` lines
*** Delete File: path
*** Update File: path       then, optional, `*** Move to: new path`, then hunks:
@@ a line above it          optional; several, the outermost first
context / -old / +new
*** End of File             optional: the hunk's last line is the file's last
*** End Patch
"""

import re
from collections.abc import Sequence

from agent_server.edits.text.chunks import Chunk
from agent_server.frozen import frozen
from agent_server.loop.errors import EditRefused

BEGIN, END = "*** Begin Patch", "*** End Patch"
ADD, DELETE, UPDATE = "*** Add File: ", "*** Delete File: ", "*** Update File: "
MOVE, END_OF_FILE, ANCHOR = "*** Move to: ", "*** End of File", "@@"
_HEADERS = (ADD, DELETE, UPDATE)
_NUMBERS = re.compile(r"-\d+(,\d+)? \+\d+(,\d+)? @@.*")
"""What a unified diff has behind `@@`: line numbers, which are not trusted."""


@frozen
class AddFile:
    """A new file."""

    path: str
    content: str


@frozen
class DeleteFile:
    """A file to remove."""

    path: str


@frozen
class UpdateFile:
    """Changes of a file, a new name for it, or both."""

    path: str
    chunks: tuple[Chunk, ...]
    move_to: str | None = None


FilePatch = AddFile | DeleteFile | UpdateFile


def parse_patch(text: str) -> tuple[FilePatch, ...]:
    """The files of a patch, in its order; at least one.

    Lenient where models slip: a Markdown fence or a here-document around it, blank lines between files, an empty line
    for an empty line of context.

    Raises:
        EditRefused: `bad_patch`; names the line of the patch, from 1.
    """
    reader = _Reader(text.replace("\r\n", "\n").split("\n"))
    reader.find_begin()
    files: list[FilePatch] = []
    while not reader.at(END):
        if reader.done:
            raise reader.bad(f"`{END}` is missing")
        if not reader.line.strip():
            reader.next()
        else:
            files.append(_file(reader))
    if not files:
        raise reader.bad("the patch is empty")
    return tuple(files)


class _Reader:
    """The lines of a patch and where we are."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._at = 0

    @property
    def done(self) -> bool:
        return self._at >= len(self._lines)

    @property
    def line(self) -> str:
        """The line we are at; empty behind the last."""
        return "" if self.done else self._lines[self._at]

    def next(self) -> str:
        """The line we are at; go on."""
        line = self.line
        self._at += 1
        return line

    def at(self, *starts: str) -> bool:
        """Whether the line begins with one of these."""
        return not self.done and self.line.startswith(tuple(s.rstrip() for s in starts))

    def find_begin(self) -> None:
        while not self.done:
            if self.next().strip() == BEGIN:
                return
        self._at = 0
        raise self.bad(f"it must begin with the line `{BEGIN}`")

    def bad(self, why: str) -> EditRefused:
        return EditRefused(f"line {self._at + 1} of the patch: {why}", reason="bad_patch")


def _file(reader: _Reader) -> FilePatch:
    for header, make in ((ADD, _add), (DELETE, _delete), (UPDATE, _update)):
        if reader.at(header):
            path = reader.line[len(header.rstrip()) :].strip()
            if not path:
                raise reader.bad(f"`{header.strip()}` names no file")
            reader.next()
            return make(reader, path)
    known = ", ".join(f"`{header.strip()}`" for header in _HEADERS)
    raise reader.bad(f"one of {known} or `{END}` must stand here, not {reader.line[:80]!r}")


def _add(reader: _Reader, path: str) -> AddFile:
    lines: list[str] = []
    while not _file_ends(reader):
        if not reader.at("+"):
            if reader.line.strip():
                raise reader.bad(f"every line of the new file {path} begins with `+`")
            reader.next()
            continue
        lines.append(reader.next()[1:] + "\n")
    return AddFile(path, "".join(lines))


def _delete(reader: _Reader, path: str) -> DeleteFile:
    del reader
    return DeleteFile(path)


def _update(reader: _Reader, path: str) -> UpdateFile:
    move_to = None
    if reader.at(MOVE):
        move_to = reader.next()[len(MOVE.rstrip()) :].strip()
    chunks: list[Chunk] = []
    while not _file_ends(reader):
        if not reader.line.strip() and not chunks:
            reader.next()
        elif (chunk := _chunk(reader, path)) is not None:
            chunks.append(chunk)
    if not chunks and not move_to:
        raise reader.bad(f"the update of {path} has no hunks")
    return UpdateFile(path, tuple(chunks), move_to or None)


def _file_ends(reader: _Reader) -> bool:
    return reader.done or reader.at(END, *_HEADERS)


def _chunk(reader: _Reader, path: str) -> Chunk | None:
    """The hunk that begins here; None when only blank lines are left of the file's section."""
    anchors = _anchors(reader)
    old: list[str] = []
    new: list[str] = []
    blank = 0
    while not _file_ends(reader) and not reader.at(ANCHOR, END_OF_FILE):
        line = reader.line
        if not line:
            blank += 1  # context, unless nothing but the next header follows
            reader.next()
            continue
        for side in (old, new):
            side += [""] * blank
        blank = 0
        match line[0]:
            case " ":
                old.append(line[1:])
                new.append(line[1:])
            case "-":
                old.append(line[1:])
            case "+":
                new.append(line[1:])
            case "\\":
                pass  # "No newline at end of file": the file's own end stays
            case _:
                raise reader.bad(
                    f"a line of a hunk of {path} begins with a space, `-` or `+`, not {line[:80]!r}"
                )
        reader.next()
    at_end = reader.at(END_OF_FILE)
    if at_end:
        reader.next()
    if not old and not new:
        if anchors or at_end:
            raise reader.bad(f"a hunk of {path} has no lines")
        return None
    return Chunk(anchors, tuple(old), tuple(new), at_end)


def _anchors(reader: _Reader) -> tuple[str, ...]:
    anchors: list[str] = []
    while reader.at(ANCHOR):
        anchor = reader.next()[len(ANCHOR) :].removeprefix(" ")
        if anchor.strip() and not _NUMBERS.fullmatch(anchor):
            anchors.append(anchor)
    return tuple(anchors)
