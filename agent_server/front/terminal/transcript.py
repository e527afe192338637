"""What a turn looks like: updates in, items out. Pure: time comes in as seconds of any steady clock.

Items stand in the order they happened. The finished ones at the front are taken away to be printed once (`take`);
what stays is what may still change, so it stays small however long the turn is.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal, assert_never

from agent_server.front.terminal.markdown import split_finished
from agent_server.front.terminal.updates import (
    CallChange,
    Discarded,
    ModeShown,
    NoticeShown,
    OptionsShown,
    PlanShown,
    Severity,
    Status,
    TextPiece,
    ThoughtPiece,
    Update,
    UsageShown,
    UserPiece,
)
from agent_server.frozen import frozen

Sign = Literal["pending", "running", "done", "failed", "skipped"]
"""A call about which the person is asked is `pending`: the question itself shows that it waits."""
SKIPPED = frozenset({"denied", "duplicate", "discarded", "blocked", "not_run"})
"""Codes of calls that never ran: no failure of the tool."""


@frozen
class UserItem:
    """A prompt, in a replay."""

    text: str


@frozen
class TextItem:
    """A part of the answer, Markdown."""

    message_id: str
    text: str


@frozen
class ThoughtItem:
    """The model's thinking, folded to how long it took."""

    message_id: str
    began: float
    ended: float | None = None


@frozen
class CallItem:
    """A tool call, one line."""

    id: str
    title: str
    kind: str
    sign: Sign
    began: float
    path: str | None = None
    outcome: str = ""
    seconds: float | None = None
    lines: int = 0
    """Of output so far, while it runs."""

    @property
    def settled(self) -> bool:
        """Whether nothing more will come."""
        return self.sign in ("done", "failed", "skipped")


@frozen
class PlanItem:
    """The plan."""

    steps: tuple[tuple[str, str], ...]


@frozen
class NoticeItem:
    """Something to know."""

    severity: Severity
    text: str


Item = UserItem | TextItem | ThoughtItem | CallItem | PlanItem | NoticeItem


@frozen
class Transcript:
    """What is not printed yet, and what the spinner says."""

    items: tuple[Item, ...] = ()
    settled: frozenset[str] = frozenset()
    """Calls already printed: whatever comes for them later changes nothing."""
    label: str = ""
    """The state of the turn, for people; empty when nothing runs."""
    since: float = 0.0
    tokens: int = 0
    """In use after the last reply."""

    @property
    def writing(self) -> bool:
        """Whether the answer is visibly growing, so that no other sign of life is needed."""
        return bool(self.items) and isinstance(self.items[-1], TextItem)


def apply(transcript: Transcript, update: Update, *, now: float) -> Transcript:
    """The transcript after an update. Mode and options belong to the header, not to the turn."""
    match update:
        case TextPiece():
            return _add_text(transcript, update, now)
        case ThoughtPiece(message_id):
            return _think(transcript, message_id, now)
        case UserPiece(text):
            return _append(transcript, UserItem(text), now)
        case Discarded(message_id):
            return _discard(transcript, message_id)
        case CallChange():
            return _change_call(transcript, update, now)
        case PlanShown(steps):
            kept = tuple(item for item in transcript.items if not isinstance(item, PlanItem))
            return _append(replace(transcript, items=kept), PlanItem(steps), now)
        case UsageShown(used, _):
            return replace(transcript, tokens=used)
        case NoticeShown(severity, text):
            return _append(transcript, NoticeItem(severity, text), now)
        case Status(state, label):
            return _enter(transcript, state, label, now)
        case ModeShown() | OptionsShown():
            return transcript
        case _:
            assert_never(update)


def take(transcript: Transcript, *, closed: bool = False) -> tuple[tuple[Item, ...], Transcript]:
    """The items at the front that are final, in order, and what is left. `closed`: nothing more will come."""
    items = list(transcript.items)
    taken: list[Item] = []
    while items:
        final, rest = _final_part(items[0], last=len(items) == 1 and not closed)
        taken += final
        if rest is not None:
            items[0] = rest
            break
        items.pop(0)
    if closed:
        taken += [item for item in items if not isinstance(item, CallItem)]
        items = [item for item in items if isinstance(item, CallItem)]
    calls = frozenset(item.id for item in taken if isinstance(item, CallItem))
    return tuple(taken), replace(transcript, items=tuple(items), settled=transcript.settled | calls)


def _final_part(item: Item, *, last: bool) -> tuple[list[Item], Item | None]:
    """What of an item is final, and the rest of it. The last item may still grow."""
    match item:
        case TextItem(message_id, text):
            if not last:
                return [item], None
            blocks, rest = split_finished(text)
            done: list[Item] = [TextItem(message_id, block) for block in blocks]
            return done, replace(item, text=rest)
        case ThoughtItem(ended=ended):
            return ([item], None) if ended is not None and not last else ([], item)
        case CallItem():
            return ([item], None) if item.settled else ([], item)
        case PlanItem():
            return ([], item) if last else ([item], None)
        case UserItem() | NoticeItem():
            return [item], None
        case _:
            assert_never(item)


def _add_text(transcript: Transcript, piece: TextPiece, now: float) -> Transcript:
    last = transcript.items[-1] if transcript.items else None
    if isinstance(last, TextItem) and last.message_id == piece.message_id:
        grown = replace(last, text=last.text + piece.text)
        return replace(transcript, items=(*transcript.items[:-1], grown))
    if not piece.text.strip():
        return transcript
    return _append(transcript, TextItem(piece.message_id, piece.text), now)


def _think(transcript: Transcript, message_id: str, now: float) -> Transcript:
    last = transcript.items[-1] if transcript.items else None
    if isinstance(last, ThoughtItem) and last.message_id == message_id:
        return transcript
    return _append(transcript, ThoughtItem(message_id, now), now)


def _append(transcript: Transcript, item: Item, now: float) -> Transcript:
    """The item at the end; what was being thought before it is thought through."""
    items = transcript.items
    if items and isinstance(last := items[-1], ThoughtItem):
        items = (*items[:-1], replace(last, ended=now))
    return replace(transcript, items=(*items, item))


def _discard(transcript: Transcript, message_id: str) -> Transcript:
    """The open text goes; what was printed already cannot be taken back, so a notice says that it is void."""
    kept = tuple(
        item
        for item in transcript.items
        if not (isinstance(item, TextItem) and item.message_id == message_id)
    )
    note = NoticeItem("info", "the answer broke off; what follows starts it again")
    return replace(transcript, items=(*kept, note))


def _enter(transcript: Transcript, state: str, label: str, now: float) -> Transcript:
    shown = "" if state == "done" else label
    since = transcript.since if shown and transcript.label else now
    return replace(transcript, label=shown, since=since)


def _change_call(transcript: Transcript, change: CallChange, now: float) -> Transcript:
    if change.id in transcript.settled:
        return transcript
    if not any(isinstance(item, CallItem) and item.id == change.id for item in transcript.items):
        fresh = CallItem(change.id, change.title or "tool", change.kind or "other", "pending", now)
        transcript = _append(transcript, fresh, now)
    return _replaced(transcript, change.id, lambda item: _changed(item, change, now))


def _replaced(
    transcript: Transcript, call_id: str, change: Callable[[CallItem], CallItem]
) -> Transcript:
    items = tuple(
        change(item) if isinstance(item, CallItem) and item.id == call_id else item
        for item in transcript.items
    )
    return replace(transcript, items=items)


def _changed(item: CallItem, change: CallChange, now: float) -> CallItem:
    started = change.status == "in_progress" and item.sign != "running"
    known = replace(
        item,
        title=change.title or item.title,
        kind=change.kind or item.kind,
        path=change.path or item.path,
        sign=_sign(change, item.sign),
        began=now if started else item.began,
    )
    if not known.settled:
        return replace(known, lines=_output_lines(change.output, item.lines))
    return replace(known, outcome=_outcome(change, known.sign), seconds=change.seconds)


def _sign(change: CallChange, before: Sign) -> Sign:
    match change.status:
        case "completed":
            return "done"
        case "failed":
            return "skipped" if change.code in SKIPPED else "failed"
        case "in_progress":
            return "running"
        case "pending" | None:
            return before
        case _:
            assert_never(change.status)


def _output_lines(output: str | None, before: int) -> int:
    """Lines of a running tool's output; it comes as a code block, whose fences do not count."""
    if output is None:
        return before
    return sum(1 for line in output.splitlines() if not line.startswith("```"))


def _outcome(change: CallChange, sign: Sign) -> str:
    """In a few words: the summary, or where that says nothing new the first line of the output."""
    if change.summary and change.summary != sign:
        return change.summary
    lines = (change.output or "").splitlines()
    said = next((line for line in lines if line.strip() and not line.startswith("```")), "")
    return "" if sign == "done" else said.strip()
