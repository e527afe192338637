"""The editor is looked at once for each turn, and what is new is stored with the prompt (loop.md F13, I7)."""

from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from agent_server.context.before_person import BeforePerson, Selection
from agent_server.loop.action import Decision
from agent_server.loop.model import Resource, SummaryEntry, Text, TurnId, UserEntry
from agent_server.session.noticing import LOOK_S, Noticing
from agent_server.session.sessions import Sessions
from agent_server.store.sessions import SessionStore
from tests.fakes.loop import FakePolicy, ListModel, Say
from tests.fakes.session import FakeEquipment, RecordingClient

pytestmark = pytest.mark.anyio

VIEW = BeforePerson(Selection("/w/a.py", 1, 2, "secret\n"))
SUMMARY = SummaryEntry(TurnId("t1"), "so far", 1, 1)


async def told(noticing: Noticing, client: RecordingClient, *entries: SummaryEntry) -> str:
    parts = await noticing.parts(client, FakePolicy(), entries)
    return "".join(part.text or "" for part in parts if isinstance(part, Resource))


async def test_what_was_told_is_not_told_again_until_it_is_forgotten() -> None:
    noticing, client = Noticing(), RecordingClient(before=VIEW)

    assert "lines 1-2" in await told(noticing, client)
    assert await told(noticing, client) == ""
    assert "lines 1-2" in await told(noticing, client, SUMMARY)
    assert await told(noticing, client, SUMMARY) == ""


async def test_a_text_that_may_not_be_read_unasked_is_not_told() -> None:
    policy = FakePolicy({"read": Decision("ask", "a secret")})
    [part] = await Noticing().parts(RecordingClient(before=VIEW), policy, ())

    assert isinstance(part, Resource)
    assert "a.py" in (part.text or "")
    assert "secret" not in (part.text or "")


class Busy(RecordingClient):
    async def before_person(self) -> BeforePerson | None:
        await anyio.sleep_forever()


async def test_an_editor_that_does_not_answer_holds_no_prompt_up() -> None:
    with anyio.fail_after(LOOK_S + 5):
        assert await Noticing().parts(Busy(), FakePolicy(), ()) == ()


async def test_it_is_stored_with_the_message_it_was_sent_with(tmp_path: Path) -> None:
    model = ListModel(Say("one"), Say("two"))
    client = RecordingClient(before=VIEW)
    equipment = FakeEquipment(model)
    async with Sessions(SessionStore(tmp_path / "s.db"), lambda _: equipment) as sessions:
        session = await sessions.new(cwd=str(tmp_path), client=client)
        await session.prompt((Text("hi"),))
        client.before = replace(VIEW, selection=Selection("/w/b.py", 9, 9))
        await session.prompt((Text("and now?"),))

        first, second = (e for e in session.entries if isinstance(e, UserEntry))
        assert [type(part) for part in first.parts] == [Text, Resource]
        assert "b.py, line 9" in str(second.parts[-1])
        assert model.requests[1].messages[0] == model.requests[0].messages[0]
