"""The values inside entries ↔ JSON objects: parts, replies, results, changes. Absent means None or empty."""

from typing import assert_never, get_args

from agent_server.loop.model import (
    CallKey,
    Finish,
    Image,
    Location,
    Part,
    PlanItem,
    Reasoning,
    Reply,
    Resource,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)
from agent_server.loop.proposal import ChangeKind, FileChange, Hunk
from agent_server.store.fields import (
    Damaged,
    JsonValue,
    as_object,
    choice,
    flag,
    lines,
    many,
    number,
    optional_decimal,
    optional_number,
    optional_text,
    text,
)

FINISHES: dict[str, Finish] = {value: value for value in get_args(Finish)}
CHANGE_KINDS: dict[str, ChangeKind] = {value: value for value in get_args(ChangeKind)}

Json = dict[str, object]


def present(**fields: object) -> Json:
    """The fields that say something: None and empty lists are left out."""
    return {key: value for key, value in fields.items() if value is not None and value != []}


def write_part(part: Part) -> Json:
    """A piece of a user message."""
    match part:
        case Text():
            return {"type": "text", "text": part.text}
        case Image():
            return {"type": "image", "mime": part.mime, "data": part.data}
        case Resource():
            return present(type="resource", uri=part.uri, name=part.name, text=part.text)
        case _:
            assert_never(part)


def read_part(fields: JsonValue) -> Part:
    """A piece of a user message."""
    match kind := text(fields, "type"):
        case "text":
            return Text(text(fields, "text"))
        case "image":
            return Image(text(fields, "mime"), text(fields, "data"))
        case "resource":
            return Resource(
                text(fields, "uri"), text(fields, "name"), optional_text(fields, "text")
            )
        case _:
            raise Damaged(f"a message part has the unknown type {kind!r}")


def write_key(key: CallKey) -> Json:
    """A call's identity."""
    return {"reply": key.reply, "index": key.index}


def read_key(fields: JsonValue) -> CallKey:
    """A call's identity."""
    return CallKey(number(fields, "reply"), number(fields, "index"))


def write_usage(usage: Usage) -> Json:
    """Token counts; the cost as text, to stay exact."""
    counts: Json = {
        "input": usage.input,
        "output": usage.output,
        "cached": usage.cached,
        "cache_write": usage.cache_write,
        "reasoning": usage.reasoning,
    }
    return counts if usage.cost is None else {**counts, "cost": str(usage.cost)}


def read_usage(fields: JsonValue) -> Usage:
    """Token counts."""
    return Usage(
        number(fields, "input"),
        number(fields, "output"),
        number(fields, "cached"),
        number(fields, "cache_write"),
        number(fields, "reasoning"),
        optional_decimal(fields, "cost"),
    )


def write_reply(reply: Reply) -> Json:
    """A whole answer of the model."""
    return present(
        text=reply.text,
        calls=[_write_call(call) for call in reply.calls],
        finish=reply.finish,
        model=reply.model,
        usage=write_usage(reply.usage),
        reasoning=[
            present(text=block.text, model=block.model, opaque=block.opaque)
            for block in reply.reasoning
        ],
        note=reply.note,
    )


def read_reply(fields: JsonValue) -> Reply:
    """A whole answer of the model."""
    return Reply(
        text=text(fields, "text"),
        calls=many(fields, "calls", _read_call),
        finish=choice(fields, "finish", FINISHES),
        model=text(fields, "model"),
        usage=read_usage(as_object(fields.get("usage"), "'usage'")),
        reasoning=many(fields, "reasoning", _read_reasoning),
        note=optional_text(fields, "note"),
    )


def _write_call(call: ToolCall) -> Json:
    return {**write_key(call.key), "id": call.id, "name": call.name, "arguments": call.arguments}


def _read_call(fields: JsonValue) -> ToolCall:
    return ToolCall(
        read_key(fields), text(fields, "id"), text(fields, "name"), text(fields, "arguments")
    )


def _read_reasoning(fields: JsonValue) -> Reasoning:
    return Reasoning(text(fields, "text"), text(fields, "model"), optional_text(fields, "opaque"))


def write_result(result: ToolResult) -> Json:
    """What a call gave."""
    return present(
        ok=result.ok,
        output=result.output,
        code=result.code,
        changes=[write_change(change) for change in result.changes],
        locations=[present(path=place.path, line=place.line) for place in result.locations],
        summary=result.summary,
    )


def read_result(fields: JsonValue) -> ToolResult:
    """What a call gave."""
    return ToolResult(
        ok=flag(fields, "ok"),
        output=text(fields, "output"),
        code=optional_text(fields, "code"),
        changes=many(fields, "changes", read_change),
        locations=many(fields, "locations", _read_location),
        summary=optional_text(fields, "summary"),
    )


def _read_location(fields: JsonValue) -> Location:
    return Location(text(fields, "path"), optional_number(fields, "line"))


def write_change(change: FileChange) -> Json:
    """A change to one file."""
    return present(
        path=change.path,
        kind=change.kind,
        base_text=change.base_text,
        new_text=change.new_text,
        hunks=[_write_hunk(hunk) for hunk in change.hunks],
        base_version=change.base_version,
        base_hash=change.base_hash,
        old_path=change.old_path,
    )


def read_change(fields: JsonValue) -> FileChange:
    """A change to one file."""
    return FileChange(
        path=text(fields, "path"),
        kind=choice(fields, "kind", CHANGE_KINDS),
        base_text=optional_text(fields, "base_text"),
        new_text=optional_text(fields, "new_text"),
        hunks=many(fields, "hunks", _read_hunk),
        base_version=optional_number(fields, "base_version"),
        base_hash=optional_text(fields, "base_hash"),
        old_path=optional_text(fields, "old_path"),
    )


def _write_hunk(hunk: Hunk) -> Json:
    return present(id=hunk.id, start=hunk.start, removed=list(hunk.removed), added=list(hunk.added))


def _read_hunk(fields: JsonValue) -> Hunk:
    return Hunk(
        text(fields, "id"),
        number(fields, "start"),
        lines(fields, "removed"),
        lines(fields, "added"),
    )


def write_plan_item(item: PlanItem) -> Json:
    """One line of the plan."""
    return {"text": item.text, "status": item.status}


def read_plan_item(fields: JsonValue) -> PlanItem:
    """One line of the plan."""
    match status := text(fields, "status"):
        case "pending" | "in_progress" | "completed":
            return PlanItem(text(fields, "text"), status)
        case _:
            raise Damaged(f"a plan item has the unknown status {status!r}")
