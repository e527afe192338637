"""Two processes and one session (SE-07, F63), and what a new process restores (SE-04, SE-09)."""

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.support import WIRES, Place, Wire, running
from tests.fakes.acp_client import Refused, prompt_params
from tests.fakes.answers import call, hang, say
from tests.fakes.model_server import ModelServer

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.timeout(60),
    pytest.mark.skipif(
        not Path("/proc/self/environ").exists(), reason="descendants are found there"
    ),
]


def opening(place: Place, session: str, **more: Any) -> dict[str, Any]:
    return {"sessionId": session, "cwd": str(place.workspace), "mcpServers": [], **more}


@pytest.mark.parametrize("wire", WIRES)
async def test_the_second_process_only_reads_until_the_first_is_dead(
    wire: Wire, tmp_path: Path
) -> None:
    """SE-07."""
    place = Place.at(tmp_path)
    async with (
        ModelServer([say("One."), say("and") + hang(), say("Mine now.")]) as model,
        running(place, wire, model=model) as first,
    ):
        session = await first.client.new(str(place.workspace))
        await first.client.prompt(session, "hello")
        await first.client.ask("session/prompt", prompt_params(session, "and"))
        await first.client.until(lambda m: "'text': 'and'" in str(m.get("params", "")))
        async with running(place, wire, model=model) as second:
            loaded = await second.client.request("session/load", opening(place, session))
            holder = str(first.process.pid)
            assert holder in loaded["_meta"]["agent-server"]["readOnly"]
            assert second.client.text(session) == "One."
            with pytest.raises(Refused, match=f"held by process {holder}") as refused:
                await second.client.prompt(session, "me too")
            assert refused.value.data["reason"] == "session_busy"
            first.kill()
            await first.process.wait()

            await second.client.request("session/load", opening(place, session))
            answer = await second.client.prompt(session, "and now")
            assert answer["stopReason"] == "end_turn"
            assert second.client.text(session).endswith("Mine now.")
    assert model.refused == []
    last = [m["content"] for m in model.bodies[-1]["messages"] if m["role"] == "user"]
    assert "hello" in str(last[0])
    assert "and now" in str(last[-1])


async def test_a_new_process_restores_everything_or_says_what_it_cannot(tmp_path: Path) -> None:
    """SE-09: title, mode, model, plan, usage, further roots, and a system prompt of the same bytes."""
    place = Place.at(tmp_path)
    (place.workspace / "AGENTS.md").write_text("Use tabs.")
    extra, lost = tmp_path / "extra", tmp_path / "lost"
    extra.mkdir()
    lost.mkdir()
    roots = [str(extra), str(lost)]
    plan = call("todo", items=[{"text": "look", "status": "in_progress"}])
    notices: dict[str, Any] = {"session": {"notices": {}}}
    async with ModelServer([plan, say("Planned."), say("Yes.")]) as model:
        async with running(place, model=model) as server:
            session = await server.client.new(str(place.workspace), additionalDirectories=roots)
            await server.client.prompt(session, "make a plan")
            for option, value in (("mode", "accept_edits"), ("model", "openai/mock")):
                params = {"sessionId": session, "configId": option, "value": value}
                await server.client.request("session/set_config_option", params)
        (place.workspace / "AGENTS.md").write_text("Use spaces.")
        lost.rmdir()
        async with running(place, model=model, capabilities=notices) as server:
            params = opening(place, session, additionalDirectories=roots)
            loaded = await server.client.request("session/load", params)
            shown = server.client.updates(session)
            await server.client.prompt(session, "go on")
            (listed,) = (await server.client.request("session/list", {}))["sessions"]
            told = [n["title"] for n in server.client.updates(session, "notice")]

    assert [o["currentValue"] for o in loaded["configOptions"]][:2] == [
        "accept_edits",
        "openai/mock",
    ]
    assert listed["title"] == "make a plan"
    assert listed["additionalDirectories"] == [str(extra)]
    by_kind = {update["sessionUpdate"]: update for update in shown}
    assert by_kind["plan"]["entries"][0]["content"] == "look"
    assert by_kind["usage_update"]["used"] > 0
    assert by_kind["session_info_update"]["title"] == "make a plan"
    assert f"the additional folder '{lost}' does not exist and was left out" in told
    before, after = model.bodies[-2], model.bodies[-1]
    assert after["messages"][: len(before["messages"])] == before["messages"]
    assert after["tools"] == before["tools"]
    assert "Use tabs." in str(after["messages"][0])
