"""Which model answers and what it is told first, over the life of a session (R52, R53, R117, R121)."""

from pathlib import Path

import anyio
import pytest

from agent_server.loop.events import ModelSwitched
from agent_server.loop.faults import Fault
from agent_server.loop.model import DoneReason
from agent_server.loop.ports import Model
from agent_server.session.sessions import Sessions
from agent_server.store.sessions import SessionStore
from tests.fakes.loop import ListModel, Say, said
from tests.fakes.session import FakeEquipment, RecordingClient

pytestmark = pytest.mark.anyio


class Backed(FakeEquipment):
    """Equipment with another model to go on with."""

    spare: ListModel

    def fallbacks(self, name: str, *, pinned: bool) -> tuple[Model, ...]:
        return () if pinned else (self.spare,)


@pytest.mark.row("R50", "R53")
@pytest.mark.parametrize("pinned", [False, True])
async def test_a_model_that_the_person_picked_is_never_replaced_behind_their_back(
    tmp_path: Path, pinned: bool
):
    equipment = Backed(ListModel(Say(fault=Fault.BILLING)))
    equipment.spare = ListModel(Say("from the spare"))
    with anyio.fail_after(10):
        async with Sessions(SessionStore(tmp_path / "s.db"), lambda cwd: equipment) as sessions:
            client = RecordingClient()
            session = await sessions.new(cwd=str(tmp_path), client=client)
            if pinned:
                await session.set_model("list/model")
            result = await session.prompt(said("hi"))
    expected = DoneReason.ERROR if pinned else DoneReason.MODEL_STOP
    assert result.reason is expected
    assert len(equipment.spare.requests) == (0 if pinned else 1)
    assert len(client.of(ModelSwitched)) == (0 if pinned else 1)


@pytest.mark.row("R117", "R121")
async def test_the_first_words_to_the_model_stay_the_same_bytes_whatever_changes_around_it(
    tmp_path: Path,
):
    (tmp_path / "AGENTS.md").write_text("Use tabs.")
    equipment = FakeEquipment(ListModel(Say("a"), Say("b"), Say("c")))
    store = tmp_path / "s.db"
    with anyio.fail_after(10):
        async with Sessions(SessionStore(store), lambda cwd: equipment) as sessions:
            session = await sessions.new(cwd=str(tmp_path), client=RecordingClient())
            await session.prompt(said("one"))
            (tmp_path / "AGENTS.md").write_text("Use spaces.")
            await session.prompt(said("two"))
        async with Sessions(SessionStore(store), lambda cwd: equipment) as sessions:
            again = await sessions.load(session.id, cwd=str(tmp_path), client=RecordingClient())
            await again.prompt(said("three"))
    systems = {request.system for request in equipment.script.requests}
    (system,) = systems
    assert "Use tabs." in system
