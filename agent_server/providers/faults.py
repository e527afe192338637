"""What went wrong with a request: status and body to a `ModelFailure` with one fault and one sentence (loop.md §2.4).

The status decides first; words in the body only where one status stands for several things.
"""

import json
import re
import time
from collections.abc import Mapping

from agent_server.loop.errors import ModelFailure, words_of_error
from agent_server.loop.faults import Fault
from agent_server.providers.error_shapes import status_of, words_of
from agent_server.providers.waits import spoken, wait_of

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
    waits = fault in (Fault.RATE_LIMIT, Fault.TRANSIENT)
    wait = wait_of(headers or {}, body, time.time()) if waits else None
    detail = masked(_detail(body), key)
    words = _too_large(detail) if status == 413 else _words(fault, key_source, key, detail, wait)
    message = f"{model} answered {status}: {words}"
    return ModelFailure(message, fault=fault, status=status, retry_after_s=wait)


def failure_in_stream(
    model: str, error: object, *, key_source: str, key: str | None
) -> ModelFailure:
    """An error in any shape that came in place of a chunk, after a good status."""
    status = status_of(error)
    body = json.dumps({"error": error} if isinstance(error, str) else error)
    status = status or _implied_status(body)
    return failure(model, status, body, key_source=key_source, key=key)


def _implied_status(body: str) -> int:
    """A stream that began well and then failed is the provider's trouble unless its words say otherwise."""
    if _OVERFLOW.search(body) or _REFUSAL.search(body):
        return 400
    return 429 if re.search("rate.?limit", body, re.IGNORECASE) else 500


def unreachable(model: str, url: str, error: Exception) -> ModelFailure:
    """No connection, or one that broke before or while it was answered."""
    reason = words_of_error(error)
    return ModelFailure(f"{model} could not be reached at {url}: {reason}", fault=Fault.TRANSIENT)


def interrupted(model: str, error: Exception) -> ModelFailure:
    """The connection broke while the answer came."""
    reason = words_of_error(error)
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
            return f"too many requests{_pause(wait)}. {detail}".rstrip()
        case Fault.OVERFLOW:
            return f"the request is larger than the model's window. {detail}".rstrip()
        case Fault.REFUSAL:
            return f"its content filter refused the request. {detail}".rstrip()
        case Fault.TRANSIENT:
            return f"the provider is in trouble{_pause(wait)}. {detail}".rstrip()
        case _:
            return detail or "the request was refused."


def _pause(wait: float | None) -> str:
    return "" if wait is None else f"; it asks to wait {spoken(wait)}"


def _too_large(detail: str) -> str:
    """A limit of bytes, which is the server's or a proxy's, says nothing about the model's window."""
    return f"the request is too large for the server. {detail}".rstrip()


def _detail(body: str) -> str:
    """The provider's own words."""
    if body.lstrip().startswith("<"):
        return ""
    try:
        parsed: object = json.loads(body)
    except (ValueError, RecursionError):
        return _short(body)
    return _short(words_of(parsed) if isinstance(parsed, dict | list) else body)  # pyright: ignore[reportUnknownArgumentType]


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= DETAIL_CHARS else f"{text[: DETAIL_CHARS - 1]}…"


def masked(text: str, key: str | None) -> str:
    """The text without the key, which some providers repeat to whom they refuse."""
    return text.replace(key, "…") if key else text
