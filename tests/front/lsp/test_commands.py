"""The commands of spec §5.2 that begin, list and go on with conversations, in a client with none of our code."""

from pathlib import Path
from typing import Any

import pytest

from tests.fakes.loop import Say
from tests.front.lsp.lsp_client import NEVER, PLUGIN, STOCK, Refused
from tests.front.lsp.test_stock import ended, messages
from tests.front.lsp.world import World, served

pytestmark = pytest.mark.anyio

CODE = "def f():\n    return 1\n\nx = f(\n"
LINES = {"start": {"line": 0, "character": 0}, "end": {"line": 2, "character": 0}}


def said(world: World, number: int = 0) -> str:
    """What the model was told in a request's newest message."""
    return str(world.equipment.script.requests[number].messages[-1])


async def opened(world: World, name: str = "a.py", text: str = CODE) -> str:
    return await world.client.open(world.root / name, text)


async def test_fix_names_the_problem_and_shows_the_code(tmp_path: Path) -> None:
    async with served(tmp_path, Say("fixed"), capabilities=STOCK) as world:
        uri = await opened(world)
        problem = {
            "range": {"start": {"line": 3, "character": 4}, "end": {"line": 3, "character": 6}},
            "message": "'(' was never closed",
            "source": "parser",
            "code": "E999",
            "severity": 1,
        }
        started = await world.client.command("agent.fix", {"uri": uri, "diagnostics": [problem]})
        await ended(world)

        assert set(started) == {"sessionId", "turnId"}
        assert "Fix this problem in `a.py`" in said(world)
        assert "- line 4: '(' was never closed (parser E999)" in said(world)
        assert "return 1" in said(world)


async def test_fix_without_a_problem_asks_to_find_it(tmp_path: Path) -> None:
    async with served(tmp_path, Say("fixed"), capabilities=STOCK) as world:
        uri = await opened(world)
        await world.client.command("agent.fix", {"uri": uri, "range": LINES, "prompt": "Be quick"})
        await ended(world)

        assert "Find what is wrong in lines 1-2 of `a.py`, and fix it." in said(world)
        assert "Be quick" in said(world)


async def test_explain_takes_the_range_as_the_buffer_has_it(tmp_path: Path) -> None:
    async with served(tmp_path, Say("it is so"), capabilities=STOCK) as world:
        uri = await opened(world)
        await world.client.command("agent.explain", {"uri": uri, "range": LINES})
        await ended(world)

        assert "Explain lines 1-2 of `a.py`" in said(world)
        assert "x = f(" not in said(world)


async def test_an_argument_that_does_not_fit_is_named(tmp_path: Path) -> None:
    async with served(tmp_path, capabilities=STOCK) as world:
        with pytest.raises(Refused, match="uri") as refused:
            await world.client.command("agent.explain", {})

        assert refused.value.code == -32602


async def test_the_last_conversation_goes_on(tmp_path: Path) -> None:
    async with served(tmp_path, Say("one"), capabilities=STOCK) as world:
        first = await world.client.command("agent.prompt", "my question")
        await ended(world)
    async with served(tmp_path, Say("two"), capabilities=STOCK) as world:
        resumed = await world.client.command("agent.resumeSession")
        again = await world.client.command("agent.prompt", "and then?")
        await world.client.until(lambda m: m.get("params", {}).get("message", "").strip() == "two")

        assert resumed["sessionId"] == again["sessionId"] == first["sessionId"]
        assert messages(world)[0] == "Going on with: my question"
        assert "my question" in str(world.equipment.script.requests[0].messages)


async def test_resuming_where_nothing_was_is_refused(tmp_path: Path) -> None:
    async with served(tmp_path, capabilities=STOCK) as world:
        with pytest.raises(Refused, match="there is no earlier session"):
            await world.client.command("agent.resumeSession")
        with pytest.raises(Refused, match="'nobody'"):
            await world.client.command("agent.resumeSession", {"sessionId": "nobody"})


async def test_a_stock_client_picks_from_the_list(tmp_path: Path) -> None:
    async with served(tmp_path, Say("1"), Say("2"), capabilities=STOCK) as world:
        first = await world.client.command("agent.prompt", "first question")
        await ended(world)
        await world.client.command("agent.newSession")
        await world.client.command("agent.prompt", "second question")
        await world.client.until(lambda m: m.get("params", {}).get("message", "").strip() == "2")
    pick: dict[str, Any] = {"window/showMessageRequest": lambda *_: {"title": "first question"}}
    async with served(tmp_path, Say("3"), capabilities=STOCK, answers=pick) as world:
        listed = await world.client.command("agent.listSessions")
        await ended(world)
        again = await world.client.command("agent.prompt", "go on")

        assert [one["title"] for one in listed["sessions"]] == ["second question", "first question"]
        [question] = world.client.of("window/showMessageRequest")
        assert [a["title"] for a in question["actions"]] == ["second question", "first question"]
        assert again["sessionId"] == first["sessionId"]


async def test_a_client_of_ours_gets_the_list_and_no_question(tmp_path: Path) -> None:
    async with served(tmp_path, capabilities=PLUGIN) as world:
        session = await world.client.new(world.root)
        listed = await world.client.command("agent.listSessions")

        assert [one["sessionId"] for one in listed["sessions"]] == [session]
        assert world.client.of("window/showMessageRequest") == []


async def test_a_command_means_the_session_that_the_client_opened(tmp_path: Path) -> None:
    async with served(tmp_path, Say("hello"), capabilities=PLUGIN) as world:
        session = await world.client.new(world.root)
        started = await world.client.command("agent.prompt", "hi")

        assert started["sessionId"] == session


async def test_every_command_returns_while_the_model_is_silent(tmp_path: Path) -> None:
    answers: dict[str, Any] = {"window/showMessageRequest": lambda *_: NEVER}
    async with served(
        tmp_path, Say("never", hang=True), capabilities=STOCK, answers=answers
    ) as world:
        uri = await opened(world)
        for name in ("explain", "fix"):
            await world.client.command(f"agent.{name}", {"uri": uri})
        for name in ("listSessions", "showChanges", "undo", "cancel"):
            await world.client.command(f"agent.{name}")
        await world.client.hears("window/showMessageRequest")
