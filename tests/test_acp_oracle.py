"""The judge of ACP conversations finds what it claims to find."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.acp_oracle import Oracle, check, read_trace


def begun(capabilities: dict[str, Any] | None = None) -> Oracle:
    """A conversation in which session s1 exists and a prompt runs (its id is 3)."""
    oracle = Oracle()
    for number, method, params, result in (
        (1, "initialize", {"protocolVersion": 1, "clientCapabilities": capabilities or {}}, {"protocolVersion": 1}),
        (2, "session/new", {"cwd": "/w", "mcpServers": []}, {"sessionId": "s1"}),
    ):  # fmt: skip
        oracle.sent({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        oracle.received({"jsonrpc": "2.0", "id": number, "result": result})
    oracle.sent(
        {"jsonrpc": "2.0", "id": 3, "method": "session/prompt", "params": {"sessionId": "s1"}}
    )
    assert oracle.violations == []
    return oracle


def update(session: str = "s1", **fields: Any) -> dict[str, Any]:
    params = {"sessionId": session, "update": fields}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


def chunk(**more: Any) -> dict[str, Any]:
    content = {"type": "text", "text": "x"}
    return update(sessionUpdate="agent_message_chunk", content=content, **more)


def call(kind: str = "tool_call", **more: Any) -> dict[str, Any]:
    return update(sessionUpdate=kind, toolCallId="c1", **({"title": "t"} | more))


def answer(number: int, **more: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, **more}


DONE = answer(3, result={"stopReason": "end_turn"})


@pytest.mark.parametrize(
    ("messages", "complaint"),
    [
        ([update(sessionUpdate="current_mode_update", modeId="x")], "SessionNotification"),
        ([update(sessionUpdate="made_up")], "SessionNotification"),
        ([chunk(invented=1)], "fields that nobody defined"),
        ([update("s9", sessionUpdate="plan", entries=[])], "rule 14"),
        ([DONE, chunk()], "rule 17"),
        ([call("tool_call_update")], "rule 29"),
        ([call(), call()], "rule 29"),
        ([call(), DONE], "rule 29"),
        ([call(content=[{"type": "text", "text": "bare"}])], "SessionNotification"),
        ([call(status="cancelled")], "SessionNotification"),
        ([call(locations=[{"path": "a.py"}])], "rule 27"),
        ([call(locations=[{"path": "/a.py", "line": 0}])], "rule 27"),
        ([call(status="failed"), call("tool_call_update", status="completed")], "finished call"),
        ([update(sessionUpdate="notice", severity="info", title="x")], "notice"),
        ([answer(3, result={"stopReason": "error"})], "PromptResponse"),
        ([answer(3, result={"stopReason": "end_turn", "usage": {}})], "fields that nobody defined"),
        ([DONE, DONE], "answers no open request"),
        ([answer(9, method="fs/read_text_file", params={"sessionId": "s1", "path": "/a"})], "rule 33"),
        ([answer(9, method="terminal/create", params={"sessionId": "s1", "command": "x"})], "may use"),
        ([{"jsonrpc": "2.0", "method": "_agent-server/status", "params": {}}], "did not declare"),
        ([{"method": "session/update", "params": {}}], "jsonrpc"),
    ],
)  # fmt: skip
def test_a_fault_is_found(messages: list[dict[str, Any]], complaint: str) -> None:
    oracle = begun()
    for message in messages:
        oracle.received(message)

    assert complaint in "\n".join(oracle.violations)


def test_a_clean_turn_passes() -> None:
    oracle = begun()
    for message in (
        chunk(messageId="m1"),
        call(status="pending"),
        call("tool_call_update", status="completed"),
        DONE,
        update(sessionUpdate="session_info_update", title="t"),
    ):
        oracle.received(message)
    oracle.finish()

    assert oracle.violations == []


def test_a_request_without_an_answer_is_found_at_the_end() -> None:
    oracle = begun()
    oracle.finish()

    assert "never answered" in oracle.violations[0]


def test_a_question_left_open_by_the_end_of_its_turn_is_found_unless_withdrawn() -> None:
    options = [
        {"optionId": "o1", "name": "y", "kind": "allow_once"},
        {"optionId": "o2", "name": "n", "kind": "reject_once"},
    ]
    params = {"sessionId": "s1", "toolCall": {"toolCallId": "c1"}, "options": options}
    ask = answer(1, method="session/request_permission", params=params)
    withdraw = {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 1}}
    failed = call("tool_call_update", status="failed")

    for messages, clean in (([ask, failed, DONE], False), ([ask, withdraw, failed, DONE], True)):
        oracle = begun()
        for message in (call(), *messages):
            oracle.received(message)
        assert (oracle.violations == []) is clean


def test_a_trace_of_the_agent_can_be_judged(tmp_path: Path) -> None:
    new = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "session/new",
        "params": {"cwd": "/w", "mcpServers": []},
    }
    spoken = [("in", new), ("out", answer(1, result={"sessionId": "s1"})), ("out", chunk())]
    lines = [json.dumps({"at": 0, "direction": d, "frame": json.dumps(m)}) for d, m in spoken]
    trace = tmp_path / "trace.ndjson"
    trace.write_text("\n".join(lines))

    (violation,) = check(read_trace(trace))
    assert "rule 17" in violation


def test_a_message_of_ours_is_judged_by_our_protocol() -> None:
    oracle = begun({"_meta": {"agent-server": {"version": 1}}})
    params = {"sessionId": "s1", "turnId": None, "state": "dancing", "label": "x", "busy": True}
    oracle.received({"jsonrpc": "2.0", "method": "_agent-server/status", "params": params})
    oracle.received({"jsonrpc": "2.0", "method": "_agent-server/made_up", "params": params})

    first, second = oracle.violations
    assert "Status: state" in first
    assert "has no params in the protocol" in second
