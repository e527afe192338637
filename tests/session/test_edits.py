"""A session and the files it changed: checkpoints by turn, going back, and what a dead process had left open."""

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
from agent_server.edits.undo import Part
from agent_server.loop.action import Answer
from agent_server.loop.errors import ClientMistake, EditRefused, StaleRevision, StoreFailure
from agent_server.loop.events import EditChanged, TextDelta
from agent_server.loop.model import (
    CallKey,
    Entry,
    JsonObject,
    Reply,
    ReplyEntry,
    ResultEntry,
    SessionId,
    StartedEntry,
    Text,
    ToolCall,
    ToolResult,
    TurnId,
    Usage,
    UserEntry,
)
from agent_server.loop.ports import CallContext
from agent_server.loop.proposal import EditState
from agent_server.session import chores
from agent_server.session.edits import SessionEdits
from agent_server.session.ports import Kit, Place
from agent_server.session.session import Session
from agent_server.session.sessions import Sessions
from agent_server.store.blobs import BlobStore
from agent_server.store.sessions import SessionStore
from tests.fakes.edits import asking
from tests.fakes.loop import FakeTool, Say, said
from tests.fakes.session import RecordingClient
from tests.fakes.workbench import JournaledWorkbench

pytestmark = pytest.mark.anyio

KEY = CallKey(1, 0)
TURN = TurnId("turn-1")
DONE = Say("Done.")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "w"
    folder.mkdir()
    return folder


def writes(name: str, content: str) -> Say:
    return Say("I write.", (("write", json.dumps({"path": name, "content": content})),))


def edits(name: str, old: str, new: str) -> Say:
    given = {"path": name, "edits": [{"old_text": old, "new_text": new}]}
    return Say("I edit.", (("edit", json.dumps(given)),))


@asynccontextmanager
async def opened(bench: JournaledWorkbench) -> AsyncGenerator[Sessions]:
    with anyio.fail_after(10):
        async with bench.sessions() as sessions:
            yield sessions


@asynccontextmanager
async def conversation(
    work: Path, *steps: Say, client: RecordingClient | None = None
) -> AsyncGenerator[Session]:
    """A new session over a model that says these steps."""
    async with opened(JournaledWorkbench(work.parent, *steps)) as sessions:
        yield await sessions.new(cwd=str(work), client=client or RecordingClient())


async def states(bench_home: Path, session: SessionId) -> list[EditState]:
    """What the journal says, read afresh."""
    store = SessionStore(bench_home / "sessions.db")
    lines = await store.journal(session).read()
    await store.aclose()
    return [line.state for line in lines]


async def test_a_turn_that_wrote_can_be_rewound_and_the_rewinding_undone(work: Path):
    (work / "a.py").write_text("one\n")
    async with conversation(work, edits("a.py", "one", "two"), DONE) as session:
        await session.prompt(said("go"))
        own = SessionEdits(session)
        (checkpoint,) = await own.checkpoints()
        rewound = await own.restore(checkpoint.id)
        assert (work / "a.py").read_text() == "one\n"
        assert rewound.undo is not None
        await own.restore(rewound.undo)

    assert (work / "a.py").read_text() == "two\n"
    assert (checkpoint.turn, checkpoint.title) == (session.entries[0].turn, "edit a.py")


async def test_a_session_that_wrote_nothing_has_no_checkpoint(work: Path):
    async with conversation(work, DONE) as session:
        await session.prompt(said("go"))
        assert await SessionEdits(session).checkpoints() == ()


async def test_checkpoints_are_there_again_after_a_restart(work: Path):
    async with conversation(work, writes("a.py", "a\n"), DONE) as session:
        await session.prompt(said("go"))
        before = await SessionEdits(session).checkpoints()
    async with opened(JournaledWorkbench(work.parent)) as sessions:
        loaded = await sessions.load(session.id, cwd=str(work), client=RecordingClient())
        assert await SessionEdits(loaded).checkpoints() == before
        await SessionEdits(loaded).restore(before[0].id)

    assert not (work / "a.py").exists()


async def test_nothing_is_restored_while_a_turn_runs(work: Path):
    streaming = anyio.Event()
    client = RecordingClient(
        on_event=lambda e: (
            streaming.set() if isinstance(e, TextDelta) and "wait" in e.text else None
        )
    )
    steps = (writes("a.py", "a\n"), DONE, Say("wait", hang=True))
    async with conversation(work, *steps, client=client) as session:
        await session.prompt(said("go"))
        item = session.submit(said("on"))
        await streaming.wait()
        (checkpoint,) = await SessionEdits(session).checkpoints()
        with pytest.raises(EditRefused, match="answering a prompt"):
            await SessionEdits(session).restore(checkpoint.id)
        session.cancel()
        await session.answer(item)

    assert (work / "a.py").exists()


async def test_reverting_an_edit_tells_the_client_of_both(work: Path):
    (work / "a.py").write_text("one\n")
    client = RecordingClient()
    async with conversation(work, edits("a.py", "one", "two"), DONE, client=client) as session:
        await session.prompt(said("go"))
        applied = [e for e in client.of(EditChanged) if isinstance(e, EditChanged)][-1]
        assert applied.state == "applied"
        rewound = await SessionEdits(session).revert(applied.proposal.txn)
        told = [e for e in client.of(EditChanged) if isinstance(e, EditChanged)][-2:]

    assert rewound.proposal is not None
    assert [(e.proposal.txn, e.state) for e in told] == [
        (rewound.proposal.txn, "applied"), (applied.proposal.txn, "reverted"),
    ]  # fmt: skip
    assert {state for _, _, state in told[1].hunks} == {"rejected"}


async def test_a_revert_that_names_an_old_revision_is_refused_with_the_current_one(work: Path):
    (work / "a.py").write_text("one\n")
    client = RecordingClient()
    async with conversation(work, edits("a.py", "one", "two"), DONE, client=client) as session:
        await session.prompt(said("go"))
        event = client.of(EditChanged)[-1]
        assert isinstance(event, EditChanged)
        with pytest.raises(StaleRevision) as refused:
            await SessionEdits(session).revert(event.proposal.txn, 1)
        assert refused.value.revision == event.proposal.revision

    assert (work / "a.py").read_text() == "two\n"


async def test_a_model_is_not_taken_to_know_what_a_person_took_back(work: Path):
    """`write` over the restored file is refused until it was read again."""
    (work / "a.py").write_text("one\n")
    read = Say("I read.", (("read", json.dumps({"path": "a.py"})),))
    steps = (read, writes("a.py", "two\n"), DONE, writes("a.py", "three\n"), DONE)
    async with conversation(work, *steps) as session:
        await session.prompt(said("go"))
        (checkpoint,) = await SessionEdits(session).checkpoints()
        await SessionEdits(session).restore(checkpoint.id)
        await session.prompt(said("on"))
        result = [e for e in session.entries if isinstance(e, ResultEntry)][-1].result

    assert "changed since you read it" in result.output
    assert (work / "a.py").read_text() == "one\n"


async def test_at_the_end_of_a_turn_edits_are_committed_and_refusals_recorded(work: Path):
    (work / "a.py").write_text("one\n")
    client = RecordingClient()
    client.person.answers += [Answer("reject"), Answer("allow_once")]
    bench = JournaledWorkbench(
        work.parent, edits("a.py", "one", "no"), edits("a.py", "one", "two"), DONE,
        policy=asking("edit"),
    )  # fmt: skip
    async with opened(bench) as sessions:
        session = await sessions.new(cwd=str(work), client=client)
        await session.prompt(said("go"))
        await anyio.wait_all_tasks_blocked()
        while "committed" not in await states(work.parent, session.id):
            await anyio.lowlevel.checkpoint()

    assert await states(work.parent, session.id) == [
        "proposed", "proposed", "approved", "applying", "verifying", "applied",
        "rejected", "committed",
    ]  # fmt: skip


@pytest.mark.parametrize("gated", [True, False])
async def test_nothing_changes_before_the_call_is_started_and_the_edit_is_journaled(
    work: Path, gated: bool
):
    """I13, seen at every line of the journal: what the file has, and whether the log says `started`."""
    (work / "a.py").write_text("one\n")
    seen: list[tuple[str, str, bool]] = []

    class Watched(JournaledWorkbench):
        async def kit(self, place: Place) -> Kit:
            kit = await super().kit(place)
            assert kit.transactions is not None
            write = kit.transactions.write

            async def watching(*lines: Line, since: EditState | None = None) -> None:
                started = any(isinstance(e, StartedEntry) for e in session.entries)
                seen.append((lines[-1].state, (work / "a.py").read_text(), started))
                await write(*lines, since=since)

            kit.transactions.write = watching
            return kit

    bench = Watched(
        work.parent, edits("a.py", "one", "two"), DONE, policy=asking(*["edit"] * gated)
    )
    async with opened(bench) as sessions:
        session = await sessions.new(cwd=str(work), client=RecordingClient())
        await session.prompt(said("go"))

    assert seen[:4] == [
        ("proposed", "one\n", False), ("applying", "one\n", True),
        ("verifying", "two\n", True), ("applied", "two\n", True),
    ]  # fmt: skip


async def test_asking_for_what_is_not_there_is_a_mistake(work: Path):
    async with conversation(work, DONE) as session:
        with pytest.raises(ClientMistake, match="no edit 'x0'"):
            await SessionEdits(session).revert("x0")
        with pytest.raises(ClientMistake, match="no checkpoint"):
            await SessionEdits(session).restore("c-x0")


@pytest.mark.parametrize(
    ("back", "words"),
    [
        ("restore", "(The person set files back to how they were earlier: a.py.)"),
        ("undo", "(The person took back the edits of the last turn: a.py.)"),
        ("revert", "(The person took back an edit: a.py.)"),
        ("part", "(The person took back a part of an edit: a.py.)"),
    ],
)
async def test_the_model_hears_what_the_person_took_back_in_front_of_the_next_prompt(
    work: Path, back: str, words: str
):
    """Once, and kept with the prompt: the log says what the model knew."""
    (work / "a.py").write_text("one\n")
    client = RecordingClient()
    steps = (edits("a.py", "one", "two"), DONE, DONE, DONE)
    async with conversation(work, *steps, client=client) as session:
        await session.prompt(said("go"))
        own, shown = SessionEdits(session), client.of(EditChanged)[-1]
        assert isinstance(shown, EditChanged)
        (file,) = shown.proposal.files
        match back:
            case "restore":
                await own.restore((await own.checkpoints())[0].id)
            case "undo":
                await own.undo(turn=True)
            case "revert":
                await own.revert(shown.proposal.txn)
            case _:
                await own.revert(shown.proposal.txn, part=Part(file.path, file.hunks[0].id))
        await session.prompt(said("on"))
        await session.prompt(said("and on"))
        prompts = [e.parts for e in session.entries if isinstance(e, UserEntry)]

    assert [p for p in prompts if words in str(p)] == [(Text(words), Text("on"))]


async def test_the_running_turn_hears_what_is_taken_back_while_it_works(work: Path):
    (work / "a.py").write_text("one\n")
    client = RecordingClient()
    bench = JournaledWorkbench(
        work.parent, edits("a.py", "one", "two"), Say("", (("pause", "{}"),)), DONE
    )

    async def pause(context: CallContext, arguments: JsonObject) -> ToolResult:
        shown = client.of(EditChanged)[-1]
        assert isinstance(shown, EditChanged)
        await SessionEdits(session).revert(shown.proposal.txn)
        return ToolResult(True, "rested")

    bench.tools = (FakeTool("pause", pause),)
    async with opened(bench) as sessions:
        session = await sessions.new(cwd=str(work), client=client)
        await session.prompt(said("go"))

    assert "(The person took back an edit: a.py.)" in str(bench.script.requests[-1].messages[-1])


async def test_texts_that_nobody_needs_any_more_are_removed_once_sessions_are_at_work(
    work: Path, monkeypatch: pytest.MonkeyPatch
):
    collected = anyio.Event()

    async def collect(_: SessionStore) -> int:
        collected.set()
        raise StoreFailure("the disk is gone")

    monkeypatch.setattr(chores, "COLLECT_AFTER_S", 0)
    monkeypatch.setattr(SessionStore, "collect", collect)
    async with conversation(work, DONE) as session:
        await collected.wait()
        assert (await session.prompt(said("hi"))).text == "Done."


# ---- what a dead process left open -----------------------------------------------------------------------


async def left_open(work: Path, *last: Entry, state: EditState = "applying") -> SessionId:
    """A session whose process died with an edit of a.py (`one` to `two`) in this state."""
    blobs, now = BlobStore(work.parent / "blobs"), datetime(2026, 11, 29, tzinfo=UTC)
    before, after = (
        Content(blobs.put(text), Form(UTF8, 0o644), bytes_hash(text.encode()))
        for text in ("one\n", "two\n")
    )
    files = (FileRecord(str(work / "a.py"), "edit", before, after),)
    call = ToolCall(KEY, "c1", "edit", "{}")
    store = SessionStore(work.parent / "sessions.db")
    record = await store.create(str(work))
    await (await store.open_log(record.id)).append(
        UserEntry(TURN, said("go")),
        ReplyEntry(TURN, 1, Reply("", (call,), "tool_calls", "list/model", Usage())),
        *last,
    )
    lines = [Line("x1", 1, "proposed", now, files, Cause("call", "edit a.py", KEY))]
    if state != "proposed":
        lines.append(Line("x1", 2, "approved", now, turn=TURN, gated=True))
        lines.append(Line("x1", 3, "applying", now, files))
    await store.journal(record.id).append(*lines)
    await store.aclose()
    return record.id


@pytest.mark.parametrize(
    ("found", "state", "ok", "effect", "words", "severity"),
    [
        ("two\n", "applied", True, "confirmed", "all of the files have the new text", "info"),
        ("one\n", "abandoned", False, "confirmed", "None of it stands", "info"),
        ("else\n", "conflict", False, "unknown", "neither the old nor the new text", "error"),
    ],
)
async def test_a_loaded_session_says_what_stands_of_an_interrupted_edit(
    work: Path, found: str, state: str, ok: bool, effect: str, words: str, severity: str
):
    """To the person, to the model and to the client that shows edits; by what the file has."""
    (work / "a.py").write_text(found)
    session_id = await left_open(work, StartedEntry(TURN, KEY))
    bench = JournaledWorkbench(work.parent, DONE)
    async with opened(bench) as sessions:
        session = await sessions.load(session_id, cwd=str(work), client=RecordingClient())
        (settled,) = [e for e in session.entries if isinstance(e, ResultEntry)]
        await session.prompt(said("what happened?"))
    (event,) = session.left_open

    assert (settled.result.ok, settled.effect) == (ok, effect)
    assert words in settled.result.output
    assert "the server stopped" in settled.result.output
    assert words in str(bench.script.requests[0].messages)
    assert (event.proposal.txn, event.state) == ("x1", state)
    assert [n.severity for n in session.notices] == [severity]
    assert (work / "a.py").read_text() == found


async def test_a_question_that_was_open_is_not_asked_again_and_its_edit_is_abandoned(work: Path):
    (work / "a.py").write_text("one\n")
    session_id = await left_open(work, state="proposed")
    client = RecordingClient()
    async with opened(JournaledWorkbench(work.parent)) as sessions:
        session = await sessions.load(session_id, cwd=str(work), client=client)
        (settled,) = [e for e in session.entries if isinstance(e, ResultEntry)]
    (event,) = session.left_open

    assert settled.result.output == "not run: the question was open when the server stopped"
    assert settled.effect == "none"
    assert (event.state, event.proposal.files[0].new_text) == ("abandoned", "two\n")
    assert (client.person.asked, session.notices) == ([], ())
    assert await states(work.parent, session_id) == ["proposed", "abandoned"]


async def test_an_approved_edit_that_had_not_begun_changed_nothing_and_says_so(work: Path):
    (work / "a.py").write_text("one\n")
    session_id = await left_open(work, StartedEntry(TURN, KEY), state="proposed")
    async with opened(JournaledWorkbench(work.parent)) as sessions:
        session = await sessions.load(session_id, cwd=str(work), client=RecordingClient())
        (settled,) = [e for e in session.entries if isinstance(e, ResultEntry)]

    assert "before this edit changed anything" in settled.result.output


async def test_loading_twice_recovers_once(work: Path):
    (work / "a.py").write_text("two\n")
    session_id = await left_open(work, StartedEntry(TURN, KEY))
    seen: list[tuple[int, int]] = []
    for _ in range(2):
        async with opened(JournaledWorkbench(work.parent)) as sessions:
            session = await sessions.load(session_id, cwd=str(work), client=RecordingClient())
            results = [e for e in session.entries if isinstance(e, ResultEntry)]
            seen.append((len(session.left_open), len(results)))

    assert seen == [(1, 1), (0, 1)]


async def test_a_journal_that_cannot_be_read_costs_no_conversation(work: Path):
    (work / "a.py").write_text("one\n")
    session_id = await left_open(work, state="proposed")
    for path in (work.parent / "blobs").rglob("*"):
        if path.is_file():
            path.unlink()
    async with opened(JournaledWorkbench(work.parent, DONE)) as sessions:
        session = await sessions.load(session_id, cwd=str(work), client=RecordingClient())
        assert (await session.prompt(said("hi"))).text == "Done."

    assert [n.severity for n in session.notices] == ["error"]
