"""The closed set of ways in which a model can fail to answer (loop.md §2.4)."""

from enum import StrEnum


class Fault(StrEnum):
    """What went wrong with one request. Each has one row in `recover.py`."""

    TRANSIENT = "transient"
    """5xx, a cut stream, a timeout, no connection."""
    RATE_LIMIT = "rate_limit"
    AUTH = "auth"
    BILLING = "billing"
    OVERFLOW = "overflow"
    """The request is larger than the model's window."""
    EMPTY = "empty"
    """Ended normally with neither text nor calls nor reasoning."""
    REASONING_ONLY = "reasoning_only"
    TRUNCATED = "truncated"
    """Cut by the output limit."""
    REFUSAL = "refusal"
    """Content filter or refusal."""
    INVALID = "invalid"
    """Any other 4xx: the request itself is wrong; repeating it is pointless."""
