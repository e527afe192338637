"""Taking a session back: files and conversation, apart or together, undone, after a crash, in a fork (loop.md F30)."""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from agent_server.edits.undo_run import Rewound
from agent_server.front.render.replay import replay
from agent_server.loop.errors import ClientMistake, EditRefused, StoreFailure
from agent_server.loop.events import Notice, TextDelta, UsageChanged
from agent_server.loop.model import (
    AsideEntry,
    Entry,
    ReplyEntry,
    ResultEntry,
    RewoundEntry,
    Text,
    UserEntry,
)
from agent_server.loop.ports import Request, UserMessage
from agent_server.session.edits import SessionEdits
from agent_server.session.places import Place
from agent_server.session.rewinding import Back, Moved, Rewinding
from agent_server.session.session import Session
from tests.fakes.loop import FakeTool, Say, said
from tests.fakes.session import RecordingClient
from tests.fakes.workbench import JournaledWorkbench

pytestmark = pytest.mark.anyio

DONE = Say("Done.")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "w"
    folder.mkdir()
    return folder


def writes(name: str, content: str) -> Say:
    return Say("I write.", (("write", json.dumps({"path": name, "content": content})),))


class Chat:
    """A session with the model it talks to."""

    def __init__(
        self, bench: JournaledWorkbench, session: Session, client: RecordingClient
    ) -> None:
        self.bench = bench
        self.session = session
        self.client = client
        self.rewinding = Rewinding(session)

    async def ask(self, *texts: str) -> None:
        for text in texts:
            await self.session.prompt(said(text))

    async def place(self, prompt: str) -> Place:
        """The newest place before somebody said that."""
        found = [p for p in await self.rewinding.places() if p.prompt == prompt]
        return found[-1]

    async def back(self, prompt: str, *, files: bool = False, chat: bool = True) -> Back:
        place = await self.place(prompt)
        return await self.rewinding.restore(place.checkpoint.id, files=files, chat=chat)

    @property
    def sent(self) -> Request:
        """The last request to the model."""
        return self.bench.script.requests[-1]


@asynccontextmanager
async def chatting(
    work: Path, *steps: Say, load: Session | None = None, tools: Sequence[FakeTool] = ()
) -> AsyncGenerator[Chat]:
    """A conversation over a model that says these steps; a new one, or one of an earlier process."""
    bench, client = JournaledWorkbench(work.parent, *steps, tools=tools), RecordingClient()
    with anyio.fail_after(20):
        async with bench.sessions() as sessions:
            if load is None:
                session = await sessions.new(cwd=str(work), client=client)
            else:
                session = await sessions.load(load.id, cwd=str(work), client=client)
            yield Chat(bench, session, client)


def words(request: Request) -> str:
    """What the person and we said in it."""
    parts = [p for m in request.messages if isinstance(m, UserMessage) for p in m.parts]
    return " | ".join(part.text for part in parts if isinstance(part, Text))


def shown(entries: Sequence[Entry]) -> list[str]:
    """The prompts that a client is shown when it loads the session."""
    updates = [u for u in replay(entries, {}) if u["sessionUpdate"] == "user_message_chunk"]
    return [str(update["content"]["text"]) for update in updates]  # type: ignore[index]


async def test_the_conversation_goes_back_and_the_files_stay(work: Path):
    async with chatting(work, DONE, writes("a.py", "a\n"), DONE, DONE) as chat:
        await chat.ask("one", "two")
        back = await chat.back("two")
        await chat.ask("three")

    assert (back.chat, back.files) == (True, Rewound((), ()))
    assert "two" not in words(chat.sent)
    assert "these files are not as they were here: a.py" in words(chat.sent).lower()
    assert words(chat.sent).endswith("three")
    assert (work / "a.py").exists()
    assert shown(chat.session.entries) == ["one", "three"]


async def test_requests_after_a_rewinding_are_byte_for_byte_those_of_a_session_that_ended_there(
    work: Path,
):
    steps = (Say("First.", (("todo", '{"items":[]}'),)), DONE)
    async with chatting(work, *steps, DONE, Say("There.")) as chat:
        await chat.ask("one", "two")
        await chat.back("two")
        await chat.ask("three")
    other = work.parent / "other"
    other.mkdir()
    (other / "w").mkdir()
    async with chatting(other / "w", *steps, Say("There.")) as plain:
        await plain.ask("one", "three")

    assert repr(chat.sent.messages) == repr(plain.sent.messages)


async def test_a_turn_that_changed_nothing_is_a_place_too_and_says_which_prompts_would_go(
    work: Path,
):
    async with chatting(work, DONE, DONE, DONE) as chat:
        await chat.ask("one", "two", "three")
        place = await chat.place("two")
        would = await chat.rewinding.look(place.checkpoint.id, files=True, chat=True)
        before = list(chat.session.entries)
        assert [p.checkpoint.title for p in await chat.rewinding.places()] == [
            "one",
            "two",
            "three",
        ]

    assert would.prompts == (Moved("two", comes=False), Moved("three", comes=False))
    assert list(chat.session.entries) == before


async def test_a_rewinding_can_be_undone_and_the_undoing_too(work: Path):
    async with chatting(work, DONE, DONE, DONE) as chat:
        await chat.ask("one", "two")
        back = await chat.back("two")
        assert back.undo is not None
        would = await chat.rewinding.look(back.undo, files=False, chat=True)
        undone = await chat.rewinding.restore(back.undo, files=False, chat=True)
        assert shown(chat.session.entries) == ["one", "two"]
        assert undone.undo is not None
        await chat.rewinding.restore(undone.undo, files=False, chat=True)
        assert shown(chat.session.entries) == ["one"]

    assert would.prompts == (Moved("two", comes=True),)
    assert [type(e) for e in chat.session.entries].count(RewoundEntry) == 3


async def test_files_and_conversation_go_back_together_and_come_back_by_one_undo(work: Path):
    (work / "a.py").write_text("old\n")
    steps = (Say("", (("read", '{"path":"a.py"}'),)), writes("a.py", "new\n"), DONE, DONE)
    async with chatting(work, DONE, *steps) as chat:
        await chat.ask("one", "two")
        back = await chat.back("two", files=True)
        assert (work / "a.py").read_text() == "old\n"
        assert shown(chat.session.entries) == ["one"]
        assert back.undo is not None
        await chat.rewinding.restore(back.undo, files=True, chat=True)
        assert (work / "a.py").read_text() == "new\n"
        assert shown(chat.session.entries) == ["one", "two"]
        await chat.ask("three")

    assert words(chat.sent) == "one | two | three"


async def test_the_conversation_stays_when_the_files_could_not_go_with_it(work: Path):
    async with chatting(work, writes("a.py", "a\n"), DONE) as chat:
        await chat.ask("one")
        place = await chat.place("one")
        (work / "a.py").unlink()
        (work / "a.py").mkdir()
        back = await chat.rewinding.restore(place.checkpoint.id, files=True, chat=True)
        left = [left.path for left in back.files.left]

    assert left == [str(work / "a.py")]
    assert back.chat  # nothing was to be changed, so nothing failed: what is left is named


async def test_going_back_to_a_prompt_that_was_taken_back_brings_that_past_back(work: Path):
    async with chatting(work, writes("a.py", "a\n"), DONE, DONE, DONE) as chat:
        await chat.ask("one", "two")
        await chat.back("one")
        await chat.ask("other")
        place = await chat.place("one")  # it changed files, so it is still in the list
        would = await chat.rewinding.look(place.checkpoint.id, files=False, chat=True)
        await chat.rewinding.restore(place.checkpoint.id, files=False, chat=True)

    assert would.prompts == (Moved("other", comes=False),)
    assert shown(chat.session.entries) == []


async def test_nothing_goes_back_while_a_turn_runs(work: Path):
    streaming = anyio.Event()
    async with chatting(work, DONE, Say("wait", hang=True)) as chat:
        await chat.ask("one")
        chat.client.on_event = lambda e: streaming.set() if isinstance(e, TextDelta) else None
        item = chat.session.submit(said("two"))
        await streaming.wait()
        with pytest.raises(EditRefused, match="answering a prompt; cancel it"):
            await chat.back("one")
        chat.session.cancel()
        await chat.session.answer(item)


async def test_a_prompt_that_comes_while_it_goes_back_waits(work: Path):
    async with chatting(work, DONE) as chat:
        async with chat.session.at_rest("wait"):
            item = chat.session.submit(said("one"))
            await anyio.wait_all_tasks_blocked()
            assert chat.bench.script.requests == []
        await chat.session.answer(item)

    assert words(chat.sent) == "one"


async def test_a_checkpoint_of_files_alone_is_no_place_in_the_conversation(work: Path):
    async with chatting(work, writes("a.py", "a\n"), DONE) as chat:
        await chat.ask("one")
        back = await chat.back("one", files=True, chat=False)
        assert back.undo is not None
        with pytest.raises(ClientMistake, match="files alone"):
            await chat.rewinding.restore(back.undo, files=False, chat=True)
        with pytest.raises(ClientMistake, match="no checkpoint 'c-nope'"):
            await chat.rewinding.look("c-nope", files=True, chat=True)


async def test_what_was_used_stays_counted_and_numbers_go_on(work: Path):
    async with chatting(work, DONE, DONE, DONE) as chat:
        await chat.ask("one", "two")
        before = chat.session.usage
        await chat.back("one")
        assert chat.session.usage is None  # nothing of the model stands
        told = [e for e in chat.client.of(Notice) if isinstance(e, Notice)]
        await chat.ask("three")
        after = chat.session.usage

    assert isinstance(before, UsageChanged)
    assert isinstance(after, UsageChanged)
    assert after.session.input > before.session.input
    assert [e.number for e in chat.session.entries if isinstance(e, ReplyEntry)] == [1, 2, 3]
    assert [n.title for n in told] == ["The conversation was taken back"]
    assert "Load the session again" in str(told[0])


async def test_a_model_that_no_longer_remembers_reading_has_not_read(work: Path):
    (work / "a.py").write_text("old\n")
    steps = (Say("", (("read", '{"path":"a.py"}'),)), DONE, writes("a.py", "new\n"), DONE)
    async with chatting(work, DONE, *steps) as chat:
        await chat.ask("zero", "one")
        await chat.back("one")
        await chat.ask("two")
        result = [e.result for e in chat.session.entries if isinstance(e, ResultEntry)][-1]

    assert "was not read" in result.output
    assert (work / "a.py").read_text() == "old\n"


async def test_after_a_restart_it_is_still_taken_back_and_can_be_undone(work: Path):
    async with chatting(work, DONE, DONE) as first:
        await first.ask("one", "two")
        back = await first.back("two")
    async with chatting(work, DONE, load=first.session) as chat:
        assert shown(chat.session.entries) == ["one"]
        assert back.undo is not None
        await chat.rewinding.restore(back.undo, files=False, chat=True)
        await chat.ask("three")

    assert words(chat.sent) == "one | two | three"


async def test_a_fork_of_a_session_that_was_taken_back_knows_what_stands(work: Path):
    bench = JournaledWorkbench(work.parent, DONE, DONE, DONE)
    with anyio.fail_after(20):
        async with bench.sessions() as sessions:
            session = await sessions.new(cwd=str(work), client=RecordingClient())
            chat = Chat(bench, session, RecordingClient())
            await chat.ask("one", "two")
            back = await chat.back("two")
            forked = await sessions.fork(session.id, cwd=str(work), client=RecordingClient())
            await forked.prompt(said("three"))
            assert words(bench.script.requests[-1]) == "one | three"
            assert back.undo is not None
            await Rewinding(forked).restore(back.undo, files=False, chat=True)
            assert shown(forked.entries) == ["one", "two"]
            assert shown(session.entries) == ["one"]


async def test_a_rewinding_that_could_not_be_kept_did_not_happen(
    work: Path, monkeypatch: pytest.MonkeyPatch
):
    async def full(*entries: Entry) -> None:
        raise StoreFailure("the disk is full")

    async with chatting(work, DONE, DONE, DONE) as chat:
        await chat.ask("one", "two")
        with monkeypatch.context() as broken:
            broken.setattr(chat.session.log, "append", full)
            with pytest.raises(StoreFailure, match="disk is full"):
                await chat.back("two")
        await chat.ask("three")

    assert words(chat.sent) == "one | two | three"


# ---- what commands did -------------------------------------------------------------------------------


def shell() -> FakeTool:
    return FakeTool("shell", read_only=False, kind="execute")


def runs(command: str) -> Say:
    return Say("", (("shell", json.dumps({"command": command})),))


async def test_what_commands_did_since_is_said_not_to_be_covered(work: Path):
    steps = (DONE, runs("make one"), writes("a.py", "a\n"), DONE, DONE)
    async with chatting(work, *steps, tools=[shell()]) as chat:
        await chat.ask("one", "two")
        place = await chat.place("two")
        would = await chat.rewinding.look(place.checkpoint.id, files=True, chat=False)
        back = await chat.rewinding.restore(place.checkpoint.id, files=True, chat=False)
        await chat.ask("three")

    note = "not covered: what commands did since then stays as it is (`make one`)"
    assert (would.note, back.note) == (note, note)
    assert f"set files back to how they were earlier: a.py; {note}" in words(chat.sent)


async def test_where_no_command_ran_since_nothing_is_said_about_them(work: Path):
    steps = (runs("make one"), DONE, writes("a.py", "a\n"), DONE)
    async with chatting(work, *steps, tools=[shell()]) as chat:
        await chat.ask("one", "two")
        assert (await chat.back("two", files=True)).note is None


async def test_an_undo_says_so_too(work: Path):
    steps = (DONE, writes("a.py", "a\n"), runs("make one"), DONE, DONE)
    async with chatting(work, *steps, tools=[shell()]) as chat:
        await chat.ask("one", "two")
        edits = SessionEdits(chat.session)
        rewound = await edits.undo(turn=True)
        await chat.ask("three")

    note = "not covered: what commands did since then stays as it is (`make one`)"
    assert edits.not_covered(rewound) == note
    assert f"took back the edits of the last turn: a.py; {note}" in words(chat.sent)


async def test_the_model_hears_that_what_commands_did_stays_when_only_the_conversation_goes(
    work: Path,
):
    async with chatting(work, DONE, runs("make one"), DONE, DONE, tools=[shell()]) as chat:
        await chat.ask("one", "two")
        await chat.back("two")
        await chat.ask("three")

    assert "Commands were run since, and what they did stays." in words(chat.sent)


# ---- what is said aside ------------------------------------------------------------------------------


async def test_what_was_said_aside_is_heard_after_a_restart_and_only_once(work: Path):
    async with chatting(work, writes("a.py", "a\n"), DONE) as first:
        await first.ask("one")
        await first.back("one", files=True, chat=False)
    async with chatting(work, DONE, DONE, load=first.session) as chat:
        await chat.ask("two", "three")

    assert words(chat.sent).count("set files back to how they were earlier") == 1
    assert shown(chat.session.entries) == ["one", "two", "three"]


async def test_what_was_heard_only_in_a_past_that_was_taken_back_is_said_again(work: Path):
    async with chatting(work, DONE, DONE, DONE) as chat:
        await chat.ask("one")
        await chat.session.say_aside("(something happened)")
        await chat.ask("two")
        await chat.back("two")
        await chat.ask("three")

    assert words(chat.sent) == "one | (something happened) | three"


async def test_an_aside_that_cannot_be_kept_is_still_heard_by_this_process(
    work: Path, monkeypatch: pytest.MonkeyPatch
):
    async def full(*entries: Entry) -> None:
        raise StoreFailure("the disk is full")

    async with chatting(work, DONE) as chat:
        with monkeypatch.context() as broken:
            broken.setattr(chat.session.log, "append", full)
            await chat.session.say_aside("(something happened)")
        await chat.ask("one")

    assert words(chat.sent) == "(something happened) | one"
    assert not any(isinstance(e, AsideEntry) for e in chat.session.entries)
    assert isinstance(chat.session.entries[0], UserEntry)


async def test_going_back_is_heard_of_even_when_the_process_died_before_it_could_note_that(
    work: Path, monkeypatch: pytest.MonkeyPatch
):
    """The journal has it, and nothing that the model was told since is newer."""

    async def lost(sentence: str, *, about: str | None = None) -> None:
        del sentence, about

    async with chatting(work, writes("a.py", "a\n"), DONE) as first:
        await first.ask("one")
        with monkeypatch.context() as dying:
            dying.setattr(first.session, "say_aside", lost)
            await first.back("one", files=True, chat=False)
    async with chatting(work, DONE, load=first.session) as chat:
        await chat.ask("two")
    async with chatting(work, DONE, load=first.session) as again:
        await again.ask("three")

    assert words(chat.sent).count("The person took files back: a.py.") == 1
    assert words(again.sent).count("The person took files back: a.py.") == 1
