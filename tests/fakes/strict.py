"""The rules of the strictest providers for a history, as one function."""

import json
import re
from collections.abc import Iterator
from typing import Any

from tests.fakes.answers import JsonDict


def complaint(body: JsonDict) -> str | None:
    """Why a strict provider would refuse this request, or None."""
    return next(_complaints(body), None)


def _complaints(body: JsonDict) -> Iterator[str]:
    if not isinstance(body.get("model"), str):
        yield "model is missing"
    yield from _tools(body.get("tools"))
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        yield "messages is missing or empty"
        return
    spoken = messages[1:] if messages[0].get("role") == "system" else messages
    if not spoken or spoken[0].get("role") != "user":
        yield "the first message after the system prompt is not the user's"
    previous, open_ids = None, list[str]()
    for at, message in enumerate(spoken):
        role = message.get("role")
        yield from (
            f"messages[{at}] ({role}): {text}" for text in _message(message, previous, open_ids)
        )
        open_ids = (
            _ids(message)
            if role == "assistant"
            else [i for i in open_ids if i != message.get("tool_call_id")]
        )
        previous = role
    if open_ids:
        yield f"calls {open_ids} have no result"
    if previous == "assistant":
        yield "the last message is the assistant's"


def _message(message: JsonDict, previous: str | None, open_ids: list[str]) -> Iterator[str]:
    match message.get("role"):
        case "user":
            if open_ids:
                yield f"calls {open_ids} have no result before it"
            if previous == "user":
                yield "follows another user message"
            if not message.get("content"):
                yield "is empty"
        case "assistant":
            if open_ids:
                yield f"calls {open_ids} have no result before it"
            if previous == "assistant":
                yield "follows another assistant message"
            yield from _assistant(message)
        case "tool":
            if not open_ids or message.get("tool_call_id") != open_ids[0]:
                yield f"answers {message.get('tool_call_id')!r}, open are {open_ids}"
            if not isinstance(message.get("content"), str) or not message["content"]:
                yield "has no text"
        case role:
            yield f"has the role {role!r}"


def _assistant(message: JsonDict) -> Iterator[str]:
    calls = message.get("tool_calls")
    if calls == []:
        yield "has an empty list of calls"
    if not calls and not (message.get("content") or "").strip():
        yield "is empty"
    ids = _ids(message)
    if len(set(ids)) != len(ids) or not all(ids):
        yield f"has call ids that are empty or not unique: {ids}"
    for call in calls or ():
        yield from _call(call)


def _call(call: JsonDict) -> Iterator[str]:
    function = call.get("function") or {}
    if call.get("type") != "function" or not re.fullmatch(
        r"[\w-]{1,64}", str(function.get("name"))
    ):
        yield f"has a call that is none: {call}"
    if not _is_object(function.get("arguments")):
        yield f"has arguments that are no JSON object: {str(function.get('arguments'))[:80]!r}"


def _is_object(arguments: Any) -> bool:
    try:
        return isinstance(json.loads(arguments), dict)
    except (TypeError, ValueError):
        return False


def _ids(message: JsonDict) -> list[str]:
    return [str(call.get("id") or "") for call in message.get("tool_calls") or ()]


def _tools(tools: Any) -> Iterator[str]:
    if tools is None:
        return
    if tools == []:
        yield "tools is an empty list"
    names = [t.get("function", {}).get("name") for t in tools]
    if len(set(names)) != len(names):
        yield f"tools have the same name twice: {names}"
    for tool in tools:
        if tool.get("function", {}).get("parameters", {}).get("type") != "object":
            yield f"tool {tool.get('function', {}).get('name')} has parameters that are no object"
