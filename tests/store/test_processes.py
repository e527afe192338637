"""Several processes and one file. Real processes: what is tested is what the system does when one is killed."""

import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent_server.loop.errors import SessionBusy, StoreFailure
from agent_server.loop.model import SessionId
from agent_server.store import locks
from agent_server.store.process import Process, _look_up, is_alive, this_process
from agent_server.store.sessions import SessionStore
from tests.store.entries import said

pytestmark = pytest.mark.anyio

WRITER = """
import sys, anyio
from pathlib import Path
from agent_server.store.sessions import SessionStore
from agent_server.loop.model import Text, TurnId, UserEntry

async def main():
    store = SessionStore(Path(sys.argv[1]))
    record = await store.create("/work")
    log = await store.open_log(record.id)
    print(record.id, flush=True)
    for i in range(int(sys.argv[2])):
        await log.append(*(UserEntry(TurnId("t"), (Text(f"{i} {part}"),)) for part in "ab"))
        print(i, flush=True)
    print("done", flush=True)
    sys.stdin.read()
    await store.aclose()

anyio.run(main)
"""


@contextmanager
def writer(path: Path, appends: int) -> Generator[subprocess.Popen[str]]:
    """A process that makes a session, prints its id, and prints the number of each append once it returned."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), str(appends)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def holding(process: subprocess.Popen[str]) -> SessionId:
    """The session it made, once it has finished its appends and only holds it."""
    session = SessionId(line(process))
    while line(process) != "done":
        pass
    return session


@pytest.mark.parametrize("survived", [1, 7, 40])
@pytest.mark.row("R106", "R113")
async def test_every_acknowledged_append_is_there_after_a_kill(tmp_path: Path, survived: int):
    path = tmp_path / "sessions.db"
    with writer(path, 100_000) as process:
        session = SessionId(line(process))
        for _ in range(survived):
            line(process)
        process.kill()
        assert process.stdout is not None
        rest = process.stdout.read().splitlines(keepends=True)
    acknowledged = survived + sum(text.endswith("\n") for text in rest)

    store = SessionStore(path)
    await store.acquire(session)
    log = await store.open_log(session)
    kept = len(log.entries) // 2
    assert kept >= acknowledged
    assert list(log.entries) == [said(f"{i} {part}") for i in range(kept) for part in "ab"]
    await log.append(said("on"))
    await store.aclose()


async def test_the_second_process_can_read_and_not_write_until_the_first_is_gone(tmp_path: Path):
    """SE-07."""
    store = SessionStore(tmp_path / "sessions.db")
    with writer(store.path, 3) as process:
        session = holding(process)
        for attempt in (store.acquire, store.delete, store.update):
            with pytest.raises(SessionBusy, match=f"process {process.pid}"):
                await attempt(session)
        log = await store.open_log(session)
        assert len(log.entries) == 6
        with pytest.raises(StoreFailure, match=f"held by process {process.pid}"):
            await log.append(said("intruder"))

        process.send_signal(signal.SIGKILL)
        process.wait(5)
        await store.acquire(session)
        await log.append(said("mine now"))
    await store.aclose()


@pytest.mark.skipif("sys.platform == 'win32'")
async def test_a_stopped_process_keeps_its_session(tmp_path: Path):
    store = SessionStore(tmp_path / "sessions.db", clock=lambda: 4_000_000_000_000)
    with writer(store.path, 1) as process:
        session = holding(process)
        process.send_signal(signal.SIGSTOP)
        with pytest.raises(SessionBusy):
            await store.acquire(session)
    await store.aclose()


async def test_a_process_that_closes_its_store_gives_its_sessions_up(tmp_path: Path):
    store = SessionStore(tmp_path / "sessions.db")
    with writer(store.path, 1) as process:
        session = holding(process)
        process.communicate(input="", timeout=5)
        assert process.returncode == 0
        await store.acquire(session)
    await store.aclose()


async def test_processes_that_start_at_once_all_get_their_sessions(tmp_path: Path):
    path = tmp_path / "state" / "sessions.db"
    with writer(path, 20) as one, writer(path, 20) as two, writer(path, 20) as three:
        sessions = {holding(process) for process in (one, two, three)}
        store = SessionStore(path)
        for session in sessions:
            assert len((await store.open_log(session)).entries) == 40
        await store.aclose()
    assert len(sessions) == 3


async def held_elsewhere(store: SessionStore, beat: int) -> SessionId:
    """A session whose holder runs where we cannot look it up, and last gave a sign at `beat`."""
    made = await store.create("/work")
    await store._database.run(
        lambda c: c.execute(
            "UPDATE lock SET owner = 'o', pid = 7, place = 'mars', beat = ?", (beat,)
        )
    )
    return made.id


async def test_a_holder_on_another_machine_keeps_its_session_while_it_gives_signs(tmp_path: Path):
    store = SessionStore(tmp_path / "sessions.db", clock=lambda: 1_000_000)
    session = await held_elsewhere(store, 1_000_000 - int(locks.LOST_AFTER_S * 1000) + 1)
    with pytest.raises(SessionBusy, match="process 7"):
        await store.acquire(session)
    await store.aclose()


async def test_a_holder_on_another_machine_that_fell_silent_loses_its_session(tmp_path: Path):
    store = SessionStore(tmp_path / "sessions.db", clock=lambda: 1_000_000)
    session = await held_elsewhere(store, 1_000_000 - int(locks.LOST_AFTER_S * 1000))
    await store.acquire(session)
    await store.aclose()


async def test_who_lost_its_session_cannot_write_it_any_more(tmp_path: Path):
    store = SessionStore(tmp_path / "sessions.db")
    made = await store.create("/work")
    log = await store.open_log(made.id)
    await store._database.run(lambda c: c.execute("UPDATE lock SET owner = 'o', pid = 7"))
    with pytest.raises(StoreFailure, match="now held by process 7"):
        await log.append(said("late"))
    assert log.entries == []
    await store.aclose()


def test_a_process_is_told_from_another_one_with_its_pid():
    me = this_process()
    assert is_alive(me)
    assert not is_alive(Process(me.pid, "another start", me.place))
    assert is_alive(Process(me.pid, me.started, "another place")) is None


@pytest.mark.skipif("sys.platform == 'win32'")
def test_a_dead_process_that_nobody_waited_for_is_dead():
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        known = _look_up(child.pid)
        assert is_alive(known)
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # dead, and still in the table
        assert not is_alive(known)
    finally:
        child.communicate()
