"""Files that another process has locked, and files that cannot be replaced: read-only folders, mount points."""

import errno
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from agent_server.edits.disk import delete_file, rename_file, replace_text
from agent_server.edits.files import read_text, refusing
from agent_server.loop.errors import EditRefused

HOLDER = """
import fcntl, sys
how, what, path = sys.argv[1:]
file = open(path, "r+b")
getattr(fcntl, how)(file, getattr(fcntl, what))
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "a.txt"
    found.write_bytes(b"old\n")
    os.utime(found, ns=(10**18, 10**18))
    return found


@contextmanager
def held(path: Path, how: str, what: str) -> Generator[None, None, None]:
    """A second process that has locked the file."""
    command = [sys.executable, "-c", HOLDER, how, what, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        yield
        process.stdin.close()
        assert process.wait(10) == 0


def look(path: Path) -> tuple[bytes, int, int, int, list[str]]:
    status = path.stat()
    names = sorted(entry.name for entry in path.parent.iterdir())
    return path.read_bytes(), status.st_ino, status.st_mtime_ns, status.st_mode, names


def refusal(action: Callable[[], object]) -> EditRefused:
    with pytest.raises(EditRefused) as caught:
        action()
    return caught.value


@pytest.mark.parametrize("how", ["flock", "lockf"])
def test_a_file_that_another_process_has_locked_is_neither_changed_nor_renamed_nor_removed(
    path: Path, how: str
) -> None:
    file, before = read_text(str(path)), look(path)
    with held(path, how, "LOCK_EX"):
        for action in (
            lambda: replace_text(file, "new\n"),
            lambda: rename_file(file, str(path.with_name("b.txt")), "new\n"),
            lambda: delete_file(file),
        ):
            error = refusal(action)
            assert (error.reason, "locked by another process; try again" in str(error)) == (
                "locked", True,
            )  # fmt: skip
            assert look(path) == before
    replace_text(file, "new\n")
    assert path.read_bytes() == b"new\n"


def test_a_lock_for_reading_does_not_mind_that_the_file_is_replaced(path: Path) -> None:
    file = read_text(str(path))
    with held(path, "flock", "LOCK_SH"):
        replace_text(file, "new\n")

    assert path.read_bytes() == b"new\n"


def test_it_minds_one_that_is_rewritten_in_place(path: Path) -> None:
    path.with_name("other").hardlink_to(path)
    file, before = read_text(str(path)), look(path)
    with held(path, "flock", "LOCK_SH"):
        assert refusal(lambda: replace_text(file, "new\n")).reason == "locked"

    assert look(path) == before


def test_the_lock_is_given_up_afterwards(path: Path) -> None:
    replace_text(read_text(str(path)), "new\n")
    with held(path, "flock", "LOCK_EX"), held(path, "lockf", "LOCK_EX"):
        pass


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_written_all_the_same(
    path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def none(descriptor: int, kind: int) -> None:
        raise OSError(number, os.strerror(number))

    for how in ("flock", "lockf"):
        monkeypatch.setattr(f"fcntl.{how}", none)
    replace_text(read_text(str(path)), "new\n")

    assert path.read_bytes() == b"new\n"


def test_a_file_in_use_on_windows_is_said_to_be(path: Path) -> None:
    error = PermissionError(errno.EACCES, "The process cannot access the file")
    error.winerror = 32
    with pytest.raises(EditRefused, match="in use by another process") as caught, refusing(path):
        raise error

    assert caught.value.reason == "locked"


def test_in_a_folder_that_may_not_be_written_the_file_is_rewritten_in_place(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for anybody but root: no new name can be made there, and the file itself may be written."""
    path.chmod(0o640)
    before, access = path.stat(), os.access
    monkeypatch.setattr(os, "access", lambda at, mode: Path(at) != path.parent and access(at, mode))
    monkeypatch.setattr(os, "replace", _refused)
    replace_text(read_text(str(path)), "new\n")

    assert (path.read_bytes(), path.stat().st_ino) == (b"new\n", before.st_ino)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [entry.name for entry in path.parent.iterdir()] == ["a.txt"]


def test_a_file_that_is_a_mount_point_is_rewritten_in_place(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a single file is that was mounted into a container: nothing can take its place."""
    before = path.stat().st_ino

    def busy(*names: object) -> None:
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))

    monkeypatch.setattr(os, "replace", busy)
    replace_text(read_text(str(path)), "new\n")

    assert (path.read_bytes(), path.stat().st_ino) == (b"new\n", before)
    assert [entry.name for entry in path.parent.iterdir()] == ["a.txt"]


def _refused(*names: object) -> None:
    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def test_access_lists_and_extended_attributes_stay(path: Path) -> None:
    """An access list is one of them. Where the file system has none, there is nothing to lose."""
    with suppress(OSError):
        os.setxattr(path, "user.agent-test", b"kept")
    before = [(name, os.getxattr(path, name)) for name in os.listxattr(path)]
    replace_text(read_text(str(path)), "new\n")

    assert [(name, os.getxattr(path, name)) for name in os.listxattr(path)] == before


def test_a_time_in_the_future_is_no_reason_to_think_the_file_unchanged(path: Path) -> None:
    future = 4 * 10**18
    os.utime(path, ns=(future, future))
    file = read_text(str(path))
    path.write_bytes(b"odl\n")
    os.utime(path, ns=(future, future))

    assert refusal(lambda: replace_text(file, "new\n")).reason == "stale"
    replace_text(read_text(str(path)), "new\n")
    assert path.read_bytes() == b"new\n"
