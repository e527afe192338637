"""The disk of the state is full: the turn stops before the effect, at any commit, and goes on when there is room."""

import errno
import json
import resource
import sqlite3
import subprocess
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

import anyio
import pytest

from agent_server.loop.errors import AgentServerError
from agent_server.loop.model import DoneReason, ResultEntry, StartedEntry
from agent_server.session.session import Session
from agent_server.session.sessions import Sessions
from agent_server.store import blobs, reserve
from agent_server.store.blobs import BlobStore
from agent_server.store.connection import open_for_writing
from agent_server.store.sessions import SessionStore
from tests.fakes.loop import Say, said
from tests.fakes.session import RecordingClient
from tests.fakes.workbench import JournaledWorkbench

pytestmark = pytest.mark.anyio

DONE = Say("Done.")
STEPS = (
    Say("", (("write", json.dumps({"path": "new.py", "content": "new\n"})),)),
    Say("", (("shell", json.dumps({"command": "touch ran"})),)),
    Say(
        "",
        (
            (
                "edit",
                json.dumps({"path": "a.py", "edits": [{"old_text": "one", "new_text": "two"}]}),
            ),
        ),
    ),
    DONE,
)


class Disk:
    """Full from a commit on, until there is room again. The room that is held can be given to the database."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.commits_left: int | None = None
        self.held = folder / "sessions.db-reserve"

    @property
    def full(self) -> bool:
        return self.commits_left is not None and self.commits_left <= 0

    def connect(self, path: Path) -> sqlite3.Connection:
        connection = open_for_writing(path)
        disk = self

        class Watched:
            """Counts commits; those of a heartbeat change nothing."""

            def __getattr__(self, name: str) -> object:
                return getattr(connection, name)

            def execute(self, statement: str, *more: object) -> object:
                if statement == "COMMIT" and disk.commits_left is not None:
                    if disk.full and (disk.held.exists() or not disk.released):
                        connection.execute("ROLLBACK")
                        raise full()
                    disk.commits_left -= 1
                return connection.execute(statement, *more)  # type: ignore[arg-type]

        return Watched()  # type: ignore[return-value]

    released = False


def full() -> sqlite3.Error:
    error = sqlite3.OperationalError("database or disk is full")
    error.sqlite_errorcode = sqlite3.SQLITE_FULL
    return error


@contextmanager
def fails_when_full(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """Everything else that would take room fails too."""
    allocate, release, write = reserve._allocate, reserve.Reserve.release, BlobStore._write

    def allocated(descriptor: int) -> None:
        if disk.full:
            raise OSError(errno.ENOSPC, "No space left on device")
        disk.released = False
        allocate(descriptor)

    def released(self: reserve.Reserve) -> None:
        disk.released = disk.released or disk.held.exists()
        release(self)

    def written(self: BlobStore, path: Path, data: bytes) -> None:
        if disk.full:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(self, path, data)

    with monkeypatch.context() as patched:
        patched.setattr(reserve, "_allocate", allocated)
        patched.setattr(reserve.Reserve, "release", released)
        patched.setattr(blobs.BlobStore, "_write", written)
        yield


@asynccontextmanager
async def over(work: Path, disk: Disk, *steps: Say) -> AsyncGenerator[Sessions]:
    bench = JournaledWorkbench(disk.folder, *steps)
    bench.store = SessionStore(disk.folder / "sessions.db", connect=disk.connect)
    with anyio.fail_after(20):
        async with bench.sessions() as sessions:
            yield sessions


def effects(work: Path) -> list[str]:
    """What the world has of the three calls, in their order."""
    return [
        name
        for name, there in (
            ("write", (work / "new.py").exists()),
            ("shell", (work / "ran").exists()),
            ("edit", (work / "a.py").read_text() == "two\n"),
        )
        if there
    ]


async def attempt(session: Session) -> str | None:
    """The message that a prompt failed with; None when it did not."""
    try:
        result = await session.prompt(said("go"))
    except AgentServerError as error:
        return str(error)
    return result.message if result.reason is DoneReason.ERROR else None


async def test_no_effect_happens_that_is_not_recorded_at_whichever_commit_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And when there is room again the same session goes on, in this process and after a restart."""
    for commits in range(60):
        home = tmp_path / str(commits)
        work = home / "w"
        work.mkdir(parents=True)
        (work / "a.py").write_text("one\n")
        disk = Disk(home)
        with fails_when_full(disk, monkeypatch):
            async with over(work, disk, *STEPS, DONE) as sessions:
                session = await sessions.new(cwd=str(work), client=RecordingClient())
                disk.commits_left = commits
                message = await attempt(session)
                made = effects(work)
                started = sum(isinstance(e, StartedEntry) for e in session.entries)
                results = [e for e in session.entries if isinstance(e, ResultEntry)]
                unknown = [e for e in results if e.effect == "unknown"]
                disk.commits_left = None
                again = await attempt(session)
        assert len(made) <= started, (commits, made, started)
        assert len(made) <= len([e for e in results if e.result.ok]), (commits, made, results)
        assert unknown == [], (commits, unknown)
        assert again is None, (commits, again)
        if message is None:
            assert made == ["write", "shell", "edit"]
            return
        assert "Make room on that disk" in message or "No space left" in message, message
    raise AssertionError("the turn never came to its end")


async def test_a_disk_that_is_really_full_stops_the_turn_before_the_effect(tmp_path: Path) -> None:
    """On a small disk where one can be mounted, else under a limit on the size of files."""
    state, work = tmp_path / "state", tmp_path / "w"
    work.mkdir()
    state.mkdir()
    with small(state):
        bench = JournaledWorkbench(state, *STEPS, DONE)
        with anyio.fail_after(20):
            async with bench.sessions() as sessions:
                session = await sessions.new(cwd=str(work), client=RecordingClient())
                assert await attempt_when_full(state, session) is not None
                made = effects_of(work)

    assert made == []


def effects_of(work: Path) -> list[str]:
    return sorted(path.name for path in work.iterdir() if path.name != ".agent")


async def attempt_when_full(state: Path, session: Session) -> str | None:
    await anyio.to_thread.run_sync(fill, state)
    return await attempt(session)


def fill(state: Path) -> None:
    """Fill what is left, but for a little: enough for a few commits, not for the room that is held."""
    filler = state / "filler"
    if state.is_mount():
        with suppress(OSError), filler.open("wb", buffering=0) as file:
            while True:
                file.write(b"\0" * 65536)
        with filler.open("r+b") as file:
            file.truncate(max(0, filler.stat().st_size - 256 * 1024))


@contextmanager
def small(state: Path) -> Generator[None]:
    """A disk of 4 MiB, or a limit of 512 KiB on files where nothing may be mounted."""
    options = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(state)]
    try:
        mounted = subprocess.run(options, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    if mounted:
        try:
            yield
        finally:
            subprocess.run(["umount", "-l", str(state)], check=True)
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (512 * 1024, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
