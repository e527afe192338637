"""Writing: all or nothing, whatever the disk does (ED-01, 03, 05, 21; fault injection)."""

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_server.edits import disk
from agent_server.edits.disk import (
    create_text,
    delete_file,
    recreate_file,
    rename_file,
    replace_text,
    restore_text,
)
from agent_server.edits.files import FileText, read_text
from agent_server.loop.errors import EditRefused


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "run.sh"
    found.write_bytes(b"old\r\n")
    found.chmod(0o755)
    os.utime(found, ns=(10**18, 10**18))
    return found


def fingerprint(path: Path) -> tuple[bytes, int, int, list[str]]:
    status = path.stat()
    return (
        path.read_bytes(),
        status.st_mode,
        status.st_mtime_ns,
        sorted(p.name for p in path.parent.iterdir()),
    )


def refusal(action: Callable[[], object]) -> str:
    with pytest.raises(EditRefused) as caught:
        action()
    return caught.value.reason


# ---- what is kept ------------------------------------------------------------------------------------------


def test_mode_is_kept_and_nothing_else_is_left_in_the_folder(path: Path) -> None:
    replace_text(read_text(str(path)), "new\r\n")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new\r\n", 0o755)
    assert [p.name for p in path.parent.iterdir()] == ["run.sh"]


def test_a_file_of_somebody_else_stays_theirs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who may write it may not give a new file to its owner, so it cannot be replaced."""
    inode = path.stat().st_ino
    monkeypatch.setattr(os, "chown", _failing(errno.EPERM))

    replace_text(read_text(str(path)), "new\r\n")

    assert (path.read_bytes(), path.stat().st_ino) == (b"new\r\n", inode)
    assert [p.name for p in path.parent.iterdir()] == ["run.sh"]


def test_the_group_stays(path: Path) -> None:
    other = next((group for group in os.getgroups() if group != path.stat().st_gid), 0)
    group = 54_321 if os.geteuid() == 0 else other
    os.chown(path, -1, group)

    replace_text(read_text(str(path)), "new\r\n")

    assert path.stat().st_gid == group


def test_the_result_describes_the_file_as_it_is_now(path: Path) -> None:
    assert replace_text(read_text(str(path)), "new\r\n") == read_text(str(path))


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "gbk", "shift_jis"])
def test_the_encoding_is_kept(path: Path, codec: str) -> None:
    text = (
        "# こんにちは世界\r\nx = 1\r\n" if codec != "gbk" else "# 你好世界。这里是中文\r\nx = 1\r\n"
    )
    path.write_bytes(text.encode(codec))
    replace_text(read_text(str(path)), text.replace("x = 1", "x = 2"))
    assert path.read_bytes() == text.replace("x = 1", "x = 2").encode(codec)


def test_a_link_stays_a_link_and_its_target_is_edited(path: Path) -> None:
    link = path.parent / "link.txt"
    link.symlink_to("run.sh")
    replace_text(read_text(str(link)), "new\n")
    assert (link.is_symlink(), path.read_bytes()) == (True, b"new\n")


def test_hard_links_keep_sharing_one_file(path: Path) -> None:
    other = path.parent / "other"
    other.hardlink_to(path)
    replace_text(read_text(str(path)), "new and longer\n")
    assert other.read_bytes() == b"new and longer\n"
    assert other.stat().st_ino == path.stat().st_ino


def test_taking_back_restores_bytes_mode_and_mtime(path: Path) -> None:
    before, file = fingerprint(path), read_text(str(path))
    restore_text(replace_text(file, "new\n"), file)
    assert fingerprint(path) == before


def test_a_deleted_file_comes_back_as_it_was(path: Path) -> None:
    before, file = fingerprint(path), read_text(str(path))
    delete_file(file)
    assert not path.exists()
    recreate_file(file)
    assert fingerprint(path) == before


# ---- what is refused ---------------------------------------------------------------------------------------


def test_a_file_that_changed_is_not_replaced_even_with_size_and_mtime_equal(path: Path) -> None:
    file = read_text(str(path))
    path.write_bytes(b"odl\r\n")
    os.utime(path, ns=(10**18, 10**18))
    before = fingerprint(path)
    assert refusal(lambda: replace_text(file, "new\n")) == "stale"
    assert refusal(lambda: delete_file(file)) == "stale"
    assert fingerprint(path) == before


def test_a_read_only_file_is_not_replaced(path: Path) -> None:
    path.chmod(0o444)
    file, before = read_text(str(path)), fingerprint(path)
    assert refusal(lambda: replace_text(file, "new\n")) == "read_only"
    assert fingerprint(path) == before


def test_what_cannot_be_encoded_changes_nothing(path: Path) -> None:
    path.write_bytes("caf\xe9 \xe7a et l\xe0\n".encode("latin-1"))
    file, before = read_text(str(path)), fingerprint(path)
    assert refusal(lambda: replace_text(file, "→")) == "unencodable"
    assert fingerprint(path) == before


def test_a_new_file_has_the_usual_mode(path: Path) -> None:
    with (path.parent / "plain").open("w"):
        pass
    create_text(str(path.parent / "new"), "x")
    assert (path.parent / "new").stat().st_mode == (path.parent / "plain").stat().st_mode


def test_creating_over_something_is_refused(path: Path) -> None:
    before = fingerprint(path)
    assert refusal(lambda: create_text(str(path), "x")) == "exists"
    assert fingerprint(path) == before


def test_creating_below_a_file_is_refused(path: Path) -> None:
    assert refusal(lambda: create_text(str(path / "x" / "y"), "x")) == "not_a_directory"


def test_without_hard_links_a_new_file_is_still_not_put_over_another(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "link", _failing(errno.EPERM))
    before = fingerprint(path)
    assert refusal(lambda: create_text(str(path), "x")) == "exists"
    assert fingerprint(path) == before
    create_text(str(path.parent / "new"), "x")
    assert (path.parent / "new").read_bytes() == b"x"


# ---- faults ------------------------------------------------------------------------------------------------


class Crash(BaseException):
    """The process dies here, as far as Python can tell."""


def _failing(number: int | None) -> Callable[..., object]:
    def fail(*arguments: object, **options: object) -> object:
        raise Crash if number is None else OSError(number, os.strerror(number))

    return fail


FAULTS = [
    (errno.ENOSPC, "no_space"),
    (errno.EACCES, "no_permission"),
    (errno.EIO, "io"),
    (None, "crash"),
]
PLACES = ["write", "fsync", "replace", "chmod", "chown"]


def _tried(action: Callable[[], object]) -> str:
    try:
        action()
    except EditRefused as error:
        return error.reason
    except Crash:
        return "crash"
    return "done"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("number", "reason"), FAULTS)
def test_a_fault_while_replacing_leaves_bytes_mode_and_mtime(
    path: Path, monkeypatch: pytest.MonkeyPatch, place: str, number: int | None, reason: str
) -> None:
    file, before = read_text(str(path)), fingerprint(path)
    monkeypatch.setattr(os, place, _failing(number))
    assert _tried(lambda: replace_text(file, "new\n")) == reason
    assert fingerprint(path) == before


@pytest.mark.parametrize("place", ["write", "fsync", "mkdir"])
@pytest.mark.parametrize(("number", "reason"), FAULTS)
def test_a_fault_while_creating_leaves_neither_file_nor_folder(
    path: Path, monkeypatch: pytest.MonkeyPatch, place: str, number: int | None, reason: str
) -> None:
    before = fingerprint(path)
    monkeypatch.setattr(os, place, _failing(number))
    assert _tried(lambda: create_text(str(path.parent / "d" / "e" / "new"), "x")) == reason
    assert fingerprint(path) == before


@pytest.mark.parametrize("place", ["unlink", "write", "fsync", "replace"])
@pytest.mark.parametrize(("number", "reason"), FAULTS)
def test_a_fault_while_renaming_leaves_the_old_name_and_bytes(
    path: Path, monkeypatch: pytest.MonkeyPatch, place: str, number: int | None, reason: str
) -> None:
    file, before = read_text(str(path)), fingerprint(path)
    real: Callable[..., object] = getattr(os, place)

    def once(*arguments: object, **options: object) -> object:
        monkeypatch.setattr(os, place, real)
        return _failing(number)()

    monkeypatch.setattr(os, place, once)
    assert _tried(lambda: rename_file(file, str(path.parent / "new"), "new\n")) == reason
    assert fingerprint(path) == before


def test_a_full_disk_while_rewriting_hard_links_puts_the_old_bytes_back(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path.parent / "other").hardlink_to(path)
    file, before = read_text(str(path)), fingerprint(path)
    write = os.write

    def short(descriptor: int, data: bytes) -> int:
        if os.lseek(descriptor, 0, os.SEEK_CUR) >= 8:
            raise OSError(errno.ENOSPC, "full")
        return write(descriptor, bytes(data[:4]))

    monkeypatch.setattr(os, "write", short)
    assert _tried(lambda: replace_text(file, "new and much longer\n")) == "no_space"
    assert fingerprint(path) == before


def test_a_write_in_small_portions_is_whole(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, bytes(data[:3])))
    replace_text(read_text(str(path)), "longer than three bytes\n")
    assert path.read_bytes() == b"longer than three bytes\n"


def test_a_folder_that_cannot_be_synced_is_no_failure(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "_sync_folder", disk._sync_folder)
    fsync = os.fsync

    def only_files(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "no")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", only_files)
    file: FileText = replace_text(read_text(str(path)), "new\n")
    assert file.text == "new\n"
