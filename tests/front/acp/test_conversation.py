"""Whole conversations over ACP, in memory; the client's oracle judges every message."""

from pathlib import Path
from typing import Any

import anyio
import pytest
from inline_snapshot import snapshot

from agent_server.loop.events import CallProgress
from agent_server.loop.faults import Fault
from agent_server.loop.model import JsonObject, ToolResult, Usage
from agent_server.loop.ports import CallContext
from tests.fakes.acp_client import OURS, AcpClient, Refused, prompt_params, select
from tests.fakes.edits import asking, edit_tool
from tests.fakes.front import served
from tests.fakes.loop import FakeTool, Say

pytestmark = pytest.mark.anyio


def transcript(client: AcpClient, session: str, *known: str) -> list[Any]:
    """What the agent said of a session, without what differs from run to run."""
    shown: list[Any] = []
    for message in client.received:
        text = str(message)
        if session not in text and "stopReason" not in text:
            continue
        shown.append(
            _stable({k: v for k, v in message.items() if k != "jsonrpc"}, (session, *known))
        )
    return shown


def _stable(value: Any, names: tuple[str, ...]) -> Any:
    if isinstance(value, dict):
        return {
            k: "…" if k in ("seconds", "turnId") else _stable(v, names) for k, v in value.items()
        }
    if isinstance(value, list):
        return [_stable(one, names) for one in value]
    return "SESSION" if value == names[0] else value


@pytest.mark.row("R138", "R146", "R150")
async def test_a_prompt_streams_text_and_ends(tmp_path: Path) -> None:
    async with served(tmp_path, Say("hello there")) as world:
        session = await world.client.new(str(tmp_path))
        result = await world.client.prompt(session, "hi")

        assert world.client.text(session) == "hello there "
        assert result["stopReason"] == "end_turn"
        own = result["_meta"]["agent-server"]
        assert (own["reason"], own["detail"]) == ("model_stop", "text")


async def test_the_whole_of_a_turn_with_an_edit(tmp_path: Path) -> None:
    """The golden transcript of the main job, for a client that has no extensions."""
    steps = (
        Say("I edit.", (("edit", '{"path": "a.py"}'),), thinking="hm", usage=Usage(100, 20)),
        Say("Done.", usage=Usage(150, 5)),
    )
    async with served(tmp_path, *steps, tools=[edit_tool()], policy=asking("edit")) as world:
        world.client.answer = lambda client, message: select("o1")
        session = await world.client.new(str(tmp_path))
        await world.client.prompt(session, "go")

        # Before it: the answer to `session/new`, and the commands.
        assert transcript(world.client, session)[2:] == snapshot(
            [
                {
                    "method": "session/update",
                    "params": {
                        "sessionId": "SESSION",
                        "update": {"sessionUpdate": "session_info_update", "title": "go"},
                    },
                },
                {
                    "method": "session/update",
                    "params": {
                        "sessionId": "SESSION",
                        "update": {
                            "sessionUpdate": "agent_thought_chunk",
                            "messageId": "thought-1",
                            "content": {"type": "text", "text": "hm"},
                        },
                    },
                },
                {
                    "method": "session/update",
                    "params": {
                        "sessionId": "SESSION",
                        "update": {
                            "sessionUpdate": "agent_message_chunk",
                            "messageId": "message-1",
                            "content": {"type": "text", "text": "I "},
                        },
                    },
                },
                {
                    "method": "session/update",
                    "params": {
                        "sessionId": "SESSION",
                        "update": {
                            "sessionUpdate": "agent_message_chunk",
                            "messageId": "message-1",
                            "content": {"type": "text", "text": "edit. "},
                        },
                    },
                },
                {
                    "method": "session/update",
                    "params": {
                        "sessionId": "SESSION",
                        "update": {
                            "sessionUpdate": "tool_call",
                            "toolCallId": "call-1-0",
                            "title": "edit",
                            "name": "edit",
                            "kind": "edit",
                            "status": "pending",
                        },
                    },
                },
                {
                    "method": "session/update",
                    "params": {
                        "sessionId": "SESSION",
                        "update": {"sessionUpdate": "usage_update", "used": 120, "size": 100000},
                    },
                },
                {
                    "method": "session/update",
                    "params": {
                        "sessionId": "SESSION",
                        "update": {
                            "sessionUpdate": "tool_call_update",
                            "toolCallId": "call-1-0",
                            "title": "edit {'path': 'a.py'}",
                            "name": "edit",
                            "kind": "edit",
                            "rawInput": {"path": "a.py"},
                            "content": [
                                {
                                    "type": "diff",
                                    "path": "/w/a.py",
                                    "oldText": """\
one
two
three
four
""",
                                    "newText": """\
ONE
two
three
FOUR
""",
                                }
                            ],
                        },
                    },
                },
                {
                    "id": 1,
                    "method": "session/request_permission",
                    "params": {
                        "sessionId": "SESSION",
                        "toolCall": {
                            "toolCallId": "call-1-0",
                            "title": "edit {'path': 'a.py'}",
                            "name": "edit",
                            "kind": "edit",
                            "status": "pending",
                            "content": [
                                {
                                    "type": "diff",
                                    "path": "/w/a.py",
                                    "oldText": """\
one
two
three
four
""",
                                    "newText": """\
ONE
two
three
FOUR
""",
                                }
                            ],
                        },
                        "options": [
                            {"optionId": "o1", "name": "Allow once", "kind": "allow_once"},
                            {
                                "optionId": "o2",
                                "name": "Allow edit {'path': 'a.py'} in this session",
                                "kind": "allow_always",
                            },
                            {"optionId": "o3", "name": "Reject", "kind": "reject_once"},
                        ],
                        "_meta": {"agent-server": {"reason": "not in your allow rules"}},
                    },
                },
                {
                    "method": "session/update",
                    "params": {
                        "sessionId": "SESSION",
                        "update": {
                            "sessionUpdate": "tool_call_update",
                            "toolCallId": "call-1-0",
                            "status": "in_progress",
                        },
                    },
                },
                {
                    "method": "session/update",
                    "params": {
                        "sessionId": "SESSION",
                        "update": {
                            "sessionUpdate": "tool_call_update",
                            "toolCallId": "call-1-0",
                            "status": "completed",
                            "content": [
                                {
                                    "type": "diff",
                                    "path": "/w/a.py",
                                    "oldText": """\
one
two
three
four
""",
                                    "newText": """\
ONE
two
three
FOUR
""",
                                }
                            ],
                            "_meta": {
                                "agent-server": {
                                    "summary": None,
                                    "code": None,
                                    "effect": "confirmed",
                                    "seconds": "…",
                                }
                            },
                        },
                    },
                },
                {
                    "method": "session/update",
                    "params": {
                        "sessionId": "SESSION",
                        "update": {
                            "sessionUpdate": "agent_message_chunk",
                            "messageId": "message-2",
                            "content": {"type": "text", "text": "Done. "},
                        },
                    },
                },
                {
                    "method": "session/update",
                    "params": {
                        "sessionId": "SESSION",
                        "update": {"sessionUpdate": "usage_update", "used": 155, "size": 100000},
                    },
                },
                {
                    "id": 3,
                    "result": {
                        "stopReason": "end_turn",
                        "_meta": {
                            "agent-server": {
                                "turnId": "…",
                                "reason": "model_stop",
                                "detail": "text",
                                "usage": {
                                    "inputTokens": 250,
                                    "outputTokens": 25,
                                    "cachedReadTokens": 0,
                                    "cost": None,
                                },
                            }
                        },
                    },
                },
            ]
        )


async def test_a_tool_call_goes_from_pending_to_completed(tmp_path: Path) -> None:
    look = FakeTool("look", read_only=False)
    steps = (Say("I look.", (("look", '{"at": "x"}'),)), Say("Done."))
    async with served(tmp_path, *steps, tools=[look]) as world:
        session = await world.client.new(str(tmp_path))
        await world.client.prompt(session, "go")

        shown = world.client.updates(session, "tool_call", "tool_call_update")
        assert [u.get("status") for u in shown] == ["pending", None, "in_progress", "completed"]
        assert {u["toolCallId"] for u in shown} == {"call-1-0"}


@pytest.mark.row("R139")
async def test_output_of_a_running_tool_is_shown_by_its_end(tmp_path: Path) -> None:
    async def body(context: CallContext, arguments: JsonObject) -> ToolResult:
        for number in range(3):
            text = f"line {number}\n" + "x" * 1_500
            context.emit(CallProgress(context.turn, context.key, text))
        return ToolResult(True, "all of it")

    async with served(
        tmp_path, Say("", (("shell", "{}"),)), Say("Done."), tools=[FakeTool("shell", body)]
    ) as world:
        session = await world.client.new(str(tmp_path))
        await world.client.prompt(session, "go")

        shown = [u for u in world.client.updates(session, "tool_call_update") if "content" in u]
        texts = [u["content"][0]["content"]["text"] for u in shown]
        assert len(texts) == 4
        assert all(len(text) < 2_100 for text in texts)
        assert "line 2" in texts[2]
        assert texts[3] == "all of it"


async def test_a_failure_before_anything_was_shown_is_an_error(tmp_path: Path) -> None:
    """loop.md §2.3."""
    async with served(tmp_path, Say(fault=Fault.INVALID)) as world:
        session = await world.client.new(str(tmp_path))
        with pytest.raises(Refused, match="invalid on purpose") as refused:
            await world.client.prompt(session, "go")

        assert refused.value.code == -32603
        assert refused.value.data["reason"] == "invalid"
        assert refused.value.data["retryable"] is False
        assert refused.value.data["turnId"].startswith("turn-")


@pytest.mark.row("R37")
async def test_a_failure_after_something_was_shown_is_said_in_the_conversation(
    tmp_path: Path,
) -> None:
    steps = (Say("I look.", (("look", "{}"),)), Say(fault=Fault.INVALID))
    async with served(tmp_path, *steps, tools=[FakeTool("look")]) as world:
        session = await world.client.new(str(tmp_path))
        result = await world.client.prompt(session, "go")

        assert result["stopReason"] == "end_turn"
        assert result["_meta"]["agent-server"]["reason"] == "error"
        assert "invalid on purpose" in world.client.text(session)


@pytest.mark.row("R51")
async def test_a_repeated_request_is_told_and_its_void_text_named(tmp_path: Path) -> None:
    steps = (Say("I beg", fault=Fault.TRANSIENT, retry_after_s=0.01), Say("I begin."))
    async with served(tmp_path, *steps, capabilities=OURS) as world:
        session = await world.client.new(str(tmp_path))
        await world.client.prompt(session, "go")

        thoughts = world.client.updates(session, "agent_thought_chunk")
        void = [u["_meta"]["agent-server"]["discarded"] for u in thoughts if "_meta" in u]
        assert void == ["message-1"]
        assert any("Trying again" in u["content"]["text"] for u in thoughts)


async def test_a_client_that_reads_slowly_gets_the_same_text_in_fewer_updates(
    tmp_path: Path,
) -> None:
    words = " ".join(f"w{number}" for number in range(200))
    settled = anyio.Event()

    async def wait(context: CallContext, arguments: JsonObject) -> ToolResult:
        settled.set()
        return ToolResult(True, "")

    steps = (Say(words, (("wait", "{}"),)), Say("Done."))
    async with served(tmp_path, *steps, tools=[FakeTool("wait", wait)], capabilities=OURS) as world:
        session = await world.client.new(str(tmp_path))
        world.output.stall()
        prompt = await world.client.ask("session/prompt", prompt_params(session, "go"))
        await settled.wait()
        world.output.resume()
        await world.client.response(prompt)

        assert world.client.text(session) == words + " Done. "
        assert len(world.client.updates(session, "agent_message_chunk")) < 10
        seqs = [p["_meta"]["agent-server"]["seq"] for p in world.client.of("session/update")]
        assert seqs == list(range(1, len(seqs) + 1))


async def test_nothing_is_served_before_initialize(tmp_path: Path) -> None:
    async with served(tmp_path, initialize=False) as world:
        with pytest.raises(Refused) as refused:
            await world.client.new(str(tmp_path))
        assert refused.value.code == -32600


@pytest.mark.parametrize("version", ["1", None, True, -1, 70_000, 1.5])
async def test_a_version_that_is_no_integer_is_refused(tmp_path: Path, version: Any) -> None:
    async with served(tmp_path, initialize=False) as world:
        with pytest.raises(Refused, match="protocolVersion") as refused:
            await world.client.initialize(protocolVersion=version)
        assert refused.value.code == -32602


async def test_the_input_ending_in_a_turn_still_answers_its_prompt(tmp_path: Path) -> None:
    async with served(tmp_path, Say("I think", hang=True)) as world:
        session = await world.client.new(str(tmp_path))
        prompt = await world.client.ask("session/prompt", prompt_params(session, "go"))
        await world.client.until(lambda m: "agent_message_chunk" in str(m))
    assert (await world.client.response(prompt))["stopReason"] == "cancelled"
