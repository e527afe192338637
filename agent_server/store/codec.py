"""Entries ↔ bytes, by hand: the stored form is ours to keep stable, whatever happens to the classes.

An entry is a `kind` and a body of JSON in UTF-8. Lone surrogates pass through (`surrogatepass`), so that any string a
model, a file or a person produced comes back as it was. `v` is the version of the body's shape; what a newer program
wrote is refused by name, never guessed.
"""

import json
from collections.abc import Callable
from typing import assert_never, cast, get_args

from agent_server.loop.errors import StoreFailure
from agent_server.loop.model import (
    AsideEntry,
    Detail,
    DoneReason,
    Effect,
    Entry,
    Origin,
    PartialEntry,
    PlanEntry,
    ReplyEntry,
    ResultEntry,
    RewoundEntry,
    SpentEntry,
    StartedEntry,
    SummaryEntry,
    TurnEndEntry,
    TurnId,
    UserEntry,
    Withheld,
    WithheldEntry,
)
from agent_server.store.fields import (
    Damaged,
    JsonValue,
    as_object,
    choice,
    many,
    number,
    optional_text,
    text,
)
from agent_server.store.values import (
    Json,
    present,
    read_key,
    read_part,
    read_plan_item,
    read_reply,
    read_result,
    read_usage,
    write_key,
    write_part,
    write_plan_item,
    write_reply,
    write_result,
    write_usage,
)

VERSION = 1

ORIGINS: dict[str, Origin] = {value: value for value in get_args(Origin)}
EFFECTS: dict[str, Effect] = {value: value for value in get_args(Effect)}
WITHHELD: dict[str, Withheld] = {value: value for value in get_args(Withheld)}
DETAILS: dict[str, Detail] = {value: value for value in get_args(Detail)}
REASONS: dict[str, DoneReason] = {reason.value: reason for reason in DoneReason}


def encode(entry: Entry) -> tuple[str, bytes]:
    """The kind and the body of an entry."""
    kind, fields = entry_to_json(entry)
    return kind, to_bytes({"v": VERSION, **fields})


def decode(kind: str, body: bytes) -> Entry:
    """The entry of a kind and a body.

    Raises:
        StoreFailure: the body is damaged, or a newer program wrote it; the sentence says which.
    """
    if kind not in _READERS:
        raise StoreFailure(
            f"it holds an entry of the kind {kind!r}, which this version does not know"
        )
    try:
        fields = as_object(from_bytes(body), "the entry")
        if (version := number(fields, "v")) > VERSION:
            raise StoreFailure(
                f"it holds a {kind!r} entry in format {version}; this version knows {VERSION}"
            )
        return _READERS[kind](TurnId(text(fields, "turn")), fields)
    except Damaged as damage:
        raise StoreFailure(f"a {kind!r} entry is damaged: {damage}") from damage


def to_bytes(value: object) -> bytes:
    """Compact JSON in UTF-8; lone surrogates are kept, each as three bytes."""
    written = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return written.encode("utf-8", "surrogatepass")


def from_bytes(body: bytes) -> object:
    """What `to_bytes` wrote.

    Raises:
        Damaged: it is no JSON.
    """
    try:
        return cast("object", json.loads(body.decode("utf-8", "surrogatepass")))
    except (ValueError, RecursionError) as error:
        raise Damaged(f"it is no JSON ({error})") from error


def entry_to_json(entry: Entry) -> tuple[str, Json]:
    """The kind of an entry and its fields."""
    turn = str(entry.turn)
    match entry:
        case UserEntry():
            parts = [write_part(part) for part in entry.parts]
            return "user", present(turn=turn, parts=parts, origin=entry.origin)
        case ReplyEntry():
            return "reply", {
                "turn": turn,
                "number": entry.number,
                "reply": write_reply(entry.reply),
            }
        case StartedEntry():
            return "started", {"turn": turn, "key": write_key(entry.key)}
        case ResultEntry():
            return "result", {
                "turn": turn,
                "key": write_key(entry.key),
                "result": write_result(entry.result),
                "effect": entry.effect,
            }
        case PartialEntry():
            return "partial", {"turn": turn, "text": entry.text}
        case PlanEntry():
            items = [write_plan_item(item) for item in entry.items]
            return "plan", present(turn=turn, items=items)
        case SummaryEntry():
            return "summary", {
                "turn": turn,
                "text": entry.text,
                "upto": entry.upto,
                "generation": entry.generation,
            }
        case TurnEndEntry():
            return "turn_end", present(
                turn=turn,
                reason=entry.reason.value,
                detail=entry.detail,
                usage=write_usage(entry.usage),
                message=entry.message,
            )
        case RewoundEntry():
            return "rewound", present(turn=turn, upto=entry.upto, restore=entry.restore)
        case SpentEntry():
            return "spent", present(turn=turn, usage=write_usage(entry.usage), what=entry.what)
        case AsideEntry():
            return "aside", present(turn=turn, text=entry.text, about=entry.about)
        case WithheldEntry():
            return "withheld", present(turn=turn, what=entry.what, reason=entry.reason)
        case _:
            assert_never(entry)


def _object(fields: JsonValue, key: str) -> JsonValue:
    return as_object(fields.get(key), repr(key))


def _read_user(turn: TurnId, fields: JsonValue) -> Entry:
    return UserEntry(turn, many(fields, "parts", read_part), choice(fields, "origin", ORIGINS))


def _read_reply(turn: TurnId, fields: JsonValue) -> Entry:
    return ReplyEntry(turn, number(fields, "number"), read_reply(_object(fields, "reply")))


def _read_started(turn: TurnId, fields: JsonValue) -> Entry:
    return StartedEntry(turn, read_key(_object(fields, "key")))


def _read_result(turn: TurnId, fields: JsonValue) -> Entry:
    return ResultEntry(
        turn,
        read_key(_object(fields, "key")),
        read_result(_object(fields, "result")),
        choice(fields, "effect", EFFECTS),
    )


def _read_partial(turn: TurnId, fields: JsonValue) -> Entry:
    return PartialEntry(turn, text(fields, "text"))


def _read_plan(turn: TurnId, fields: JsonValue) -> Entry:
    return PlanEntry(turn, many(fields, "items", read_plan_item))


def _read_summary(turn: TurnId, fields: JsonValue) -> Entry:
    return SummaryEntry(
        turn, text(fields, "text"), number(fields, "upto"), number(fields, "generation")
    )


def _read_turn_end(turn: TurnId, fields: JsonValue) -> Entry:
    return TurnEndEntry(
        turn,
        choice(fields, "reason", REASONS),
        choice(fields, "detail", DETAILS),
        read_usage(_object(fields, "usage")),
        optional_text(fields, "message"),
    )


def _read_rewound(turn: TurnId, fields: JsonValue) -> Entry:
    return RewoundEntry(turn, number(fields, "upto"), optional_text(fields, "restore"))


def _read_aside(turn: TurnId, fields: JsonValue) -> Entry:
    return AsideEntry(turn, text(fields, "text"), optional_text(fields, "about"))


def _read_spent(turn: TurnId, fields: JsonValue) -> Entry:
    return SpentEntry(turn, read_usage(_object(fields, "usage")), text(fields, "what"))


def _read_withheld(turn: TurnId, fields: JsonValue) -> Entry:
    return WithheldEntry(turn, choice(fields, "what", WITHHELD), text(fields, "reason"))


_READERS: dict[str, Callable[[TurnId, JsonValue], Entry]] = {
    "user": _read_user,
    "reply": _read_reply,
    "started": _read_started,
    "result": _read_result,
    "partial": _read_partial,
    "plan": _read_plan,
    "summary": _read_summary,
    "turn_end": _read_turn_end,
    "rewound": _read_rewound,
    "aside": _read_aside,
    "spent": _read_spent,
    "withheld": _read_withheld,
}
KINDS = tuple(_READERS)
