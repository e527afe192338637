# ruff: noqa: RUF001 - what the screen is drawn with
from inline_snapshot import snapshot

from agent_server.front.terminal.diffview import diff_body, diff_header
from agent_server.front.terminal.inbound import TurnEnd
from agent_server.front.terminal.rows import file_rows
from agent_server.front.terminal.style import seconds
from agent_server.front.terminal.transcript import (
    CallItem,
    Item,
    NoticeItem,
    PlanItem,
    Sign,
    TextItem,
    ThoughtItem,
    Transcript,
)
from agent_server.front.terminal.view import ending, header, item_view, live_view
from tests.front.terminal.fakes import a_change, drawn


def shown(item: Item) -> list[str]:
    return drawn(item_view(item, now=8.0))


def call(sign: Sign, title: str, outcome: str = "", took: float | None = None) -> CallItem:
    return CallItem("c", title, "other", sign, 0.0, outcome=outcome, seconds=took, lines=3)


def test_tool_lines_read_verb_object_outcome() -> None:
    lines = [
        *shown(call("done", 'search "x" in src', "12 hits", 0.1)),
        *shown(call("running", "shell pytest -q")),
        *shown(call("failed", "edit src/a.py", "changed since it was read")),
        *shown(call("pending", "shell git push")),
        *shown(call("skipped", "read b.py", "an earlier call was denied")),
    ]
    assert lines == snapshot(
        [
            '  ✓ search "x" in src (12 hits, 0.1 s)',
            "  ● shell pytest -q (running 8 s, 3 lines)",
            "  ✗ edit src/a.py: changed since it was read",
            "  ○ shell git push",
            "  – read b.py (an earlier call was denied)",
        ]
    )


def test_a_tool_line_is_one_line_however_long() -> None:
    (line,) = shown(call("done", "shell " + "x" * 200))
    assert len(line) == 80
    assert line.endswith("…")


def test_thoughts_are_folded_to_their_time() -> None:
    assert shown(ThoughtItem("t", 0.0, 4.2)) == ["  ▸ thought 4 s"]
    assert shown(ThoughtItem("t", 0.0)) == ["  ▸ thinking 8 s"]


def test_markdown_is_indented_and_wrapped_at_words() -> None:
    text = "# Title\n\nSome **bold** words " + "and more " * 12 + "\n\n- one\n- two\n"
    assert shown(TextItem("m", text)) == snapshot(
        [
            "  Title",
            "",
            "  Some bold words and more and more and more and more and more and more and",
            "  more and more and more and more and more and more",
            "",
            "   • one",
            "   • two",
        ]
    )


def test_code_keeps_its_indentation_and_has_no_box() -> None:
    assert shown(TextItem("m", "```python\ndef f():\n    pass\n```")) == [
        "    def f():",
        "        pass",
    ]


def test_control_characters_are_shown_and_not_obeyed() -> None:
    assert shown(NoticeItem("info", "a\x1b[2Jb\u202ec")) == ["  ! a␛[2Jb\\u202ec"]
    assert shown(call("done", "shell echo \x1b]0;pwned\x07"))[0].startswith("  ✓ shell echo ␛]0;")


def test_a_plan_shows_each_step_with_a_sign() -> None:
    steps = (("look", "completed"), ("fix", "in_progress"), ("test", "pending"))
    assert shown(PlanItem(steps)) == ["  ✓ look", "  ● fix", "  ○ test"]


def test_a_diff_has_numbers_and_signs() -> None:
    change = a_change()
    head = diff_header(change, change.hunks, cwd="/w", place="1 of 2", width=60)
    assert [*drawn(head, 60), *drawn(diff_body(file_rows(change)), 60)] == snapshot(
        [
            "  a.py  +2 −2                                       1 of 2",
            "    1 −  a",
            "    1 +  A",
            "    2    b",
            "    3    c",
            "    4    d",
            "    5 −  e",
            "    5 +  E",
        ]
    )


def test_a_long_line_of_a_diff_goes_on_below_its_beginning() -> None:
    change = a_change("", "x" * 60 + "\n")
    assert drawn(diff_body(file_rows(change)), 40) == snapshot(
        ["    1 +  " + "x" * 31, "         " + "x" * 29]
    )


def test_on_a_pipe_a_diff_is_not_wrapped() -> None:
    (line,) = drawn(diff_body(file_rows(a_change("", "x" * 60 + "\n")), plain=True), 200)
    assert line == "    1 +  " + "x" * 60


def test_the_live_lines_end_with_state_time_tokens_and_how_to_stop() -> None:
    transcript = Transcript(label="Running tools", since=1.0, tokens=1234)
    (line,) = [
        line for part in live_view(transcript, now=8.0, width=60) for line in drawn(part, 60)
    ]
    assert line == snapshot("  ⠋ Running tools 7 s · 1.2k tokens            ctrl-c stop")


def test_while_the_answer_grows_nothing_spins() -> None:
    transcript = Transcript((TextItem("m", "Hello"),), label="Writing")
    lines = [line for part in live_view(transcript, now=1.0, width=40) for line in drawn(part, 40)]
    assert lines == snapshot(["  Hello", "", "  · Writing 1 s            ctrl-c stop"])


def test_the_header_names_program_model_mode_and_folder() -> None:
    assert drawn(header("0.1", "openai/x", "ask", "/srv/shop", 72), 72) == snapshot(
        ["agent-server 0.1 · openai/x · ask · /srv/shop      ctrl-c stop · /help"]
    )


def test_a_header_without_room_leaves_the_help_out() -> None:
    (line,) = drawn(header("0.1", "openai/x", "ask", "/srv/shop", 40), 40)
    assert line == "agent-server 0.1 · openai/x · ask · /sr…"


def test_the_last_line_has_a_reason_only_when_it_is_not_the_normal_one() -> None:
    ends = [
        TurnEnd("end_turn", "model_stop", "text", 1234, "0.0123 USD"),
        TurnEnd("cancelled", "user_abort", "cancel"),
        TurnEnd("max_turn_requests", "max_turns", "summary", 90),
        TurnEnd("refusal", "model_stop", "refusal"),
        TurnEnd("error", "error", error="openai/x answered 401: the key was refused"),
    ]
    assert [line for end in ends for line in drawn(ending(end, 14.2))] == snapshot(
        [
            "  1.2k tokens · $0.0123 · 14 s",
            "  cancelled · 14 s",
            "  stopped: the step limit is reached · 90 tokens · 14 s",
            "  the model refused · 14 s",
            "  ✗ openai/x answered 401: the key was refused",
            "  14 s",
        ]
    )


def test_times_read_as_people_say_them() -> None:
    assert [seconds(s) for s in (0.04, 9.9, 9.96, 59.4, 125)] == [
        "0.0 s",
        "9.9 s",
        "10 s",
        "59 s",
        "2 min 5 s",
    ]
