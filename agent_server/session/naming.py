"""A session gets its title: from its first prompt at once, from a small model after the first turn, at its own cost."""

import logging
from collections.abc import Callable

from agent_server.loop.errors import StoreFailure
from agent_server.loop.guard import over_limit
from agent_server.loop.model import SessionId, SpentEntry, TurnId, Usage
from agent_server.loop.ports import Log
from agent_server.loop.turn import Turn
from agent_server.session.ports import Equipment
from agent_server.session.prompts import Parts, Prompt
from agent_server.session.spending import Spending
from agent_server.session.titles import Title

log = logging.getLogger(__name__)


class Naming:
    """Of one session."""

    def __init__(
        self,
        session: SessionId,
        title: Title,
        kept: Log,
        equipment: Equipment,
        spending: Spending,
        tell: Callable[[str], None],
    ) -> None:
        """`tell` is called with each title that is found."""
        self._session = session
        self._title = title
        self._log = kept
        self._equipment = equipment
        self._spending = spending
        self._tell = tell

    def begin(self, parts: Parts) -> None:
        """With the first prompt that has words."""
        if self._title.begin(parts):
            self._told()

    async def improve(self, item: Prompt, running: Callable[[], Turn | None]) -> None:
        """After the first turn, beside whatever comes next. `running` is the turn that runs, or ran last."""
        answer = "" if item.result is None else item.result.text
        turn = running()
        may_spend = turn is None or over_limit(turn) is None
        titler = self._equipment.titler() if answer and may_spend else None

        async def charge(usage: Usage) -> None:
            await self._charge(usage, running())

        if await self._title.improve(titler, item.parts, answer, charge):
            self._told()

    async def _charge(self, usage: Usage, running: Turn | None) -> None:
        """The session has that much less for its turns (R25)."""
        try:
            await self._log.append(
                SpentEntry(TurnId("") if running is None else running.id, usage, "title")
            )
        except StoreFailure as failure:
            log.warning("session %s: what its title cost is not kept: %s", self._session, failure)
        if running is not None:
            running.before = self._spending.of(self._log.entries)

    def _told(self) -> None:
        if self._title.text is not None:
            self._tell(self._title.text)
