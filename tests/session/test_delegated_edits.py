"""What sub-agents changed belongs to the person's turn that sent them: it goes back and is recovered with that."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest

from agent_server.edits.encodings import UTF8
from agent_server.edits.files import Form
from agent_server.edits.hashes import bytes_hash
from agent_server.edits.journal import Cause, Content, FileRecord, Line
from agent_server.edits.transaction import Transactions
from agent_server.loop.action import Answer, Question
from agent_server.loop.events import EditChanged
from agent_server.loop.model import (
    CallKey,
    Reply,
    ReplyEntry,
    ResultEntry,
    SessionId,
    StartedEntry,
    ToolCall,
    TurnId,
    Usage,
    UserEntry,
)
from agent_server.session.edits import SessionEdits
from agent_server.session.session import Session
from tests.fakes.edits import asking
from tests.fakes.loop import Say, said
from tests.fakes.session import RecordingClient
from tests.fakes.workbench import JournaledWorkbench

pytestmark = pytest.mark.anyio

DONE = Say("Done.")
KEY = CallKey(1, 0)
TURN = TurnId("turn-1")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "w"
    folder.mkdir()
    return folder


def names(work: Path) -> set[str]:
    """What is there."""
    return {path.name for path in work.glob("*.py")}


def call(tool: str, **arguments: object) -> tuple[str, str]:
    return (tool, json.dumps(arguments))


def writes(name: str, content: str) -> Say:
    return Say("I write.", (call("write", path=name, content=content),))


def sends(*tasks: str) -> Say:
    return Say("I delegate.", tuple(call("delegate", task=task) for task in tasks))


@asynccontextmanager
async def conversation(
    bench: JournaledWorkbench, work: Path, client: RecordingClient | None = None
) -> AsyncGenerator[Session]:
    with anyio.fail_after(10):
        async with bench.sessions() as sessions:
            yield await sessions.new(cwd=str(work), client=client or RecordingClient())


async def journal(session: Session) -> Transactions:
    kit, _ = await session.ready()
    assert kit.transactions is not None
    return kit.transactions


async def test_the_checkpoint_of_a_turn_covers_what_its_sub_agents_wrote(work: Path):
    (work / "a.py").write_text("one\n")
    tasks = {"b": (writes("b.py", "b\n"), DONE), "c": (writes("c.py", "c\n"), DONE)}
    edit = Say(
        "I edit.", (call("edit", path="a.py", edits=[{"old_text": "one", "new_text": "two"}]),)
    )
    bench = JournaledWorkbench(work.parent, edit, sends("b", "c"), DONE, tasks=tasks)
    async with conversation(bench, work) as session:
        result = await session.prompt(said("go"))
        assert names(work) == {"a.py", "b.py", "c.py"}
        own = SessionEdits(session)
        (checkpoint,) = await own.checkpoints()
        rewound = await own.restore(checkpoint.id)
        assert names(work) == {"a.py"}
        assert (work / "a.py").read_text() == "one\n"
        assert rewound.undo is not None
        await own.restore(rewound.undo)

    assert checkpoint.turn == result.turn
    assert names(work) == {"a.py", "b.py", "c.py"}


@pytest.mark.parametrize("turn", [True, False])
async def test_undo_sees_the_edits_of_sub_agents(work: Path, turn: bool):
    tasks = {"b": (writes("b.py", "b\n"), DONE)}
    bench = JournaledWorkbench(work.parent, writes("a.py", "a\n"), sends("b"), DONE, tasks=tasks)
    async with conversation(bench, work) as session:
        await session.prompt(said("go"))
        await SessionEdits(session).undo(turn=turn)

    assert names(work) == (set[str]() if turn else {"a.py"})


async def test_a_sub_agents_sub_agent_edits_for_the_same_turn_and_the_same_call(work: Path):
    tasks = {"b": (sends("c"), DONE), "c": (writes("c.py", "c\n"), DONE)}
    bench = JournaledWorkbench(work.parent, sends("b"), DONE, tasks=tasks, depth=2)
    async with conversation(bench, work) as session:
        result = await session.prompt(said("go"))
        (transaction,) = await (await journal(session)).all()

    assert (transaction.turn, transaction.cause.call) == (result.turn, KEY)
    assert transaction.cause.agent not in (None, session.id)


async def test_a_client_that_takes_a_sub_agents_edit_back_finds_it(work: Path):
    client = RecordingClient()
    tasks = {"b": (writes("b.py", "b\n"), DONE)}
    bench = JournaledWorkbench(work.parent, sends("b"), DONE, tasks=tasks)
    async with conversation(bench, work, client) as session:
        await session.prompt(said("go"))
        shown = client.of(EditChanged)[-1]
        assert isinstance(shown, EditChanged)
        await SessionEdits(session).revert(shown.proposal.txn, shown.proposal.revision)

    assert not (work / "b.py").exists()


async def test_what_a_sub_agent_knows_of_files_its_parent_does_not_know(work: Path):
    """They share a journal, not a memory: the parent has to read what it would write over."""
    tasks = {"b": (writes("b.py", "b\n"), DONE)}
    bench = JournaledWorkbench(work.parent, sends("b"), writes("b.py", "mine\n"), DONE, tasks=tasks)
    async with conversation(bench, work) as session:
        await session.prompt(said("go"))
        last = [e for e in session.entries if isinstance(e, ResultEntry)][-1]

    assert last.result.code == "not_read"
    assert (work / "b.py").read_text() == "b\n"


async def test_what_was_decided_about_a_sub_agents_edits_is_kept_when_the_turn_ends(work: Path):
    client = RecordingClient()
    client.person.answers += [Answer("reject"), Answer("allow_once")]
    tasks = {"b": (writes("b.py", "b\n"), writes("c.py", "c\n"), DONE)}
    bench = JournaledWorkbench(work.parent, sends("b"), DONE, tasks=tasks, policy=asking("write"))
    async with conversation(bench, work, client) as session:
        await session.prompt(said("go"))
        await SessionEdits(session).tidy()
        states = [t.state for t in await (await journal(session)).all()]

    assert states == ["rejected", "committed"]


async def test_what_a_sub_agent_was_refused_does_not_wait_after_the_session_was_closed(work: Path):
    """Only the edit whose question was open then does."""
    client = RecordingClient()
    asked = anyio.Event()

    async def answers(session: SessionId, question: Question) -> Answer:
        if "b.py" in question.title:
            return Answer("reject")
        asked.set()
        await anyio.sleep_forever()
        raise AssertionError

    client.ask = answers
    tasks = {"b": (writes("b.py", "b\n"), writes("c.py", "c\n"), DONE)}
    bench = JournaledWorkbench(work.parent, sends("b"), DONE, tasks=tasks, policy=asking("write"))
    async with conversation(bench, work, client) as session:
        session.submit(said("go"))
        await asked.wait()
    with anyio.fail_after(10):
        async with JournaledWorkbench(work.parent).sessions() as sessions:
            again = await sessions.load(session.id, cwd=str(work), client=RecordingClient())
    names_left = [Path(e.proposal.files[0].path).name for e in again.left_open]

    assert names_left == ["c.py"]


# ---- what a dead process left open -----------------------------------------------------------------------


async def left_open(work: Path) -> SessionId:
    """A session whose process died while a sub-agent's edit of a.py (`one` to `two`) was made."""
    bench, now = JournaledWorkbench(work.parent), datetime(2026, 11, 29, tzinfo=UTC)
    before, after = (
        Content(bench.blobs.put(text), Form(UTF8, 0o644), bytes_hash(text.encode()))
        for text in ("one\n", "two\n")
    )
    files = (FileRecord(str(work / "a.py"), "edit", before, after),)
    record = await bench.store.create(str(work))
    delegate = ToolCall(KEY, "c1", *call("delegate", task="b"))
    await (await bench.store.open_log(record.id)).append(
        UserEntry(TURN, said("go")),
        ReplyEntry(TURN, 1, Reply("", (delegate,), "tool_calls", "list/model", Usage())),
        StartedEntry(TURN, KEY),
    )
    cause = Cause("call", "edit a.py", KEY, agent=SessionId("a1"))
    await bench.store.journal(record.id).append(
        Line("x1", 1, "proposed", now, files, cause),
        Line("x1", 2, "approved", now, turn=TURN),
        Line("x1", 3, "applying", now, files),
    )
    await bench.store.aclose()
    return record.id


@pytest.mark.parametrize(
    ("found", "state", "words"),
    [
        ("two\n", "applied", "edit a.py: all of it stands"),
        ("one\n", "abandoned", "edit a.py: none of it stands"),
        ("else\n", "conflict", "edit a.py: interrupted; {0} has neither the old nor the new text"),
    ],
)
async def test_an_edit_that_a_sub_agent_left_open_is_settled_when_its_parent_is_loaded(
    work: Path, found: str, state: str, words: str
):
    (work / "a.py").write_text(found)
    session_id = await left_open(work)
    bench = JournaledWorkbench(work.parent, DONE, tasks={"b": ()})
    with anyio.fail_after(10):
        async with bench.sessions() as sessions:
            session = await sessions.load(session_id, cwd=str(work), client=RecordingClient())
            (settled,) = [e for e in session.entries if isinstance(e, ResultEntry)]
            (transaction,) = await (await journal(session)).all()
            await session.prompt(said("what happened?"))

    assert transaction.state == state
    assert (settled.key, settled.result.ok, settled.effect) == (KEY, False, "unknown")
    assert words.format(work / "a.py") in settled.result.output
    assert "interrupted, effects unknown: the server stopped" in settled.result.output
    assert words.format(work / "a.py") in str(bench.script.requests[0].messages)
