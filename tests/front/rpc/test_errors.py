"""The table of errors: codes of JSON-RPC, ACP and LSP; the shape of `data` is spec §13."""

import inspect

import pytest

from agent_server.front.rpc.errors import ConnectionClosed, RemoteError, RpcError, error_object
from agent_server.loop import errors
from agent_server.loop.errors import AgentServerError
from agent_server.loop.faults import Fault

UNKNOWN_SESSION = -32002
TABLE: list[tuple[AgentServerError, int, str, bool]] = [
    (errors.ClientMistake("m"), -32602, "invalid_params", False),
    (errors.UnknownSession("m"), UNKNOWN_SESSION, "unknown_session", False),
    (errors.SessionBusy("m"), -32602, "session_busy", True),
    (errors.TurnRunning("m"), -32600, "turn_running", True),
    (errors.TurnMismatch("m"), -32801, "turn_mismatch", False),
    (errors.StaleRevision("m", revision=4), -32801, "stale_revision", True),
    (errors.EditRefused("m", reason="binary"), -32602, "binary", False),
    (errors.AuthRequired("m"), -32000, "auth_required", False),
    (errors.ModelFailure("m", fault=Fault.TRANSIENT), -32603, "transient", True),
    (errors.ModelFailure("m", fault=Fault.RATE_LIMIT), -32603, "rate_limit", True),
    (errors.ModelFailure("m", fault=Fault.AUTH), -32603, "auth", False),
    (errors.StoreFailure("m"), -32603, "store", False),
    (errors.NothingDone("m"), -32603, "store", False),
    (errors.BadSetting("m"), -32603, "bad_setting", False),
    (errors.BadArguments("m"), -32603, "internal", False),
    (RpcError(-32002, "m", reason="not_initialized"), -32002, "not_initialized", False),
    (RemoteError(-1, "m", {"secret": 1}), -32603, "client_error", False),
    (ConnectionClosed("m"), -32603, "connection_closed", False),
]


@pytest.mark.parametrize(
    ("error", "code", "reason", "retryable"), TABLE, ids=lambda value: type(value).__name__
)
def test_each_error_has_its_code_and_data(
    error: AgentServerError, code: int, reason: str, retryable: bool
) -> None:
    extra = {"revision": 4} if isinstance(error, errors.StaleRevision) else {}

    assert error_object(error, unknown_session=UNKNOWN_SESSION) == {
        "code": code,
        "message": "m",
        "data": {"reason": reason, "details": "m", "error": "m", "retryable": retryable, **extra},
    }


def test_the_table_knows_the_whole_tree() -> None:
    tree = {
        kind
        for _, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, AgentServerError) and kind is not AgentServerError
    }

    assert tree <= {type(error) for error, *_ in TABLE}
