"""One writer, durable answers, errors that harm nobody else."""

import sqlite3
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from agent_server.loop.errors import StoreFailure
from agent_server.store.connection import migrate, open_for_writing
from agent_server.store.database import Database, Pulse

pytestmark = pytest.mark.anyio


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "sessions.db"


def table(path: Path) -> sqlite3.Connection:
    """A database with one table to write into, and its commits counted in `commits`."""
    connection = open_for_writing(path)
    connection.execute("CREATE TABLE IF NOT EXISTS note (words TEXT UNIQUE)")
    return connection


def note(words: str):
    """A job that keeps a word."""
    return lambda connection: connection.execute("INSERT INTO note VALUES (?)", (words,)).rowcount


def notes(path: Path) -> list[str]:
    """What a stranger reads from the file."""
    connection = sqlite3.connect(path)
    words = [row[0] for row in connection.execute("SELECT words FROM note ORDER BY rowid")]
    connection.close()
    return words


class Gate:
    """Holds the writer inside a job, so that what comes next must wait together."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.open = threading.Event()

    def hold(self, _: sqlite3.Connection) -> None:
        self.entered.set()
        assert self.open.wait(5)


async def together(
    database: Database, *jobs: Callable[[sqlite3.Connection], object]
) -> list[object]:
    """Run jobs that all waited while the writer was busy; their outcomes, in order."""
    gate = Gate()
    outcomes: dict[int, object] = {}

    async def run(place: int, job: Callable[[sqlite3.Connection], object]) -> None:
        try:
            outcomes[place] = await database.run(job)
        except StoreFailure as failure:
            outcomes[place] = failure

    with anyio.fail_after(10):
        async with anyio.create_task_group() as group:
            group.start_soon(database.run, gate.hold)
            await anyio.to_thread.run_sync(gate.entered.wait)
            for place, job in enumerate(jobs):
                group.start_soon(run, place, job)
            await anyio.wait_all_tasks_blocked()
            gate.open.set()
    return [outcomes[place] for place in range(len(jobs))]


async def test_nothing_touches_the_disk_before_the_first_job(path: Path):
    database = Database(path)
    assert await database.read(lambda _: 1) is None
    await database.aclose()

    assert not path.parent.exists()


@pytest.mark.skipif("sys.platform == 'win32'")
async def test_only_the_owner_can_read_the_file_and_its_folder(path: Path):
    database = Database(path, connect=table)
    await database.run(note("secret"))
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    folder = stat.S_IMODE(path.parent.stat().st_mode)
    await database.aclose()

    assert folder == 0o700
    assert modes == {"sessions.db": 0o600, "sessions.db-wal": 0o600, "sessions.db-shm": 0o600}


async def test_a_returned_job_is_visible_to_others_at_once(path: Path):
    database = Database(path, connect=table)
    await database.run(note("kept"))

    assert notes(path) == ["kept"]
    await database.aclose()


async def test_jobs_that_wait_together_share_one_commit_in_order(path: Path):
    commits: list[str] = []

    def traced(where: Path) -> sqlite3.Connection:
        connection = table(where)
        connection.set_trace_callback(lambda sql: commits.append(sql) if sql == "COMMIT" else None)
        return connection

    database = Database(path, connect=traced)
    await together(database, *(note(f"n{i}") for i in range(20)))
    await database.aclose()

    assert notes(path) == [f"n{i}" for i in range(20)]
    assert len(commits) == 2


async def test_a_failing_job_keeps_nothing_and_its_neighbours_keep_all(path: Path):
    def half(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO note VALUES ('half')")
        connection.execute("INSERT INTO note VALUES ('twice'), ('twice')")

    database = Database(path, connect=table)
    first, failed, last = await together(database, note("first"), half, note("last"))
    await database.aclose()

    assert (first, last) == (1, 1)
    assert isinstance(failed, StoreFailure)
    assert str(path) in str(failed)
    assert notes(path) == ["first", "last"]


async def test_a_full_disk_fails_only_those_that_do_not_fit(path: Path):
    def small_disk(where: Path) -> sqlite3.Connection:
        connection = table(where)
        connection.execute("PRAGMA max_page_count = 32")
        return connection

    database = Database(path, connect=small_disk)
    first, failed, last = await together(
        database, note("first"), note("x" * 1_000_000), note("last")
    )
    assert isinstance(failed, StoreFailure)
    assert "full" in str(failed)
    assert (first, last) == (1, 1)
    assert await database.run(note("and later")) == 1
    await database.aclose()
    assert notes(path) == ["first", "last", "and later"]


class BrokenCommit(sqlite3.Connection):
    """A disk that fails when a transaction is committed, while `broken` is set."""

    broken = False

    def execute(self, sql: str, *args: Any) -> sqlite3.Cursor:
        if sql == "COMMIT" and self.broken:
            raise sqlite3.OperationalError("disk I/O error")
        return super().execute(sql, *args)


async def test_a_commit_that_fails_keeps_nothing_and_the_next_one_works(path: Path):
    opened: list[BrokenCommit] = []

    def fragile(where: Path) -> sqlite3.Connection:
        table(where).close()
        opened.append(sqlite3.connect(where, isolation_level=None, factory=BrokenCommit))
        return opened[0]

    database = Database(path, connect=fragile)
    await database.run(note("before"))
    opened[0].broken = True
    with pytest.raises(StoreFailure, match=r"sessions\.db: disk I/O error"):
        await database.run(note("lost"))
    opened[0].broken = False
    await database.run(note("after"))
    await database.aclose()

    assert notes(path) == ["before", "after"]


async def test_when_the_shared_commit_fails_each_job_gets_one_of_its_own(path: Path):
    opened: list[BrokenCommit] = []

    def fragile(where: Path) -> sqlite3.Connection:
        table(where).close()
        opened.append(sqlite3.connect(where, isolation_level=None, factory=BrokenCommit))
        return opened[0]

    def break_the_commit(connection: sqlite3.Connection) -> int:
        opened[0].broken = True
        return note("c")(connection)

    def mend(connection: sqlite3.Connection) -> int:
        opened[0].broken = False
        return note("a")(connection)

    database = Database(path, connect=fragile)
    a, b, failed = await together(database, mend, note("b"), break_the_commit)
    opened[0].broken = False
    await database.aclose()

    assert (a, b) == (1, 1)
    assert isinstance(failed, StoreFailure)
    assert notes(path) == ["a", "b"]


async def test_a_file_that_cannot_be_written_is_named(path: Path):
    def read_only(where: Path) -> sqlite3.Connection:
        connection = table(where)
        connection.execute("PRAGMA query_only = ON")
        return connection

    database = Database(path, connect=read_only)
    with pytest.raises(StoreFailure, match=r"sessions\.db: attempt to write a readonly database"):
        await database.run(note("lost"))
    await database.aclose()


async def test_a_folder_that_cannot_be_made_is_named_and_tried_again(tmp_path: Path):
    blocker = tmp_path / "state"
    blocker.write_text("in the way")
    database = Database(blocker / "sessions.db", connect=table)
    with pytest.raises(StoreFailure, match="state"):
        await database.run(note("lost"))
    blocker.unlink()

    assert await database.run(note("kept")) == 1
    await database.aclose()


async def test_a_file_that_is_no_database_is_refused_and_not_changed(tmp_path: Path):
    before = b"not a database, but somebody's notes\n" * 100
    path = anyio.Path(tmp_path / "sessions.db")
    await path.write_bytes(before)
    database = Database(Path(path))
    with pytest.raises(StoreFailure, match="not a database"):
        await database.run(lambda _: None)
    with pytest.raises(StoreFailure, match="not a database"):
        await database.read(lambda _: None)
    await database.aclose()

    assert await path.read_bytes() == before


async def test_a_file_that_stays_locked_fails_with_its_path(path: Path):
    def impatient(where: Path) -> sqlite3.Connection:
        connection = table(where)
        connection.execute("PRAGMA busy_timeout = 10")
        return connection

    database = Database(path, connect=impatient)
    await database.run(note("before"))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreFailure, match=r"sessions\.db: database is locked"):
        await database.run(note("lost"))
    other.execute("COMMIT")
    other.close()

    assert await database.run(note("after")) == 1
    await database.aclose()


async def test_a_cancelled_caller_finds_its_job_done(path: Path):
    database = Database(path, connect=table)
    gate = Gate()
    reached_the_end = False

    async def caller() -> None:
        nonlocal reached_the_end
        await database.run(note("kept"))
        reached_the_end = True

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(database.run, gate.hold)
            await anyio.to_thread.run_sync(gate.entered.wait)
            group.start_soon(caller)
            await anyio.wait_all_tasks_blocked()
            group.cancel_scope.cancel()
            gate.open.set()
    await database.aclose()

    assert reached_the_end
    assert notes(path) == ["kept"]


async def test_closing_finishes_what_waits_and_refuses_what_comes_after(path: Path):
    database = Database(path, connect=table)
    gate = Gate()
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(database.run, gate.hold)
            await anyio.to_thread.run_sync(gate.entered.wait)
            for i in range(5):
                group.start_soon(database.run, note(f"n{i}"))
            await anyio.wait_all_tasks_blocked()
            group.start_soon(database.aclose)
            await anyio.wait_all_tasks_blocked()
            gate.open.set()

    assert notes(path) == [f"n{i}" for i in range(5)]
    with pytest.raises(StoreFailure, match="is closed"):
        await database.run(note("late"))


async def test_a_mistake_in_a_job_reaches_its_caller_as_it_is(path: Path):
    def mistaken(_: sqlite3.Connection) -> None:
        raise ZeroDivisionError("mine")

    database = Database(path, connect=table)
    with pytest.raises(ZeroDivisionError, match="mine"):
        await database.run(mistaken)

    assert await database.run(note("fine")) == 1
    await database.aclose()


async def test_the_pulse_beats_while_the_file_is_open_and_leaves_commits_durable(path: Path):
    beats = threading.Semaphore(0)

    def beat(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO note VALUES (NULL)")
        beats.release()

    database = Database(path, connect=table, pulse=Pulse(0.001, beat))
    await database.run(note("kept"))
    for _ in range(3):
        assert await anyio.to_thread.run_sync(beats.acquire, True, 5)
    (level,) = await database.run(lambda c: c.execute("PRAGMA synchronous").fetchone())
    await database.aclose()

    assert level == 2, "FULL"


async def test_a_newer_file_is_refused_by_name_and_left_alone(path: Path):
    connection = open_for_writing(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    database = Database(path)

    with pytest.raises(StoreFailure, match=r"sessions\.db was written by a newer agent-server"):
        await database.run(lambda _: None)
    with pytest.raises(StoreFailure, match="newer"):
        await database.read(lambda _: None)
    await database.aclose()


def test_migrating_takes_each_step_once():
    connection = sqlite3.connect(":memory:", isolation_level=None)
    one = "CREATE TABLE a (x); INSERT INTO a VALUES (';');"
    two = "ALTER TABLE a ADD COLUMN y;"
    migrate(connection, [one], Path("f"))
    migrate(connection, [one, two], Path("f"))
    migrate(connection, [one, two], Path("f"))

    assert connection.execute("SELECT x, y FROM a").fetchall() == [(";", None)]
    assert connection.execute("PRAGMA user_version").fetchone() == (2,)
    connection.close()


def test_a_step_that_fails_leaves_the_file_as_it_was():
    connection = sqlite3.connect(":memory:", isolation_level=None)
    with pytest.raises(sqlite3.OperationalError):
        migrate(connection, ["CREATE TABLE a (x);", "CREATE TABLE b (x); NONSENSE;"], Path("f"))

    assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    assert connection.execute("PRAGMA user_version").fetchone() == (0,)
    connection.close()
