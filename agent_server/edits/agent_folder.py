"""The folder `.agent/` of a workspace: opened so that nothing in it can lead outside.

It arrives with a repository, so it is not trusted: no link is followed. What we put into it is not git's business.
"""

import errno
import os
from contextlib import suppress

IGNORED = "out/\ntool-effects.jsonl\n"
"""Content of `.agent/.gitignore`, unless the repository has its own."""


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
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    try:
        file = os.open(".gitignore", flags, 0o644, dir_fd=agent)
    except FileExistsError:
        return
    with os.fdopen(file, "w", encoding="utf-8") as stream:
        stream.write(IGNORED)
