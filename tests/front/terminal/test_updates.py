import pytest
from inline_snapshot import snapshot

from agent_server.front.render import updates as render
from agent_server.front.render.calls import call_finished, call_opened
from agent_server.front.terminal.updates import (
    CallChange,
    Discarded,
    ModeShown,
    NoticeShown,
    OptionsShown,
    PlanShown,
    TextPiece,
    UsageShown,
    UserPiece,
    parse_update,
)
from agent_server.loop.events import CallFinished, CallPending, Notice, TextDiscarded
from agent_server.loop.model import CallKey, Location, ToolResult, TurnId

TURN = TurnId("t1")
KEY = CallKey(1, 0)


def test_a_piece_of_text_is_read() -> None:
    assert parse_update(render.message_chunk("m1", "Hello")) == TextPiece("m1", "Hello")


def test_text_that_was_discarded_is_told_by_its_message() -> None:
    assert parse_update(render.discarded(TextDiscarded(TURN, "m1"))) == Discarded("m1")


def test_a_new_call_is_read_with_its_place() -> None:
    event = CallPending(TURN, KEY, "read", "read a.py", "read", (Location("/w/a.py"),), "{}")
    assert parse_update(call_opened(event)) == snapshot(
        CallChange("call-1-0", title="read a.py", kind="read", status="pending", path="/w/a.py")
    )


def test_a_finished_call_is_read_with_its_summary_code_and_time() -> None:
    result = ToolResult(False, "no such file", code="not_found", summary="not found")
    event = CallFinished(TURN, KEY, "read", result, "none", 0.25)
    assert parse_update(call_finished(event, None)) == snapshot(
        CallChange(
            "call-1-0",
            status="failed",
            output="no such file",
            summary="not found",
            code="not_found",
            seconds=0.25,
        )
    )


def test_a_notice_is_one_sentence() -> None:
    shown = render.notice(Notice("warning", "Config", "unknown key"))
    assert parse_update(shown) == NoticeShown("warning", "Config: unknown key")


def test_mode_options_plan_and_usage_are_read() -> None:
    updates = [
        {"sessionUpdate": "current_mode_update", "currentModeId": "plan"},
        {
            "sessionUpdate": "config_option_update",
            "configOptions": [{"id": "model", "currentValue": "demo"}],
        },
        {"sessionUpdate": "plan", "entries": [{"content": "one", "status": "completed"}]},
        {"sessionUpdate": "usage_update", "used": 12, "size": 100},
        {
            "sessionUpdate": "user_message_chunk",
            "content": {"type": "resource_link", "name": "a.py", "uri": "file:///a.py"},
        },
    ]
    assert [parse_update(update) for update in updates] == [
        ModeShown("plan"),
        OptionsShown({"model": "demo"}),
        PlanShown((("one", "completed"),)),
        UsageShown(12, 100),
        UserPiece("@a.py"),
    ]


@pytest.mark.parametrize(
    "update",
    [
        {},
        {"sessionUpdate": 7},
        {"sessionUpdate": "brand_new"},
        {"sessionUpdate": "tool_call"},
        {"sessionUpdate": "tool_call", "toolCallId": None, "content": 3, "locations": {}},
    ],
)
def test_what_is_not_known_is_no_update(update: dict[str, object]) -> None:
    assert parse_update(update) is None


@pytest.mark.parametrize("junk", [None, 7, "x", [], [3], {"a": 1}])
def test_fields_of_a_wrong_type_are_as_if_absent(junk: object) -> None:
    kinds = ("agent_message_chunk", "plan", "usage_update", "notice", "config_option_update")
    names = ("content", "entries", "used", "severity", "configOptions", "_meta", "messageId")
    for kind in kinds:
        parse_update({"sessionUpdate": kind, **dict.fromkeys(names, junk)})
    call = {"sessionUpdate": "tool_call", "toolCallId": "c", "content": junk, "locations": junk}
    assert parse_update({**call, "status": junk, "_meta": junk}) is not None
