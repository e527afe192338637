"""`kill -9` at every commit of a turn of three calls: reopened, it is settled once and nothing runs twice.

The commits are stepped through from outside: the test holds SQLite's write lock and lets go of it for one commit at a
time, so the process stands between two commits when it dies. Nothing in the product knows of this.
"""

import json
import os
import signal
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from tests.e2e.support import Place, running
from tests.fakes.acp_client import prompt_params
from tests.fakes.answers import call, say
from tests.fakes.model_server import ModelServer
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.timeout(120),
    pytest.mark.skipif(
        not Path("/proc/self/environ").exists(), reason="descendants are found there"
    ),
]

WORDS = ("one", "two", "three")
BATCH = sum((call("shell", command=f"echo {word} >> ran.txt") for word in WORDS), say("All three."))
POINTS = (
    "user", "reply",
    "started 1", "result 1", "started 2", "result 2", "started 3", "result 3",
    "last reply", "turn end",
)  # fmt: skip
ATTEMPTS = 8
"""The machine may be so busy that a commit slips by; then the trial is repeated."""


@contextmanager
def standing_at(database: Path, session: str, entries: int) -> Generator[None]:
    """Let commits through until the log has this many entries; inside the block nothing more is committed.

    A process that was quicker than the test stands a commit later; the log tells.
    """
    with closing(sqlite3.connect(database, timeout=0, isolation_level=None)) as connection:
        while True:
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:  # the process commits right now
                continue
            (found,) = connection.execute(
                "SELECT count(*) FROM entry WHERE session = ?", (session,)
            ).fetchone()
            if found >= entries:
                break
            connection.execute("ROLLBACK")
        yield
        connection.execute("ROLLBACK")


def kinds(database: Path, session: str) -> list[str]:
    """The kinds of the log's entries, in order."""
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as connection:
        rows = connection.execute(
            "SELECT kind FROM entry WHERE session = ? ORDER BY place", (session,)
        )
        return [kind for (kind,) in rows]


def ran(place: Place) -> list[str]:
    """What the calls did, in the order in which they did it."""
    file = place.workspace / "ran.txt"
    return file.read_text("utf-8").split() if file.exists() else []


async def killed_at(place: Place, entries: int) -> tuple[str, list[str]]:
    """A session whose process died right behind that commit, and the kinds of what it had kept."""
    database = place.root / "state" / "state" / "sessions.db"
    async with (
        ModelServer([BATCH, say("Done.")]) as model,
        running(place, model=model, env={"AGENT_SERVER_MODE": "auto"}) as server,
    ):
        session = await server.client.new(str(place.workspace))
        await server.client.ask("session/prompt", prompt_params(session, "go"))

        def step_and_kill() -> None:
            with standing_at(database, session, entries):
                os.kill(server.process.pid, signal.SIGKILL)
                wait_until(lambda: not _runs(server.process.pid))

        server.unheard = True
        await anyio.to_thread.run_sync(step_and_kill)
        await server.process.wait()
        place.kill_all()
    return session, kinds(database, session)


async def killed_exactly_at(root: Path, entries: int) -> tuple[Place, str, list[str]]:
    """As `killed_at`, with the place in which it happened."""
    for attempt in range(ATTEMPTS):
        (root / str(attempt)).mkdir()
        place = Place.at(root / str(attempt))
        session, kept = await killed_at(place, entries)
        if len(kept) == entries:
            return place, session, kept
    raise AssertionError(f"no trial of {ATTEMPTS} stopped behind commit {entries}")


def _runs(pid: int) -> bool:
    """False for one that was killed, whether or not anybody has waited for it yet."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False
    return stat.rpartition(b") ")[2][:1] not in (b"Z", b"X")


def tool_texts(body: Any) -> list[str]:
    """What the model is told of its calls."""
    return [m["content"] for m in body["messages"] if m["role"] == "tool"]


@pytest.mark.parametrize("entries", range(1, len(POINTS) + 1), ids=POINTS)
@pytest.mark.row("R105", "R106", "R107", "R108", "R109", "R110")
async def test_a_turn_killed_at_any_commit_is_settled_once_and_nothing_runs_twice(
    entries: int, tmp_path: Path
) -> None:
    """SE-03, spec §12."""
    place, session, kept = await killed_exactly_at(tmp_path, entries)
    database = place.root / "state" / "state" / "sessions.db"
    started, settled = kept.count("started"), kept.count("result")
    done = ran(place)
    assert done == list(WORDS[: len(done)])
    assert settled <= len(done) <= started

    async with (
        ModelServer([say("I see.")]) as model,
        running(place, model=model, env={"AGENT_SERVER_MODE": "auto"}) as server,
    ):
        client = server.client
        params = {"sessionId": session, "cwd": str(place.workspace), "mcpServers": []}
        await client.request("session/load", params)
        shown = client.updates(session, "tool_call")
        assert [call["status"] in ("completed", "failed") for call in shown] == [True] * (
            3 if entries > 1 else 0
        )
        settled_log = kinds(database, session)
        assert settled_log[: len(kept)] == kept
        assert settled_log.count("result") == (3 if entries > 1 else 0)
        assert settled_log[-1] == "turn_end"
        await client.request("session/close", {"sessionId": session})
        await client.request("session/load", params)
        assert kinds(database, session) == settled_log

        answer = await client.request("session/prompt", prompt_params(session, "go on"))
        assert answer["stopReason"] == "end_turn"

    assert ran(place) == done
    assert model.refused == []
    told = tool_texts(model.bodies[0])
    assert len(told) == (3 if entries > 1 else 0)
    unknown = [text for text in told if "effects unknown" in text and "the server stopped" in text]
    assert len(unknown) == started - settled
    assert len([text for text in told if "not run" in text]) == len(told) - started
    assert "go on" in json.dumps(model.bodies[0]["messages"][-1])
