"""As JSON, for programs: the same turns and items, by name. Fields may be added; a reader ignores unknown ones."""

import json
from collections.abc import Mapping, Sequence
from typing import assert_never

from agent_server.export.conversation import (
    About,
    Answered,
    Called,
    Ended,
    Item,
    Planned,
    Said,
    Summarised,
    Thought,
    Turn,
)

VERSION = 1

Json = Mapping[str, object]


def render(about: About, turns: Sequence[Turn]) -> str:
    """The whole document; pure ASCII, so that every text survives, also one that is no Unicode."""
    session = {
        "id": about.id,
        "title": about.title,
        "cwd": about.cwd,
        "model": about.model,
        "created": about.created,
        "updated": about.updated,
    }
    shown = [{"id": turn.id, "items": [_item(item) for item in turn.items]} for turn in turns]
    document = {"format": "agent-server session", "version": VERSION, "session": session}
    return json.dumps({**document, "turns": shown}, indent=2) + "\n"


def _item(item: Item) -> Json:
    match item:
        case Said(text=text, origin=origin, attached=attached):
            return {"type": "said", "origin": origin, "text": text, "attached": list(attached)}
        case Thought(text=text):
            return {"type": "thought", "text": text}
        case Answered(text=text, broken_off=broken_off):
            return {"type": "answered", "text": text, "brokenOff": broken_off}
        case Called():
            return _called(item)
        case Planned(items=items):
            plan = [{"text": one.text, "status": one.status} for one in items]
            return {"type": "planned", "items": plan}
        case Summarised(text=text):
            return {"type": "summarised", "text": text}
        case Ended():
            return _ended(item)
        case _:
            assert_never(item)


def _called(call: Called) -> Json:
    return {
        "type": "called",
        "id": call.id,
        "tool": call.tool,
        "arguments": call.arguments,
        "started": call.started or call.effect in ("confirmed", "unknown"),
        "ok": call.ok,
        "output": call.output,
        "effect": call.effect,
        "diffs": [{"path": d.path, "kind": d.kind, "diff": d.text} for d in call.diffs],
    }


def _ended(end: Ended) -> Json:
    usage = end.usage
    return {
        "type": "ended",
        "reason": end.reason.value,
        "detail": end.detail,
        "message": end.message,
        "usage": {
            "inputTokens": usage.input,
            "outputTokens": usage.output,
            "cachedReadTokens": usage.cached,
            "costUsd": None if usage.cost is None else str(usage.cost),
        },
    }
