"""Notices changes on disk below a session's folders, from its first turn on.

One thread and one watch of the system per session. Only top-level folders that are not ignored are watched; where the
system has no watch left, nothing is, and files are compared when it matters (`edits/outside.py`).
"""

import logging
import os
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import anyio
from anyio import to_thread

from agent_server.edits.outside import Marks
from agent_server.repository_file import read_repository_file

log = logging.getLogger(__name__)

HEAVY: Final = frozenset(
    {
        ".git", ".hg", ".svn", ".agent", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".nox", ".mypy_cache",
        ".pytest_cache", ".ruff_cache", ".hypothesis", ".gradle", ".idea", ".cache", "target", "dist", "build",
    }
)  # fmt: skip
"""Top-level folders whose files nobody edits by hand, whether or not .gitignore names them."""
COLLECT_MS: Final = 200
"""Between two looks at what the system has noticed: an idle session should wake rarely."""
QUIET_S: Final = 0.5
"""After the first prompt: its answer does not wait for the import and the setting up of a watch."""


async def watch(roots: Iterable[str], marks: Marks) -> None:
    """Mark what changes below the roots, until cancelled."""
    await anyio.sleep(QUIET_S)
    folders = await to_thread.run_sync(_folders, tuple(roots))
    if not folders:
        return
    stop = threading.Event()
    # A thread of its own, not one of the pool's: it stays as long as the session, and nothing waits for it.
    threading.Thread(target=_mark, args=(folders, marks, stop), name="watch", daemon=True).start()
    try:
        await anyio.sleep_forever()
    finally:
        stop.set()


def _mark(folders: tuple[str, ...], marks: Marks, stop: threading.Event) -> None:
    """Blocking until `stop`."""
    from watchfiles import watch as changes  # costs its import only where something is watched

    try:
        seen = changes(
            *folders, watch_filter=None, debounce=COLLECT_MS, step=COLLECT_MS, stop_event=stop,
            yield_on_timeout=True, rust_timeout=COLLECT_MS, raise_interrupt=False,
            ignore_permission_denied=True,
        )  # fmt: skip
        for batch in seen:
            marks.covers(folders)
            marks.add(path for _, path in batch)
    except Exception:  # background task: without a watch, files are compared when it matters
        log.warning("changes on disk are not watched", exc_info=True)
    finally:
        marks.covers(())


def _folders(roots: tuple[str, ...]) -> tuple[str, ...]:
    """The folders to watch with all that is below them, links resolved. Blocking."""
    found: list[str] = []
    for root in dict.fromkeys(map(os.path.realpath, roots)):
        ignored = _ignored(Path(root))
        try:
            entries = sorted(os.scandir(root), key=lambda entry: entry.name)
        except OSError:
            continue
        found += [
            entry.path
            for entry in entries
            if entry.is_dir(follow_symlinks=False) and entry.name not in HEAVY | ignored
        ]
    return tuple(found)


def _ignored(root: Path) -> frozenset[str]:
    """Top-level folders that the root's .gitignore names."""
    try:
        text = read_repository_file(root / ".gitignore").decode(errors="replace")
    except OSError:
        return frozenset()
    from pathspec import GitIgnoreSpec

    try:
        spec = GitIgnoreSpec.from_lines(text.splitlines())
    except ValueError:  # a line that is no pattern: git would say so, we watch more than we need
        return frozenset()
    names = [entry.name for entry in os.scandir(root)]
    return frozenset(name for name in names if spec.match_file(f"{name}/"))
