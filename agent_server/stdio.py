"""The descriptor guard: standard input and output belong to the protocol and to nobody else.

Owns which descriptors the process and its children see. Imports `os` and `sys` only, because it runs before
anything else (spec §3). Reading and writing the kept descriptors is `front/rpc`'s.
"""

import os
import sys


class Pipes:
    """The protocol's two descriptors. Private to this process: no child inherits them."""

    __slots__ = ("read_fd", "write_fd")

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self.read_fd = read_fd
        self.write_fd = write_fd


def guard() -> Pipes:
    """Keep what the client is connected to; leave `/dev/null` as fd 0 and stderr as fd 1 and `sys.stdout`.

    Call it once, before anything may print or start a child: `print`, warnings, libraries and children then
    write to stderr, and a child that reads gets the end of input at once.
    """
    for fd, flags in ((0, os.O_RDONLY), (1, os.O_WRONLY), (2, os.O_WRONLY)):
        if not _is_open(fd):  # a duplicate, or a file opened later, would take its place
            _point_at_null(fd, flags)
    pipes = Pipes(_keep(0), _keep(1))
    _point_at_null(0, os.O_RDONLY)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return pipes


def _keep(fd: int) -> int:
    kept = os.dup(fd)
    if sys.platform == "win32":
        import msvcrt  # exists only there

        msvcrt.setmode(kept, os.O_BINARY)
    return kept


def _point_at_null(fd: int, flags: int) -> None:
    null = os.open(os.devnull, flags)
    if null == fd:  # it was the lowest free one
        os.set_inheritable(fd, True)
        return
    os.dup2(null, fd)
    os.close(null)


def _is_open(fd: int) -> bool:
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True
