"""Texts by their hash, beside the database: `blobs/ab/cdef…`, readable by their owner only.

A blob is written to a synced file that is then renamed, so that a name stands for a whole text or for nothing. The same
text is kept once. Blocking: callers on the event loop use a thread.
"""

import os
import re
import secrets
from contextlib import suppress
from pathlib import Path

from agent_server.edits.hashes import bytes_hash, content_hash
from agent_server.loop.errors import StoreFailure
from agent_server.store.text import pack, unpack

_HASH = re.compile(r"sha256:([0-9a-f]{2})([0-9a-f]{62})")


class BlobStore:
    """Implements `edits.journal.Blobs`. Nothing touches the disk before the first text is kept."""

    def __init__(self, folder: Path) -> None:
        """`folder` need not exist."""
        self._folder = folder

    def put(self, text: str) -> str:
        """Keep a text; its hash. See `Blobs`."""
        digest = content_hash(text)
        path = self._path(digest)
        data = pack(text)
        try:
            if not _holds(path, len(data)):
                self._write(path, data)
        except OSError as error:
            raise StoreFailure(f"{path} was not written: {error.strerror}") from error
        return digest

    def get(self, hash: str) -> str:
        """The text of a hash. See `Blobs`."""
        path = self._path(hash)
        try:
            data = path.read_bytes()
        except OSError as error:
            raise StoreFailure(f"{path} cannot be read: {error.strerror}") from error
        if bytes_hash(data) != hash:
            raise StoreFailure(f"{path} is damaged: its content has another hash")
        return unpack(data)

    def _path(self, hash: str) -> Path:
        found = _HASH.fullmatch(hash)
        if found is None:
            raise StoreFailure(f"{hash!r} names no text")
        return self._folder / found[1] / found[2]

    def _write(self, path: Path, data: bytes) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        temporary = path.with_name(f"{secrets.token_hex(8)}.tmp")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            try:
                view = memoryview(data)
                while view:
                    view = view[os.write(descriptor, view) :]
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        _sync(path.parent)
        _sync(self._folder)


def _holds(path: Path, size: int) -> bool:
    """Whether the text is there; one of another length is not it, and is written anew."""
    try:
        return path.stat().st_size == size
    except FileNotFoundError:
        return False


def _sync(folder: Path) -> None:
    """Make new names durable, where folders can be synced."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
