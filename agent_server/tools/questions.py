"""Who answers a call of `ask_user`: the port between that tool and the client that is connected."""

from collections.abc import Sequence
from typing import Protocol

from agent_server.loop.model import CallKey


class Questions(Protocol):
    """Puts the model's questions to the person."""

    def takes(self, options: Sequence[str]) -> bool:
        """Whether the person can be asked now; without options they would have to answer in words."""
        ...

    async def ask(self, call: CallKey, question: str, options: Sequence[str]) -> str | None:
        """Ask on behalf of that call and wait; None when there is no answer. Cancelling the wait withdraws it.

        With options the answer may still be other words, where the client has a place for them.
        """
        ...


class NoQuestions:
    """Nobody is there to be asked."""

    def takes(self, options: Sequence[str]) -> bool:
        """Never."""
        del options
        return False

    async def ask(self, call: CallKey, question: str, options: Sequence[str]) -> str | None:
        """Always None."""
        del call, question, options
        return None
