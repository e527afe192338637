"""Appends are facts: whole, ordered, durable, and nobody else's."""

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_server.loop.errors import StoreFailure
from agent_server.loop.model import (
    CallKey,
    Entry,
    ResultEntry,
    SessionId,
    StartedEntry,
    ToolResult,
    TurnId,
)
from agent_server.store.sessions import SessionStore
from tests.store.entries import call_entry, entries, said

pytestmark = pytest.mark.anyio

TURN = TurnId("t")
KEY = CallKey(1, 0)
CUTS = random.Random(1)


@pytest.fixture
async def store(tmp_path: Path):
    store = SessionStore(tmp_path / "state" / "sessions.db")
    yield store
    await store.aclose()


async def reopened(path: Path, session: SessionId) -> list[Entry]:
    store = SessionStore(path)
    log = await store.open_log(session)
    await store.aclose()
    return list(log.entries)


@given(st.lists(st.lists(entries, max_size=4), max_size=4))
@settings(max_examples=25, deadline=None)
def test_any_entries_come_back_in_order(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[Entry]]
):
    path = tmp_path_factory.mktemp("any") / "sessions.db"

    async def scenario() -> tuple[list[Entry], list[Entry]]:
        store = SessionStore(path)
        made = await store.create("/work")
        log = await store.open_log(made.id)
        for batch in batches:
            await log.append(*batch)
        await store.aclose()
        return list(log.entries), await reopened(path, made.id)

    in_memory, on_disk = anyio.run(scenario)
    assert in_memory == on_disk == [entry for batch in batches for entry in batch]


async def test_eight_sessions_at_once_are_all_durable_and_in_order(store: SessionStore):
    made = [await store.create("/work") for _ in range(8)]

    async def talk(session: SessionId) -> None:
        log = await store.open_log(session)
        for i in range(20):
            await log.append(said(f"{session} {i}"), said("and"))

    with anyio.fail_after(10):
        async with anyio.create_task_group() as group:
            for record in made:
                group.start_soon(talk, record.id)

    for record in made:
        expected = [e for i in range(20) for e in (said(f"{record.id} {i}"), said("and"))]
        assert await reopened(store.path, record.id) == expected


async def test_two_appends_to_one_log_at_once_keep_one_order_in_memory_and_on_disk(
    store: SessionStore,
):
    made = await store.create("/work")
    log = await store.open_log(made.id)
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            for i in range(30):
                group.start_soon(log.append, said(f"{i} a"), said(f"{i} b"))

    assert len(log.entries) == 60
    assert await reopened(store.path, made.id) == list(log.entries)


async def test_a_cancelled_append_is_kept_whole_in_memory_and_on_disk(store: SessionStore):
    made = await store.create("/work")
    log = await store.open_log(made.id)
    with anyio.CancelScope() as scope:
        scope.cancel()
        await log.append(said("a"), said("b"))

    assert list(log.entries) == await reopened(store.path, made.id) == [said("a"), said("b")]


@pytest.mark.row("R86", "R113")
async def test_an_append_that_fails_keeps_nothing_of_it(store: SessionStore):
    made = await store.create("/work")
    log = await store.open_log(made.id)
    await log.append(said("before"))
    blocker = sqlite3.connect(store.path)
    blocker.execute(
        "CREATE TRIGGER t BEFORE INSERT ON entry WHEN NEW.place = 2 BEGIN SELECT RAISE(ABORT, 'no'); END"
    )
    blocker.commit()

    with pytest.raises(StoreFailure, match="no"):
        await log.append(call_entry(1), said("b"))

    assert list(log.entries) == await reopened(store.path, made.id) == [said("before")]
    assert await store.receipts(made.id) == ()
    blocker.execute("DROP TRIGGER t")
    blocker.close()
    await log.append(said("after"))
    assert await reopened(store.path, made.id) == [said("before"), said("after")]


async def test_an_append_never_goes_to_a_file_that_was_deleted_beneath_it(store: SessionStore):
    made = await store.create("/work")
    log = await store.open_log(made.id)
    await log.append(said("before"))
    store.path.unlink()

    with pytest.raises(StoreFailure, match="not held"):
        await log.append(said("lost"))
    assert list(log.entries) == [said("before")]
    again = await store.create("/work")
    await (await store.open_log(again.id)).append(said("after"))
    assert await reopened(store.path, again.id) == [said("after")]


async def test_a_log_cannot_be_written_by_who_does_not_hold_the_session(store: SessionStore):
    made = await store.create("/work")
    await store.release(made.id)
    log = await store.open_log(made.id)
    with pytest.raises(StoreFailure, match="not held by this process"):
        await log.append(said("x"))

    await store.acquire(made.id)
    await log.append(said("x"))
    assert list(log.entries) == [said("x")]


@pytest.mark.row("R86", "R105", "R107", "R108", "R109")
async def test_receipts_tell_phase_and_effect(store: SessionStore):
    made = await store.create("/work")
    log = await store.open_log(made.id)
    await log.append(call_entry(1, tool="shell"))
    await log.append(StartedEntry(TURN, KEY))
    await log.append(ResultEntry(TURN, KEY, ToolResult(False, "boom"), "unknown"))

    receipts = await store.receipts(made.id)
    assert [(r.key, r.tool, r.phase, r.disposition) for r in receipts] == [
        (KEY, "shell", "pending", None),
        (KEY, "shell", "started", None),
        (KEY, "shell", "settled", "unknown"),
    ]


@pytest.mark.row("R151")
async def test_no_byte_of_arguments_or_output_is_in_the_receipts(store: SessionStore):
    made = await store.create("/work")
    log = await store.open_log(made.id)
    await log.append(call_entry(1, arguments='{"command": "SECRET-ARGUMENT"}'))
    await log.append(ResultEntry(TURN, KEY, ToolResult(True, "SECRET-OUTPUT"), "confirmed"))

    connection = sqlite3.connect(store.path)
    rows = connection.execute("SELECT * FROM effect").fetchall()
    connection.close()
    assert len(rows) == 2
    assert "SECRET" not in repr(rows)


async def test_a_torn_write_ahead_log_leaves_whole_appends_and_a_log_that_goes_on(
    store: SessionStore, tmp_path: Path
):
    """SE-01: a power cut may leave any prefix of what was not yet acknowledged."""
    made = await store.create("/work")
    log = await store.open_log(made.id)
    for i in range(6):
        await log.append(said(f"{i} a \u00e9"), said(f"{i} b"))
    whole = list(log.entries)
    wal = await anyio.Path(f"{store.path}-wal").read_bytes()

    for number, length in enumerate([0, 31, 32, len(wal) - 1, *CUTS.sample(range(len(wal)), 12)]):
        torn = tmp_path / f"torn{number}.db"
        shutil.copy(store.path, torn)
        await anyio.Path(f"{torn}-wal").write_bytes(wal[:length])
        records, _ = await SessionStore(torn).list()
        for record in records:
            kept = await reopened(torn, record.id)
            assert kept == whole[: len(kept)]
            assert len(kept) % 2 == 0
            await go_on(torn, record.id)
            assert await reopened(torn, record.id) == [*kept, said("on")]


async def go_on(path: Path, session: SessionId) -> None:
    store = SessionStore(path)
    # The copy still names its holder, this very process: it is another store of it, so take the lock by force.
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM lock")
    connection.close()
    await store.acquire(session)
    await (await store.open_log(session)).append(said("on"))
    await store.aclose()
