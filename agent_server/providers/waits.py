"""How long a provider asks to wait, wherever it says so: headers, fields of its error, or a sentence of it."""

import json
import re
from collections.abc import Mapping
from typing import Final, cast

_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PIECE = r"(\d+(?:\.\d+)?)\s*(ms|milliseconds?|msecs?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)(?![a-z])"
_DURATION: Final = rf"{_PIECE}(?:[\s,]*(?:and\s+)?{_PIECE}){{0,3}}"
_SENTENCE: Final = re.compile(
    rf"(?:try again|retry|retrying|wait|reset\w*|available)\b[^.\d]{{0,40}}?(?P<wait>{_DURATION})",
    re.IGNORECASE,
)
_DELAYS: Final = ("retryDelay", "retry_delay", "retry_after", "retryAfter", "retry_after_seconds")
_MOMENTS: Final = ("reset_at", "resetAt", "resets_at")
_RESETS: Final = (
    "x-ratelimit-reset-requests", "x-ratelimit-reset-tokens", "x-ratelimit-reset", "ratelimit-reset",
    "anthropic-ratelimit-requests-reset", "anthropic-ratelimit-tokens-reset",
    "anthropic-ratelimit-input-tokens-reset", "anthropic-ratelimit-output-tokens-reset",
)  # fmt: skip
HEADERS: Final = (
    "retry-after", "retry-after-ms", *_RESETS,
    *dict.fromkeys(name.replace("reset", "remaining") for name in _RESETS),
)  # fmt: skip
"""Those that are looked at."""
_MOMENT: Final = 1_000_000_000.0
"""A larger number is no count of seconds but a point in time."""


def wait_of(headers: Mapping[str, str], body: str, now: float) -> float | None:
    """Seconds to wait as the provider asks; None when it does not. `now`: Unix time; `headers` in lower case."""
    for found in (retry_after(headers, now), _of_body(body, now), _of_resets(headers, now)):
        if found is not None:
            return found
    return None


def spoken(seconds: float) -> str:
    """The time in words for a user: `3 s`, `1.5 s`, `2 min`, `3 h`, `2 days`."""
    if seconds < 120:
        return f"{round(seconds, 1):g} s"
    if seconds < 2 * 3600:
        return f"{round(seconds / 60)} min"
    return f"{round(seconds / 3600)} h" if seconds < 2 * 86400 else f"{round(seconds / 86400)} days"


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds to wait by the headers made for that, in milliseconds, seconds or as a date."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    given = headers.get("retry-after")
    return None if given is None else _read(given, now)


def _of_resets(headers: Mapping[str, str], now: float) -> float | None:
    """The longest of the limits that are used up; where none is said to be, of all that tell a time."""
    told = {n: w for n in _RESETS if (w := _read(headers.get(n, ""), now)) is not None}
    left = {n: headers.get(n.replace("reset", "remaining")) for n in told}
    used_up = [told[n] for n in told if (left[n] or "").strip() == "0"]
    unknown = [told[n] for n in told if left[n] is None]
    return max(used_up or unknown, default=None)


def _of_body(body: str, now: float) -> float | None:
    try:
        parsed = cast("object", json.loads(body))
    except (ValueError, RecursionError):
        parsed = None
    found = _of_fields(parsed, now, 0)
    if found is not None:
        return found
    sentence = _SENTENCE.search(body)
    return None if sentence is None else _duration(sentence["wait"])


def _of_fields(value: object, now: float, depth: int) -> float | None:
    if depth > 6:
        return None
    if isinstance(value, list):
        inner = cast("list[object]", value)
    elif isinstance(value, dict):
        fields = cast("dict[str, object]", value)
        for name in (*_DELAYS, *_MOMENTS):
            if (wait := _read(str(fields.get(name, "")), now)) is not None:
                return wait
        if (wait := _number(str(fields.get("retry_after_ms", "")))) is not None:
            return wait / 1000
        inner = list(fields.values())
    else:
        return None
    found = (_of_fields(item, now, depth + 1) for item in inner)
    return next((wait for wait in found if wait is not None), None)


def _read(text: str, now: float) -> float | None:
    """A number of seconds, a duration, or a point in time."""
    seconds = _number(text)
    if seconds is None:
        whole = re.fullmatch(rf"\s*{_DURATION}\s*", text, re.IGNORECASE)
        return _duration(text) if whole else _until(text, now)
    if seconds > _MOMENT * 1000:
        seconds /= 1000
    return max(0.0, seconds - now) if seconds > _MOMENT else seconds


def _duration(text: str) -> float:
    pieces = re.findall(_PIECE, text, re.IGNORECASE)
    return sum(float(number) * _UNITS[_unit(unit.lower())] for number, unit in pieces)


def _unit(word: str) -> str:
    return "ms" if word.startswith(("ms", "milli")) else word[0]


def _until(date: str, now: float) -> float | None:
    if not date.strip():
        return None
    # Imported here: 7 ms that only a date needs.
    from datetime import UTC, datetime
    from email.utils import parsedate_to_datetime

    for read in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            moment = read(date.strip())
        except ValueError:
            continue
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return max(0.0, moment.timestamp() - now)
    return None


def _number(text: str | None) -> float | None:
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*", text or "")
    return float(found[1]) if found else None
