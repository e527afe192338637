"""The rules of the strictest providers for the form of a history, as one function.

OpenAI: names of 64 and ids of 40 signs out of a pattern, every call answered. Anthropic and Bedrock: roles take turns,
the user begins and ends, nothing is empty, an id stands for one call. Mistral: ids of nine letters and digits.
"""

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
    yield from _repeated([i for m in spoken if m.get("role") == "assistant" for i in _ids(m)])
    yield from _ids_of_mistral(str(body.get("model")), spoken)
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
            yield from _content(message.get("content"))
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
        r"[a-zA-Z0-9_-]{1,64}", str(function.get("name"))
    ):
        yield f"has a call that is none: {call}"
    if not re.fullmatch(r"[a-zA-Z0-9_-]{1,40}", str(call.get("id"))):
        yield f"has an id that does not match the pattern: {call.get('id')!r}"
    if not _is_object(function.get("arguments")):
        yield f"has arguments that are no JSON object: {str(function.get('arguments'))[:80]!r}"


def _is_object(arguments: Any) -> bool:
    try:
        return isinstance(json.loads(arguments, parse_constant=_refuse), dict)
    except (TypeError, ValueError, RecursionError):
        return False


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


def _content(content: Any) -> Iterator[str]:
    """What the user says: a text, or parts of which none is empty."""
    if not content or (isinstance(content, str) and not content.strip()):
        yield "is empty"
    for part in content if isinstance(content, list) else ():
        if part.get("type") == "text" and not str(part.get("text") or "").strip():
            yield "has an empty text"
        url = (part.get("image_url") or {}).get("url", "")
        if part.get("type") == "image_url" and not re.match(r"data:image/[\w.+-]+;base64,.", url):
            yield f"has an image that is none: {url[:40]!r}"


def _repeated(ids: list[str]) -> Iterator[str]:
    if len(set(ids)) != len(ids):
        yield f"an id stands for several calls: {sorted(i for i in ids if ids.count(i) > 1)}"


def _ids_of_mistral(model: str, spoken: list[JsonDict]) -> Iterator[str]:
    if "mistral" not in model:
        return
    for message in spoken:
        for call_id in [*_ids(message), *filter(None, [message.get("tool_call_id")])]:
            if not re.fullmatch(r"[a-zA-Z0-9]{9}", call_id):
                yield f"an id has not nine letters and digits: {call_id!r}"


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
