"""What the paths in a command line really lead to, for the policy to judge. Looks at the disk, opens nothing."""

import os
import posixpath
from pathlib import Path

from agent_server.policy.understood import paths_named


def links_in(command: str, cwd: str) -> tuple[tuple[str, str], ...]:
    """List the paths that the command's words may name and that lead elsewhere: as named, and where to."""
    named = paths_named(command, cwd=cwd, home=os.path.realpath(Path.home()))
    return tuple(
        (path, real) for path in named if (real := _real(path)) != posixpath.normpath(path)
    )


def _real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return "/"  # nobody knows where it leads: outside
