"""Which files are no longer as the model saw them, though no edit of its own changed them.

Told early, before the model edits on stale knowledge; that it cannot write over what it does not know is
`documents.py`'s. What may have changed is marked by whoever notices (a watcher, the editor); what has is decided by
content, so that a touch, a save without a change, or our own edit is no news.
"""

import os
import threading
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Literal

from anyio import to_thread

from agent_server.edits.documents import Documents, Known
from agent_server.frozen import frozen
from agent_server.loop.errors import AgentServerError, EditRefused

MARKS = 10_000
"""More marks than this are not kept one by one: then every file that the model knows is looked at."""
NAMED = 20
"""Files that a note names."""

Signature = tuple[int, int, int, int]


@frozen
class News:
    """A file that is not as the model saw it."""

    path: str
    how: Literal["changed", "deleted"]


class Marks:
    """Paths that may have changed, links resolved. Filled from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._paths: set[str] = set()
        self._folders: tuple[str, ...] = ()
        self._all = False

    def add(self, paths: Iterable[str]) -> None:
        """These may have changed."""
        with self._lock:
            self._paths.update(paths)
            if len(self._paths) > MARKS:
                self._all, self._paths = True, set()

    def covers(self, folders: tuple[str, ...]) -> None:
        """From now on changes below these folders are marked, and others may not be; earlier ones may be any."""
        with self._lock:
            self._all = self._all or (bool(folders) and folders != self._folders)
            self._folders = folders

    def take(self, known: Iterable[str]) -> set[str]:
        """Those of the known paths that are marked; all marks are forgotten."""
        with self._lock:
            paths, everything = self._paths, self._all
            self._paths, self._all = set(), False
        return set(known) if everything else paths & set(known)

    def watches(self, path: str) -> bool:
        """Whether a change of it would be marked."""
        return any(path.startswith(folder + os.sep) for folder in self._folders)


class Outside:
    """What one session's model should be told of."""

    def __init__(self, documents: Documents, marks: Marks) -> None:
        self._marks = marks
        self._documents = documents
        self._seen: dict[str, tuple[str, Signature | None]] = {}
        """By path: the text the model knew, and how the file looked, when it was last compared."""
        self._told: dict[str, str] = {}
        """By path: the text the model knows when it was told that this is no longer it."""

    async def news(self) -> tuple[News, ...]:
        """The files that changed since the model saw them; each is told once, until the model has read it again."""
        known = dict(self._documents.known)
        marked = self._marks.take(known)
        if not known:
            return ()
        looks = await to_thread.run_sync(self._look, known, marked)
        found: list[News] = []
        for path, signature in looks.items():
            digest = known[path].hash
            how = await self._compare(path, digest)
            self._seen[path] = (digest, signature)
            if how is not None and self._told.get(path) != digest:
                self._told[path] = digest
                found.append(News(path, how))
        return tuple(found)

    def _look(
        self, known: Mapping[str, Known], marked: Container[str]
    ) -> dict[str, Signature | None]:
        """The files worth reading, and how they look now. Blocking.

        Marked ones; and of those on disk, ones that the model just saw, because a change may have come before the
        watch, and ones that nobody watches and that look other than before.
        """
        found: dict[str, Signature | None] = {}
        for path, one in known.items():
            if path in marked:
                found[path] = _signature(path)
            elif not one.in_editor:
                seen = self._seen.get(path)
                fresh = seen is None or seen[0] != one.hash
                if fresh or not self._marks.watches(path):
                    signature = _signature(path)
                    if seen is None or seen != (one.hash, signature):
                        found[path] = signature
        return found

    async def _compare(self, path: str, digest: str) -> Literal["changed", "deleted"] | None:
        try:
            document = await self._documents.view(path)
        except EditRefused as error:
            return "deleted" if error.reason == "missing" else "changed"
        except (
            AgentServerError
        ):  # an editor that does not answer: nothing is known, so nothing is said
            return None
        return None if document.hash == digest else "changed"


def note(news: Iterable[News], cwd: str) -> str | None:
    """What the model is told; None when there is nothing to say."""
    said: list[str] = []
    each = tuple(news)
    for how in ("changed", "deleted"):
        names = [os.path.relpath(n.path, cwd) for n in each if n.how == how]
        if names:
            said.append(f"{how} since you read it, not by an edit of yours: {listed(names)}")
    return f"({'; '.join(said)}. Read again before you rely on what you saw.)" if said else None


def listed(names: Sequence[str]) -> str:
    """The first of them, and how many more there are."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _signature(path: str) -> Signature | None:
    try:
        status = os.stat(path)  # noqa: PTH116  a Path costs more than the call
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino
