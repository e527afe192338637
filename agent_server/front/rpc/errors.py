"""The one table: exception → JSON-RPC error. What a handler raised crosses the wire as it says, never as a traceback.

The object's shape is `envelope.py`'s `error_with`. Codes are those of JSON-RPC 2.0, of ACP and of LSP 3.17.
"""

from dataclasses import field
from types import MappingProxyType
from typing import Final

from agent_server.front.rpc.envelope import INVALID_REQUEST as INVALID_REQUEST
from agent_server.front.rpc.envelope import PARSE_ERROR as PARSE_ERROR
from agent_server.front.rpc.envelope import error_with as error_with
from agent_server.frozen import frozen
from agent_server.loop.errors import (
    AgentServerError,
    AuthRequired,
    BadSetting,
    ClientMistake,
    EditRefused,
    ModelFailure,
    SessionBusy,
    StaleRevision,
    StoreFailure,
    TurnMismatch,
    TurnRunning,
    UnknownSession,
    innermost,
)
from agent_server.loop.faults import Fault
from agent_server.loop.model import JsonObject

METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
AUTH_REQUIRED: Final = -32000
NOT_FOUND: Final = -32002
"""ACP: resource not found. In LSP the same number means that the server is not initialized."""
REQUEST_CANCELLED: Final = -32800
CONTENT_MODIFIED: Final = -32801

_RETRYABLE: Final = frozenset({Fault.TRANSIENT, Fault.RATE_LIMIT})
_NOTHING: Final[JsonObject] = MappingProxyType({})


class RpcError(AgentServerError):
    """Answer the request with exactly this. For what only a front can know; the core raises the tree."""

    def __init__(
        self,
        code: int,
        message: str,
        *,
        reason: str,
        retryable: bool = False,
        extra: JsonObject = _NOTHING,
    ) -> None:
        """`extra` joins `data`."""
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.retryable = retryable
        self.extra = extra


class RemoteError(AgentServerError):
    """The peer answered our request with an error."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        """As they came; `data` is whatever the peer sent."""
        super().__init__(message)
        self.code = code
        self.data = data


class ConnectionClosed(AgentServerError):
    """The peer is gone; a request to it will never be answered."""


@frozen
class _Row:
    code: int
    reason: str
    retryable: bool = False
    extra: JsonObject = field(default_factory=dict[str, object])


def error_object(error: Exception, *, unknown_session: int) -> JsonObject:
    """`{code, message, data}` for whatever a handler raised. `unknown_session` is the dialect's code for that."""
    cause = innermost(error)
    row = _row(cause, unknown_session)
    known = isinstance(cause, AgentServerError)
    message = str(cause) if known else "the server met an unexpected error; its log says more"
    return error_with(
        row.code, message, reason=row.reason, retryable=row.retryable, extra=row.extra
    )


def _row(error: BaseException, unknown_session: int) -> _Row:  # a flat table, first match wins
    match error:
        case RpcError():
            return _Row(error.code, error.reason, error.retryable, error.extra)
        case UnknownSession():
            return _Row(unknown_session, "unknown_session")
        case StaleRevision():
            return _Row(CONTENT_MODIFIED, "stale_revision", True, {"revision": error.revision})
        case TurnMismatch():
            return _Row(CONTENT_MODIFIED, "turn_mismatch")
        case TurnRunning():
            return _Row(INVALID_REQUEST, "turn_running", retryable=True)
        case SessionBusy():
            return _Row(INVALID_PARAMS, "session_busy", retryable=True)
        case EditRefused():
            return _Row(INVALID_PARAMS, error.reason)
        case ClientMistake():
            return _Row(INVALID_PARAMS, "invalid_params")
        case AuthRequired():
            return _Row(AUTH_REQUIRED, "auth_required")
        case ModelFailure():
            return _Row(INTERNAL_ERROR, error.fault.value, error.fault in _RETRYABLE)
        case StoreFailure():
            return _Row(INTERNAL_ERROR, "store")
        case BadSetting():
            return _Row(INTERNAL_ERROR, "bad_setting")
        case RemoteError():
            return _Row(INTERNAL_ERROR, "client_error")
        case ConnectionClosed():
            return _Row(INTERNAL_ERROR, "connection_closed")
        case _:
            return _Row(INTERNAL_ERROR, "internal")
