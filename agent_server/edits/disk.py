"""Changing files on disk: all or nothing, and only what is still as it was read. Blocking.

Written to a synced file beside the old one, which takes its place when the old bytes are still there; encoding, BOM,
mode, owner, group and extended attributes (ACLs among them) stay. A symbolic link is followed: its target is edited and
the link stays. A file that cannot be replaced is rewritten in place: one with several hard links, because that would
split its names; one whose owner or group we may not give to another file; one in a folder that may not be written; one
that is a mount point. These are the writes that a power failure can tear. A file that another process has locked is
left alone (`locked.py`).
"""

import errno
import os
import secrets
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from agent_server.edits.encodings import UTF8, Encoding
from agent_server.edits.files import FileText, Form, open_flags, read_bytes, real_path, refusing
from agent_server.edits.hashes import bytes_hash
from agent_server.edits.locked import unlocked
from agent_server.loop.errors import EditRefused


def replace_text(file: FileText, text: str, form: Form | None = None) -> FileText:
    """Make `text` the content of a file that is still as it was read; gives the file as it is then.

    It keeps its encoding and mode, unless `form` gives others.

    Raises:
        EditRefused: `unencodable`, `stale`, `missing`, `read_only`, `locked`, `no_permission`, `no_space` or `io`;
            bytes, mode and mtime are as before.
    """
    encoding = file.encoding if form is None else form.encoding
    data = encoding.encode(text)
    with refusing(file.path):
        status = file.path.lstat()
        _check_writable(file.path, status)
        mode = stat.S_IMODE(status.st_mode) if form is None or form.mode is None else form.mode
        in_place = status.st_nlink > 1 or not os.access(file.path.parent, os.W_OK)
        write = _rewrite if in_place else _swap
        mtime_ns = write(file, data, status, mode)
    return replace(
        file,
        text=text,
        encoding=encoding,
        digest=bytes_hash(data),
        mode=stat.S_IFREG | mode,
        mtime_ns=mtime_ns,
    )


def restore_text(written: FileText, before: FileText) -> None:
    """Take back a write that is still as we left it: the old bytes, mode and mtime.

    Raises:
        EditRefused: as `replace_text`.
    """
    replace_text(written, before.text, Form(before.encoding, stat.S_IMODE(before.mode)))
    with suppress(
        OSError
    ):  # the bytes are back; a time that cannot be set is no reason to report otherwise
        os.utime(before.path, ns=(before.mtime_ns, before.mtime_ns))


def create_text(
    path: str, text: str, encoding: Encoding = UTF8, *, mode: int | None = None
) -> FileText:
    """A new file, with the folders it needs; never over something that exists. `mode` None: as the umask has it.

    Raises:
        EditRefused: `exists`, `not_a_directory`, `unencodable`, `no_permission`, `no_space` or `io`; nothing is left
            behind.
    """
    data = encoding.encode(text)
    target = real_path(path)
    with refusing(path), _folders(target), _temporary(target, data, mode=0o666) as temporary:
        if mode is not None:
            temporary.chmod(mode)
        status = temporary.stat()
        _publish(temporary, target)
    _sync_folder(target.parent)
    return FileText(target, text, encoding, bytes_hash(data), status.st_mode, status.st_mtime_ns)


def delete_file(file: FileText) -> None:
    """Remove a file that is still as it was read; of a symbolic link the target.

    Raises:
        EditRefused: `stale`, `missing`, `locked`, `no_permission` or `io`.
    """
    with refusing(file.path), unlocked(file.path):
        _check_unchanged(file)
        file.path.unlink()
    _sync_folder(file.path.parent)


def rename_file(file: FileText, path: str, text: str) -> FileText:
    """Give a file that is still as it was read another name, and `text`; never over something that exists.

    Raises:
        EditRefused: as `create_text` and `replace_text`; the file has its old name and bytes.
    """
    target = real_path(path)
    file.encoding.encode(text)
    with refusing(path), _folders(target), unlocked(file.path):
        _check_unchanged(file)
        _publish(file.path, target)
        try:
            file.path.unlink(missing_ok=True)
        except BaseException:
            target.unlink()
            raise
    moved = replace(file, path=target)
    try:
        return moved if text == file.text else replace_text(moved, text)
    except BaseException:
        target.replace(file.path)
        raise
    finally:
        _sync_folder(target.parent)
        _sync_folder(file.path.parent)


def rename_back(moved: FileText, before: FileText, folders: list[Path]) -> None:
    """Take back a renaming that is still as we left it: name, bytes and mtime, and the folders it needed.

    Raises:
        EditRefused: as `rename_file`.
    """
    rename_file(moved, str(before.path), before.text)
    with suppress(OSError):
        os.utime(before.path, ns=(before.mtime_ns, before.mtime_ns))
    remove_folders(folders)


def remove_created(made: FileText, folders: list[Path]) -> None:
    """Take back a creation that is still as we left it, with the folders it needed.

    Raises:
        EditRefused: as `delete_file`.
    """
    delete_file(made)
    remove_folders(folders)


def recreate_file(deleted: FileText) -> None:
    """Take back a deletion: bytes, mode and mtime.

    Raises:
        EditRefused: as `create_text`.
    """
    create_text(str(deleted.path), deleted.text, deleted.encoding)
    with refusing(deleted.path):
        deleted.path.chmod(stat.S_IMODE(deleted.mode))
        os.utime(deleted.path, ns=(deleted.mtime_ns, deleted.mtime_ns))


def missing_folders(path: str) -> list[Path]:
    """The folders that creating `path` would make, outermost first."""
    parents = real_path(path).parents
    return [folder for folder in reversed(parents) if not os.path.lexists(folder)]


def remove_folders(folders: list[Path]) -> None:
    """Remove folders, the last first, as far as they are empty."""
    for folder in reversed(folders):
        with suppress(OSError):
            folder.rmdir()


# ---- one way to replace, one to rewrite --------------------------------------------------------------------


def _check_writable(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise EditRefused(f"{path} is no longer a regular file", reason="stale")
    if not status.st_mode & 0o222 or not os.access(
        path, os.W_OK
    ):  # root may write anything, and should not
        raise EditRefused(f"{path} is read-only", reason="read_only")


def _check_unchanged(file: FileText) -> bytes:
    data, _ = read_bytes(file.path)
    if bytes_hash(data) != file.digest:
        raise EditRefused(f"{file.path} changed on disk meanwhile", reason="stale")
    return data


def _swap(file: FileText, data: bytes, status: os.stat_result, mode: int) -> int:
    """Replace the file; the new mtime."""
    with _temporary(file.path, data, mode=0o600) as temporary, unlocked(file.path):
        alike = _owned_alike(temporary, status)
        _dress(temporary, file.path, mode)
        mtime_ns = temporary.stat().st_mtime_ns
        _check_unchanged(file)
        replaced = alike and _took_place(temporary, file.path)
    if not replaced:
        return _rewrite(file, data, status, mode)
    _sync_folder(file.path.parent)
    return mtime_ns


def _took_place(temporary: Path, target: Path) -> bool:
    """Whether the new file took the old one's place; a file that is a mount point has to stay."""
    try:
        temporary.replace(target)
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        return False
    return True


def _rewrite(file: FileText, data: bytes, status: os.stat_result, mode: int) -> int:
    """Write in place; on failure put the old bytes and times back."""
    with unlocked(file.path, in_place=True):
        return _rewritten(file, data, status, mode)


def _rewritten(file: FileText, data: bytes, status: os.stat_result, mode: int) -> int:
    old = _check_unchanged(file)
    descriptor = os.open(file.path, open_flags("O_WRONLY"))
    try:
        try:
            _overwrite(descriptor, data)
            if mode != stat.S_IMODE(status.st_mode):
                file.path.chmod(mode)
        except BaseException:
            _overwrite(descriptor, old)
            os.utime(file.path, ns=(status.st_atime_ns, status.st_mtime_ns))
            raise
        return os.fstat(descriptor).st_mtime_ns
    finally:
        os.close(descriptor)


def _overwrite(descriptor: int, data: bytes) -> None:
    os.lseek(descriptor, 0, os.SEEK_SET)
    _write_all(descriptor, data)
    os.ftruncate(descriptor, len(data))
    os.fsync(descriptor)


@contextmanager
def _temporary(target: Path, data: bytes, *, mode: int) -> Generator[Path, None, None]:
    """A synced file with `data` beside `target`; removed afterwards, unless it was moved into place."""
    temporary = target.with_name(f".{target.name[:60]}.{secrets.token_hex(6)}.tmp")
    descriptor = os.open(temporary, open_flags("O_WRONLY", "O_CREAT", "O_EXCL"), mode)
    try:
        try:
            _write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        yield temporary
    finally:
        with suppress(OSError):  # what was to be done is done, or failed for its own reason
            temporary.unlink(missing_ok=True)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _owned_alike(temporary: Path, status: os.stat_result) -> bool:
    """Give the new file the old one's owner and group; False when that is not ours to give."""
    if not hasattr(os, "chown"):
        return True
    try:
        os.chown(temporary, status.st_uid, status.st_gid)
    except OSError as error:
        if error.errno != errno.EPERM:
            raise
        return False
    return True


def _dress(temporary: Path, path: Path, mode: int) -> None:
    """Give the new file the old one's extended attributes, and the mode; after its owner, which takes both away."""
    with suppress(OSError, AttributeError):  # not every system and file system has them
        for name in os.listxattr(path):
            os.setxattr(temporary, name, os.getxattr(path, name))
    temporary.chmod(mode)


def _publish(temporary: Path, target: Path) -> None:
    """Give the finished file its name, unless the name is taken."""
    try:
        target.hardlink_to(temporary)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from None
        temporary.replace(target)


@contextmanager
def _folders(target: Path) -> Generator[None, None, None]:
    """The folders above `target`; those that were made are removed again when the block fails."""
    made: list[Path] = []
    try:
        for folder in missing_folders(str(target)):
            with suppress(FileExistsError):
                folder.mkdir()
                made.append(folder)
        yield
    except BaseException:
        remove_folders(made)
        raise


def _sync_folder(folder: Path) -> None:
    """Make the new name durable. Where folders cannot be synced, the change was made all the same."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
