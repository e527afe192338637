"""A whole conversation with the real tools, store and settings makes no call that blocks the event loop."""

import json
from pathlib import Path

import anyio
import pytest
from blockbuster import blockbuster_ctx

from agent_server.loop.model import DoneReason, ResultEntry
from agent_server.options import Options
from agent_server.session.sessions import Sessions
from agent_server.workshop import open_sessions
from tests.fakes.loop import said
from tests.fakes.session import RecordingClient

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]

SCRIPT = [
    {
        "text": "I look around.",
        "calls": [
            {"name": "list", "arguments": {}},
            {"name": "read", "arguments": {"path": "a.txt"}},
            {"name": "glob", "arguments": {"pattern": "*.txt"}},
            {"name": "search", "arguments": {"pattern": "alpha"}},
        ],
    },
    {
        "calls": [
            {
                "name": "edit",
                "arguments": {
                    "path": "a.txt",
                    "edits": [{"old_text": "alpha", "new_text": "omega"}],
                },
            },
            {"name": "write", "arguments": {"path": "new/b.txt", "content": "beta\n"}},
            {"name": "shell", "arguments": {"command": "cat a.txt"}},
            {"name": "todo", "arguments": {"items": [{"text": "rest", "status": "completed"}]}},
        ]
    },
    {"text": "Done."},
]


async def test_a_conversation_with_real_tools_never_blocks_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    script = tmp_path / "script.json"
    script.write_text(json.dumps(SCRIPT))
    monkeypatch.setenv("AGENT_SERVER_HOME", str(tmp_path / "home"))
    with anyio.fail_after(50):
        async with open_sessions(Options(model=f"scripted:{script}"), {}) as sessions:
            for name in (
                "warm",
                "watched",
            ):  # the first one imports what is imported late, which is no call of ours
                folder = tmp_path / name
                folder.mkdir()
                (folder / "a.txt").write_text("alpha\n")
                if name == "warm":
                    await converse(sessions, folder)
                else:
                    with blockbuster_ctx("agent_server"):
                        await converse(sessions, folder)


async def converse(sessions: Sessions, folder: Path) -> None:
    session = await sessions.new(cwd=str(folder), client=RecordingClient())
    result = await session.prompt(said("go"))
    assert result.reason is DoneReason.MODEL_STOP
    failed = [
        e.result.output for e in session.entries if isinstance(e, ResultEntry) and not e.result.ok
    ]
    assert failed == []
    await sessions.load(session.id, cwd=str(folder), client=RecordingClient())
    await sessions.close(session.id)
    again = await sessions.load(session.id, cwd=str(folder), client=RecordingClient())
    await sessions.list(cwd=str(folder))
    await sessions.close(again.id)
