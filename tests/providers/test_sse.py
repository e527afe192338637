"""Server-sent events are the same however their bytes come, per the HTML standard and our lenience at the end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_server.providers.sse import SseDecoder

STREAM = (
    b"\xef\xbb\xbf: hello\n"
    b"data: one\n\n"
    b"event: x\nid: 3\nretry: 5\ndata:two\r\n\r\n"
    b": ping\n\n"
    b"data: three\ndata:  four\n\n"
    b"data: f\xc3\xbcnf\r\r"
    b"data:\n\n"
    b"data: last"
)
EVENTS = [b"one", b"two", b"three\n four", "fünf".encode(), b"", b"last"]


def decoded(chunks: list[bytes]) -> list[bytes]:
    decoder = SseDecoder()
    return [event for chunk in chunks for event in decoder.feed(chunk)] + decoder.end()


def test_events_in_one_chunk() -> None:
    assert decoded([STREAM]) == EVENTS


@pytest.mark.parametrize("at", range(len(STREAM)))
def test_events_do_not_depend_on_where_the_stream_is_cut(at: int) -> None:
    assert decoded([STREAM[:at], STREAM[at:]]) == EVENTS


@given(st.lists(st.integers(0, 7), max_size=60))
def test_events_do_not_depend_on_the_chunks(sizes: list[int]) -> None:
    chunks, rest = list[bytes](), STREAM
    for size in sizes:
        chunks.append(rest[:size])
        rest = rest[size:]

    assert decoded([*chunks, rest]) == EVENTS


def test_an_event_is_given_as_soon_as_it_is_complete() -> None:
    decoder = SseDecoder()

    assert decoder.feed(b"data: a\n") == []
    assert decoder.feed(b"\ndata: b") == [b"a"]
