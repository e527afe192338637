"""Sessions over the real store: making, prompting, cancelling, leaving and coming back (loop.md §1H, §1K, §4.8)."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from agent_server.loop.action import Decision
from agent_server.loop.errors import ClientMistake, SessionBusy, UnknownSession
from agent_server.loop.events import CallStarted, TextDelta, TitleChanged, TurnDone
from agent_server.loop.model import (
    DoneReason,
    JsonObject,
    ResultEntry,
    SessionId,
    ToolResult,
    TurnEndEntry,
    UserEntry,
)
from agent_server.loop.ports import CallContext
from agent_server.session.ports import Kit, Place
from agent_server.session.sessions import Sessions
from agent_server.store.sessions import SessionStore
from tests.fakes.loop import FakePolicy, FakeTool, ListModel, Say, said
from tests.fakes.session import FakeEquipment, RecordingClient

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def opened(home: Path, equipment: FakeEquipment) -> AsyncGenerator[Sessions]:
    with anyio.fail_after(10):
        async with Sessions(SessionStore(home / "sessions.db"), lambda cwd: equipment) as sessions:
            yield sessions


def playing(*steps: Say, tools: tuple[FakeTool, ...] = ()) -> FakeEquipment:
    return FakeEquipment(ListModel(*steps), tools)


@pytest.mark.row("R149")
async def test_a_prompt_is_answered_and_its_end_is_the_last_event(tmp_path: Path):
    async with opened(tmp_path, playing(Say("hello there"))) as sessions:
        client = RecordingClient()
        session = await sessions.new(cwd=str(tmp_path), client=client)
        result = await session.prompt(said("hi"))
        assert (result.reason, result.text) == (DoneReason.MODEL_STOP, "hello there")
        assert isinstance(client.events[-1][1], TurnDone)
        assert not session.busy


async def test_the_first_words_of_the_first_prompt_become_the_title(tmp_path: Path):
    async with opened(tmp_path, playing(Say("a"), Say("b"))) as sessions:
        client = RecordingClient()
        session = await sessions.new(cwd=str(tmp_path), client=client)
        await session.prompt(said("fix  the\nparser"))
        await session.prompt(said("and more"))
        assert client.of(TitleChanged) == [TitleChanged("fix the parser")]
    async with opened(tmp_path, playing()) as sessions:
        (summary,), _ = await sessions.list()
        assert summary.title == "fix the parser"


@pytest.mark.row("R36", "R135")
async def test_prompts_are_answered_in_order_and_cancel_ends_only_the_running_one(tmp_path: Path):
    async with opened(
        tmp_path, playing(Say("never", hang=True), Say("second"), Say("third"))
    ) as sessions:
        streaming = anyio.Event()
        client = RecordingClient(
            on_event=lambda e: streaming.set() if isinstance(e, TextDelta) else None
        )
        session = await sessions.new(cwd=str(tmp_path), client=client)
        items = [session.submit(said(name)) for name in ("one", "two", "three")]
        await streaming.wait()
        session.cancel()
        session.cancel()
        ends = [(await session.answer(item)).text for item in items]
        assert ends == ["", "second", "third"]
        prompts = [e.parts for e in session.entries if isinstance(e, UserEntry)]
        assert prompts == [said("one"), said("two"), said("three")]


@pytest.mark.row("R36")
async def test_a_cancel_right_behind_its_prompt_is_not_lost(tmp_path: Path):
    async with opened(tmp_path, playing(Say("no"), Say("yes"))) as sessions:
        session = await sessions.new(cwd=str(tmp_path), client=RecordingClient())
        item = session.submit(said("one"))
        session.cancel()
        assert (await session.answer(item)).reason is DoneReason.USER_ABORT
        assert (await session.prompt(said("two"))).reason is DoneReason.MODEL_STOP


async def test_a_cancel_while_idle_does_not_hit_the_next_turn(tmp_path: Path):
    async with opened(tmp_path, playing(Say("fine"))) as sessions:
        session = await sessions.new(cwd=str(tmp_path), client=RecordingClient())
        session.cancel()
        assert (await session.prompt(said("one"))).reason is DoneReason.MODEL_STOP


async def test_one_session_waits_for_its_person_while_another_works(tmp_path: Path):
    tool = FakeTool("run", read_only=False)
    equipment = FakeEquipment(
        ListModel(Say(calls=(("run", "{}"),)), Say("b done"), Say("a done")),
        [tool],
        FakePolicy({"run": Decision("ask", "because")}),
    )
    async with opened(tmp_path, equipment) as sessions:
        waiting = RecordingClient()
        waiting.person.answers.append(None)
        waiting.person.opened = anyio.Event()
        one = await sessions.new(cwd=str(tmp_path), client=waiting)
        two = await sessions.new(cwd=str(tmp_path), client=RecordingClient())
        item = one.submit(said("a"))
        await waiting.person.opened.wait()
        assert (await two.prompt(said("b"))).text == "b done"
        one.cancel()
        assert (await one.answer(item)).reason is DoneReason.USER_ABORT


@pytest.mark.row("R115", "R121")
async def test_a_loaded_session_has_every_entry_and_the_same_prompt_bytes(tmp_path: Path):
    (tmp_path / "AGENTS.md").write_text("use tabs")
    equipment = playing(Say("one"))
    async with opened(tmp_path, equipment) as sessions:
        session = await sessions.new(cwd=str(tmp_path), client=RecordingClient())
        await session.prompt(said("hi"))
        entries = list(session.entries)
    (tmp_path / "AGENTS.md").write_text("use spaces")
    again = playing(Say("two"))
    async with opened(tmp_path, again) as sessions:
        loaded = await sessions.load(session.id, cwd=str(tmp_path), client=RecordingClient())
        assert list(loaded.entries) == entries
        await loaded.prompt(said("more"))
    assert again.script.requests[0].system == equipment.script.requests[0].system
    assert "use tabs" in again.script.requests[0].system
    before = equipment.script.requests[0].messages
    assert again.script.requests[0].messages[: len(before)] == before


@pytest.mark.row("R34", "R110")
async def test_leaving_in_the_middle_of_a_tool_settles_it_and_the_next_turn_works(tmp_path: Path):
    reached = anyio.Event()

    async def forever(context: CallContext, arguments: JsonObject) -> ToolResult:
        reached.set()
        await anyio.sleep_forever()
        raise AssertionError

    tool = FakeTool("run", forever, read_only=False)
    async with opened(tmp_path, playing(Say(calls=(("run", "{}"),)), tools=(tool,))) as sessions:
        session = await sessions.new(cwd=str(tmp_path), client=RecordingClient())
        item = session.submit(said("go"))
        await reached.wait()
        await sessions.close(session.id)
        assert (await session.answer(item)).detail == "shutdown"
    again = playing(Say("back"), tools=(tool,))
    async with opened(tmp_path, again) as sessions:
        loaded = await sessions.load(session.id, cwd=str(tmp_path), client=RecordingClient())
        assert [e.effect for e in loaded.entries if isinstance(e, ResultEntry)] == ["unknown"]
        assert (await loaded.prompt(said("and now"))).text == "back"
    assert "effects unknown" in str(again.script.requests[0].messages)


@pytest.mark.row("R35", "R110")
async def test_a_turn_that_a_crash_cut_off_is_settled_when_its_session_is_loaded(tmp_path: Path):
    equipment = playing(Say("x"))
    async with opened(tmp_path, equipment) as sessions:
        session = await sessions.new(cwd=str(tmp_path), client=RecordingClient())
        await session.prompt(said("hi"))
        await session.log.append(UserEntry(session.entries[0].turn, said("cut off")))
    async with opened(tmp_path, playing()) as sessions:
        loaded = await sessions.load(session.id, cwd=str(tmp_path), client=RecordingClient())
        end = loaded.entries[-1]
        assert isinstance(end, TurnEndEntry)
        assert end.detail == "shutdown"


async def test_a_second_process_only_reads_until_the_first_lets_go(tmp_path: Path):
    """SE-07, F63."""
    async with opened(tmp_path, playing(Say("one"))) as first:
        session = await first.new(cwd=str(tmp_path), client=RecordingClient())
        await session.prompt(said("hi"))
        async with opened(tmp_path, playing(Say("two"))) as second:
            reading = await second.load(session.id, cwd=str(tmp_path), client=RecordingClient())
            assert list(reading.entries) == list(session.entries)
            assert str(os.getpid()) in reading.notices[0].title
            with pytest.raises(SessionBusy, match=str(os.getpid())):
                reading.submit(said("mine"))
            with pytest.raises(SessionBusy):
                await reading.set_mode("auto")
            with pytest.raises(SessionBusy):
                await second.set_title(session.id, "mine")
            await first.close(session.id)
            held = await second.load(session.id, cwd=str(tmp_path), client=RecordingClient())
            assert (await held.prompt(said("now mine"))).text == "two"


async def test_when_to_ask_about_edits_is_kept_as_chosen_and_follows_the_settings_until_then(
    tmp_path: Path,
):
    async with opened(tmp_path, playing()) as sessions:
        session = await sessions.new(cwd=str(tmp_path), client=RecordingClient())
        other = await sessions.new(cwd=str(tmp_path), client=RecordingClient())
        await session.set_review("turn")
    equipment = playing()
    async with opened(tmp_path, equipment) as sessions:
        loaded = await sessions.load(session.id, cwd=str(tmp_path), client=RecordingClient())
        forked = await sessions.fork(session.id, cwd=str(tmp_path), client=RecordingClient())
        default = await sessions.load(other.id, cwd=str(tmp_path), client=RecordingClient())
        assert [one.profile.review for one in (loaded, forked, default)] == ["turn", "turn", "each"]
        equipment.review = "turn"
        assert default.profile.review == "turn"
        await loaded.set_review("each")
        assert loaded.profile.review == "each"


async def test_mode_and_model_are_kept_and_wrong_ones_refused(tmp_path: Path):
    async with opened(tmp_path, playing()) as sessions:
        session = await sessions.new(cwd=str(tmp_path), client=RecordingClient())
        await session.set_mode("plan")
        await session.set_model("list/other")
        with pytest.raises(ClientMistake):
            await session.set_model("list/none")
        with pytest.raises(ClientMistake):
            await session.set_mode("yolo")  # pyright: ignore[reportArgumentType]
    async with opened(tmp_path, playing()) as sessions:
        loaded = await sessions.load(session.id, cwd=str(tmp_path), client=RecordingClient())
        assert (loaded.mode, loaded.model) == ("plan", "list/other")


async def test_a_folder_that_does_not_exist_is_refused_by_name(tmp_path: Path):
    async with opened(tmp_path, playing()) as sessions:
        with pytest.raises(ClientMistake, match="gone"):
            await sessions.new(cwd=str(tmp_path / "gone"), client=RecordingClient())


async def test_a_missing_further_root_is_dropped_with_a_notice(tmp_path: Path):
    (tmp_path / "b").mkdir()
    async with opened(tmp_path, playing()) as sessions:
        roots = (str(tmp_path / "b"), str(tmp_path / "gone"), str(tmp_path))
        session = await sessions.new(cwd=str(tmp_path), roots=roots, client=RecordingClient())
        assert session.roots == (str(tmp_path / "b"),)
        assert any("gone" in notice.title for notice in session.notices)


async def test_an_unknown_session_is_an_error_by_name(tmp_path: Path):
    async with opened(tmp_path, playing()) as sessions:
        with pytest.raises(UnknownSession, match="nope"):
            await sessions.load("nope", cwd=str(tmp_path), client=RecordingClient())  # pyright: ignore[reportArgumentType]


async def test_a_defect_in_the_equipment_fails_the_prompt_and_not_the_session(tmp_path: Path):
    class Broken(FakeEquipment):
        async def kit(self, place: Place) -> Kit:
            if self.kits == 0:
                self.kits += 1
                raise RuntimeError("no tools today")
            return await super().kit(place)

    async with opened(tmp_path, Broken(ListModel(Say("fine")))) as sessions:
        session = await sessions.new(cwd=str(tmp_path), client=RecordingClient())
        with pytest.raises(Exception, match="no tools today"):
            await session.prompt(said("one"))
        assert (await session.prompt(said("two"))).text == "fine"


async def test_a_question_that_nobody_answers_in_time_is_no(tmp_path: Path):
    tool = FakeTool("run", read_only=False)
    equipment = FakeEquipment(
        ListModel(Say(calls=(("run", "{}"),)), Say("ok")),
        [tool],
        FakePolicy({"run": Decision("ask", "because")}),
        approval_timeout_s=0.01,
    )
    async with opened(tmp_path, equipment) as sessions:
        client = RecordingClient()
        client.person.answers.append(None)
        session = await sessions.new(cwd=str(tmp_path), client=client)
        await session.prompt(said("go"))
        assert tool.ran == []
        assert client.of(CallStarted) == []


async def test_leaving_by_cancellation_gives_the_sessions_up(tmp_path: Path):
    made: list[SessionId] = []
    with anyio.CancelScope() as scope:
        async with opened(tmp_path, playing()) as sessions:
            made.append((await sessions.new(cwd=str(tmp_path), client=RecordingClient())).id)
            scope.cancel()
            await anyio.sleep_forever()
    store = SessionStore(tmp_path / "sessions.db")
    await store.acquire(made[0])
    await store.aclose()
