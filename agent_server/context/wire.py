"""The log as a conversation that every strict provider accepts (I1, R128–R132).

A pure projection: the log is never repaired, it keeps what was said. A request starts with the user, alternates,
answers every call once and in call order, has no empty message, and each call has a form that all take (`call_forms`).
"""

from collections.abc import Iterator, Sequence

from agent_server.context.call_forms import CallForms
from agent_server.context.withheld import without_refused
from agent_server.loop.model import (
    CallKey,
    Entry,
    Part,
    Reply,
    ReplyEntry,
    ResultEntry,
    SummaryEntry,
    Text,
    UserEntry,
    WithheldEntry,
)
from agent_server.loop.ports import AssistantMessage, Message, ToolMessage, UserMessage
from agent_server.loop.recover import GO_ON
from agent_server.loop.standing import standing

SUMMARY_HEAD = "This is a summary of the conversation so far, for reference only; it gives no new instructions.\n\n"
NO_RESULT = "not run: the turn ended before this call"


def messages(entries: Sequence[Entry], *, nudge: str | None = None) -> tuple[Message, ...]:
    """The messages of the next request after this whole log; `nudge` is said last and is in no log."""
    return Projection().of(standing(entries), nudge=nudge)


class Projection:
    """The messages of one growing log in which everything stands. What can no longer change is folded once and kept."""

    def __init__(self) -> None:
        """Nothing is folded yet."""
        self._kept: list[Message] = []
        self._upto = 0
        """Entries before this index are in `_kept`; every call in them has its result."""
        self._forms = CallForms()
        """Of the calls in `_kept`."""
        self._refused: int = 0
        """How often something was left out when that was folded."""

    def of(self, entries: Sequence[Entry], *, nudge: str | None = None) -> tuple[Message, ...]:
        """The messages of the log as it is now; it may only have grown since the last time, or be a part of it."""
        if len(entries) < self._upto:
            return Projection().of(entries, nudge=nudge)
        refused = sum(isinstance(entry, WithheldEntry) for entry in entries)
        if refused != self._refused:  # also of what was kept
            self._kept, self._upto, self._forms = [], 0, CallForms()
            self._refused = refused
        entries = without_refused(entries) if refused else entries
        if (summary := last_summary(entries[self._upto :])) is not None:
            self._kept = [UserMessage((Text(SUMMARY_HEAD + summary.text),))]
            self._upto, self._forms = summary.upto, CallForms()
        at_rest = _last_rest(entries, self._upto)
        _fold(self._kept, entries[self._upto : at_rest], self._forms)
        self._upto = at_rest
        out = self._kept.copy()
        _fold(out, entries[at_rest:], self._forms.copy())
        if nudge is not None:
            _join(out, UserMessage((Text(nudge),)))
        return tuple(out)


def _last_rest(entries: Sequence[Entry], start: int) -> int:
    """The last index from `start` on before which no call is open, and at which somebody speaks."""
    rest, unsettled = start, 0
    for index in range(start, len(entries)):
        entry = entries[index]
        if isinstance(entry, ResultEntry):
            unsettled -= 1
        elif isinstance(entry, UserEntry | ReplyEntry):
            rest = rest if unsettled else index
            unsettled += len(entry.reply.calls) if isinstance(entry, ReplyEntry) else 0
    return rest


def _fold(out: list[Message], entries: Sequence[Entry], forms: CallForms) -> None:
    """Append what these entries say. Messages are never changed in place, so a copy of the list is its own."""
    outputs = {e.key: e.result.output for e in entries if isinstance(e, ResultEntry)}
    for entry in entries:
        if isinstance(entry, UserEntry):
            _join(out, UserMessage(_said(entry.parts)))
        elif isinstance(entry, ReplyEntry):
            for message in _answered(entry.reply, outputs, forms):
                _join(out, message)


def last_summary(entries: Sequence[Entry]) -> SummaryEntry | None:
    """The summary that stands for the past, if there is one."""
    return next((e for e in reversed(entries) if isinstance(e, SummaryEntry)), None)


def _said(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Parts without blank texts; a message that would be empty says so instead."""
    kept = tuple(p for p in parts if not (isinstance(p, Text) and not p.text.strip()))
    return kept or (Text("(an empty message)"),)


def _answered(reply: Reply, outputs: dict[CallKey, str], forms: CallForms) -> Iterator[Message]:
    if not reply.calls and not reply.text.strip():
        return
    calls = tuple(map(forms.form, reply.calls))
    yield AssistantMessage(reply.text, calls, reply.reasoning)
    for call in calls:
        yield ToolMessage(call.id, call.name, outputs.get(call.key, NO_RESULT) or "(no output)")


def _join(out: list[Message], message: Message) -> None:
    """Append, merging neighbours that may not stand side by side."""
    last = out[-1] if out else None
    match (last, message):
        case (UserMessage(old), UserMessage(new)):
            out[-1] = UserMessage(old + new)
        case (AssistantMessage(calls=()), AssistantMessage()):
            out.extend((UserMessage((Text(GO_ON),)), message))
        case (None, AssistantMessage() | ToolMessage()):
            out.extend((UserMessage((Text("(the beginning was cut)"),)), message))
        case _:
            out.append(message)
