"""The ground the policy stands on, as real paths: values, never looked up here."""

import posixpath

from agent_server.frozen import frozen


@frozen
class Places:
    """Where the session may work, and what is not its business. All absolute, links resolved."""

    roots: tuple[str, ...]
    """The session's working directory first, then its additional directories."""
    home: str
    own: tuple[str, ...] = ()
    """Folders and files of this program: configuration, sessions, cache, log."""

    def contains(self, path: str) -> bool:
        """Whether `path` is one of the roots or lies in one."""
        return any(is_within(path, root) for root in self.roots)

    def is_own(self, path: str) -> bool:
        """Whether `path` belongs to this program itself."""
        return any(is_within(path, own) for own in self.own)

    def holds_all_of(self, path: str) -> str | None:
        """The root or home that would vanish with the folder `path`, or None."""
        return next((p for p in (*self.roots, self.home) if is_within(p, path)), None)


def is_within(path: str, folder: str) -> bool:
    """Whether an absolute `path` is `folder` or below it; `..` in it is taken literally out."""
    path, folder = posixpath.normpath(path), posixpath.normpath(folder)
    return path == folder or path.startswith(folder.rstrip("/") + "/")
