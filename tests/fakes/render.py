"""Answers as the bytes of OpenAI's chat completions."""

import json
from collections.abc import Iterator

from tests.fakes.answers import Answer, JsonDict


def events(given: Answer, body: JsonDict) -> Iterator[bytes]:
    """The server-sent events of an answer, without its ending."""
    yield _chunk(body, {"role": "assistant", "content": ""})
    for piece in _cut(given.thinking, given.chunk):
        yield _chunk(body, {given.reasoning_field: piece})
    for piece in _cut(given.text, given.chunk):
        yield _chunk(body, {"content": piece})
    for number in range(given.ticks):
        yield _chunk(body, {"content": f"{number} "})
    for delta in given.deltas:
        yield _chunk(body, delta)
    for at, (name, arguments) in enumerate(given.calls):
        opener = {"index": at, "id": _call_id(body, at), "type": "function"}
        yield _chunk(
            body, {"tool_calls": [{**opener, "function": {"name": name, "arguments": ""}}]}
        )
        for piece in _cut(arguments, given.chunk):
            yield _chunk(body, {"tool_calls": [{"index": at, "function": {"arguments": piece}}]})


def ending(given: Answer, body: JsonDict, sent: int) -> Iterator[bytes]:
    """The events that end an answer: label, usage, terminator."""
    yield _chunk(body, {}, _finish(given))
    if (body.get("stream_options") or {}).get("include_usage"):
        yield _event({**_head(body), "choices": [], "usage": _usage(given, sent)})
    yield b"data: [DONE]\n\n"


def _finish(given: Answer) -> str | None:
    if given.deltas:
        return given.finish
    return given.finish or ("tool_calls" if given.calls else "stop")


def _usage(given: Answer, sent: int) -> JsonDict:
    return given.usage or {
        "prompt_tokens": 100,
        "completion_tokens": sent,
        "total_tokens": 100 + sent,
    }


def _call_id(body: JsonDict, at: int) -> str:
    """Unique in the whole conversation, the same for the same request."""
    return f"mock-{len(body.get('messages', ()))}-{at}"


def _head(body: JsonDict) -> JsonDict:
    return {
        "id": "mock",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": body.get("model"),
    }


def _chunk(body: JsonDict, delta: JsonDict, finish: str | None = None) -> bytes:
    return _event(
        {**_head(body), "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    )


def _event(value: JsonDict) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def completion(given: Answer, body: JsonDict) -> JsonDict:
    """The whole answer as one body."""
    message: JsonDict = {"role": "assistant", "content": given.text or None}
    if given.thinking:
        message[given.reasoning_field] = given.thinking
    if given.calls:
        message["tool_calls"] = [
            {
                "id": _call_id(body, at),
                "type": "function",
                "function": {"name": name, "arguments": arguments},
            }
            for at, (name, arguments) in enumerate(given.calls)
        ]
    choice = {"index": 0, "message": message, "finish_reason": _finish(given)}
    return {
        **_head(body),
        "object": "chat.completion",
        "choices": [choice],
        "usage": _usage(given, 1),
    }


def _cut(text: str, size: int) -> Iterator[str]:
    return (text[at : at + size] for at in range(0, len(text), size))
