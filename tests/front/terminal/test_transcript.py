from inline_snapshot import snapshot

from agent_server.front.terminal.transcript import (
    CallItem,
    NoticeItem,
    PlanItem,
    TextItem,
    ThoughtItem,
    Transcript,
    apply,
    take,
)
from agent_server.front.terminal.updates import (
    CallChange,
    Discarded,
    PlanShown,
    Status,
    TextPiece,
    ThoughtPiece,
    Update,
    UsageShown,
)


def after(*updates: Update, start: Transcript | None = None) -> Transcript:
    """The transcript after updates that come a second apart."""
    transcript = start or Transcript()
    for now, update in enumerate(updates):
        transcript = apply(transcript, update, now=float(now))
    return transcript


def test_pieces_of_one_message_are_one_text() -> None:
    transcript = after(TextPiece("m1", "Hel"), TextPiece("m1", "lo"))
    assert transcript.items == (TextItem("m1", "Hello"),)


def test_finished_paragraphs_are_taken_and_the_open_one_stays() -> None:
    taken, rest = take(after(TextPiece("m1", "One.\n\nTwo")))
    assert taken == (TextItem("m1", "One.\n\n"),)
    assert rest.items == (TextItem("m1", "Two"),)


def test_text_after_its_beginning_was_taken_goes_on_in_the_same_item() -> None:
    _, rest = take(after(TextPiece("m1", "One.\n\nTw")))
    assert apply(rest, TextPiece("m1", "o"), now=1).items == (TextItem("m1", "Two"),)


def test_thinking_takes_as_long_as_until_something_else_comes() -> None:
    transcript = after(ThoughtPiece("t", "a"), ThoughtPiece("t", "b"), TextPiece("m", "c"))
    assert transcript.items[0] == ThoughtItem("t", began=0.0, ended=2.0)


def test_a_call_goes_through_its_life_on_one_line() -> None:
    pending = after(CallChange("c", title="shell", kind="execute", status="pending"))
    running = after(
        CallChange("c", title="shell pytest -q", status="in_progress"),
        CallChange("c", output="```\none\ntwo\n```"),
        start=pending,
    )
    done = after(CallChange("c", status="completed", summary="exit 0", seconds=0.5), start=running)
    assert (running.items, done.items) == snapshot(
        (
            (CallItem("c", "shell pytest -q", "execute", "running", began=0.0, lines=2),),
            (
                CallItem(
                    "c",
                    "shell pytest -q",
                    "execute",
                    "done",
                    began=0.0,
                    outcome="exit 0",
                    seconds=0.5,
                    lines=2,
                ),
            ),
        )
    )


def test_a_failure_says_its_first_line_when_it_has_no_summary() -> None:
    change = CallChange("c", title="edit a.py", status="failed", output="\nchanged since\nmore")
    (item,) = after(change).items
    assert isinstance(item, CallItem)
    assert (item.sign, item.outcome) == ("failed", "changed since")


def test_a_denied_call_is_skipped_and_not_failed() -> None:
    (item,) = after(CallChange("c", title="x", status="failed", code="denied")).items
    assert isinstance(item, CallItem)
    assert item.sign == "skipped"


def test_a_running_call_holds_back_what_came_after_it() -> None:
    transcript = after(
        CallChange("a", title="a", status="in_progress"),
        CallChange("b", title="b", status="completed"),
    )
    taken, rest = take(transcript)
    assert taken == ()
    taken, _ = take(after(CallChange("a", status="completed"), start=rest))
    assert [item.id for item in taken if isinstance(item, CallItem)] == ["a", "b"]


def test_what_comes_for_a_call_already_printed_changes_nothing() -> None:
    _, rest = take(after(CallChange("c", title="c", status="completed")))
    assert after(CallChange("c", output="late"), start=rest) == rest


def test_a_new_plan_takes_the_place_of_one_not_yet_printed() -> None:
    transcript = after(PlanShown((("a", "pending"),)), PlanShown((("a", "completed"),)))
    assert transcript.items == (PlanItem((("a", "completed"),)),)


def test_discarded_text_goes_and_a_notice_says_so() -> None:
    transcript = after(TextPiece("m1", "half an ans"), Discarded("m1"))
    assert [type(item) for item in transcript.items] == [NoticeItem]


def test_at_the_end_everything_is_taken_but_calls_that_never_ended() -> None:
    transcript = after(ThoughtPiece("t", "a"), CallChange("c", title="c"), TextPiece("m", "open"))
    taken, rest = take(transcript, closed=True)
    assert [type(item) for item in taken] == [ThoughtItem, TextItem]
    assert [type(item) for item in rest.items] == [CallItem]


def test_the_clock_of_the_status_line_runs_through_a_whole_turn() -> None:
    working = after(Status("thinking", "Thinking"), Status("executing", "Running tools"))
    assert (working.label, working.since) == ("Running tools", 0.0)
    assert after(Status("done", "Done"), start=working).label == ""


def test_the_clock_of_a_call_runs_from_when_its_code_runs() -> None:
    transcript = after(
        CallChange("c", title="shell", status="pending"),
        CallChange("c", status="pending"),
        CallChange("c", status="in_progress"),
        CallChange("c", status="in_progress"),
    )
    (item,) = transcript.items
    assert isinstance(item, CallItem)
    assert (item.sign, item.began) == ("running", 2.0)


def test_tokens_in_use_are_remembered() -> None:
    assert after(UsageShown(1234, 8000)).tokens == 1234
