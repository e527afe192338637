"""ACP's `session/update` as values. Lenient: what we do not know or cannot read is no update, never an error."""

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

from agent_server.front.params import as_list, as_object
from agent_server.frozen import frozen
from agent_server.loop.model import JsonObject

ToolStatus = Literal["pending", "in_progress", "completed", "failed"]
Severity = Literal["info", "warning", "error"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
OWN = "agent-server"
"""Our key in `_meta`."""


@frozen
class TextPiece:
    """A piece of the answer."""

    message_id: str
    text: str


@frozen
class ThoughtPiece:
    """A piece of the model's thinking."""

    message_id: str
    text: str


@frozen
class UserPiece:
    """What the person said, in a replay."""

    text: str


@frozen
class Discarded:
    """The text shown under this id is void."""

    message_id: str


@frozen
class CallChange:
    """What is new about a tool call; None means as before."""

    id: str
    title: str | None = None
    kind: str | None = None
    status: ToolStatus | None = None
    path: str | None = None
    """Absolute; what the call is about."""
    output: str | None = None
    """Text of its content, the whole of it."""
    summary: str | None = None
    """The outcome in a few words: `12 hits`."""
    code: str | None = None
    """Of a failure: `denied`, `interrupted`, …"""
    seconds: float | None = None


@frozen
class PlanShown:
    """The whole plan: (text, status) of each step."""

    steps: tuple[tuple[str, str], ...]


@frozen
class UsageShown:
    """Tokens in use, of how many."""

    used: int
    size: int


@frozen
class ModeShown:
    """The session's mode."""

    mode: str


@frozen
class OptionsShown:
    """The current value of every config option, by id."""

    values: Mapping[str, str]


@frozen
class NoticeShown:
    """Something to know that is not part of the conversation."""

    severity: Severity
    text: str


@frozen
class Status:
    """What the turn does now, from `_agent-server/status`."""

    state: str
    label: str


Update = (
    TextPiece
    | ThoughtPiece
    | UserPiece
    | Discarded
    | CallChange
    | PlanShown
    | UsageShown
    | ModeShown
    | OptionsShown
    | NoticeShown
    | Status
)


def parse_update(update: JsonObject) -> Update | None:
    """The update, or None when it says nothing that a terminal shows."""
    match update.get("sessionUpdate"):
        case "agent_message_chunk":
            return TextPiece(_text(update, "messageId"), _block(update.get("content")))
        case "agent_thought_chunk":
            return _thought(update)
        case "user_message_chunk":
            return UserPiece(_block(update.get("content")))
        case "tool_call" | "tool_call_update":
            return _call(update)
        case "plan":
            return PlanShown(tuple(_step(entry) for entry in as_list(update.get("entries"))))
        case "usage_update":
            return UsageShown(_count(update, "used"), _count(update, "size"))
        case "current_mode_update":
            return ModeShown(_text(update, "currentModeId"))
        case "config_option_update":
            return OptionsShown(option_values(update.get("configOptions")))
        case "notice":
            return _notice(update)
        case _:
            return None


def parse_status(params: JsonObject) -> Status:
    """The params of `_agent-server/status`."""
    return Status(_text(params, "state"), _text(params, "label"))


def option_values(options: object) -> dict[str, str]:
    """`configOptions` as id → current value."""
    found = [option for entry in as_list(options) if (option := as_object(entry)) is not None]
    return {_text(option, "id"): _text(option, "currentValue") for option in found}


def own_meta(params: JsonObject) -> JsonObject:
    """What stands under our key in `_meta`; empty when nothing does."""
    return as_object((as_object(params.get("_meta")) or {}).get(OWN)) or {}


def call_change(call: JsonObject) -> CallChange | None:
    """A tool call, as in updates and in permission requests; None without an id."""
    return _call(call)


def _thought(update: JsonObject) -> Update:
    if isinstance(void := own_meta(update).get("discarded"), str):
        return Discarded(void)
    return ThoughtPiece(_text(update, "messageId"), _block(update.get("content")))


def _call(update: JsonObject) -> CallChange | None:
    call_id = _text(update, "toolCallId")
    if not call_id:
        return None
    meta = own_meta(update)
    seconds = meta.get("seconds")
    return CallChange(
        call_id,
        title=_text(update, "title") or None,
        kind=_text(update, "kind") or None,
        status=_status(update.get("status")),
        path=_path(as_list(update.get("locations"))),
        output=_output(update.get("content")),
        summary=_text(meta, "summary") or None,
        code=_text(meta, "code") or None,
        seconds=float(seconds) if isinstance(seconds, int | float) else None,
    )


def _notice(update: JsonObject) -> NoticeShown:
    parts = (_text(update, "title"), _text(update, "description"))
    return NoticeShown(_severity(update.get("severity")), ": ".join(part for part in parts if part))


def _severity(value: object) -> Severity:
    known: list[Severity] = [severity for severity in SEVERITIES if value == severity]
    return known[0] if known else "info"


def _status(value: object) -> ToolStatus | None:
    return next((known for known in get_args(ToolStatus) if value == known), None)


def _path(places: Sequence[object]) -> str | None:
    first = as_object(places[0]) if places else None
    return (_text(first, "path") or None) if first is not None else None


def _output(content: object) -> str | None:
    """The texts of a call's content; diffs are not text. None when the update says nothing of content."""
    if content is None:
        return None
    items = [item for entry in as_list(content) if (item := as_object(entry)) is not None]
    return "\n".join(_block(item["content"]) for item in items if "content" in item)


def _block(value: object) -> str:
    """A content block in words."""
    block = as_object(value) or {}
    match block.get("type"):
        case "text":
            return _text(block, "text")
        case "resource_link":
            return f"@{_text(block, 'name') or _text(block, 'uri')}"
        case "resource":
            return f"@{_text(as_object(block.get('resource')) or {}, 'uri')}"
        case kind:
            return f"[{kind}]"


def _step(entry: object) -> tuple[str, str]:
    step = as_object(entry) or {}
    return _text(step, "content"), _text(step, "status")


def _text(params: JsonObject, name: str) -> str:
    value = params.get(name)
    return value if isinstance(value, str) else ""


def _count(params: JsonObject, name: str) -> int:
    value = params.get(name)
    return value if isinstance(value, int) else 0
