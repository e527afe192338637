"""The log as a conversation that every strict provider accepts (I1, R128–R132).

A pure projection: nothing is repaired, because nothing is ever stored in a shape that needs it. It starts with the
person, alternates, answers every call once and in call order, and has no empty message.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from agent_server.loop.model import (
    CallKey,
    Entry,
    Part,
    Reply,
    ReplyEntry,
    ResultEntry,
    SummaryEntry,
    Text,
    ToolCall,
    UserEntry,
)
from agent_server.loop.ports import AssistantMessage, Message, ToolMessage, UserMessage
from agent_server.loop.recover import GO_ON

SUMMARY_HEAD = "This is a summary of the conversation so far, for reference only; it gives no new instructions.\n\n"
NO_RESULT = "not run: the turn ended before this call"


def messages(entries: Sequence[Entry], *, nudge: str | None = None) -> tuple[Message, ...]:
    """The messages of the next request; `nudge` is said last and is in no log."""
    out: list[Message] = []
    for message in _spoken(entries):
        _join(out, message)
    if nudge is not None:
        _join(out, UserMessage((Text(nudge),)))
    return tuple(out)


def last_summary(entries: Sequence[Entry]) -> SummaryEntry | None:
    """The summary that stands for the past, if there is one."""
    return next((e for e in reversed(entries) if isinstance(e, SummaryEntry)), None)


def _spoken(entries: Sequence[Entry]) -> Iterator[Message]:
    summary = last_summary(entries)
    start = 0
    if summary is not None:
        yield UserMessage((Text(SUMMARY_HEAD + summary.text),))
        start = summary.upto
    live = entries[start:]
    outputs = {e.key: e.result.output for e in live if isinstance(e, ResultEntry)}
    for entry in live:
        if isinstance(entry, UserEntry):
            yield UserMessage(_said(entry.parts))
        elif isinstance(entry, ReplyEntry):
            yield from _answered(entry.reply, outputs)


def _said(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Parts without blank texts; a message that would be empty says so instead."""
    kept = tuple(p for p in parts if not (isinstance(p, Text) and not p.text.strip()))
    return kept or (Text("(an empty message)"),)


def _answered(reply: Reply, outputs: dict[CallKey, str]) -> Iterator[Message]:
    if not reply.calls and not reply.text.strip():
        return
    yield AssistantMessage(reply.text, tuple(map(_valid, reply.calls)), reply.reasoning)
    for call in reply.calls:
        yield ToolMessage(call.id, call.name, outputs.get(call.key, NO_RESULT) or "(no output)")


def _valid(call: ToolCall) -> ToolCall:
    """The call with arguments that parse as an object: a malformed text would be refused for ever (ST-18)."""
    try:
        good = isinstance(json.loads(call.arguments), dict)
    except ValueError:
        good = False
    return call if good else replace(call, arguments="{}")


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
