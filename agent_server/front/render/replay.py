"""A stored conversation as updates: everything once, in order, each call in its final state (rule 15, SE-04)."""

from collections.abc import Iterator, Mapping, Sequence

from agent_server.context.before_person import URI as EDITOR
from agent_server.front.blocks import Json
from agent_server.front.render.calls import call_finished, call_opened
from agent_server.front.render.content import end_of_path, one_line, raw_input
from agent_server.front.render.updates import (
    message_chunk,
    plan,
    thought_chunk,
    turn_end,
    user_chunks,
)
from agent_server.loop.events import CallFinished, CallPending
from agent_server.loop.model import (
    AsideEntry,
    CallKey,
    DoneReason,
    Entry,
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
    ToolCall,
    ToolKind,
    TurnEndEntry,
    TurnId,
    UserEntry,
    WithheldEntry,
)
from agent_server.loop.standing import asides, own_words, places

TITLE_LIMIT = 80
"""Characters of a call's main argument in its title."""
BROKEN_OFF = "\n\n*(interrupted)*"
"""Follows what was shown of an answer that was cancelled or cut; for people only."""

Results = Mapping[CallKey, ResultEntry]


def replay(
    entries: Sequence[Entry], kinds: Mapping[str, ToolKind], *, ends: bool = False
) -> Iterator[Json]:
    """The updates, oldest first, of what stands. `kinds` are those of the tools by name. Nudges are not shown.

    With `ends`, for clients that know it, the last update of each turn says how it ended.
    """
    results = {e.key: e for e in entries if isinstance(e, ResultEntry)}
    aside = asides(entries)
    for index in places(entries, len(entries)):
        match entries[index]:
            case UserEntry(parts=parts, origin="prompt" | "steer"):
                yield from user_chunks(f"user-{index}", own_words(_written(parts), aside))
            case ReplyEntry() as entry:
                yield from _reply(entry, results, kinds)
            case PartialEntry(text=text):
                yield message_chunk(f"partial-{index}", text + BROKEN_OFF)
            case PlanEntry(items=items):
                yield plan(items)
            case TurnEndEntry() as entry:
                if entry.reason is DoneReason.ERROR and entry.message is not None:
                    yield message_chunk(f"end-{index}", entry.message)
                if ends:
                    yield turn_end(entry)
            case UserEntry() | StartedEntry() | ResultEntry() | SummaryEntry():
                pass
            case AsideEntry() | SpentEntry() | RewoundEntry() | WithheldEntry():
                pass


def settled_calls(entries: Sequence[Entry]) -> Iterator[Json]:
    """How a last turn and its calls ended that were cut off: its client was gone, or the server, before it was told.

    For clients of ours, that saw them begin.
    """
    last = next((e for e in reversed(entries) if isinstance(e, TurnEndEntry)), None)
    if last is None or last.detail != "shutdown":
        return
    replies = [e for e in entries if isinstance(e, ReplyEntry) and e.turn == last.turn]
    calls = {call.key: call for call in replies[-1].reply.calls} if replies else {}
    for entry in entries:
        if isinstance(entry, ResultEntry) and (call := calls.get(entry.key)) is not None:
            end = CallFinished(last.turn, entry.key, call.name, entry.result, entry.effect)
            yield call_finished(end, None)
    yield turn_end(last)


def call_title(name: str, arguments: str) -> str:
    """A call in words, from its arguments alone: its name and the first text it was given."""
    given = raw_input(arguments) or {}
    texts = [(key, value) for key, value in given.items() if isinstance(value, str) and value]
    key, main = texts[0] if texts else ("", "")
    shown = end_of_path(main, TITLE_LIMIT) if key == "path" else one_line(main, TITLE_LIMIT)
    return f"{name} {shown}".rstrip()


def _written(parts: Sequence[Part]) -> list[Part]:
    """Without what the editor told beside the person's words."""
    return [part for part in parts if not (isinstance(part, Resource) and part.uri == EDITOR)]


def _reply(entry: ReplyEntry, results: Results, kinds: Mapping[str, ToolKind]) -> Iterator[Json]:
    for block in entry.reply.reasoning:
        if block.text:
            yield thought_chunk(f"thought-{entry.number}", block.text)
    if entry.reply.text:
        yield message_chunk(f"message-{entry.number}", entry.reply.text)
    for call in entry.reply.calls:
        yield _call(entry.turn, call, results.get(call.key), kinds.get(call.name, "other"))


def _call(turn: TurnId, call: ToolCall, settled: ResultEntry | None, kind: ToolKind) -> Json:
    """One `tool_call`, in its final state; without a result only while its turn still runs."""
    title = call_title(call.name, call.arguments)
    opened = call_opened(
        CallPending(turn, call.key, call.name, title, kind, arguments=call.arguments)
    )
    if settled is None:
        return opened
    end = CallFinished(turn, call.key, call.name, settled.result, settled.effect)
    return opened | call_finished(end, None) | {"sessionUpdate": "tool_call"}
