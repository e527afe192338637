"""The edit journal as a table: durable, append-only, whole or refused by name; and the step from version 1."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_server.edits.encodings import UTF8, Encoding
from agent_server.edits.files import Form
from agent_server.edits.journal import Cause, Content, FileRecord, KeptDecision, Kind, Line
from agent_server.loop.errors import StoreFailure
from agent_server.loop.model import CallKey, TurnId
from agent_server.loop.proposal import ChangeKind, EditState
from agent_server.store.connection import migrate
from agent_server.store.edits_codec import decode, encode
from agent_server.store.schema import STEPS
from agent_server.store.sessions import SessionStore
from tests.store.entries import anything, count, keys, maybe, some, turns

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 11, 29, 23, 0, tzinfo=UTC)
CONTENT = Content("sha256:ab", Form(Encoding("utf-8", b"\xef\xbb\xbf"), 0o644), "sha256:cd")
FILE = FileRecord("/w/a.py", "edit", CONTENT, Content("sha256:ef", Form(UTF8)), None, ("/w/new",))
FIRST = Line("x1", 1, "proposed", NOW, (FILE,), Cause("call", "edit a.py", CallKey(1, 0)))
SECOND = Line("x1", 2, "failed", NOW, (), turn=TurnId("t1"), message="no", gated=True)

forms = st.none() | st.builds(
    Form, st.builds(Encoding, anything, st.binary(max_size=4)), st.none() | count
)
contents = st.none() | st.builds(Content, anything, forms, maybe)
files = st.builds(
    FileRecord, anything, st.sampled_from(get_args(ChangeKind)), contents, contents, maybe,
    some(anything),
)  # fmt: skip
causes = st.builds(Cause, st.sampled_from(get_args(Kind)), anything, st.none() | keys, maybe, maybe)
lines = st.builds(
    Line, st.just("x1"), count, st.sampled_from(get_args(EditState)), st.just(NOW),
    st.none() | some(files), st.none() | causes, st.none() | turns, maybe, st.booleans(),
    st.none() | some(st.builds(KeptDecision, anything, maybe, st.booleans(), maybe)), st.booleans(),
)  # fmt: skip


@given(lines)
@settings(max_examples=300, deadline=None)
def test_every_line_comes_back_as_it_was(line: Line):
    assert decode(Line(line.txn, line.revision, line.state, line.at), encode(line)) == line


def test_a_line_of_a_version_without_kept_decisions_is_read_as_having_none():
    old = b'{"v":1,"files":[],"turn":"t1","message":"no","gated":true}'

    assert decode(Line("x1", 2, "failed", NOW), old) == SECOND


async def test_lines_are_there_again_in_order_when_the_store_is_opened_again(tmp_path: Path):
    store = SessionStore(tmp_path / "sessions.db")
    record = await store.create("/w")
    journal = store.journal(record.id)
    await journal.append(FIRST)
    await journal.append(SECOND, FIRST)
    await store.aclose()

    again = SessionStore(tmp_path / "sessions.db")
    assert await again.journal(record.id).read() == (FIRST, SECOND, FIRST)
    await again.aclose()


async def test_every_line_is_durable_at_the_strictest_level_when_append_returns(tmp_path: Path):
    store = SessionStore(tmp_path / "sessions.db")
    record = await store.create("/w")
    await store.journal(record.id).append(FIRST)
    with closing(sqlite3.connect(tmp_path / "sessions.db")) as other, other:
        (seen,) = other.execute("SELECT count(*) FROM edit").fetchone()
    await store.aclose()

    assert seen == 1


async def test_a_process_that_does_not_hold_the_session_writes_no_line(tmp_path: Path):
    store, other = (SessionStore(tmp_path / "sessions.db") for _ in range(2))
    record = await store.create("/w")
    with pytest.raises(StoreFailure, match="held by process"):
        await other.journal(record.id).append(FIRST)
    assert await store.journal(record.id).read() == ()
    await store.aclose()
    await other.aclose()


async def test_a_deleted_session_leaves_no_lines(tmp_path: Path):
    store = SessionStore(tmp_path / "sessions.db")
    record = await store.create("/w")
    await store.journal(record.id).append(FIRST)
    await store.delete(record.id)

    assert await store.journal(record.id).read() == ()
    await store.aclose()


async def test_a_damaged_line_is_refused_by_its_place(tmp_path: Path):
    store = SessionStore(tmp_path / "sessions.db")
    record = await store.create("/w")
    await store.journal(record.id).append(FIRST, SECOND)
    with closing(sqlite3.connect(tmp_path / "sessions.db")) as other, other:
        other.execute("UPDATE edit SET body = x'7b' WHERE place = 1")
    with pytest.raises(StoreFailure, match="line 1"):
        await store.journal(record.id).read()
    await store.aclose()


async def test_a_store_of_version_1_gets_the_journal_and_keeps_what_it_has(tmp_path: Path):
    path = tmp_path / "sessions.db"
    with closing(sqlite3.connect(path)) as old, old:
        migrate(old, STEPS[:1], path)
        old.execute(
            "INSERT INTO session (id, cwd, roots, mode, created, updated)"
            " VALUES ('abc', '/w', '[]', 'ask', 1, 1)"
        )
    store = SessionStore(path)
    await store.acquire((await store.list())[0][0].id)
    (record,), _ = await store.list()
    await store.journal(record.id).append(FIRST)

    assert (record.id, record.cwd) == ("abc", "/w")
    assert await store.journal(record.id).read() == (FIRST,)
    await store.aclose()
