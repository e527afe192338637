"""Sessions as rows: made, found, listed, changed, deleted."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent_server.loop.errors import ClientMistake, StoreFailure, UnknownSession
from agent_server.loop.model import SessionId, SummaryEntry, TurnId
from agent_server.store.ids import new_session_id
from agent_server.store.sessions import SessionStore
from tests.store.entries import said

pytestmark = pytest.mark.anyio


class Time:
    """A clock that goes on by one second at each look."""

    def __init__(self) -> None:
        self.now = 1_000_000_000_000

    def __call__(self) -> int:
        self.now += 1000
        return self.now


@pytest.fixture
async def store(tmp_path: Path):
    store = SessionStore(tmp_path / "state" / "sessions.db", clock=Time())
    yield store
    await store.aclose()


def tamper(store: SessionStore, sql: str, *values: object) -> None:
    """Change the file behind the store's back."""
    with closing(sqlite3.connect(store.path)) as connection, connection:
        connection.execute(sql, values)
    connection.close()


async def ids(store: SessionStore, cwd: str | None = None) -> list[SessionId]:
    records, _ = await store.list(cwd=cwd)
    return [record.id for record in records]


async def test_what_was_created_is_read_back(store: SessionStore):
    parent = await store.create("/work")
    made = await store.create(
        "/home/me/\udcff",
        roots=("/a", "/b"),
        title="nul \0 and \ud800",
        model="openai/x",
        mode="plan",
        system_prompt="You are",
        parent=parent.id,
    )

    assert await store.read(made.id) == made
    assert made.created == made.updated == datetime.fromtimestamp(1_000_000_002, UTC)


async def test_reading_and_listing_make_no_file(tmp_path: Path):
    store = SessionStore(tmp_path / "state" / "sessions.db")
    with pytest.raises(UnknownSession, match="'s1'"):
        await store.read(SessionId("s1"))
    assert await store.list() == ((), None)
    await store.aclose()

    assert not store.path.parent.exists()


@pytest.mark.parametrize("id_", ["", "nobody", "\ud800", "é", "a\0b", "x" * 100_000])
async def test_an_id_that_is_none_of_ours_is_unknown_everywhere(store: SessionStore, id_: str):
    await store.create("/work")
    session = SessionId(id_)
    for call in (store.read, store.acquire, store.open_log, store.delete, store.update):
        with pytest.raises(UnknownSession):
            await call(session)


async def test_an_unknown_parent_is_named(store: SessionStore):
    with pytest.raises(UnknownSession, match="'nobody'"):
        await store.create("/work", parent=SessionId("nobody"))


def test_ids_sort_by_time_and_differ_within_a_millisecond():
    assert new_session_id(1) < new_session_id(2) < new_session_id(1 << 40)
    assert len({new_session_id(1) for _ in range(1000)}) == 1000


async def test_an_update_changes_what_is_given_and_not_the_time(store: SessionStore):
    made = await store.create("/work", title="old", model="m")

    changed = await store.update(made.id, title="new", mode="auto", model=None, roots=("/c",))

    assert changed == await store.read(made.id)
    assert (changed.title, changed.mode, changed.model) == ("new", "auto", None)
    assert (changed.roots, changed.cwd, changed.updated) == (("/c",), "/work", made.updated)


async def test_the_session_spoken_in_last_is_listed_first(store: SessionStore):
    one, two, three = [(await store.create("/work")).id for _ in range(3)]
    await (await store.open_log(one)).append(said("hello"))

    assert await ids(store) == [one, three, two]


async def test_opening_renaming_and_compacting_do_not_make_a_session_newer(store: SessionStore):
    one, two = [(await store.create("/work")).id for _ in range(2)]
    log = await store.open_log(one)
    await log.append(SummaryEntry(TurnId("t"), "so far", 0, 1))
    await store.update(one, title="renamed")
    await store.acquire(one)

    assert await ids(store) == [two, one]


async def test_a_list_keeps_to_the_folder_asked_for(store: SessionStore):
    there = await store.create("/home/me/\udcff")
    await store.create("/work")

    assert await ids(store, cwd="/home/me/\udcff") == [there.id]


async def test_pages_show_each_session_once_although_new_ones_come(store: SessionStore):
    made = [(await store.create("/work")).id for _ in range(7)]
    seen: list[SessionId] = []
    cursor = None
    while True:
        records, cursor = await store.list(cursor=cursor, limit=3)
        seen += [record.id for record in records]
        if cursor is None:
            break
        await store.create("/work")

    assert seen == made[::-1]


async def test_sessions_of_the_same_millisecond_are_all_listed(tmp_path: Path):
    store = SessionStore(tmp_path / "sessions.db", clock=lambda: 5)
    made = {(await store.create("/work")).id for _ in range(5)}
    first, cursor = await store.list(limit=2)
    second, cursor = await store.list(limit=2, cursor=cursor)
    third, end = await store.list(limit=2, cursor=cursor)
    await store.aclose()

    assert {record.id for record in (*first, *second, *third)} == made
    assert end is None


@pytest.mark.parametrize(
    "cursor", ["", "x", "é", "\ud800", "AAAA", "MTIz", "OTk5OTk5OTk5OTk5OTk5OTk5OTk5IHg="]
)
async def test_a_cursor_that_is_none_of_ours_is_a_mistake_of_the_client(
    store: SessionStore, cursor: str
):
    await store.create("/work")
    with pytest.raises(ClientMistake, match="no cursor"):
        await store.list(cursor=cursor)


async def test_deleting_takes_all_of_a_session_and_nothing_else(store: SessionStore):
    gone = await store.create("/work")
    child = await store.create("/work", parent=gone.id)
    await (await store.open_log(gone.id)).append(said("secret"))
    await store.add_grant("session", gone.id, "key")
    await store.delete(gone.id)

    with pytest.raises(UnknownSession):
        await store.open_log(gone.id)
    assert (await store.read(child.id)).parent is None
    assert await store.grants(gone.id, "/work") == ()
    connection = sqlite3.connect(store.path)
    assert connection.execute("SELECT count(*) FROM entry").fetchone() == (0,)
    connection.close()


DAMAGES = {
    "an entry is garbage": ("UPDATE entry SET body = 'garbage' WHERE session = ? AND place = 1",),
    "an entry is cut": (
        "UPDATE entry SET body = substr(body, 1, 20) WHERE session = ? AND place = 1",
    ),
    "an entry is gone": ("DELETE FROM entry WHERE session = ? AND place = 1",),
    "an entry is of a newer kind": (
        "UPDATE entry SET kind = 'rewind' WHERE session = ? AND place = 1",
    ),
    "an entry is of a newer form": (
        "UPDATE entry SET body = CAST(replace(body, '\"v\":1', '\"v\":9') AS BLOB) WHERE session = ?",
    ),
    "the mode is unknown": ("UPDATE session SET mode = 'yolo' WHERE id = ?",),
    "the roots are garbage": ("UPDATE session SET roots = x'ff' WHERE id = ?",),
    "the time is none": ("UPDATE session SET created = 99999999999999999 WHERE id = ?",),
}


@pytest.mark.parametrize("damage", DAMAGES)
async def test_a_damaged_session_is_listed_as_damaged_and_the_others_are_fine(
    store: SessionStore, damage: str
):
    fine = await store.create("/work", title="fine")
    hurt = await store.create("/work", title="hurt")
    for session in (fine.id, hurt.id):
        await (await store.open_log(session)).append(said("one"), said("two"), said("three"))
    tamper(store, DAMAGES[damage][0], hurt.id)

    records, _ = await store.list()
    marks = {record.id: record.damaged for record in records}
    assert marks[fine.id] is None
    assert str(marks[hurt.id]).startswith(f"session {hurt.id!r}")
    assert len((await store.open_log(fine.id)).entries) == 3


async def test_damage_within_an_entry_is_found_when_it_is_opened_and_remembered(
    store: SessionStore,
):
    made = await store.create("/work")
    await (await store.open_log(made.id)).append(said("one"))
    tamper(store, "UPDATE entry SET body = replace(body, 'parts', 'party')")
    tamper(store, "UPDATE entry SET body = CAST(replace(body, 'origin', 'organ') AS BLOB)")

    with pytest.raises(StoreFailure, match=f"{made.id}.*entry 0.*'origin'"):
        await store.open_log(made.id)
    (record,), _ = await store.list()
    assert "entry 0" in str(record.damaged)

    tamper(store, "UPDATE entry SET body = CAST(replace(body, 'organ', 'origin') AS BLOB)")
    await store.open_log(made.id)
    (record,), _ = await store.list()
    assert record.damaged is None


async def test_grants_of_the_session_and_its_workspace_are_found(store: SessionStore):
    made, other = await store.create("/work"), await store.create("/work")
    await store.add_grant("session", made.id, "write edit /a")
    await store.add_grant("workspace", "/work", "exec \ud800", "block")
    await store.add_grant("session", other.id, "elsewhere")
    await store.add_grant("workspace", "/other", "elsewhere")

    found = await store.grants(made.id, "/work")
    assert [(g.scope, g.key, g.verdict) for g in found] == [
        ("session", "write edit /a", "allow"),
        ("workspace", "exec \ud800", "block"),
    ]


async def test_the_newest_grant_of_a_key_counts_until_it_is_revoked(store: SessionStore):
    made = await store.create("/work")
    await store.add_grant("workspace", "/work", "key", "allow")
    await store.add_grant("workspace", "/work", "key", "block")
    (grant,) = await store.grants(made.id, "/work")
    assert grant.verdict == "block"

    await store.revoke_grant("workspace", "/work", "key")
    assert await store.grants(made.id, "/work") == ()
