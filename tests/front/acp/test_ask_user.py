"""The model asks the person, over ACP: by our message, by a form, or by a permission request (R144)."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from agent_server.loop.model import ResultEntry, SessionId
from agent_server.tools.ask_user import NO_ANSWER, NO_WORDS
from tests.fakes.acp_client import NEVER, OURS, STOCK, Message, Refused, option_of, select
from tests.fakes.front import World, served
from tests.fakes.loop import Say
from tests.fakes.workbench import JournaledWorkbench

pytestmark = pytest.mark.anyio

ASKING: dict[str, Any] = {
    "_meta": {"agent-server": {**OURS["_meta"]["agent-server"], "ask": True}},
}
FORM: dict[str, Any] = {"elicitation": {"form": {}}}
QUESTION = "Which database?"
OPTIONS = ["PostgreSQL", "SQLite"]


def asks(**more: Any) -> Say:
    return Say("", (("ask_user", json.dumps({"question": QUESTION, **more})),))


@asynccontextmanager
async def asked(
    home: Path, capabilities: dict[str, Any], **arguments: Any
) -> AsyncGenerator[tuple[World, str]]:
    """A session whose model asks and then ends."""
    kit = JournaledWorkbench(home, asks(**arguments), Say("fine"))
    async with served(home, around=kit, store=kit.store, capabilities=capabilities) as world:
        yield world, await world.client.new(str(home))


def result(world: World, session: str) -> str:
    """What the model got."""
    entries = world.sessions.get(SessionId(session)).entries
    [entry] = [e for e in entries if isinstance(e, ResultEntry)]
    return entry.result.output


def statuses(world: World, session: str) -> list[str]:
    """Of the one card."""
    updates = world.client.updates(session, "tool_call", "tool_call_update")
    return [u["status"] for u in updates if "status" in u]


@pytest.mark.row("R144")
async def test_a_client_of_ours_is_asked_by_our_message(tmp_path: Path) -> None:
    both = {**ASKING, **FORM}
    async with asked(tmp_path, both, options=OPTIONS) as (world, session):
        world.client.own["_agent-server/ask"] = lambda _: {"answer": "neither: files"}
        await world.client.prompt(session, "go")

        [question] = world.client.of("_agent-server/ask")
        assert (question["question"], question["options"]) == (QUESTION, OPTIONS)
        assert result(world, session) == "neither: files"
        assert statuses(world, session) == ["pending", "in_progress", "pending", "completed"]
        labels = [s["label"] for s in world.client.of("_agent-server/status")]
        assert f"Waiting for you: {QUESTION}" in labels
        assert world.client.of("session/request_permission") == []


@pytest.mark.row("R144")
@pytest.mark.parametrize("options", [OPTIONS, None])
async def test_a_client_with_forms_gets_a_form(tmp_path: Path, options: list[str] | None) -> None:
    async with asked(tmp_path, FORM, options=options) as (world, session):
        world.client.own["elicitation/create"] = lambda _: {
            "action": "accept",
            "content": {"answer": "SQLite"},
        }
        await world.client.prompt(session, "go")

        [form] = world.client.of("elicitation/create")
        [card] = world.client.updates(session, "tool_call")
        assert (form["message"], form["toolCallId"]) == (QUESTION, card["toolCallId"])
        assert form["requestedSchema"]["properties"]["answer"].get("enum") == options
        assert result(world, session) == "SQLite"


@pytest.mark.parametrize(
    "reply",
    [
        {"action": "decline"},
        {"action": "cancel"},
        {"action": "accept", "content": None},
        {"action": "accept", "content": {"answer": "Oracle"}},
        Refused({"code": -32603, "message": "no screen"}),
    ],
)
async def test_a_form_without_an_answer_that_was_offered_is_no_answer(
    tmp_path: Path, reply: Any
) -> None:
    def answer(message: Message) -> Any:
        if isinstance(reply, Refused):
            raise reply
        return reply

    async with asked(tmp_path, FORM, options=OPTIONS) as (world, session):
        world.client.own["elicitation/create"] = answer
        assert (await world.client.prompt(session, "go"))["stopReason"] == "end_turn"

        assert result(world, session) == NO_ANSWER


@pytest.mark.row("R144")
@pytest.mark.parametrize(("kind", "said"), [("allow_once", OPTIONS[0]), ("reject_once", NO_ANSWER)])
async def test_any_other_client_chooses_among_the_options_of_a_permission_request(
    tmp_path: Path, kind: str, said: str
) -> None:
    async with asked(tmp_path, STOCK, options=OPTIONS) as (world, session):
        world.client.answer = lambda _, message: select(option_of(message, kind))
        await world.client.prompt(session, "go")

        [request] = world.client.of("session/request_permission")
        assert [o["name"] for o in request["options"]] == [*OPTIONS, "No answer"]
        assert request["_meta"] == {"agent-server": {"floor": True}}
        assert result(world, session) == said


async def test_a_client_that_only_chooses_is_not_asked_for_words(tmp_path: Path) -> None:
    async with asked(tmp_path, STOCK) as (world, session):
        await world.client.prompt(session, "go")

        assert world.client.of("session/request_permission") == []
        assert result(world, session) == NO_WORDS


@pytest.mark.parametrize(
    ("capabilities", "method"),
    [
        (ASKING, "_agent-server/ask"),
        (FORM, "elicitation/create"),
        (STOCK, "session/request_permission"),
    ],
)
async def test_a_cancel_withdraws_the_question_and_ends_the_turn(
    tmp_path: Path, capabilities: dict[str, Any], method: str
) -> None:
    async with asked(tmp_path, capabilities, options=OPTIONS) as (world, session):
        world.client.own[method] = lambda _: NEVER
        world.client.answer = lambda *_: NEVER
        async with anyio.create_task_group() as group:

            async def cancel() -> None:
                await world.client.until(lambda m: m.get("method") == method)
                await world.client.notify("session/cancel", {"sessionId": session})

            group.start_soon(cancel)
            assert (await world.client.prompt(session, "go"))["stopReason"] == "cancelled"
        asked_id = next(m["id"] for m in world.client.received if m.get("method") == method)
        assert world.client.of("$/cancel_request") == [{"requestId": asked_id}]
        assert statuses(world, session)[-1] == "failed"


async def test_a_question_open_too_long_is_without_an_answer(tmp_path: Path) -> None:
    kit = JournaledWorkbench(tmp_path, asks(options=OPTIONS), Say("fine"))
    kit.approval_timeout_s = 0.01
    async with served(tmp_path, around=kit, store=kit.store, capabilities=FORM) as world:
        world.client.own["elicitation/create"] = lambda _: NEVER
        session = await world.client.new(str(tmp_path))
        await world.client.prompt(session, "go")

        assert result(world, session) == NO_ANSWER


async def test_a_sub_agent_has_nobody_to_ask(tmp_path: Path) -> None:
    delegating = Say("", (("delegate", '{"task": "plan"}'),))
    kit = JournaledWorkbench(
        tmp_path, delegating, Say("fine"), tasks={"plan": (asks(options=OPTIONS), Say("planned"))}
    )
    async with served(tmp_path, around=kit, store=kit.store, capabilities=FORM) as world:
        session = await world.client.new(str(tmp_path))
        await world.client.prompt(session, "go")

        assert world.client.of("elicitation/create") == []
        assert "planned" in result(world, session)
