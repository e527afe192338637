"""What the model hears besides the person's words.

What the person has before them, what was said aside, and what changed outside: with the prompt where that is possible,
else before the next request of the running turn.
"""

from collections.abc import Sequence

from agent_server.edits.outside import Marks, Outside, note
from agent_server.edits.transaction import Transactions
from agent_server.loop.model import Entry, Part, Text
from agent_server.loop.ports import Policy
from agent_server.session.noticing import Noticing
from agent_server.session.ports import Client


class Hearing:
    """One session's."""

    def __init__(self, cwd: str, *, aside: str | None = None) -> None:
        """`aside` is said with the first prompt."""
        self.marks = Marks()
        """Files that may have changed; whoever notices may add to them."""
        self._cwd = cwd
        self._asides = [] if aside is None else [aside]
        self._noticing = Noticing()
        self._outside: Outside | None = None

    def say(self, sentence: str) -> None:
        """Let the model hear this as soon as it can."""
        self._asides.append(sentence)

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
