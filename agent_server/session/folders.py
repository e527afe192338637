"""Where a session works: which of the folders that a client names can be used, and what to say about the rest."""

from pathlib import Path

from agent_server.frozen import frozen
from agent_server.loop.errors import ClientMistake


@frozen
class Folders:
    """The working directory and the further roots, all of them there."""

    cwd: str
    roots: tuple[str, ...]
    dropped: tuple[str, ...]
    """A sentence for each root that was left out."""


def usable(cwd: str, roots: tuple[str, ...]) -> Folders:
    """The folders that exist, each once. Blocks for a look at the disk.

    Raises:
        ClientMistake: `cwd` is no folder.
    """
    if not Path(cwd).is_dir():
        raise ClientMistake(f"the working directory {cwd!r} does not exist or is no folder")
    others = [root for root in dict.fromkeys(roots) if root != cwd]
    missing = [root for root in others if not Path(root).is_dir()]
    return Folders(
        cwd,
        tuple(root for root in others if root not in missing),
        tuple(
            f"the additional folder {root!r} does not exist and was left out" for root in missing
        ),
    )
