"""What went wrong with a request: status and body to a `ModelFailure` with one fault and one sentence (loop.md §2.4).

The status decides first; words in the body only where one status stands for several things.
"""

import json
import re
import time
from collections.abc import Mapping
from typing import Any, cast

from agent_server.loop.errors import ModelFailure
from agent_server.loop.faults import Fault

_OVERFLOW = re.compile(
    r"context_length_exceeded|maximum context length|context (length|window|size)|prompt is too long"
    r"|input length and .?max_tokens.? exceed|too many (input )?tokens|request_too_large|input is too long",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"content_filter|content_policy|content management policy|ResponsibleAI", re.IGNORECASE
)
_BILLING = re.compile(
    r"insufficient_quota|credit balance|billing_hard_limit|insufficient[ _]balance", re.IGNORECASE
)
_BY_STATUS = {
    401: Fault.AUTH,
    402: Fault.BILLING,
    403: Fault.AUTH,
    408: Fault.TRANSIENT,
    409: Fault.TRANSIENT,
    413: Fault.OVERFLOW,
    425: Fault.TRANSIENT,
    429: Fault.RATE_LIMIT,
}
DETAIL_CHARS = 300
"""Of what a provider says, in a sentence for a person."""


def fault_of(status: int, body: str) -> Fault:
    """The fault that a status and a body's text mean."""
    if status in (400, 403, 422, 429) and _BILLING.search(body):
        return Fault.BILLING
    if status in (400, 422, 500) and _OVERFLOW.search(body):
        return Fault.OVERFLOW
    if status in (400, 403, 422) and _REFUSAL.search(body):
        return Fault.REFUSAL
    return _BY_STATUS.get(status, Fault.TRANSIENT if status >= 500 else Fault.INVALID)


def failure(
    model: str,
    status: int,
    body: str,
    *,
    key_source: str,
    key: str | None = None,
    headers: Mapping[str, str] | None = None,
    fault: Fault | None = None,
) -> ModelFailure:
    """The failure of a request that was answered with an error. `headers` are looked up in lower case.

    `fault` is what somebody else knows about it; None: what status and body say.
    """
    fault = fault or fault_of(status, body)
    wait = retry_after(headers or {}, time.time())
    detail = masked(_detail(body), key)
    message = f"{model} answered {status}: {_words(fault, key_source, key, detail, wait)}"
    return ModelFailure(message, fault=fault, status=status, retry_after_s=wait)


def failure_in_stream(
    model: str, error: object, *, key_source: str, key: str | None
) -> ModelFailure:
    """An error object that came in place of a chunk, after a good status."""
    body = json.dumps({"error": error})
    code = cast("dict[str, Any]", error).get("code") if isinstance(error, dict) else None
    status = code if isinstance(code, int) and 400 <= code < 600 else _implied_status(body)
    return failure(model, status, body, key_source=key_source, key=key)


def _implied_status(body: str) -> int:
    """A stream that began well and then failed is the provider's trouble unless its words say otherwise."""
    if _OVERFLOW.search(body) or _REFUSAL.search(body):
        return 400
    return 429 if re.search("rate.?limit", body, re.IGNORECASE) else 500


def unreachable(model: str, url: str, error: Exception) -> ModelFailure:
    """No connection, or one that broke before or while it was answered."""
    reason = str(error) or type(error).__name__
    return ModelFailure(f"{model} could not be reached at {url}: {reason}", fault=Fault.TRANSIENT)


def interrupted(model: str, error: Exception) -> ModelFailure:
    """The connection broke while the answer came."""
    reason = str(error) or type(error).__name__
    return ModelFailure(
        f"{model} broke off in the middle of its answer: {reason}", fault=Fault.TRANSIENT
    )


def silent(model: str, seconds: float, *, began: bool) -> ModelFailure:
    """Nothing came for too long."""
    what = "stopped in the middle of its answer and sent nothing" if began else "sent nothing"
    return ModelFailure(f"{model} {what} for {seconds:g} s", fault=Fault.TRANSIENT)


def _words(fault: Fault, key_source: str, key: str | None, detail: str, wait: float | None) -> str:
    match fault:
        case Fault.AUTH if key is None:
            return f"no key was sent, because {key_source.removeprefix('the key in ')} is not set."
        case Fault.AUTH:
            return f"{key_source} was refused. {detail}".rstrip()
        case Fault.BILLING:
            return f"the account has no credit left. {detail}".rstrip()
        case Fault.RATE_LIMIT:
            pause = "" if wait is None else f"; it asks to wait {wait:g} s"
            return f"too many requests{pause}. {detail}".rstrip()
        case Fault.OVERFLOW:
            return f"the request is larger than the model's window. {detail}".rstrip()
        case Fault.REFUSAL:
            return f"its content filter refused the request. {detail}".rstrip()
        case Fault.TRANSIENT:
            return f"the provider is in trouble. {detail}".rstrip()
        case _:
            return detail or "the request was refused."


def _detail(body: str) -> str:
    """The provider's own words."""
    try:
        parsed: Any = json.loads(body)
    except ValueError:
        return "" if body.lstrip().startswith("<") else _short(body)
    if isinstance(parsed, list) and parsed:
        parsed = cast("list[Any]", parsed)[0]
    if not isinstance(parsed, dict):
        return _short(body)
    found = cast("dict[str, Any]", parsed)
    error = found.get("error", found)
    if isinstance(error, dict):
        inner = cast("dict[str, Any]", error)
        return _short(str(inner.get("message") or inner.get("detail") or inner.get("code") or ""))
    return _short(str(error or found.get("message") or ""))


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= DETAIL_CHARS else f"{text[: DETAIL_CHARS - 1]}…"


def masked(text: str, key: str | None) -> str:
    """The text without the key, which some providers repeat to whom they refuse."""
    return text.replace(key, "…") if key else text


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds to wait as the provider asks, in milliseconds, seconds or as a date. `now`: Unix time."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    given = headers.get("retry-after")
    if given is None:
        return None
    seconds = _number(given)
    return _seconds_until(given, now) if seconds is None else seconds


def _seconds_until(date: str, now: float) -> float | None:
    # Imported here: 7 ms that only a date needs.
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - now)
    except ValueError:
        return None


def _number(text: str | None) -> float | None:
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(?:s|ms)?\s*", text or "")
    return float(found[1]) if found else None
