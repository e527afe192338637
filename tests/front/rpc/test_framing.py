"""Bytes to bodies. ndjson: ACP reference §3.1; Content-Length: LSP 3.17 base protocol, and our tolerance."""

import json
import sys
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent_server.front.rpc.envelope import MAX_FRAME
from agent_server.front.rpc.framing import CONTENT_LENGTH, NDJSON, Decoder, FrameError, Framing

BODY = b'{"jsonrpc":"2.0","id":1,"method":"x"}'
FRAME = CONTENT_LENGTH.encode(BODY)

texts = st.dictionaries(st.text(), st.text() | st.integers() | st.none())
bodies = st.lists(
    texts.map(lambda value: json.dumps(value, ensure_ascii=False).encode()), max_size=5
)


def outcome(frames: Sequence[bytes | FrameError]) -> list[bytes | int]:
    """Bodies as they are, errors as their codes."""
    return [frame.code if isinstance(frame, FrameError) else frame for frame in frames]


def decode(framing: Framing, data: bytes, cuts: Sequence[int] = ()) -> list[bytes | int]:
    decoder = framing.decoder()
    frames: list[bytes | FrameError] = []
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    for start, end in pairwise(edges):
        frames += decoder.feed(data[start:end])
    return outcome([*frames, *decoder.end()])


@pytest.mark.parametrize("framing", [NDJSON, CONTENT_LENGTH], ids=["ndjson", "content-length"])
@given(sent=bodies, cuts=st.lists(st.integers(min_value=0), max_size=8))
def test_any_bodies_survive_any_cut(framing: Framing, sent: list[bytes], cuts: list[int]) -> None:
    assert decode(framing, b"".join(map(framing.encode, sent)), cuts) == sent


@given(
    rubbish=st.binary(max_size=80).filter(lambda data: b"\n\n" not in data),
    cuts=st.lists(st.integers(min_value=0), max_size=8),
)
def test_a_frame_after_any_rubbish_is_found(rubbish: bytes, cuts: list[int]) -> None:
    found = decode(CONTENT_LENGTH, rubbish + b"\n" + FRAME + FRAME, cuts)

    assert found[-2:] == [BODY, BODY]


@given(
    wrong=st.integers(min_value=0, max_value=len(BODY) + len(FRAME) + 20).filter(len(BODY).__ne__),
    cuts=st.lists(st.integers(min_value=0), max_size=8),
)
@example(wrong=len(BODY) + len(FRAME), cuts=[])
def test_a_wrong_length_costs_only_its_own_message(wrong: int, cuts: list[int]) -> None:
    """Field case PR-01, also when the length swallows the next frame, in part or whole."""
    data = b"Content-Length: %d\r\n\r\n" % wrong + BODY + FRAME + FRAME

    assert decode(CONTENT_LENGTH, data, cuts) == [-32700, BODY, BODY]


@given(st.binary(max_size=300), st.lists(st.integers(min_value=0), max_size=8))
def test_no_bytes_break_a_decoder(data: bytes, cuts: list[int]) -> None:
    for framing in (NDJSON, CONTENT_LENGTH):
        for frame in decode(framing, data, cuts):
            assert isinstance(frame, bytes) or frame in (-32700, -32600)


@pytest.mark.parametrize(
    "data",
    [
        BODY + b"\n",
        BODY + b"\r\n",
        b"\n \r\n" + BODY + b"\n\n",
        b"\xef\xbb\xbf" + BODY + b"\n",
        BODY,
    ],
    ids=["plain", "crlf", "blank lines", "byte order mark", "unterminated"],
)
def test_a_line_is_read_however_it_is_written(data: bytes) -> None:
    assert [json.loads(frame) for frame in decode(NDJSON, data) if isinstance(frame, bytes)] == [
        json.loads(BODY)
    ]


@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: %d\r\n\r\n",
        b"content-length:%d\r\n\r\n",
        b"CONTENT-LENGTH: %d\n\n",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %d\r\n\r\n",
        b"Content-Length: %d\r\nContent-Type: x\r\n\r\n",
        b"\xef\xbb\xbfContent-Length: %d\r\n\r\n",
        b"\r\n\r\nContent-Length: %d\r\n\r\n",
        b"Content-Length : %d \r\n\r\n",
    ],
)
def test_a_header_is_read_however_it_is_written(header: bytes) -> None:
    data = header % len(BODY) + BODY
    for cuts in ([], range(len(data))):
        assert decode(CONTENT_LENGTH, data + data, list(cuts)) == [BODY, BODY]


@pytest.mark.parametrize("body", [b"[]", b"1", b'"a"', b"null", b" {} "])
def test_a_json_body_is_handed_on_whatever_it_is(body: bytes) -> None:
    """What JSON-RPC thinks of it is not a matter of framing."""
    assert decode(CONTENT_LENGTH, CONTENT_LENGTH.encode(body) + FRAME) == [body, BODY]


@pytest.mark.parametrize(
    "bad",
    [
        b"Content-Length: x\r\n\r\n",
        b"Content-Length: -5\r\n\r\n",
        b"Content-Length: 0\r\n\r\n",
        b"Content-Type: y\r\n\r\n" + BODY,
        b"hello\n\nworld\n",
        BODY,
        b"x" * 20_000,
        b"Content-Length: 5\n" + b"x: y\n" * 3_000,
        b"Content-Length: 99999999999999999999\r\n\r\n",
    ],
)
def test_a_bad_header_is_reported_and_the_next_frame_read(bad: bytes) -> None:
    for cuts in ([], [len(bad)]):
        found = decode(CONTENT_LENGTH, bad + FRAME, cuts)

        assert found[-1] == BODY
        assert found[0] == -32700


def test_input_that_ends_inside_a_frame_is_reported() -> None:
    assert decode(CONTENT_LENGTH, FRAME + FRAME[:-1]) == [BODY, -32700]
    assert decode(CONTENT_LENGTH, FRAME + b"Content-Len") == [BODY, -32700]
    assert decode(CONTENT_LENGTH, FRAME + b"\r\n") == [BODY]


def test_the_largest_frame_is_accepted() -> None:
    body = b'{"a":"' + b"x" * (MAX_FRAME - 8) + b'"}'
    for framing in (NDJSON, CONTENT_LENGTH):
        decoder = framing.decoder()

        assert [*feed_in_chunks(decoder, framing.encode(body))] == [body]


def feed_in_chunks(decoder: Decoder, data: bytes) -> Sequence[bytes | FrameError]:
    size = 256 * 1024
    return [
        frame for at in range(0, len(data), size) for frame in decoder.feed(data[at : at + size])
    ]


@pytest.mark.parametrize("framing", [NDJSON, CONTENT_LENGTH], ids=["ndjson", "content-length"])
def test_a_larger_frame_is_refused_once_without_being_kept(framing: Framing) -> None:
    """Field case PR-03: 200 MB; the decoder never holds more than the limit."""
    decoder = framing.decoder()
    frames: list[bytes | FrameError] = []
    if framing is CONTENT_LENGTH:
        frames += decoder.feed(b"Content-Length: %d\r\n\r\n" % (200 * 1024 * 1024))
    frames += decoder.feed(b'{"a":"')
    chunk = b"x" * (1024 * 1024)
    for _ in range(200):
        frames += decoder.feed(chunk)
        assert held(decoder) <= MAX_FRAME * 1.2
    frames += decoder.feed(b'"}' + (b"\n" if framing is NDJSON else b""))
    frames += decoder.feed(framing.encode(BODY))

    assert outcome(frames) == [-32600, BODY]


def held(decoder: Decoder) -> int:
    """Bytes that a decoder keeps."""
    buffers = [value for value in vars(decoder).values() if isinstance(value, bytearray | list)]
    return sum(
        sum(map(len, buffer)) if isinstance(buffer, list) else sys.getsizeof(buffer)
        for buffer in buffers
    )
