"""Selection and open files, asked of a client that offers them (loop.md F13)."""

from pathlib import Path
from typing import Any

import pytest

from tests.fakes.front import served as acp
from tests.fakes.loop import Say
from tests.front.lsp.lsp_client import NEVER, PLUGIN
from tests.front.lsp.world import served

pytestmark = pytest.mark.anyio

OWN: dict[str, Any] = PLUGIN["experimental"]["agent"]
LOOKS: dict[str, Any] = {
    **PLUGIN,
    "experimental": {"agent": {**OWN, "editor": {"selection": True, "openFiles": True}}},
}
PLACE = {"start": {"line": 1, "character": 0}, "end": {"line": 3, "character": 0}}


def looking(root: Path, selection: Any) -> dict[str, Any]:
    uri = (root / "w" / "a.py").as_uri()
    return {
        "agent/editor/selection": lambda *_: (
            selection if selection is NEVER else {"uri": uri, **selection}
        ),
        "agent/editor/openFiles": lambda *_: {"files": [{"uri": uri, "dirty": True}, {"uri": 5}]},
    }


async def test_what_the_person_sees_is_told_once_and_not_shown_to_them(tmp_path: Path) -> None:
    answers = looking(tmp_path, {"range": PLACE, "text": "def f():\n    pass\n"})
    async with served(
        tmp_path, Say("one"), Say("two"), capabilities=LOOKS, answers=answers
    ) as world:
        client = world.client
        session = await client.new(world.root)
        await client.prompt(session, "hi")
        await client.prompt(session, "again")
        before = len(client.of("agent/session/update"))
        await client.request(
            "agent/session/load", {"sessionId": session, "uri": world.root.as_uri()}
        )

        first, second = (str(r.messages[-1]) for r in world.equipment.script.requests)
        assert f"selected: {world.root / 'a.py'}, lines 2-3:" in first
        assert "a.py (unsaved)" in first
        assert "selected" not in second
        assert "selected" not in str(client.of("agent/session/update")[before:])


async def test_over_acp_the_extension_is_asked(tmp_path: Path) -> None:
    own = {"version": 1, "editor": {"selection": True, "openFiles": True}}
    uri = (tmp_path / "a.py").as_uri()
    async with acp(tmp_path, Say("one"), capabilities={"_meta": {"agent-server": own}}) as world:
        world.client.own["_agent-server/editor/selection"] = lambda _: {
            "uri": uri,
            "range": PLACE,
            "text": "x = 1\n",
        }
        world.client.own["_agent-server/editor/openFiles"] = lambda _: {"files": [{"uri": uri}]}
        await world.client.prompt(await world.client.new(str(tmp_path)), "hi")

        told = str(world.equipment.script.requests[0].messages[-1])
        assert f"open: {tmp_path / 'a.py'}" in told
        assert "x = 1" in told


async def test_a_client_that_offers_nothing_is_not_asked(tmp_path: Path) -> None:
    async with served(tmp_path, Say("one")) as world:
        await world.client.prompt(await world.client.new(world.root), "hi")

        assert world.client.of("agent/editor/selection") == []
        assert world.client.of("agent/editor/openFiles") == []


@pytest.mark.parametrize(
    "selection", [NEVER, {"uri": None}, {"uri": "untitled:1"}, {"range": {"start": 5}}]
)
async def test_an_answer_that_says_nothing_tells_nothing(tmp_path: Path, selection: Any) -> None:
    answers = {**looking(tmp_path, selection), "agent/editor/openFiles": lambda *_: None}
    async with served(tmp_path, Say("one"), capabilities=LOOKS, answers=answers) as world:
        await world.client.prompt(await world.client.new(world.root), "hi")

        assert "selected" not in str(world.equipment.script.requests[0].messages)
