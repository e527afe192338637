"""Status and body to fault and sentence, loop.md §2.4."""

import json

import pytest

from agent_server.loop.faults import Fault
from agent_server.providers.faults import failure, failure_in_stream, fault_of
from agent_server.providers.waits import retry_after

TABLE = [
    (400, "", Fault.INVALID),
    (401, "", Fault.AUTH),
    (402, "", Fault.BILLING),
    (403, "", Fault.AUTH),
    (404, "", Fault.INVALID),
    (408, "", Fault.TRANSIENT),
    (413, "", Fault.OVERFLOW),
    (422, "", Fault.INVALID),
    (429, "", Fault.RATE_LIMIT),
    (500, "", Fault.TRANSIENT),
    (503, "", Fault.TRANSIENT),
    (529, "", Fault.TRANSIENT),
    (307, "", Fault.INVALID),
    (400, '{"error": {"code": "context_length_exceeded"}}', Fault.OVERFLOW),
    (400, "prompt is too long: 300000 tokens > 200000 maximum", Fault.OVERFLOW),
    (400, "input length and `max_tokens` exceed context limit", Fault.OVERFLOW),
    (400, "This model's maximum context length is 8192 tokens", Fault.OVERFLOW),
    (400, "the request exceeds the available context size", Fault.OVERFLOW),
    (400, '{"error": {"code": "content_filter"}}', Fault.REFUSAL),
    (400, '{"error": {"code": "content_policy_violation"}}', Fault.REFUSAL),
    (400, "Your credit balance is too low", Fault.BILLING),
    (429, '{"error": {"code": "insufficient_quota"}}', Fault.BILLING),
]


@pytest.mark.parametrize(("status", "body", "fault"), TABLE)
def test_a_status_and_its_words_mean_one_fault(status: int, body: str, fault: Fault) -> None:
    assert fault_of(status, body) is fault


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "20s"}, 20.0),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after": "Thu, 01 Jan 1970 00:02:00 GMT"}, 20.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
    ],
)
def test_the_time_to_wait_is_read_in_every_form(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after(headers, 100.0) == seconds


def said(status: int, body: str = "", *, key: str | None = "sk-1") -> str:
    return str(
        failure("openai/gpt-x", status, body, key_source="the key in OPENAI_API_KEY", key=key)
    )


def test_a_refused_key_is_named_by_its_variable() -> None:
    assert said(401) == "openai/gpt-x answered 401: the key in OPENAI_API_KEY was refused."


def test_a_missing_key_is_named_by_its_variable() -> None:
    assert said(401, key=None) == (
        "openai/gpt-x answered 401: no key was sent, because OPENAI_API_KEY is not set."
    )


def test_the_providers_words_are_short_and_never_hold_the_key() -> None:
    body = json.dumps({"error": {"message": "Incorrect key sk-1 provided. " + "x" * 5000}})

    sentence = said(401, body)

    assert "Incorrect key … provided." in sentence
    assert "sk-1" not in sentence
    assert len(sentence) < 420


@pytest.mark.parametrize(
    "body",
    [
        '{"error": {"message": "no such model"}}',
        '{"error": "no such model"}',
        '{"message": "no such model"}',
        '[{"error": {"message": "no such model"}}]',
        '{"detail": "no such model"}',
        "no such model",
    ],
)
def test_the_providers_words_are_found_in_every_shape(body: str) -> None:
    assert said(404, body) == "openai/gpt-x answered 404: no such model"


def test_a_page_of_html_is_not_quoted() -> None:
    assert said(502, "<html><body>Bad gateway</body></html>") == (
        "openai/gpt-x answered 502: the provider is in trouble."
    )


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        ({"message": "overloaded"}, Fault.TRANSIENT),
        ({"code": 429, "message": "slow down"}, Fault.RATE_LIMIT),
        ({"code": "rate_limit_exceeded"}, Fault.RATE_LIMIT),
        ({"code": "context_length_exceeded"}, Fault.OVERFLOW),
        ({"code": "content_filter"}, Fault.REFUSAL),
        ("boom", Fault.TRANSIENT),
    ],
)
def test_an_error_in_place_of_a_chunk_has_a_fault(error: object, fault: Fault) -> None:
    assert failure_in_stream("m", error, key_source="the key in K", key=None).fault is fault
