"""A session's log as plain text: what was said, what was called, and what each call did to the world."""

from collections.abc import Iterator, Sequence
from typing import assert_never

from agent_server.commands.output import one_line
from agent_server.front.hidden_characters import printable
from agent_server.loop.model import (
    AsideEntry,
    CallKey,
    Effect,
    Entry,
    Image,
    Part,
    PartialEntry,
    PlanEntry,
    ReplyEntry,
    Resource,
    ResultEntry,
    RewoundEntry,
    SpentEntry,
    StartedEntry,
    SummaryEntry,
    Text,
    ToolCall,
    TurnEndEntry,
    UserEntry,
    WithheldEntry,
)

WIDTH = 100
EFFECTS: dict[Effect, str] = {
    "none": "no effect",
    "confirmed": "ran to its end",
    "unknown": "effect unknown: interrupted while it ran",
}
PLAN_SIGNS = {"pending": " ", "in_progress": ">", "completed": "x"}


def render(entries: Sequence[Entry]) -> Iterator[str]:
    """The lines of the transcript, in the order things happened; calls that never ended come last."""
    calls: dict[CallKey, ToolCall] = {}
    started: set[CallKey] = set()
    for entry in entries:
        match entry:
            case UserEntry():
                yield ""
                sign = ">" if entry.origin == "prompt" else f"> ({entry.origin})"
                yield f"{sign} {_indented(_said(entry.parts))}"
            case ReplyEntry():
                calls |= {call.key: call for call in entry.reply.calls}
                if entry.reply.text:
                    yield f"  {_indented(entry.reply.text)}"
            case StartedEntry():
                started.add(entry.key)
            case ResultEntry():
                yield _settled(calls.pop(entry.key, None), entry)
            case PartialEntry():
                yield f"  {_indented(entry.text)}\n  [interrupted]"
            case PlanEntry():
                yield from (
                    f"  [{PLAN_SIGNS[i.status]}] {one_line(i.text, WIDTH)}" for i in entry.items
                )
            case SummaryEntry():
                yield f"  [entries before {entry.upto} are summed up for the model]"
                yield f"  {_indented(entry.text)}"
            case TurnEndEntry():
                yield _ended(entry)
            case RewoundEntry():
                yield f"  [taken back: from here on the conversation is as it was after entry {entry.upto}]"
            case SpentEntry(usage=usage, what=what):
                yield f"  [{what}: {usage.input + usage.output} tokens]"
            case AsideEntry():
                pass  # shown where the model hears it
            case WithheldEntry(what=what, reason=reason):
                what = "pictures are" if what == "images" else "this turn is"
                yield f"  [{what} left out of later requests: {reason}]"
            case _:
                assert_never(entry)
    for key, call in calls.items():
        state = "started, never ended: effect unknown" if key in started else "never started"
        yield f"  ? {_called(call)} ({state})"


def _said(parts: Sequence[Part]) -> str:
    return "\n".join(_part(part) for part in parts)


def _part(part: Part) -> str:
    match part:
        case Text():
            return part.text
        case Image():
            return f"[image {part.mime}]"
        case Resource():
            return f"[attached {part.name}: {part.uri}]"
        case _:
            assert_never(part)


def _indented(text: str) -> str:
    return printable(text.rstrip()).replace("\n", "\n  ")


def _called(call: ToolCall | None) -> str:
    return (
        "a call of an unknown tool"
        if call is None
        else one_line(f"{call.name} {call.arguments}", WIDTH)
    )


def _settled(call: ToolCall | None, entry: ResultEntry) -> str:
    sign = "+" if entry.result.ok else "x"
    outcome = entry.result.summary or (entry.result.output if not entry.result.ok else "")
    words = [*([one_line(outcome, WIDTH)] if outcome else []), EFFECTS[entry.effect]]
    changed = "".join(
        f"\n      {change.kind} {printable(change.path)}" for change in entry.result.changes
    )
    return f"  {sign} {_called(call)} ({'; '.join(words)}){changed}"


def _ended(entry: TurnEndEntry) -> str:
    cost = "" if entry.usage.cost is None else f", {entry.usage.cost} USD"
    why = "" if entry.message is None else f": {one_line(entry.message, WIDTH)}"
    tokens = f"{entry.usage.input} tokens in, {entry.usage.output} out{cost}"
    return f"  -- {entry.reason.value} ({entry.detail}){why}; {tokens}"
