"""Events and records as update objects: pure, so each is one value."""

from decimal import Decimal

from agent_server.front.render import calls, content, options, status, updates
from agent_server.front.render.replay import call_title, replay
from agent_server.loop.events import (
    CallFinished,
    CallPending,
    CallStarted,
    Notice,
    TextDiscarded,
    UsageChanged,
)
from agent_server.loop.model import (
    CallKey,
    Detail,
    DoneReason,
    Location,
    PartialEntry,
    PlanEntry,
    PlanItem,
    Reasoning,
    Reply,
    ReplyEntry,
    Resource,
    ResultEntry,
    StartedEntry,
    SummaryEntry,
    Text,
    ToolCall,
    ToolResult,
    TurnEndEntry,
    TurnId,
    Usage,
    UserEntry,
)
from agent_server.loop.proposal import FileChange, Hunk
from tests.fakes.edits import change, proposal

T = TurnId("t1")
KEY = CallKey(1, 0)


def finished(result: ToolResult) -> CallFinished:
    return CallFinished(T, KEY, "edit", result, "confirmed", 0.5)


def test_a_call_opens_as_a_card_and_is_then_described() -> None:
    early = CallPending(T, KEY, "read", "read", "read")
    late = CallPending(
        T, KEY, "read", "read a.py", "read", (Location("/w/a.py", 3),), '{"path": "a.py"}'
    )

    assert calls.call_opened(early) == {
        "sessionUpdate": "tool_call",
        "toolCallId": "call-1-0",
        "title": "read",
        "name": "read",
        "kind": "read",
        "status": "pending",
    }
    assert calls.call_understood(late) == {
        "sessionUpdate": "tool_call_update",
        "toolCallId": "call-1-0",
        "title": "read a.py",
        "name": "read",
        "kind": "read",
        "locations": [{"path": "/w/a.py", "line": 3}],
        "rawInput": {"path": "a.py"},
    }


def test_a_started_call_says_only_that() -> None:
    assert calls.call_started(CallStarted(T, KEY)) == {
        "sessionUpdate": "tool_call_update",
        "toolCallId": "call-1-0",
        "status": "in_progress",
    }


def test_a_finished_call_shows_its_output_wrapped() -> None:
    update = calls.call_finished(finished(ToolResult(True, "12 hits", summary="12 hits")), None)

    assert update["status"] == "completed"
    assert update["content"] == [
        {"type": "content", "content": {"type": "text", "text": "12 hits"}}
    ]
    assert update["_meta"] == {
        "agent-server": {"summary": "12 hits", "code": None, "effect": "confirmed", "seconds": 0.5}
    }


def test_an_applied_edit_shows_what_was_applied_and_nothing_beside_it() -> None:
    result = ToolResult(True, "the diff for the model", changes=(change(),))

    (shown,) = calls.call_finished(finished(result), proposal())["content"]  # pyright: ignore[reportGeneralTypeIssues]
    assert (shown["type"], shown["oldText"]) == ("diff", "one\ntwo\nthree\nfour\n")


def test_a_failed_edit_keeps_the_proposed_diff_and_says_why() -> None:
    update = calls.call_finished(finished(ToolResult(False, "file changed")), proposal())

    assert [c["type"] for c in update["content"]] == ["diff", "content"]  # pyright: ignore[reportGeneralTypeIssues]


def test_a_new_file_has_no_old_text_and_a_deleted_one_no_new() -> None:
    new = FileChange("/w/a", "create", None, "x", ())
    gone = FileChange("/w/a", "delete", "x", None, ())

    assert [(d["oldText"], d["newText"]) for d in content.diffs([new, gone])] == [
        (None, "x"),
        ("x", ""),
    ]


def test_a_huge_diff_shows_its_hunks_alone() -> None:
    huge = FileChange(
        "/w/a", "edit", "x" * 3_000_000, "y" * 3_000_000, (Hunk("h", 6, ("a\n",), ("b\n",)),)
    )

    (shown,) = content.diffs([huge])
    assert shown["type"] == "content"
    assert "@@ -7,1 +1 @@\n-a\n+b" in str(shown["content"]["text"])  # pyright: ignore[reportIndexIssue]


def test_many_diffs_together_stay_within_one_line_of_a_client() -> None:
    files = [FileChange(f"/w/{n}", "edit", "x" * 900_000, "y" * 900_000, ()) for n in range(4)]

    assert [d["type"] for d in content.diffs(files)] == ["diff", "diff", "content", "content"]


def test_arguments_are_shown_only_as_an_object_of_bounded_size() -> None:
    assert content.raw_input('{"a": 1}') == {"a": 1}
    assert content.raw_input("[1]") is None
    assert content.raw_input('{"a": ') is None
    assert content.raw_input('{"a": "' + "x" * 300_000 + '"}') is None


def test_a_long_text_keeps_its_ends() -> None:
    cut = content.clip("a" * 60 + "b" * 60, 20)

    assert cut == f"{'a' * 10}\n[… 100 characters not shown …]\n{'b' * 10}"


def test_a_code_block_cannot_be_closed_from_inside() -> None:
    assert content.fenced("```\nx\n```", "sh") == "````sh\n```\nx\n```\n````"


def test_a_cost_is_told_only_when_it_is_known() -> None:
    assert updates.usage(UsageChanged(T, 7, 100, Usage())) == {
        "sessionUpdate": "usage_update",
        "used": 7,
        "size": 100,
    }
    known = updates.usage(UsageChanged(T, 7, 100, Usage(cost=Decimal("0.5"))))
    assert known["cost"] == {"amount": 0.5, "currency": "USD"}


def test_a_plan_is_whole() -> None:
    assert updates.plan([PlanItem("look", "completed"), PlanItem("edit", "in_progress")]) == {
        "sessionUpdate": "plan",
        "entries": [
            {"content": "look", "priority": "medium", "status": "completed"},
            {"content": "edit", "priority": "medium", "status": "in_progress"},
        ],
    }


def test_a_warning_is_said_aloud_and_an_information_folded_away() -> None:
    loud = updates.notice_in_words(Notice("warning", "no key", "set one"), "n1")
    quiet = updates.notice_in_words(Notice("info", "trying again"), "n2")

    assert (loud["sessionUpdate"], loud["content"]) == (
        "agent_message_chunk",
        {"type": "text", "text": "> no key: set one\n\n"},
    )
    assert quiet["sessionUpdate"] == "agent_thought_chunk"


def test_void_text_is_named_for_clients_that_can_take_it_back() -> None:
    update = updates.discarded(TextDiscarded(T, "message-1"))

    assert update["_meta"] == {"agent-server": {"discarded": "message-1"}}


def test_the_current_model_is_always_among_the_choices() -> None:
    (_, model, _) = options.config_options("ask", "gone/model", ("a", "b"))

    assert model["currentValue"] == "gone/model"
    assert [o["value"] for o in model["options"]] == ["gone/model", "a", "b"]  # pyright: ignore[reportGeneralTypeIssues]


def test_every_end_has_its_stop_reason() -> None:
    """loop.md §2.3."""
    ends: dict[tuple[DoneReason, Detail], str] = {
        (DoneReason.MODEL_STOP, "text"): "end_turn",
        (DoneReason.MODEL_STOP, "truncated"): "max_tokens",
        (DoneReason.MODEL_STOP, "refusal"): "refusal",
        (DoneReason.MAX_TURNS, "summary"): "max_turn_requests",
        (DoneReason.BUDGET_EXCEEDED, "cost"): "max_turn_requests",
        (DoneReason.LOOP_DETECTED, "same_call"): "max_turn_requests",
        (DoneReason.USER_ABORT, "cancel"): "cancelled",
        (DoneReason.ERROR, "provider"): "end_turn",
    }
    assert {end: status.stop_reason(*end) for end in ends} == ends


def test_a_replay_shows_everything_once_and_calls_in_their_final_state() -> None:
    call = ToolCall(KEY, "c", "read", '{"path": "src/a.py"}')
    reply = Reply("I read.", (call,), "tool_calls", "m", Usage(), (Reasoning("hm", "m"),))
    entries = [
        UserEntry(T, (Text("go"), Resource("file:///w/a.py", "/w/a.py"))),
        ReplyEntry(T, 1, reply),
        StartedEntry(T, KEY),
        ResultEntry(T, KEY, ToolResult(True, "x = 1"), "none"),
        UserEntry(T, (Text("go on"),), origin="nudge"),
        PlanEntry(T, (PlanItem("look", "completed"),)),
        SummaryEntry(T, "so far", 2, 1),
        PartialEntry(T, "I was going to"),
        TurnEndEntry(T, DoneReason.ERROR, "provider", message="the model is gone"),
    ]
    shown = list(replay(entries, {"read": "read"}))

    assert [u["sessionUpdate"] for u in shown] == [
        "user_message_chunk",
        "user_message_chunk",
        "agent_thought_chunk",
        "agent_message_chunk",
        "tool_call",
        "plan",
        "agent_message_chunk",
        "agent_message_chunk",
    ]
    assert shown[4]["title"] == "read src/a.py"
    assert (shown[4]["status"], shown[4]["kind"]) == ("completed", "read")
    ids = [u["messageId"] for u in shown if "messageId" in u]
    assert len(set(ids)) == len(ids) - 1  # the two parts of the one prompt


def test_a_call_is_titled_by_the_first_text_it_was_given() -> None:
    assert call_title("shell", '{"timeout_s": 5, "command": "ls\\n -l"}') == "shell ls -l"
    assert call_title("todo", '{"items": []}') == "todo"
    assert call_title("shell", "{broken") == "shell"
    assert len(call_title("shell", '{"command": "' + "x" * 200 + '"}')) == len("shell ") + 80


def test_a_long_path_in_the_title_of_an_earlier_call_keeps_the_name_of_the_file() -> None:
    title = call_title("read", '{"path": "/' + "long/" * 30 + 'dates.py"}')

    assert title.startswith("read …")
    assert title.endswith("long/dates.py")
    assert len(title) == len("read ") + 80
