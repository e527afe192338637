"""What the server answers, as values; whatever is missing is empty."""

from agent_server.front.params import as_object
from agent_server.front.terminal.inbound import Session, SessionInfo, TurnEnd
from agent_server.front.terminal.updates import option_values, own_meta
from agent_server.loop.model import JsonObject


def session_of(session_id: str, result: JsonObject) -> Session:
    """A session, from what opened it."""
    options = option_values(result.get("configOptions"))
    modes = as_object(result.get("modes")) or {}
    return Session(
        session_id,
        text_of(modes, "currentModeId") or options.get("mode", ""),
        options.get("model", ""),
    )


def info_of(entry: JsonObject) -> SessionInfo:
    """A row of `session/list`."""
    return SessionInfo(
        text_of(entry, "sessionId"), text_of(entry, "title"), text_of(entry, "updatedAt")
    )


def turn_end_of(result: JsonObject) -> TurnEnd:
    """The result of a prompt."""
    own = own_meta(result)
    usage = as_object(own.get("usage")) or {}
    counts = (usage.get("inputTokens"), usage.get("outputTokens"))
    cost = as_object(usage.get("cost"))
    return TurnEnd(
        text_of(result, "stopReason"),
        text_of(own, "reason"),
        text_of(own, "detail"),
        sum(count for count in counts if isinstance(count, int)),
        f"{text_of(cost, 'amount')} {text_of(cost, 'currency')}" if cost else None,
    )


def text_of(params: JsonObject, name: str) -> str:
    """A text, or nothing where there is none."""
    value = params.get(name)
    return value if isinstance(value, str) else ""
