"""Watching a session's folders: what is watched, and that a change reaches the model before its next request."""

import json
import threading
from collections.abc import Iterable
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from agent_server.edits.outside import Marks
from agent_server.loop.model import JsonObject, Text, ToolResult
from agent_server.loop.ports import CallContext, UserMessage
from agent_server.session import watch as module
from agent_server.session.watch import watch
from tests.fakes.loop import FakeTool, Say
from tests.fakes.session import RecordingClient
from tests.fakes.workbench import JournaledWorkbench

pytestmark = pytest.mark.anyio

READ = Say("", (("read", json.dumps({"path": "src/a.py"})),))
TOLD = (
    "(changed since you read it, not by an edit of yours: src/a.py. "
    "Read again before you rely on what you saw.)"
)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    path = tmp_path / "w"
    (path / "src").mkdir(parents=True)
    (path / "src/a.py").write_text("one\n")
    return path


def said(message: object) -> list[str]:
    assert isinstance(message, UserMessage)
    return [part.text for part in message.parts if isinstance(part, Text)]


async def test_a_change_between_turns_is_told_with_the_next_prompt(work: Path) -> None:
    """ED-15: before it edits."""
    bench = JournaledWorkbench(work.parent, READ, Say("Read."), Say("Hm."))
    async with bench.sessions() as sessions:
        session = await sessions.new(cwd=str(work), client=RecordingClient())
        await session.prompt((Text("read it"),))
        (work / "src/a.py").write_text("two\n")
        session.marks.add([str(work / "src/a.py")])
        await session.prompt((Text("go on"),))

    assert said(bench.script.requests[-1].messages[-1]) == ["go on", TOLD]


async def test_a_change_during_a_turn_is_told_before_the_next_request_and_once(
    work: Path,
) -> None:
    async def body(context: CallContext, arguments: JsonObject) -> ToolResult:
        del context, arguments
        (work / "src/a.py").write_text("two\n")
        session.marks.add([str(work / "src/a.py")])
        return ToolResult(True, "formatted")

    run, again = Say("", (("format", "{}"),)), Say("", (("list", "{}"),))
    bench = JournaledWorkbench(
        work.parent, READ, run, again, Say("Hm."), tools=[FakeTool("format", body, read_only=False)]
    )
    async with bench.sessions() as sessions:
        client = RecordingClient()
        session = await sessions.new(cwd=str(work), client=client)
        await session.prompt((Text("go"),))

    requests = bench.script.requests
    assert said(requests[2].messages[-1]) == [TOLD]
    assert [TOLD] not in [said(m) for m in requests[3].messages[-2:] if isinstance(m, UserMessage)]


async def test_nothing_is_watched_before_the_first_turn_and_nothing_after_the_last(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running: list[str] = []

    async def fake(roots: object, marks: Marks) -> None:
        del roots, marks
        running.append("begun")
        try:
            await anyio.sleep_forever()
        finally:
            running.append("ended")

    monkeypatch.setattr("agent_server.session.session.watch", fake)
    bench = JournaledWorkbench(work.parent, Say("Hi."), Say("Hi."))
    async with bench.sessions() as sessions:
        session = await sessions.new(cwd=str(work), client=RecordingClient())
        await anyio.wait_all_tasks_blocked()
        assert running == []
        await session.prompt((Text("hi"),))
        await session.prompt((Text("hi"),))
        assert running == ["begun"]
    assert running == ["begun", "ended"]


class HeardMarks(Marks):
    """Says when it covers something, and when something is marked."""

    def __init__(self) -> None:
        super().__init__()
        self.covering, self.marked = threading.Event(), threading.Event()

    def covers(self, folders: tuple[str, ...]) -> None:
        super().covers(folders)
        self.covering.set()

    def add(self, paths: Iterable[str]) -> None:
        given = list(paths)
        super().add(given)
        if given:
            self.marked.set()


async def test_the_systems_own_watch_marks_a_file_that_changes(work: Path) -> None:
    marks, path = HeardMarks(), str(work / "src/a.py")
    async with anyio.create_task_group() as group:
        group.start_soon(watch, [str(work)], marks)
        assert await to_thread.run_sync(marks.covering.wait, 5)
        (work / "src/a.py").write_text("two\n")
        assert await to_thread.run_sync(marks.marked.wait, 5)
        group.cancel_scope.cancel()

    assert marks.take([path]) == {path}


def test_top_level_folders_are_watched_but_for_what_is_ignored_or_heavy(work: Path) -> None:
    for name in ("docs", "out", "logs", "node_modules", ".git", ".github"):
        (work / name).mkdir()
    (work / "link").symlink_to(work / "src")
    (work / ".gitignore").write_text("# made\nout/\n/logs\n*.pyc\n")

    found = [Path(folder).name for folder in module._folders((str(work), str(work)))]
    assert found == [".github", "docs", "src"]
