"""What is kept of open sessions beside their logs, such as mode, model and title, written when it changes."""

import logging

from agent_server.frozen import frozen
from agent_server.loop.errors import AgentServerError
from agent_server.loop.model import Mode, Review, SessionId
from agent_server.session.session import Session
from agent_server.store.records import SessionRecord
from agent_server.store.sessions import SessionStore

log = logging.getLogger(__name__)


@frozen
class _Facts:
    mode: Mode
    model: str | None
    title: str | None
    prompt: str | None
    review: Review | None


class Keeping:
    """Knows what the store has, so that only changes are written."""

    def __init__(self, store: SessionStore) -> None:
        self._store = store
        self._kept: dict[SessionId, _Facts] = {}

    def begin(self, record: SessionRecord) -> None:
        """The session is open, with this in the store."""
        self._kept[record.id] = _Facts(
            record.mode, record.model, record.title, record.system_prompt, record.review
        )

    def end(self, session: SessionId) -> None:
        """The session is not open any more."""
        self._kept.pop(session, None)

    def pending(self, session: Session) -> bool:
        """Whether there is something to write."""
        known = self._kept.get(session.id)
        return session.read_only is None and known not in (_facts(session), None)

    async def save(self, session: Session) -> None:
        """Write what changed; a store that fails here costs a title or a mode, never a conversation."""
        if not self.pending(session):
            return
        now = _facts(session)
        before, self._kept[session.id] = self._kept[session.id], now
        try:
            await self._store.update(
                session.id,
                mode=now.mode,
                model=now.model,
                title=now.title,
                system_prompt=now.prompt,
                review=now.review,
            )
        except AgentServerError as failure:
            if session.id in self._kept:
                self._kept[session.id] = before
            log.warning("session %s: its settings were not kept: %s", session.id, failure)


def _facts(session: Session) -> _Facts:
    return _Facts(
        session.mode,
        session.profile.chosen_model,
        session.title,
        session.system_prompt,
        session.profile.chosen_review,
    )
