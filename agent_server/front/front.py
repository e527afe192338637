"""What a handler has at hand: one connection's peer and the sessions of the process."""

from collections.abc import Callable

from agent_server.front.peer import Peer
from agent_server.frozen import mutable
from agent_server.loop.model import JsonObject
from agent_server.session.sessions import Sessions


@mutable
class Front:
    """One connection as its handlers see it."""

    peer: Peer
    sessions: Sessions
    initialize_result: Callable[[], JsonObject] | None = None
    """ACP: what the first stage answered, to be answered again."""
    ready: bool = False
    """The client has initialized; before that nothing else is served (-32600)."""
