"""What a session needs of the connection that drives it. Implemented in front/ and by the Python API."""

from typing import Protocol

from agent_server.edits.ports import Editor
from agent_server.loop.action import Answer, Question
from agent_server.loop.events import Event
from agent_server.loop.model import SessionId


class Client(Protocol):
    """The person's side of a session: sees events, answers questions, has an editor."""

    @property
    def editor(self) -> Editor:
        """Its documents; `NoEditor()` where there are none."""
        ...

    def emit(self, session: SessionId, event: Event) -> None:
        """Show an event. Never blocks, never raises; order is kept."""
        ...

    async def ask(self, session: SessionId, question: Question) -> Answer:
        """Put one question to the person and wait. Cancelling the wait withdraws the question."""
        ...
