"""How long a model may be silent."""

import anyio

from agent_server.config import Timeouts


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

    def chunk(self, *, substance: bool) -> None:
        """A chunk came, which a keep-alive comment is not. `substance`: the answer has begun, not only its frame."""
        if substance:
            self.began = True
            self.scope.deadline = anyio.current_time() + self._timeouts.idle_s
