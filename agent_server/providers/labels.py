"""What the label at the end of a provider's answer means: one closed table, in any letters.

`finish_reason` is a word of OpenAI's, but gateways pass on whatever the server behind them says. A label that nobody
knows ends the answer like `stop`, and is told; it is never taken for one that says the answer broke off.
"""

import re
from typing import Final, Literal, cast

from agent_server.frozen import frozen

Meaning = Literal["stop", "calls", "length", "context", "filter", "failed", "unknown"]


@frozen
class End:
    """How an answer ended."""

    meaning: Meaning
    word: str
    """The provider's own label."""


_WORDS: Final[dict[Meaning, str]] = {
    "stop": (
        " stop end_turn stop_sequence stop_token eos eos_token end_of_text endoftext end finish finished"
        " complete completed done success normal "
    ),
    "calls": " tool_calls tool_call tool_use function_call function_calls ",
    "length": (
        " length max_tokens max_output_tokens max_completion_tokens max_new_tokens max_length model_length"
        " token_limit output_limit truncated incomplete continuation pause_turn "
    ),
    "context": (
        " model_context_window_exceeded context_window_exceeded context_length_exceeded context_length"
        " context_window context_limit "
    ),
    "filter": (
        " content_filter content_filtered content_policy refusal refused safety recitation blocked"
        " prohibited_content blocklist spii sensitive guardrail_intervened guardrail language error_toxic"
        " moderation policy_violation image_safety "
    ),
    "failed": (
        " error network_error overloaded engine_overloaded insufficient_system_resource abort aborted cancel"
        " cancelled canceled failed failure timeout timed_out unavailable interrupted rate_limit"
        " malformed_function_call malformed_response unexpected_tool_call too_many_tool_calls"
        " missing_thought_signature "
    ),
}
"""Whole labels, each between blanks."""
_FAMILIES: Final[tuple[tuple[Meaning, re.Pattern[str]], ...]] = (
    ("filter", re.compile(r"safety|filter|guardrail|moderation|prohibited|recitation|refus|toxic")),
    ("context", re.compile(r"context_(window|length|limit)")),
    ("length", re.compile(r"max_\w*tokens|token_limit")),
    (
        "failed",
        re.compile(
            r"error|overload|abort|cancel|fail|time_?out|unavailable|malformed|insufficient|exhausted"
        ),
    ),
)
"""Labels that a vendor puts a word before or behind; looked at when the whole label is not in the table."""
_ABSENT: Final = frozenset(("", "null", "none"))
"""Some servers write these into every chunk."""


def end_of(label: object) -> End | None:
    """What a label says; None when it is none. It may be of any JSON type."""
    word = _word(label)
    known = re.sub(r"[\s.-]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", word.strip())).lower()
    if known in _ABSENT:
        return None
    for meaning, words in _WORDS.items():
        if f" {known} " in words:
            return End(meaning, word)
    for meaning, family in _FAMILIES:
        if family.search(known):
            return End(meaning, word)
    return End("unknown", word[:80])


def _word(label: object) -> str:
    match label:
        case None | False:
            return ""
        case str():
            return label
        case dict():
            fields = cast("dict[str, object]", label)
            named = (fields.get(name) for name in ("type", "reason", "finish_reason", "name"))
            return next((one for one in named if isinstance(one, str)), str(fields))
        case list():
            return next(map(_word, cast("list[object]", label)), "")
        case _:
            return str(label)
