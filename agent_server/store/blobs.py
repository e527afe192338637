"""Texts by their hash, beside the database: `blobs/ab/cdef…`, readable by their owner only.

A blob is written to a synced file that is then renamed, so that a name stands for a whole text or for nothing. The same
text is kept once; a file's time is when it was last kept. Blocking: callers on the event loop use a thread.
"""

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from agent_server.edits.hashes import bytes_hash, content_hash
from agent_server.loop.errors import StoreFailure
from agent_server.store.text import pack, unpack

_HASH = re.compile(r"sha256:([0-9a-f]{2})([0-9a-f]{62})")
_NAME = re.compile(r"([0-9a-f]{2})/([0-9a-f]{62})")


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

    # ---- what nobody needs -------------------------------------------------------------------------------------

    def drop(self, hash: str, *, until_ms: int) -> bool:
        """Remove a text that was not kept again after that time; whether it went. Never raises for the disk."""
        return _drop(self._path(hash), until_ms)

    def names(self) -> set[str]:
        """The hashes of all texts that are kept."""
        found = (_NAME.fullmatch(f"{path.parent.name}/{path.name}") for path in self._files())
        return {f"sha256:{name[1]}{name[2]}" for name in found if name}

    def clear_torn(self, *, until_ms: int) -> int:
        """Remove what a process that died was writing before that time; how many."""
        torn = [path for path in self._files() if path.suffix == ".tmp"]
        return sum(_drop(path, until_ms) for path in torn)

    def take_turn(self, now_ms: int, *, every_ms: int) -> bool:
        """Whether it is time to look for what nobody needs; then it is not again before `every_ms` have passed."""
        mark = self._folder / ".collected"
        try:
            if mark.exists() and now_ms - _time_ms(mark) < every_ms:
                return False
            os.close(os.open(mark, os.O_WRONLY | os.O_CREAT, 0o600))
            os.utime(mark, (now_ms / 1000, now_ms / 1000))
        except OSError:  # no folder, or one we may not write to: nothing to collect
            return False
        return True

    def _files(self) -> Iterator[Path]:
        return self._folder.glob("??/*")

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
    """Whether the text is there, and now young; one of another length is not it, and is written anew."""
    try:
        if path.stat().st_size != size:
            return False
        os.utime(path)
    except FileNotFoundError:
        return False
    return True


def _drop(path: Path, until_ms: int) -> bool:
    try:
        if _time_ms(path) > until_ms:
            return False
        os.unlink(path)  # noqa: PTH108  as the tests break it
    except OSError:
        return False
    return True


def _time_ms(path: Path) -> int:
    return path.stat().st_mtime_ns // 1_000_000


def _sync(folder: Path) -> None:
    """Make new names durable, where folders can be synced."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
