"""Checks of the session store, without making or changing it."""

import os
from collections.abc import Iterator
from pathlib import Path

import anyio

from agent_server.commands.findings import Finding
from agent_server.commands.sessions import all_sessions
from agent_server.loop.errors import StoreFailure
from agent_server.store.schema import STEPS
from agent_server.store.sessions import SessionStore


def check_store(path: Path) -> Iterator[Finding]:
    """The file, who may read it, and what is in it."""
    if not path.exists():
        yield _check_absent(path)
        return
    yield from _check_modes(path)
    try:
        records = anyio.run(all_sessions, SessionStore(path))
    except StoreFailure as failure:
        fix = "move the file away to start with an empty store; a newer agent-server may know it"
        yield Finding("problem", str(failure), fix)
        return
    yield Finding("OK", f"store {path} (version {len(STEPS)}, {len(records)} sessions)")
    for record in records:
        if record.damaged is not None:
            yield Finding(
                "problem", record.damaged, "it cannot be loaded; the others are not affected"
            )


def _check_absent(path: Path) -> Finding:
    """Whether the store could be made: the nearest folder that exists must take files."""
    folder = next(parent for parent in path.absolute().parents if parent.exists())
    if folder.is_dir() and os.access(folder, os.W_OK | os.X_OK):
        return Finding("OK", f"store {path} (not made yet)")
    return Finding(
        "problem",
        f"the store {path} cannot be made: {folder} takes no files",
        "make it writable, or set AGENT_SERVER_HOME to a folder that is",
    )


def _check_modes(path: Path) -> Iterator[Finding]:
    if not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK | os.X_OK)):
        yield Finding(
            "problem", f"the store {path} cannot be written", "make it and its folder writable"
        )
    if os.name == "posix" and path.stat().st_mode & 0o077:
        yield Finding("problem", f"others can read the store {path}", f"chmod 600 {path}")
