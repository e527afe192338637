"""Paths and `file:` URIs, both ways. Pure text: no disk is touched."""

import ntpath
import os
from pathlib import Path, PurePath
from urllib.parse import unquote, urlsplit


def file_uri(path: str) -> str:
    """The `file:` URI of an absolute path, percent-encoded."""
    return Path(path).as_uri()


def path_of(uri: str, *, windows: bool = os.name == "nt") -> str | None:
    """The absolute path that a `file:` URI or a bare absolute path names; None for any other URI.

    Editors differ: `%3A` after a drive letter, spaces left as they are, a line in the fragment.
    """
    if PurePath(uri).is_absolute():
        return os.path.normpath(uri)
    parts = urlsplit(uri)
    path = unquote(parts.path)
    if parts.scheme != "file" or not path.startswith("/"):
        return None
    if not windows:
        return os.path.normpath(path)
    return _windows_path(parts.netloc, path)


def display_name(uri: str) -> str:
    """The last part of a URI or path, for a label."""
    return PurePath(path_of(uri) or unquote(urlsplit(uri).path)).name or uri


def _windows_path(host: str, path: str) -> str:
    """A drive loses the slash before it; a host other than this one makes a share."""
    if host not in ("", "localhost"):
        return ntpath.normpath(f"//{host}{path}")
    return ntpath.normpath(path[1].upper() + path[2:] if path[2:3] == ":" else path)
