"""Bounds on text, windows of files and environments, as values."""

import os
from collections.abc import Generator
from pathlib import Path

import pytest
from anyio import from_thread
from hypothesis import given
from hypothesis import strategies as st

from agent_server.tools.capture import Capture
from agent_server.tools.environment import scrubbed
from agent_server.tools.output import middle_cut, plain, shortened
from agent_server.tools.window import window


@pytest.fixture(scope="module", autouse=True)
def _nobody_cancels() -> Generator[None]:
    """Windows are asked for here without the event loop that could cancel them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(from_thread, "check_cancelled", lambda: None)
        yield


def test_a_text_that_fits_is_left_alone() -> None:
    assert middle_cut("abc", 3) == "abc"


def test_a_long_text_keeps_its_ends_and_says_what_is_missing() -> None:
    text = "".join(f"{n}\n" for n in range(1000))
    cut = middle_cut(text, 40)
    head, marker, *tail = cut.split("\n")[0], *cut.split("\n")[-5:]

    assert (head, tail[-2]) == ("0", "999")
    assert "[… 3,8" in cut
    assert marker is not None


@given(st.text(alphabet="ab\n", max_size=400), st.integers(2, 100))
def test_a_cut_text_is_near_its_limit(text: str, limit: int) -> None:
    assert len(middle_cut(text, limit)) <= max(
        limit, len(text) if len(text) <= limit else limit + 60
    )


def test_a_line_says_how_long_it_was() -> None:
    assert shortened("x" * 12, 10) == f"{'x' * 10} [… line of 12 characters]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[1;31mred\x1b[0m\x1b]0;title\x07!", "red!"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("1%\r2%\rdone\nx", "done\nx"),
        ("bell\x07 nul\0 tab\t", "bell nul tab\t"),
    ],
)
def test_terminal_output_becomes_text(text: str, expected: str) -> None:
    assert plain(text) == expected


@given(st.lists(st.binary(max_size=60), max_size=20), st.integers(2, 80))
def test_a_capture_keeps_the_beginning_and_the_end_in_bounded_memory(
    pieces: list[bytes], limit: int
) -> None:
    capture = Capture(limit)
    text = "".join([*(capture.add(p) for p in pieces), capture.add(b"", final=True)])

    assert text == b"".join(pieces).decode(errors="replace")
    assert capture.is_long == (len(text) > 2 * (limit // 2))
    if not capture.is_long:
        assert capture.text() == plain(text)
    assert len(capture._head) + sum(map(len, capture._tail)) <= limit + 60


@given(
    st.text(alphabet="ab\n", max_size=60).map(str.encode),
    st.integers(-12, 12).filter(bool),
    st.integers(1, 6),
)
def test_a_window_shows_the_lines_that_reading_the_whole_would(
    data: bytes, start: int, count: int
) -> None:
    lines = data.decode().splitlines()
    first = max(len(lines) + 1 + start if start < 0 else start, 1)
    descriptor = (
        os.memfd_create("x") if hasattr(os, "memfd_create") else os.open("/dev/null", os.O_RDONLY)
    )
    try:
        os.write(descriptor, data)
        part = window(descriptor, "x", start=start, count=count, line_bytes=100)
    finally:
        os.close(descriptor)

    assert part.total == len(lines)
    assert list(part.lines) == lines[first - 1 : first - 1 + count]


def test_a_window_reaches_over_the_pieces_it_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent_server.tools.window.CHUNK", 7)
    path = tmp_path / "a"
    path.write_text("".join(f"line {n}\n" for n in range(1, 50)))
    descriptor = os.open(path, os.O_RDONLY)
    try:
        part = window(descriptor, "a", start=20, count=2, line_bytes=4)
    finally:
        os.close(descriptor)

    assert (part.total, part.lines) == (
        49,
        ("line [… line of 7 bytes]", "line [… line of 7 bytes]"),
    )


def test_what_only_looks_like_a_secret_is_kept() -> None:
    env = {
        "KEYBOARD": "us",
        "MONKEY": "1",
        "SSH_AUTH_SOCK": "/run/x",
        "PATH": "/bin",
        "X_TOKEN": "short",
    }

    assert {"KEYBOARD", "MONKEY", "SSH_AUTH_SOCK", "PATH"} <= scrubbed(env).keys()
    assert "X_TOKEN" not in scrubbed(env)


def test_a_long_line_without_an_end_costs_no_more_than_its_length() -> None:
    """ST-21. A pattern that looked for a return from every character took an hour for this."""
    line = "#" * 5_000_000

    assert plain(line) == line
    assert plain(f"{line}\r{line}\rlast") == "last"
