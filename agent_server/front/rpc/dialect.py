"""Where the two wires differ below their methods, as data."""

from typing import Final

from agent_server.front.rpc.errors import INVALID_PARAMS, NOT_FOUND
from agent_server.front.rpc.framing import CONTENT_LENGTH, NDJSON, Framing
from agent_server.frozen import frozen


@frozen
class Dialect:
    """How a wire frames, cancels, and says that a session is unknown."""

    framing: Framing
    cancel_method: str
    """The notification that withdraws a request."""
    cancel_param: str
    """Its parameter that holds the request's id."""
    unknown_session: int
    """Error code."""


ACP: Final = Dialect(NDJSON, "$/cancel_request", "requestId", NOT_FOUND)
LSP: Final = Dialect(CONTENT_LENGTH, "$/cancelRequest", "id", INVALID_PARAMS)
