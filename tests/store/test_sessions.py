"""Sessions as rows: made, found, listed, changed, deleted."""

from pathlib import Path

import pytest

from agent_server.loop.errors import ClientMistake, UnknownSession
from agent_server.loop.model import SessionId, Text, TurnId, UserEntry
from agent_server.store.sessions import SessionStore

pytestmark = pytest.mark.anyio

HELLO = UserEntry(TurnId("t1"), (Text("hello"),))


async def test_an_append_is_there_after_reopening(tmp_path: Path):
    store = SessionStore(tmp_path / "state" / "sessions.db")
    record = await store.create("/work")
    log = await store.open_log(record.id)
    await log.append(HELLO)
    await store.aclose()

    again = SessionStore(store.path)
    assert list((await again.open_log(record.id)).entries) == [HELLO]
    assert (await again.read(record.id)).entries == 1
    await again.aclose()
