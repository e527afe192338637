"""The folder `.agent/` of a workspace: opened so that nothing in it can lead outside.

It arrives with a repository, so it is not trusted: no link is followed. What we put into it is not git's business.
"""

import errno
import os
import stat
from contextlib import suppress

IGNORED = ".gitignore\nout/\ntool-effects.jsonl\n"
"""Content of `.agent/.gitignore`, unless the repository has its own: nothing of ours appears in source control."""
_UNFINISHED = (b"", b"out/\ntool-effects.jsonl\n")
"""What a full disk, or an earlier version, left there instead."""
_MOST = 4096


def open_agent_folder(workspace: str) -> int:
    """A descriptor of `.agent/` in the workspace, made when absent; the caller closes it.

    Raises:
        OSError: it cannot be made, or is a link, or this platform cannot tell (Windows).
    """
    if not hasattr(os, "O_NOFOLLOW"):
        raise OSError(errno.ENOTSUP, "a folder cannot be opened without following links here")
    root = os.open(workspace, os.O_RDONLY | os.O_DIRECTORY)
    try:
        agent = open_subfolder(root, ".agent")
    finally:
        os.close(root)
    try:
        _ignore(agent)
    except BaseException:
        os.close(agent)
        raise
    return agent


def open_subfolder(folder: int, name: str) -> int:
    """A descriptor of a folder in a folder, made for this user alone when absent.

    Raises:
        OSError: it cannot be made, or is a link.
    """
    with suppress(FileExistsError):
        os.mkdir(name, 0o700, dir_fd=folder)
    return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)


def _ignore(agent: int) -> None:
    """Make the file; one that is unfinished is finished, in place."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        file = os.open(".gitignore", flags, 0o644, dir_fd=agent)
    except PermissionError:  # the repository's own, which is not to be written
        return
    with os.fdopen(file, "r+b", buffering=0) as stream:
        if stat.S_ISREG(os.fstat(file).st_mode) and stream.read(_MOST) in _UNFINISHED:
            stream.seek(0)
            stream.write(IGNORED.encode())
