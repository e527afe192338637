"""The model asks the person, over LSP: by our message, or by the one message that every client answers (R144)."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from agent_server.tools.ask_user import NO_ANSWER, NO_WORDS
from tests.fakes.loop import Say
from tests.front.lsp.lsp_client import NEVER, PLUGIN, STOCK
from tests.front.lsp.world import World, served

pytestmark = pytest.mark.anyio

QUESTION = "Which database?"
OPTIONS = ["PostgreSQL", "SQLite"]
WITH_OPTIONS = Say("", (("ask_user", json.dumps({"question": QUESTION, "options": OPTIONS})),))
IN_WORDS = Say("", (("ask_user", json.dumps({"question": QUESTION})),))
ASKING: dict[str, Any] = {
    **PLUGIN,
    "experimental": {"agent": {**PLUGIN["experimental"]["agent"], "ask": True}},
}


def result(world: World) -> str:
    """What the model got, as it was sent back to it."""
    *_, last = world.equipment.script.requests
    return str(last.messages[-1])


@pytest.mark.row("R144")
@pytest.mark.parametrize("asks", [WITH_OPTIONS, IN_WORDS])
async def test_a_plugin_is_asked_by_our_message(tmp_path: Path, asks: Say) -> None:
    answers = {"agent/ask": lambda *_: {"answer": "SQLite"}}
    async with served(tmp_path, asks, Say("fine"), capabilities=ASKING, answers=answers) as world:
        session = await world.client.new(world.root)
        await world.client.prompt(session, "go")

        [question] = world.client.of("agent/ask")
        assert question["question"] == QUESTION
        assert "SQLite" in result(world)
        assert world.client.of("agent/session/request_permission") == []


async def test_a_loaded_conversation_shows_what_was_asked_and_answered(tmp_path: Path) -> None:
    answers = {"agent/ask": lambda *_: {"answer": "SQLite"}}
    async with served(
        tmp_path, WITH_OPTIONS, Say("fine"), capabilities=ASKING, answers=answers
    ) as world:
        client = world.client
        session = await client.new(world.root)
        await client.prompt(session, "go")
        before = len(client.of("agent/session/update"))
        place = {"sessionId": session, "uri": world.root.as_uri(), "mcpServers": []}
        await client.request("agent/session/load", place)

        shown = [u["update"] for u in client.of("agent/session/update")[before:]]
        [call] = [u for u in shown if u["sessionUpdate"] == "tool_call"]
        assert call["rawInput"] == {"question": QUESTION, "options": OPTIONS}
        assert call["content"][0]["content"]["text"] == "SQLite"


async def test_a_plugin_that_only_permits_chooses(tmp_path: Path) -> None:
    async with served(tmp_path, WITH_OPTIONS, Say("fine")) as world:
        session = await world.client.new(world.root)
        await world.client.prompt(session, "go")

        assert len(world.client.of("agent/session/request_permission")) == 1
        assert "PostgreSQL" in result(world)


@pytest.mark.row("R144")
@pytest.mark.parametrize(
    ("pick", "said"), [(lambda *_: {"title": "SQLite"}, "SQLite"), (lambda *_: None, NO_ANSWER)]
)
async def test_a_stock_client_picks_an_option_of_a_message(
    tmp_path: Path, pick: Callable[..., Any], said: str
) -> None:
    answers = {"window/showMessageRequest": pick}
    async with served(
        tmp_path, WITH_OPTIONS, Say("fine"), capabilities=STOCK, answers=answers
    ) as world:
        await world.client.command("agent.prompt", "go")
        await world.client.hears("window/showMessage")

        [shown] = world.client.of("window/showMessageRequest")
        assert [action["title"] for action in shown["actions"]] == OPTIONS
        assert said in result(world)


async def test_a_stock_client_is_not_asked_for_words(tmp_path: Path) -> None:
    async with served(tmp_path, IN_WORDS, Say("fine"), capabilities=STOCK) as world:
        await world.client.command("agent.prompt", "go")
        await world.client.hears("window/showMessage")

        assert world.client.of("window/showMessageRequest") == []
        assert NO_WORDS in result(world)


async def test_a_cancel_withdraws_the_message(tmp_path: Path) -> None:
    answers = {"agent/ask": lambda *_: NEVER}
    async with served(tmp_path, WITH_OPTIONS, capabilities=ASKING, answers=answers) as world:
        session = await world.client.new(world.root)
        async with anyio.create_task_group() as group:

            async def cancel() -> None:
                await world.client.hears("agent/ask")
                await world.client.notify("agent/session/cancel", {"sessionId": session})

            group.start_soon(cancel)
            assert (await world.client.prompt(session, "go"))["stopReason"] == "cancelled"
        assert len(world.client.of("$/cancelRequest")) == 1
