"""Objects with which servers say that something went wrong, in all of their shapes: is it one, its words, its code.

OpenAI's `{"error": {…}}` is the commonest; vLLM, DashScope, FastAPI, Google and others have their own.
"""

import json
import re
from typing import cast

from agent_server.providers.fragments import Json
from agent_server.providers.shapes import as_object

_NESTED = ("error", "errors", "details")
_WORDS = (
    "message", "msg", "detail", "error_message", "errorMessage", "error_msg", "error_description",
    "description", "reason", "title", "text", "raw",
)  # fmt: skip
_NAMES = ("code", "status", "type")
_GOOD_CODES = ("", "0", "200", "ok", "success", "none", "null")
_DEPTH = 6
_KINDS = (
    (401, r"unauthori[sz]ed|unauthenticated|invalid_?api_?key|authentication|401"),
    (429, r"rate_?limit|throttl|resource_?exhausted|too_?many_?requests"),
    (400, r"invalid|bad_?request|unsupported|not_?found|validation|malformed|out_?of_?range"),
)
"""What a code or a type that is a word stands for."""


def error_in(value: object, *, named: bool = False) -> object:
    """The value itself if it says for certain that something went wrong, else None. `named`: its event says so."""
    if isinstance(value, list):
        found = (error_in(item) for item in cast("list[object]", value))
        return next((one for one in found if one is not None), None)
    chunk = as_object(value)
    if chunk is None:
        return value if named and value is not None else None
    if named or _has(chunk.get("error")) or _has(chunk.get("errors")):
        return chunk
    if chunk.get("object") == "error" or chunk.get("type") == "error":
        return chunk
    if chunk.get("success") is False:
        return chunk
    if chunk.get("choices"):
        return None
    told = any(words_of(chunk.get(field)) for field in ("message", "msg"))
    return chunk if _has(chunk.get("detail")) or (told and _bad_code(chunk)) else None


def said_in(value: object) -> str:
    """Words of an object that may be an error or may be nothing, for when nothing else comes."""
    chunk = as_object(value) or {}
    words = [] if chunk.get("choices") else [_text(chunk.get(name)) for name in _WORDS]
    return next((word for word in words if word), "")


def words_of(value: object, depth: int = 0) -> str:
    """The words of an error in any shape; empty when it has none."""
    if isinstance(value, str):
        return _unwrapped(value, depth)
    if depth > _DEPTH:
        return ""
    if isinstance(value, list):
        found = (words_of(item, depth + 1) for item in cast("list[object]", value)[:3])
        return "; ".join(filter(None, found))
    fields = as_object(value)
    return "" if fields is None else _words_of_object(fields, depth)


def status_of(value: object) -> int | None:
    """The status of HTTP that an error stands for, by its number or else by its name; None when it says nothing."""
    fields = _innermost(value)
    for each in fields:
        for name in ("status_code", "statusCode", "http_code", "code", "status"):
            text = str(each.get(name) or "")
            if text.isdecimal() and 400 <= int(text[:4]) < 600:
                return int(text)
    names = " ".join(str(each.get(name) or "") for each in fields for name in _NAMES)
    return next((status for status, kind in _KINDS if re.search(kind, names, re.IGNORECASE)), None)


def _words_of_object(fields: Json, depth: int) -> str:
    said = next(filter(None, (words_of(fields.get(name), depth + 1) for name in _WORDS)), "")
    nested = next(filter(None, (words_of(fields.get(name), depth + 1) for name in _NESTED)), "")
    raw = as_object(fields.get("metadata")) or {}
    behind = words_of(raw.get("raw"), depth + 1)
    place = fields.get("loc")
    if isinstance(place, list) and said:
        said = f"{'.'.join(map(str, cast('list[object]', place)))}: {said}"
    parts = [one for one in (nested, said, behind) if one]
    told = ": ".join(one for at, one in enumerate(parts) if one not in parts[:at])
    return told or next(filter(None, (_text(fields.get(name)) for name in _NAMES)), "")


def _unwrapped(text: str, depth: int) -> str:
    """A text that is itself the JSON of an error is read as that."""
    if depth <= _DEPTH and text.lstrip().startswith(("{", "[")):
        try:
            return words_of(cast("object", json.loads(text)), depth + 1) or text
        except (ValueError, RecursionError):
            return text
    return text


def _innermost(value: object) -> list[Json]:
    """The objects that may carry a code, the innermost first."""
    out: list[Json] = []
    while value is not None and len(out) < _DEPTH:
        if isinstance(value, list):
            value = next(iter(cast("list[object]", value)), None)
        if (fields := as_object(value)) is None:
            break
        out.insert(0, fields)
        value = fields.get("error") or fields.get("errors")
    return out


def _bad_code(chunk: Json) -> bool:
    codes = (str(chunk[name]).lower() for name in ("code", "status", "statusCode") if name in chunk)
    return any(code not in _GOOD_CODES and not _is_step(code) for code in codes)


def _is_step(code: str) -> bool:
    """A status that tells how far a queue is, as keep-alives of some gateways do."""
    return code in ("processing", "pending", "queued", "running", "in_progress", "starting")


def _text(value: object) -> str:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _has(error: object) -> bool:
    fields = as_object(error)
    return bool(error) if fields is None else any(fields.values())
