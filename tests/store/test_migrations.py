"""A store of every older version is opened, listed, read and gone on with."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent_server.loop.model import AsideEntry, RewoundEntry, SessionId, TurnId
from agent_server.loop.standing import standing
from agent_server.store.codec import encode
from agent_server.store.connection import migrate
from agent_server.store.schema import STEPS
from agent_server.store.sessions import SessionStore
from tests.store.entries import said

pytestmark = pytest.mark.anyio

OLD = SessionId("0123456789abcdef")


def old_store(path: Path, version: int) -> None:
    """As a program of that version left it, with a session of one entry."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        migrate(connection, STEPS[:version], path)
        connection.execute(
            "INSERT INTO session (id, cwd, roots, title, mode, created, updated, entries)"
            " VALUES (?, '/w', '[]', 'Old', 'plan', 1, 2, 1)",
            (OLD,),
        )
        connection.execute(
            "INSERT INTO entry (session, place, at, kind, body) VALUES (?, 0, 1, ?, ?)",
            (OLD, *encode(said("hello"))),
        )


@pytest.mark.parametrize("version", range(1, len(STEPS) + 1))
@pytest.mark.parametrize("writing_first", [False, True])
async def test_a_store_of_an_older_version_goes_on(
    tmp_path: Path, version: int, *, writing_first: bool
) -> None:
    old_store(tmp_path / "s.db", version)
    store = SessionStore(tmp_path / "s.db")
    if writing_first:
        await store.acquire(OLD)
    (listed,), _ = await store.list()
    assert (listed.id, listed.title, listed.mode, listed.damaged) == (OLD, "Old", "plan", None)
    await store.acquire(OLD)
    log = await store.open_log(OLD)
    await log.append(said("again"))
    forked = await store.fork(OLD)
    copy = await store.open_log(forked.id)

    assert list(copy.entries) == [said("hello"), said("again")]
    assert (forked.parent, forked.entries) == (OLD, 2)
    await store.aclose()
    with closing(sqlite3.connect(tmp_path / "s.db")) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (len(STEPS),)


@pytest.mark.parametrize("version", range(1, len(STEPS) + 1))
async def test_a_conversation_of_an_older_version_can_be_taken_back(tmp_path: Path, version: int):
    old_store(tmp_path / "s.db", version)
    store = SessionStore(tmp_path / "s.db")
    await store.acquire(OLD)
    log = await store.open_log(OLD)
    told = (RewoundEntry(TurnId(""), 0), AsideEntry(TurnId(""), "(look again)", "x1"))
    await log.append(*told, said("instead"))
    again = await store.open_log(OLD)

    assert list(again.entries) == [said("hello"), *told, said("instead")]
    assert standing(again.entries) == [told[1], said("instead")]
    assert (await store.read(OLD)).review is None
    assert len(await again.times()) == 4
    await store.aclose()
