"""A command's output as it comes: its beginning and end in memory, all of it in a file once it is long."""

import codecs
import os
from collections import deque

from agent_server.edits.agent_folder import open_agent_folder, open_subfolder
from agent_server.tools.output import joined_cut, plain


class Capture:
    """Takes bytes, keeps at most about `limit` characters of text in memory. `spill` is owned by the caller."""

    def __init__(self, limit: int) -> None:
        """Half of `limit` is for the beginning, half for the end."""
        self._half = limit // 2
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._head = ""
        self._tail: deque[str] = deque()
        self._tail_length = 0
        self._length = 0

    @property
    def is_long(self) -> bool:
        """Whether something has been left out."""
        return self._length > 2 * self._half

    def add(self, data: bytes, *, final: bool = False) -> str:
        """Take more output; gives it as text."""
        text = self._decoder.decode(data, final)
        self._length += len(text)
        room = self._half - len(self._head)
        self._head += text[:room]
        self._keep_end(text[room:] if room < len(text) else "")
        return text

    def _keep_end(self, text: str) -> None:
        if not text:
            return
        self._tail.append(text)
        self._tail_length += len(text)
        while self._tail_length - len(self._tail[0]) >= self._half:
            self._tail_length -= len(self._tail.popleft())

    def text(self) -> str:
        """What was said, cut in the middle when it was too much; without escape sequences."""
        end = "".join(self._tail)
        if not self.is_long:
            return plain(self._head + end)
        end = end[-self._half :]
        omitted = self._length - len(self._head) - len(end)
        return joined_cut(plain(self._head), plain(end), omitted=omitted)


class Spill:
    """The file that has the whole output, up to a limit; readable by this user alone."""

    def __init__(self, folder: str, name: str, limit: int) -> None:
        """`folder` is the workspace; the file will be `.agent/out/<name>` in it, made when something is kept."""
        self._folder = folder
        self._name = name
        self._room = limit
        self._descriptor: int | None = None
        self.path: str | None = None
        """Where it is, relative to the workspace; None when nothing was kept."""
        self.problem: str | None = None
        """Why it has not got everything."""

    def write(self, text: str) -> None:
        """Keep more. Blocks; a full disk is remembered in `problem`, not raised."""
        if self.problem is not None or not text:
            return
        data = plain(text).encode(errors="replace")
        try:
            if self._descriptor is None:
                self._descriptor = _create(self._folder, self._name)
                self.path = f".agent/out/{self._name}"
            view = memoryview(data)[: self._room]
            self._room -= len(view)
            while view:
                view = view[os.write(self._descriptor, view) :]
        except OSError as error:
            self.problem = f"the rest could not be kept: {error.strerror}"
        if self._room == 0:
            self.problem = "more is not kept"

    def close(self) -> None:
        """Done with the file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _create(folder: str, name: str) -> int:
    """A new 0600 file in `.agent/out/`; no link is followed, so that it cannot land outside the workspace."""
    agent = open_agent_folder(folder)
    try:
        out = open_subfolder(agent, "out")
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            return os.open(name, flags, 0o600, dir_fd=out)
        finally:
            os.close(out)
    finally:
        os.close(agent)
