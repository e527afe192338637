"""Answers the peer's requests: each exactly once, whatever happens to its handler.

Owns the requests in flight and their cancellation. Reading, and requests of our own, are `connection.py`'s.
"""

import logging
from collections.abc import Callable, Sequence
from typing import cast

import anyio
import anyio.abc

from agent_server.front.rpc.dialect import Dialect
from agent_server.front.rpc.dispatch import (
    Dispatch,
    Incoming,
    NotificationHandler,
    RequestHandler,
    Result,
)
from agent_server.front.rpc.envelope import INVALID_REQUEST, FrameError, error_with, refusal
from agent_server.front.rpc.errors import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    REQUEST_CANCELLED,
    error_object,
)
from agent_server.front.rpc.messages import (
    Message,
    Notification,
    Request,
    RequestId,
    encode,
    error_body,
    is_request_id,
    notification_body,
    result_body,
)
from agent_server.loop.errors import AgentServerError
from agent_server.loop.model import JsonObject

logger = logging.getLogger(__name__)


class Answering:
    """The peer's requests and notifications."""

    def __init__(self, dispatch: Dispatch, dialect: Dialect, send: Callable[[bytes], None]) -> None:
        self._dispatch = dispatch
        self._dialect = dialect
        self._send = send
        self._running: dict[RequestId, Incoming] = {}
        self._changed = anyio.Event()

    def withdrawn(self, messages: Sequence[Message]) -> frozenset[int]:
        """Positions of requests that a later one of `messages`, read with them, cancels.

        They are answered without being run, as they would have been had the cancellation come alone.
        """
        cancelled: set[RequestId] = set()
        found: set[int] = set()
        for position in range(len(messages) - 1, -1, -1):
            match messages[position]:
                case Notification() as message if message.method == self._dialect.cancel_method:
                    cancelled.add(self._cancelled_id(message))
                case Request(id=int() | str()) as message if message.id in cancelled:
                    cancelled.discard(message.id)
                    if message.method not in self._dispatch.settles_cancel:
                        found.add(position)
                case _:
                    pass
        return frozenset(found)

    def request(self, message: Request, tasks: anyio.abc.TaskGroup, *, withdrawn: bool) -> None:
        """Start answering; or answer at once, when there is nothing to run."""
        handler = self._dispatch.requests.get(message.method)
        if message.id in self._running:
            self._refuse(
                message.id,
                INVALID_REQUEST,
                f"a request with id {str(message.id)[:100]!r} is still running",
            )
        elif handler is None and self._dispatch.fallback is not None:
            self.offer(message.envelope)
        elif handler is None:
            self._refuse(
                message.id,
                METHOD_NOT_FOUND,
                f"there is no method {message.method[:100]!r}",
                reason="method_not_found",
            )
        elif (params := _params(message.params)) is None:
            self._refuse(
                message.id,
                INVALID_PARAMS,
                f"the params of {message.method[:100]!r} are not an object",
                reason="invalid_params",
            )
        elif withdrawn:
            self._send(self._cancelled(message.id))
        else:
            incoming = Incoming(message.id, message.method, params)
            self._running[message.id] = incoming
            tasks.start_soon(self._answer, incoming, handler)

    def notification(self, message: Notification, tasks: anyio.abc.TaskGroup) -> None:
        """Start handling; unknown ones are nothing to anybody."""
        if message.method == self._dialect.cancel_method:
            self._cancel(message)
            return
        handler = self._dispatch.notifications.get(message.method)
        params = _params(message.params)
        if handler is None:
            self.offer(message.envelope)
        elif params is None:
            logger.warning("the params of notification %s are not an object", message.method)
        else:
            tasks.start_soon(self._handle, message.method, handler, params)

    def malformed(self, error: FrameError) -> None:
        """Say that it was no message."""
        self._send(encode(refusal(error)))

    def offer(self, envelope: JsonObject) -> None:
        """Give what is nobody's here to the other protocol on the wire, if there is one."""
        if self._dispatch.fallback is None:
            return
        try:
            self._dispatch.fallback(envelope)
        except Exception:
            logger.exception("the fallback could not take a message")

    def withdraw_all(self) -> None:
        """As if the peer had cancelled each request in flight."""
        for incoming in list(self._running.values()):
            self._withdraw(incoming)

    async def finished(self) -> None:
        """Wait until nothing is in flight."""
        while self._running:
            await self._changed.wait()

    def _cancel(self, message: Notification) -> None:
        request_id = self._cancelled_id(message)
        incoming = None if request_id is None else self._running.get(request_id)
        if incoming is None:  # answered already, or never ours
            self.offer(message.envelope)
            return
        self._withdraw(incoming)

    def _withdraw(self, incoming: Incoming) -> None:
        incoming.withdraw(cancel=incoming.method not in self._dispatch.settles_cancel)

    def _cancelled_id(self, message: Notification) -> RequestId:
        """None when it names none: a request with id null cannot be cancelled."""
        request_id = (_params(message.params) or {}).get(self._dialect.cancel_param)
        return request_id if is_request_id(request_id) else None

    async def _answer(self, incoming: Incoming, handler: RequestHandler) -> None:
        bodies = [self._cancelled(incoming.id)]
        try:
            with incoming.scope:
                bodies = await self._outcome(incoming, handler)
        finally:  # also when the whole connection is being cancelled
            del self._running[incoming.id]
            changed, self._changed = self._changed, anyio.Event()
            changed.set()
            for body in bodies:
                self._send(body)

    async def _outcome(self, incoming: Incoming, handler: RequestHandler) -> list[bytes]:
        """The boundary of a request: whatever happens becomes its answer."""
        try:
            result = await handler(incoming)
            if not isinstance(result, Result):
                return [result_body(incoming.id, result)]
            return [
                result_body(incoming.id, result.value),
                *(notification_body(method, params) for method, params in result.after),
            ]
        except AgentServerError as error:
            return [self._failure(incoming.id, error)]
        except Exception as error:
            logger.exception("request %s failed", incoming.method)
            return [self._failure(incoming.id, error)]

    async def _handle(self, method: str, handler: NotificationHandler, params: JsonObject) -> None:
        """The boundary of a notification: nobody waits for an answer, so the log has what went wrong."""
        try:
            await handler(params)
        except AgentServerError as error:
            logger.warning("the notification %s did nothing: %s", method, error)
        except Exception:
            logger.exception("the notification %s failed", method)

    def _failure(self, request_id: RequestId, error: Exception) -> bytes:
        return error_body(
            request_id, error_object(error, unknown_session=self._dialect.unknown_session)
        )

    def _cancelled(self, request_id: RequestId) -> bytes:
        error = error_with(REQUEST_CANCELLED, "the request was cancelled", reason="cancelled")
        return error_body(request_id, error)

    def _refuse(
        self, request_id: RequestId, code: int, message: str, *, reason: str = "invalid_request"
    ) -> None:
        self._send(error_body(request_id, error_with(code, message, reason=reason)))


def _params(value: object) -> JsonObject | None:
    """`params` as an object; None when it is something else. Absent and null are an empty one."""
    if value is None:
        return {}
    return cast("JsonObject", value) if isinstance(value, dict) else None
