"""How long a model may be silent."""

import anyio

from agent_server.config import Timeouts

AFTER_END_S = 5.0
"""Behind the label of its end an answer has only the usage and a terminator, which some servers never send."""


class Watch:
    """Ends a request that is silent, before the answer begins and in its middle: one scope whose deadline moves.

    Make it just before the request is sent; run the request inside `scope`.
    """

    def __init__(self, timeouts: Timeouts) -> None:
        self.began = False
        self._timeouts = timeouts
        self.scope = anyio.CancelScope(deadline=anyio.current_time() + timeouts.first_token_s)

    @property
    def limit_s(self) -> float:
        """The limit that holds now."""
        return self._timeouts.idle_s if self.began else self._timeouts.first_token_s

    def chunk(self, *, substance: bool, ended: bool = False) -> None:
        """A chunk came, which a keep-alive comment is not. `substance`: the answer has begun, not only its frame.

        `ended`: its end was said.
        """
        if substance:
            self.began = True
            limit = min(self._timeouts.idle_s, AFTER_END_S) if ended else self._timeouts.idle_s
            self.scope.deadline = anyio.current_time() + limit
