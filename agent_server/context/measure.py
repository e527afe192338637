"""How large the next request will be (R63): what the provider counted last, plus an estimate of what came since.

Estimates are characters / 4: tokenizers disagree by 15 % among themselves and cost far more.
"""

from collections.abc import Sequence

from agent_server.context.wire import messages
from agent_server.loop.model import (
    Entry,
    Image,
    Part,
    ReplyEntry,
    Resource,
    ResultEntry,
    SummaryEntry,
    Text,
    UserEntry,
)
from agent_server.loop.ports import AssistantMessage, Message, ToolMessage, ToolSpec, UserMessage

IMAGE_TOKENS = 1_000
"""A middling figure; providers count by size and detail."""


def projected_tokens(entries: Sequence[Entry], *, overhead: int) -> int:
    """Tokens of the next request, after entries that stand.

    `overhead`: system prompt and tool schemas, needed while no real count is known.
    """
    since = 0
    for entry in reversed(entries):
        if isinstance(entry, SummaryEntry):
            break
        if isinstance(entry, ReplyEntry) and entry.reply.usage.input:
            return entry.reply.usage.input + entry.reply.usage.output + since
        since += entry_tokens(entry)
    return overhead + tokens_of(entries)


def tokens_of(entries: Sequence[Entry]) -> int:
    """An estimate for the messages of these entries."""
    return sum(map(message_tokens, messages(entries)))


def overhead_tokens(system: str, tools: Sequence[ToolSpec]) -> int:
    """An estimate for what every request carries."""
    return (len(system) + sum(len(t.description) + len(str(t.parameters)) for t in tools)) // 4


def entry_tokens(entry: Entry) -> int:
    """What one entry adds to a request."""
    match entry:
        case UserEntry(parts=parts):
            return sum(map(_part_tokens, parts))
        case ReplyEntry(reply=reply):
            return (len(reply.text) + sum(len(c.arguments) + len(c.name) for c in reply.calls)) // 4
        case ResultEntry(result=result):
            return len(result.output) // 4
        case _:
            return 0


def message_tokens(message: Message) -> int:
    """What one message weighs."""
    match message:
        case UserMessage(parts):
            return sum(map(_part_tokens, parts))
        case AssistantMessage(text, calls):
            return (len(text) + sum(len(c.arguments) + len(c.name) for c in calls)) // 4
        case ToolMessage(text=text):
            return len(text) // 4


def _part_tokens(part: Part) -> int:
    match part:
        case Text(text):
            return len(text) // 4 + 1
        case Image():
            return IMAGE_TOKENS
        case Resource(uri, name, text):
            return (len(uri) + len(name) + len(text or "")) // 4 + 1
