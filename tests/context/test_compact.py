"""Where the past is cut: our own nudges are nobody's task (context/compact.py)."""

from agent_server.context.compact import choose_cut, extract, quoted_task
from agent_server.loop.model import (
    CallKey,
    Entry,
    Reply,
    ReplyEntry,
    ResultEntry,
    Text,
    ToolCall,
    ToolResult,
    TurnId,
    Usage,
    UserEntry,
)
from agent_server.loop.proposal import FileChange

T = TurnId("t1")
TASK = UserEntry(T, (Text("paint it blue"),))
NUDGE = UserEntry(T, (Text("(changed since you read it: a.py)"),), "nudge")


def step(number: int) -> list[Entry]:
    key = CallKey(number, 0)
    call = ToolCall(key, f"c{number}", "read", "{}")
    reply = Reply("", (call,), "tool_calls", "m", Usage())
    return [ReplyEntry(T, number, reply), ResultEntry(T, key, ToolResult(True, "x"), "none")]


LOG: list[Entry] = [TASK, *step(1), *step(2), *step(3), NUDGE, *step(4), *step(5)]


def test_a_nudge_is_not_quoted_as_the_task() -> None:
    assert quoted_task(LOG, len(LOG)) == "The task, in the person's words:\npaint it blue\n\n"


def test_the_first_prompt_and_the_last_are_quoted_where_a_cut_removes_them() -> None:
    entries = [*LOG, UserEntry(T, (Text("now green"),)), *step(6)]
    before_last = entries.index(UserEntry(T, (Text("now green"),)))

    assert quoted_task(entries, before_last) == (
        "What the person asked first, in their words:\npaint it blue\n\n"
    )
    assert quoted_task(entries, len(entries)).endswith(
        "\n\nThe task, in the person's words:\nnow green\n\n"
    )


def test_a_first_prompt_of_any_length_is_quoted_in_part() -> None:
    entries = [UserEntry(T, (Text("x" * 99_999),)), *step(1), TASK, *step(2)]

    assert len(quoted_task(entries, 3)) < 5_000


def test_the_settings_say_how_many_entries_stay() -> None:
    entries = [TASK, *step(1), *step(2), UserEntry(T, (Text("now green"),)), *step(3)]

    assert choose_cut(entries, forced=False, protect_last_n=4) == 3
    assert choose_cut(entries, forced=False, protect_last_n=2) == 5


def test_an_extract_has_everything_that_was_asked_and_the_files_that_were_changed() -> None:
    change = FileChange("/w/a.py", "edit", "x\n", "y\n", ())
    done = ResultEntry(T, CallKey(9, 0), ToolResult(True, "x", changes=(change,)), "confirmed")
    entries = [*LOG, UserEntry(T, (Text("now green"),)), done]

    assert extract(entries, len(entries)).splitlines() == [
        "The person asked:",
        "- paint it blue",
        "- now green",
        "Files that were changed:",
        "- /w/a.py",
    ]


def test_a_nudge_is_not_among_what_the_person_asked() -> None:
    assert "changed since" not in extract(LOG, len(LOG))


def test_a_nudge_in_the_middle_of_a_turn_is_not_what_the_cut_protects() -> None:
    assert choose_cut(LOG, forced=True) == len(LOG) - 2
