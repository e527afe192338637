"""What a front tells a connection: who handles what. The tables are data; the types are the handlers' contract."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field

import anyio

from agent_server.front.rpc.messages import RequestId
from agent_server.frozen import frozen
from agent_server.loop.model import JsonObject

FollowUp = tuple[str, JsonObject]
"""A notification: method and params."""


@frozen
class Result:
    """An answer with what must directly follow it: nothing gets between (ACP: response first, then updates)."""

    value: object
    after: tuple[FollowUp, ...] = ()


class Incoming:
    """A request while it is being answered."""

    def __init__(self, request_id: RequestId, method: str, params: JsonObject) -> None:
        self.id = request_id
        self.method = method
        self.params = params
        """Empty when the request had none."""
        self.scope = anyio.CancelScope()
        """The handler runs in it. The connection's."""
        self._cancelled = False
        self._callbacks: list[Callable[[], None]] = []

    @property
    def cancelled(self) -> bool:
        """Whether the peer (or the end of the connection) has withdrawn the request."""
        return self._cancelled

    def when_cancelled(self, callback: Callable[[], None]) -> None:
        """Call this once when the request is withdrawn; at once if it already is."""
        if self._cancelled:
            callback()
        else:
            self._callbacks.append(callback)

    def withdraw(self, *, cancel: bool) -> None:
        """The connection's: tell the handler, and cancel it unless it settles the cancellation itself."""
        if self._cancelled:
            return
        self._cancelled = True
        for callback in self._callbacks:
            callback()
        if cancel:
            self.scope.cancel()


RequestHandler = Callable[[Incoming], Awaitable[object]]
"""Returns a JSON value or a `Result`. What it raises becomes the error (errors.py)."""
NotificationHandler = Callable[[JsonObject], Awaitable[None]]
"""Gets the params; what it raises is logged."""


@frozen
class Dispatch:
    """The handlers of one end of a connection.

    Each message gets a task of its own, so none can hold up another. Tasks are started in the order of arrival,
    and a handler has run up to its first suspension before the next message is looked at: what must be ordered
    (taking a place in a session's inbox, say) belongs before the first `await` that really waits.
    """

    requests: Mapping[str, RequestHandler] = field(default_factory=dict[str, RequestHandler])
    notifications: Mapping[str, NotificationHandler] = field(
        default_factory=dict[str, NotificationHandler]
    )
    settles_cancel: frozenset[str] = frozenset()
    """Requests that answer their own cancellation (a prompt's result is `cancelled`, no error): they always run,
    are never cancelled by the peer, and hear of it through `Incoming.when_cancelled`."""
    fallback: Callable[[JsonObject], None] | None = None
    """Gets, in order, the envelope of every message that is nobody's here: a method not in the tables, an answer
    or a cancellation with an id we do not know. For a second protocol on the same wire; it then answers."""
