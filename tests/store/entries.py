"""Entries for tests: any there can be (with NULs and lone surrogates), and the few that are usual."""

from decimal import Decimal
from typing import TypeVar, get_args

from hypothesis import strategies as st

from agent_server.loop.model import (
    AsideEntry,
    CallKey,
    Detail,
    DoneReason,
    Effect,
    Entry,
    Finish,
    Image,
    Location,
    Origin,
    PartialEntry,
    PlanEntry,
    PlanItem,
    Reasoning,
    Reply,
    ReplyEntry,
    Resource,
    ResultEntry,
    RewoundEntry,
    SpentEntry,
    StartedEntry,
    SummaryEntry,
    Text,
    ToolCall,
    ToolResult,
    TurnEndEntry,
    TurnId,
    Usage,
    UserEntry,
    Withheld,
    WithheldEntry,
)
from agent_server.loop.proposal import ChangeKind, FileChange, Hunk

T = TypeVar("T")

anything = st.text(st.characters(codec=None, exclude_categories=()), max_size=8) | st.sampled_from(
    ["", "\0", "\ud800", "\ud83d\ude00", "a\0b", "\ufeff", "\u2028", '"}']
)
maybe = st.none() | anything
count = st.integers(0, 2**53)


def some(strategy: st.SearchStrategy[T]) -> st.SearchStrategy[tuple[T, ...]]:
    """A short tuple of them."""
    return st.lists(strategy, max_size=3).map(tuple)


costs = st.none() | st.decimals(allow_nan=False, allow_infinity=False, places=9)
usages = st.builds(Usage, count, count, count, count, count, costs)
turns = anything.map(TurnId)
keys = st.builds(CallKey, count, count)
hunks = st.builds(Hunk, anything, count, some(anything), some(anything))
changes = st.builds(
    FileChange,
    path=anything,
    kind=st.sampled_from(get_args(ChangeKind)),
    base_text=maybe,
    new_text=maybe,
    hunks=some(hunks),
    base_version=st.none() | st.integers(),
    base_hash=maybe,
    old_path=maybe,
)
results = st.builds(
    ToolResult,
    ok=st.booleans(),
    output=anything,
    code=maybe,
    changes=some(changes),
    locations=some(st.builds(Location, anything, st.none() | count)),
    summary=maybe,
)
replies = st.builds(
    Reply,
    text=anything,
    calls=some(st.builds(ToolCall, keys, anything, anything, anything)),
    finish=st.sampled_from(get_args(Finish)),
    model=anything,
    usage=usages,
    reasoning=some(st.builds(Reasoning, anything, anything, maybe)),
    note=maybe,
)
parts = (
    st.builds(Text, anything)
    | st.builds(Image, anything, anything)
    | st.builds(Resource, anything, anything, maybe)
)
items = st.builds(PlanItem, anything, st.sampled_from(["pending", "in_progress", "completed"]))
entries: st.SearchStrategy[Entry] = st.one_of(
    st.builds(UserEntry, turns, some(parts), st.sampled_from(get_args(Origin))),
    st.builds(ReplyEntry, turns, count, replies),
    st.builds(StartedEntry, turns, keys),
    st.builds(ResultEntry, turns, keys, results, st.sampled_from(get_args(Effect))),
    st.builds(PartialEntry, turns, anything),
    st.builds(PlanEntry, turns, some(items)),
    st.builds(SummaryEntry, turns, anything, count, count),
    st.builds(
        TurnEndEntry,
        turns,
        st.sampled_from(list(DoneReason)),
        st.sampled_from(get_args(Detail)),
        usages,
        maybe,
    ),
    st.builds(RewoundEntry, turns, count, maybe),
    st.builds(AsideEntry, turns, anything, maybe),
    st.builds(SpentEntry, turns, usages, anything),
    st.builds(WithheldEntry, turns, st.sampled_from(get_args(Withheld)), anything),
)


def call_entry(reply: int, *, tool: str = "shell", arguments: str = "{}") -> ReplyEntry:
    """A reply with one call."""
    call = ToolCall(CallKey(reply, 0), "c", tool, arguments)
    return ReplyEntry(
        TurnId("t"), reply, Reply("", (call,), "tool_calls", "m", Usage(cost=Decimal(0)))
    )


def said(text: str) -> UserEntry:
    """A prompt."""
    return UserEntry(TurnId("t"), (Text(text),))
