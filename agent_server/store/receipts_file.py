"""Receipts as a file in the workspace, `.agent/tool-effects.jsonl`: which calls may have changed something (R111).

Six fields a line, metadata only: no argument, no output, no title ever comes here (I12). The table in the database is
the truth (`receipts.py`); this is its copy for people and other programs.
"""

import errno
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from agent_server.edits.agent_folder import open_agent_folder
from agent_server.frozen import frozen
from agent_server.loop.model import CallKey, Effect, Entry, ReplyEntry, ResultEntry, StartedEntry
from agent_server.store.receipts import Phase

NAME = "tool-effects.jsonl"


@frozen
class Line:
    """One step of one call."""

    at: datetime
    session: str
    key: CallKey
    tool: str
    transition: Phase
    disposition: Effect | None

    def text(self) -> str:
        """As it stands in the file, with its line end."""
        fields = {
            "at": self.at.isoformat(timespec="milliseconds"),
            "sessionId": self.session,
            "toolCallId": str(self.key),
            "tool": self.tool,
            "transition": self.transition,
            "disposition": self.disposition,
        }
        return json.dumps(fields, separators=(",", ":")) + "\n"


def lines(
    entries: Iterable[Entry], tools: Mapping[CallKey, str], *, session: str, at: datetime
) -> Iterator[Line]:
    """What these entries say about the effectful calls; `tools` are the names of those calls' tools."""
    for entry in entries:
        match entry:
            case ReplyEntry():
                keys = [call.key for call in entry.reply.calls]
                transition, disposition = "pending", None
            case StartedEntry():
                keys, transition, disposition = [entry.key], "started", None
            case ResultEntry():
                keys, transition, disposition = [entry.key], "settled", entry.effect
            case _:
                continue
        for key in keys:
            if key in tools:
                yield Line(at, session, key, tools[key], transition, disposition)


def append(workspace: str, text: str) -> None:
    """Put lines at the end of the workspace's file, which is made when absent, for this user alone. Blocks.

    Raises:
        OSError: it cannot be written, is a pipe, or something in the way is a link.
    """
    agent = open_agent_folder(workspace)
    try:
        # A pipe that came with the repository is an error instead of a wait.
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK
        file = os.open(NAME, flags, 0o600, dir_fd=agent)
    finally:
        os.close(agent)
    with os.fdopen(file, "ab") as stream:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise OSError(errno.ENXIO, os.strerror(errno.ENXIO), NAME)
        torn = "" if _ends_a_line(file) else "\n"
        stream.write((torn + text).encode())


def _ends_a_line(file: int) -> bool:
    """Whether the file is empty or its last line is whole; one that a full disk cut is not gone on with."""
    size = os.fstat(file).st_size
    return size == 0 or os.pread(file, 1, size - 1) == b"\n"
