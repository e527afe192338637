"""What a session has used: its turns, and what is done for it beside them. Kept as its log grows, never summed anew."""

from collections.abc import Sequence

from agent_server.loop.events import UsageChanged
from agent_server.loop.model import Entry, ReplyEntry, SpentEntry, TurnEndEntry, Usage
from agent_server.loop.standing import standing


class Spending:
    """Of one growing log. What was taken back of a conversation was used all the same."""

    def __init__(self) -> None:
        """Nothing is looked at yet."""
        self._sum = Usage()
        self._upto = 0

    def of(self, entries: Sequence[Entry]) -> Usage:
        """The sum over the log as it is now; it may only have grown since the last time."""
        for place in range(self._upto, len(entries)):
            entry = entries[place]
            if isinstance(entry, TurnEndEntry | SpentEntry):
                self._sum += entry.usage
        self._upto = len(entries)
        return self._sum

    def shown(self, entries: Sequence[Entry], window: int) -> UsageChanged | None:
        """What the conversation takes up of the window and has cost, as of the last reply that stands."""
        replies = (e for e in reversed(standing(entries)) if isinstance(e, ReplyEntry))
        if (last := next(replies, None)) is None:
            return None
        used = last.reply.usage.input + last.reply.usage.output
        return UsageChanged(last.turn, used, window, self.of(entries))
