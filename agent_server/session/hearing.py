"""What the model hears besides the person's words.

What the person has before them, what was said aside, and what changed outside: with the prompt where that is possible,
else before the next request of the running turn. What is said aside is kept in the log until it was heard.
"""

from collections.abc import Sequence

from agent_server.edits.outside import Marks, Outside, note
from agent_server.edits.transaction import Transactions
from agent_server.loop.model import AsideEntry, Entry, Part, Text, UserEntry
from agent_server.loop.ports import Policy
from agent_server.loop.standing import standing
from agent_server.session.noticing import Noticing
from agent_server.session.ports import Client


class Hearing:
    """One session's."""

    def __init__(self, cwd: str, entries: Sequence[Entry]) -> None:
        """`entries` are the log; what was said aside in it and not heard is said with the first prompt."""
        self.marks = Marks()
        """Files that may have changed; whoever notices may add to them."""
        self._cwd = cwd
        self._asides = unheard(entries)
        self._noticing = Noticing()
        self._outside: Outside | None = None

    def say(self, sentence: str) -> None:
        """Let the model hear this as soon as it can."""
        self._asides.append(sentence)

    def recall(self, entries: Sequence[Entry]) -> None:
        """The conversation was taken back: only what was not heard in what stands is still to be said."""
        self._asides = unheard(entries)

    async def with_prompt(
        self, parts: tuple[Part, ...], client: Client, policy: Policy, entries: Sequence[Entry]
    ) -> tuple[Part, ...]:
        """The prompt with what belongs in front of it and behind it; stored with it, so that it stays (I7)."""
        seen = await self._noticing.parts(client, policy, entries)
        return (*map(Text, self._take()), *parts, *seen)

    async def news(self, transactions: Transactions | None) -> str | None:
        """What was said aside while the turn ran, and files that are no longer as the model saw them (loop.md F39)."""
        said = self._take()
        if transactions is not None:
            if self._outside is None:
                self._outside = Outside(transactions.documents, self.marks)
            outside = note(await self._outside.news(), self._cwd)
            said += [] if outside is None else [outside]
        return "\n".join(said) or None

    def _take(self) -> list[str]:
        asides, self._asides = self._asides, []
        return asides


def unheard(entries: Sequence[Entry]) -> list[str]:
    """What was said aside, stands, and is in nothing that the model was told since."""
    waiting: list[str] = []
    for entry in standing(entries):
        if isinstance(entry, AsideEntry):
            waiting.append(entry.text)
        elif isinstance(entry, UserEntry) and waiting:
            said = "\n".join(part.text for part in entry.parts if isinstance(part, Text))
            waiting = [text for text in waiting if text not in said]
    return waiting
