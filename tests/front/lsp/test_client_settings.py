"""Settings from the client: at the start, and when it changes them; several workspace folders (spec §5.2)."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from agent_server.front.lsp import endpoint
from tests.fakes.loop import Say
from tests.front.lsp.lsp_client import NEVER, PLUGIN, STOCK
from tests.front.lsp.test_stock import ended, messages
from tests.front.lsp.world import World, served

pytestmark = pytest.mark.anyio

ASKED: dict[str, Any] = {
    **STOCK,
    "workspace": {
        "applyEdit": True,
        "configuration": True,
        "didChangeConfiguration": {"dynamicRegistration": True},
    },
}


def configured(*sections: Any) -> dict[str, Any]:
    """A client whose section is this one at first, then that one, the last one for ever."""
    left = list(sections)
    return {
        "workspace/configuration": lambda *_: [left.pop(0) if len(left) > 1 else left[0]],
        "client/registerCapability": lambda *_: None,
    }


async def started(world: World) -> None:
    """The agent is there."""
    await world.client.request("agent/session/list", {})


async def changes(world: World, settings: Any = None) -> None:
    """The client says that its configuration changed; returns when that was dealt with."""
    await world.client.notify("workspace/didChangeConfiguration", {"settings": settings})
    await started(world)


async def test_the_section_is_over_the_initialization_options(tmp_path: Path) -> None:
    answers = configured({"mode": "plan", "limits": {"max_turns": 7}, "model": None})
    async with served(tmp_path, initialize=False, capabilities=ASKED, answers=answers) as world:
        given = {"agent": {"mode": "auto", "model": "m", "limits": {"same_error": 2}}}
        await world.client.initialize(world.root, initializationOptions=given)
        await started(world)

        assert dict(world.options[0]) == {
            "mode": "plan",
            "model": "m",
            "limits": {"same_error": 2, "max_turns": 7},
        }


@pytest.mark.parametrize(
    ("given", "settings", "trusted"),
    [
        ({"agent": {"workspaceTrusted": True, "mode": "plan"}}, {"mode": "plan"}, True),
        ({"agent": {"workspaceTrusted": False}}, {}, False),
        ({"workspaceTrusted": True}, {}, True),
        ({"agent": {"workspaceTrusted": "yes"}}, {}, None),
        ({"agent": {}}, {}, None),
        ({"agent": None}, {}, None),
        (None, {}, None),
    ],
)
async def test_whether_the_workspace_is_trusted_is_no_setting(
    tmp_path: Path, given: Any, settings: Any, trusted: bool | None
) -> None:
    async with served(tmp_path, initialize=False, capabilities=PLUGIN) as world:
        await world.client.initialize(world.root, initializationOptions=given)
        await started(world)

        assert (dict(world.options[0]), world.trusts) == (settings, [trusted])


async def test_a_configuration_cannot_make_its_own_workspace_trusted(tmp_path: Path) -> None:
    """It may be a file of that very workspace."""
    answers = configured(None, {"workspaceTrusted": True})
    async with served(tmp_path, capabilities=ASKED, answers=answers) as world:
        await started(world)
        await changes(world)

        assert "workspaceTrusted" in await ended(world)
        assert world.trusts == [None]


async def test_a_change_counts_from_then_on_and_what_is_wrong_is_said(tmp_path: Path) -> None:
    answers = configured(None, {"mode": "plan", "modle": "x"})
    async with served(tmp_path, capabilities=ASKED, answers=answers) as world:
        await started(world)
        assert dict(world.options[0]) == {}
        await changes(world)

        assert await ended(world) == "setting ignored: options: modle: is no setting"
        assert world.options[0]["mode"] == "plan"


async def test_what_is_taken_back_counts_no_longer(tmp_path: Path) -> None:
    answers = configured({"mode": "plan"}, {})
    async with served(tmp_path, capabilities=ASKED, answers=answers) as world:
        await started(world)
        await changes(world)
        while world.options[0]:
            await anyio.lowlevel.checkpoint()

        assert messages(world) == []


async def test_a_client_is_asked_to_tell_of_changes(tmp_path: Path) -> None:
    async with served(tmp_path, capabilities=ASKED, answers=configured({})) as world:
        asked = await world.client.hears("client/registerCapability")

        [registered] = asked["registrations"]
        assert registered["method"] == "workspace/didChangeConfiguration"
        assert registered["registerOptions"] == {"section": "agent"}


async def test_settings_may_come_with_the_notification(tmp_path: Path) -> None:
    async with served(tmp_path, capabilities=PLUGIN) as world:
        await started(world)
        await changes(world, {"agent": {"mode": "plan"}})

        assert dict(world.options[0]) == {"mode": "plan"}


async def test_a_client_of_ours_is_not_asked_for_what_are_its_own_settings(tmp_path: Path) -> None:
    own = {**ASKED, "experimental": PLUGIN["experimental"]}
    async with served(tmp_path, capabilities=own) as world:
        await started(world)

        assert world.client.of("workspace/configuration") == []


async def test_a_client_that_never_answers_does_not_hold_up_the_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "START_S", 0.01)
    answers: dict[str, Any] = {
        "workspace/configuration": lambda *_: NEVER,
        "client/registerCapability": lambda *_: None,
    }
    async with served(tmp_path, Say("hello"), capabilities=ASKED, answers=answers) as world:
        await world.client.command("agent.prompt", "hi")

        assert (await ended(world)).strip() == "hello"


# ---- several folders ---------------------------------------------------------------------------


def folders(*paths: Path) -> list[dict[str, str]]:
    return [{"uri": path.as_uri(), "name": path.name} for path in paths]


async def place(world: World, session: str) -> tuple[str, list[str]]:
    listed = (await world.client.request("agent/session/list", {}))["sessions"]
    [one] = [one for one in listed if one["sessionId"] == session]
    return one["cwd"], one.get("additionalDirectories", [])


async def test_a_command_works_in_the_folder_of_its_document_with_the_others_beside(
    tmp_path: Path,
) -> None:
    async with served(
        tmp_path, Say("1"), Say("2"), Say("3"), initialize=False, capabilities=STOCK
    ) as world:
        first, second = world.root, tmp_path / "second"
        second.mkdir()
        await world.client.initialize(first, workspaceFolders=folders(first, second))
        here = await world.client.command("agent.prompt", "hi")
        there = await world.client.command(
            "agent.prompt", {"prompt": "hi", "uri": (second / "b.py").as_uri()}
        )
        again = await world.client.command("agent.prompt", "hi")

        assert await place(world, here["sessionId"]) == (str(first), [str(second)])
        assert await place(world, there["sessionId"]) == (str(second), [str(first)])
        assert again["sessionId"] == there["sessionId"]  # where the person was last


async def test_folders_that_come_and_go_count_for_what_begins_afterwards(tmp_path: Path) -> None:
    async with served(tmp_path, capabilities=STOCK) as world:
        second = tmp_path / "second"
        second.mkdir()
        event = {"added": folders(second), "removed": folders(world.root)}
        await world.client.notify("workspace/didChangeWorkspaceFolders", {"event": event})
        begun = await world.client.command("agent.newSession")

        assert await place(world, begun["sessionId"]) == (str(second), [])
