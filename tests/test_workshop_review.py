"""The setting `review`, the tool `patch` and the real policy, put together as the program does."""

import json
from pathlib import Path

import anyio
import pytest

from agent_server.loop.model import DoneReason
from agent_server.options import Options
from agent_server.workshop import open_sessions
from tests.fakes.loop import said
from tests.fakes.session import RecordingClient

pytestmark = pytest.mark.anyio

PATCH = "\n".join(
    [
        "*** Begin Patch",
        "*** Update File: a.py",
        "-one",
        "+1",
        "*** Add File: b.py",
        "+new",
        "*** End Patch",
    ]
)
ALIKE = [
    {"calls": [{"name": "patch", "arguments": {"patch": PATCH}}]},
    {
        "calls": [
            {
                "name": "edit",
                "arguments": {"path": "a.py", "edits": [{"old_text": "1", "new_text": "uno"}]},
            }
        ]
    },
    {"text": "Done."},
]


@pytest.mark.parametrize(("review", "questions"), [("each", 2), ("turn", 1)])
async def test_the_setting_says_how_often_a_person_is_asked_and_the_files_end_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, review: str, questions: int
) -> None:
    monkeypatch.setenv("AGENT_SERVER_HOME", str(tmp_path / "home"))
    work, script = tmp_path / "w", tmp_path / "script.json"
    work.mkdir()
    (work / "a.py").write_text("one\n")
    script.write_text(json.dumps(ALIKE))
    client = RecordingClient()
    options: dict[str, object] = {"model": f"scripted:{script}", "review": review}
    with anyio.fail_after(20):
        async with open_sessions(Options(), options) as sessions:
            session = await sessions.new(cwd=str(work), client=client)
            result = await session.prompt(said("go"))

    assert result.reason is DoneReason.MODEL_STOP
    assert len(client.person.asked) == questions
    assert {p.name: p.read_text() for p in work.glob("*.py")} == {"a.py": "uno\n", "b.py": "new\n"}
