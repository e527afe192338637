"""Texts that no journal refers to go: with the last session that did, or a day after they were left behind."""

import os
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent_server.edits.hashes import content_hash
from agent_server.edits.journal import Cause, Content, FileRecord, Line
from agent_server.loop.errors import StoreFailure
from agent_server.loop.model import SessionId
from agent_server.store.blobs import BlobStore
from agent_server.store.sessions import SessionStore

pytestmark = pytest.mark.anyio

TWO_DAYS_S = 2 * 86_400


class World:
    """A store, its texts, and what time it is."""

    def __init__(self, root: Path) -> None:
        self.now = datetime.now(UTC)
        self.blobs = BlobStore(root / "blobs")
        self.store = SessionStore(
            root / "sessions.db", blobs=self.blobs, clock=lambda: round(self.now.timestamp() * 1000)
        )
        self.folder = root / "blobs"

    async def session(self, *texts: str, parent: SessionId | None = None) -> SessionId:
        """One whose journal refers to these texts."""
        record = await self.store.create("/w", parent=parent, delegated_by=parent and "call-1-0")
        await self.mention(record.id, *texts)
        return record.id

    async def mention(self, session: SessionId, *texts: str) -> None:
        files = tuple(
            FileRecord(f"/w/{i}", "create", None, Content(self.blobs.put(text)))
            for i, text in enumerate(texts)
        )
        line = Line("x1", 1, "proposed", datetime.now(UTC), files, Cause("call", "write"))
        await self.store.journal(session).append(line)

    def age(self, text: str, seconds: float = TWO_DAYS_S) -> None:
        """As if it had been kept that long ago."""
        path = self.path(text)
        then = path.stat().st_mtime - seconds
        os.utime(path, (then, then))

    def path(self, text: str) -> Path:
        digest = content_hash(text).removeprefix("sha256:")
        return self.folder / digest[:2] / digest[2:]

    def has(self, *texts: str) -> list[bool]:
        return [self.path(text).exists() for text in texts]


@pytest.fixture
async def world(tmp_path: Path):
    made = World(tmp_path / "state")
    yield made
    await made.store.aclose()


async def test_a_deleted_sessions_texts_go_but_not_those_that_another_one_refers_to(world: World):
    first = await world.session("only mine", "both")
    await world.session("both", "only yours")
    await world.store.delete(first)

    assert world.has("only mine", "both", "only yours") == [False, True, True]


async def test_the_texts_of_its_sub_agents_go_with_a_session(world: World):
    parent = await world.session("a")
    await world.session("b", parent=parent)
    await world.store.delete(parent)

    assert world.has("a", "b") == [False, False]


async def test_a_text_that_somebody_kept_since_and_has_not_written_down_stays(world: World):
    """Between keeping a text and writing down who it is for, nothing says that it is needed."""
    first = await world.session("both")
    world.age("both", seconds=-5)
    await world.store.delete(first)

    assert world.has("both") == [True]


async def test_a_text_that_cannot_be_removed_does_not_bring_its_session_back(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    first = await world.session("a")

    def refuse(*_: object, **__: object) -> None:
        raise OSError(13, "Permission denied")

    with monkeypatch.context() as broken:
        broken.setattr(os, "unlink", refuse)
        await world.store.delete(first)

    assert (await world.store.list())[0] == []


async def test_only_texts_that_nobody_refers_to_and_that_are_old_are_collected(world: World):
    await world.session("in use")
    for text in ("left behind", "just kept"):
        world.blobs.put(text)
    world.age("left behind")
    world.age("in use")
    torn = world.path("left behind").with_name("0123456789abcdef.tmp")
    torn.write_bytes(b"half")
    os.utime(torn, (0, 0))

    assert await world.store.collect() == 2
    assert world.has("in use", "just kept", "left behind") == [True, True, False]
    assert not torn.exists()


async def test_keeping_a_text_again_makes_it_young(world: World):
    await world.session("other")
    world.blobs.put("again")
    world.age("again")
    world.blobs.put("again")

    assert await world.store.collect() == 0


async def test_texts_are_collected_at_most_once_a_day(world: World):
    await world.session("in use")
    counts = [await world.store.collect()]
    for hours in (0, 20, 5):
        world.now += timedelta(hours=hours)
        world.blobs.put("left behind")
        world.age("left behind")
        counts.append(await world.store.collect())

    assert counts == [0, 0, 0, 1]


async def test_nothing_is_collected_when_the_journals_cannot_be_read(world: World):
    await world.session("in use")
    world.age("in use")
    await world.store.aclose()
    world.store.path.write_bytes(
        b"no database at all, but as long as its header would have to be" * 9
    )

    with pytest.raises(StoreFailure):
        await SessionStore(world.store.path, blobs=world.blobs).collect()
    assert world.has("in use") == [True]


async def test_without_a_database_nobody_knows_what_is_needed_and_nothing_goes(tmp_path: Path):
    world = World(tmp_path / "state")
    world.blobs.put("left behind")
    world.age("left behind")

    assert await world.store.collect() == 0
    assert not world.store.path.exists()


@pytest.mark.skipif("sys.platform == 'win32'")
async def test_collecting_leaves_nothing_that_others_can_read(world: World):
    await world.session("in use")
    await world.store.collect()

    files = [path for path in world.folder.rglob("*") if path.is_file()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
