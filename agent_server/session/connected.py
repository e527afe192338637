"""Who is connected to a session; it may be somebody else a moment later."""

from agent_server.loop.action import Answer, Question
from agent_server.loop.events import Event
from agent_server.loop.model import SessionId
from agent_server.session.ports import Client


class Connected:
    """To one session."""

    def __init__(self, session: SessionId, client: Client) -> None:
        self._session = session
        self.client = client
        """Replaced when the session is loaded by another one."""

    def emit(self, event: Event) -> None:
        """Show an event."""
        self.client.emit(self._session, event)

    async def ask(self, question: Question) -> Answer:
        """Put a question."""
        return await self.client.ask(self._session, question)
