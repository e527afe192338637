"""Files that are read unasked because a repository has them, such as AGENTS.md and .agent/settings.toml.

Whoever wrote the repository chose what stands at these paths, so a pipe must hold up nobody and no file may fill the
memory.
"""

import errno
import os
import stat
from pathlib import Path

MAX_BYTES = 1 << 20


def read_repository_file(path: Path) -> bytes:
    """What a regular file of at most `MAX_BYTES` contains. Blocking.

    Raises:
        OSError: it cannot be read, is too large, or is a pipe, device, socket or folder.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags | getattr(os, "O_CLOEXEC", 0))
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise OSError(errno.EFBIG, f"larger than {MAX_BYTES:,} bytes", str(path))
    return content
