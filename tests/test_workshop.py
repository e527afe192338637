"""What sessions are equipped with, from real settings (R50, R53)."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from agent_server.loop.limits import Limits
from agent_server.loop.model import DoneReason
from agent_server.options import Options
from agent_server.session.prompts import TurnResult
from agent_server.session.sessions import Sessions
from agent_server.workshop import open_sessions
from tests.fakes.answers import Answer
from tests.fakes.loop import said
from tests.fakes.model_server import ModelServer
from tests.fakes.session import RecordingClient

pytestmark = pytest.mark.anyio

BROKEN = Answer(status=500)


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AGENT_SERVER_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    folder = tmp_path / "w"
    folder.mkdir()
    return folder


@asynccontextmanager
async def opened(
    first: ModelServer, spare: ModelServer, when_pinned: bool | None
) -> AsyncGenerator[Sessions]:
    options: dict[str, object] = {
        "model": "openai/first",
        "providers": {"openai": {"base_url": first.base_url}},
        "retry": {"transient": 0},
        "fallback_providers": [{"model": "openai/spare", "base_url": spare.base_url}],
    }
    if when_pinned is not None:
        options["fallback"] = {"when_pinned": when_pinned}
    with anyio.fail_after(20):
        async with open_sessions(Options(), options) as sessions:
            yield sessions


async def asked(sessions: Sessions, work: Path, *, pin: bool) -> TurnResult:
    session = await sessions.new(cwd=str(work), client=RecordingClient())
    if pin:
        await session.set_model("openai/first")
    return await session.prompt(said("hi"))


@pytest.mark.row("R53")
@pytest.mark.parametrize("pin", [True, False])
@pytest.mark.parametrize("when_pinned", [None, False, True])
async def test_a_picked_model_that_fails_is_replaced_only_where_the_settings_say_so(
    work: Path, pin: bool, when_pinned: bool | None
):
    async with (
        ModelServer([BROKEN]) as first,
        ModelServer(["say hi"]) as spare,
        opened(first, spare, when_pinned) as sessions,
    ):
        result = await asked(sessions, work, pin=pin)

    replaced = not pin or bool(when_pinned)
    assert result.reason is (DoneReason.MODEL_STOP if replaced else DoneReason.ERROR)
    assert (len(first.bodies), len(spare.bodies)) == (1, 1 if replaced else 0)


@pytest.mark.parametrize(("trusted", "mode"), [(True, "auto"), (False, "ask"), (None, "ask")])
async def test_the_settings_of_a_workspace_count_whole_where_the_person_trusts_it(
    work: Path, trusted: bool | None, mode: str
):
    (work / ".agent").mkdir()
    (work / ".agent" / "settings.toml").write_text('mode = "auto"', encoding="utf-8")
    with anyio.fail_after(20):
        async with open_sessions(Options(), {}, trusted=trusted) as sessions:
            session = await sessions.new(cwd=str(work), client=RecordingClient())
            notices = [notice.title for notice in session.notices]

    assert session.mode == mode
    assert any("not trusted" in title for title in notices) == (trusted is not True)


@pytest.mark.parametrize(
    ("options", "name", "value"),
    [
        ({"tools": {"parallel": "off"}}, "parallel", 1),
        ({"tools": {"parallel": "all"}}, "mixed", True),
        ({"tools": {"start_early": False}}, "start_early", False),
        ({"tools": {"read_retries": 4}}, "read_retries", 4),
        ({"approval": {"on_deny": "stop"}}, "stop_on_deny", True),
        ({"context": {"between_turns_at": 0.5}}, "between_turns_at", 0.5),
        ({"context": {"compact_at": 0.7}}, "compact_at", 0.7),
        ({"context": {"reserve_output": 9}}, "reserve_output", 9),
        ({"guard": {"repeat_stop": 9}}, "repeat_stop", 9),
        ({"retry": {"transient": 9}}, "transient_retries", 9),
        ({"limits": {"invalid_replies": 9}}, "invalid_replies", 9),
    ],
)
async def test_a_setting_reaches_the_turns_it_is_about(
    work: Path, options: dict[str, object], name: str, value: object
):
    async with open_sessions(Options(model="scripted:none"), options) as sessions:
        session = await sessions.new(cwd=str(work), client=RecordingClient())
        limits = session._equipment.limits

    assert getattr(limits, name) == value
    assert getattr(Limits(), name) != value


async def test_the_model_for_summaries_makes_them_and_recent_entries_stay(work: Path):
    """R55, R67: `[models] summary`, `[compression] protect_last_n`."""
    overflow = Answer(
        status=400, body={"error": {"message": "too long", "code": "context_length_exceeded"}}
    )
    async with (
        ModelServer(["say " + "long ago " * 200, overflow, "say the end"]) as first,
        ModelServer(["say in short"]) as small,
    ):
        options: dict[str, object] = {
            "model": "openai/first",
            "models": {"summary": "local/small"},
            "providers": {
                "openai": {"base_url": first.base_url},
                "local": {"base_url": small.base_url},
            },
        }
        with anyio.fail_after(20):
            async with open_sessions(Options(), options) as sessions:
                session = await sessions.new(cwd=str(work), client=RecordingClient())
                await session.prompt(said("one"))
                assert (await session.prompt(said("two"))).text == "the end"

    assert len(small.bodies) == 1
    assert "in short" in str(first.bodies[-1]["messages"])
