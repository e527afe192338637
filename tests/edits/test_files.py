"""Files as they are: what is read, what is refused, and windows into large ones (ED-23, 24)."""

import os
import socket
from pathlib import Path

import pytest

from agent_server.edits.files import MAX_EDIT_BYTES, read_text
from agent_server.edits.hashes import bytes_hash, content_hash
from agent_server.loop.errors import EditRefused


def refusal(path: Path) -> tuple[str, str]:
    with pytest.raises(EditRefused) as caught:
        read_text(str(path))
    return caught.value.reason, str(caught.value)


def test_a_file_is_read_with_its_own_line_ends_and_without_its_mark(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfa\r\nb\n")
    file = read_text(str(path))
    assert (file.text, file.path, file.digest) == (
        "a\r\nb\n",
        path,
        bytes_hash(b"\xef\xbb\xbfa\r\nb\n"),
    )


def test_the_content_hash_is_over_the_utf_8_of_the_text() -> None:
    assert content_hash("é\r\n") == bytes_hash("é\r\n".encode())


def test_missing_folder_and_pipe_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert refusal(tmp_path / "none")[0] == "missing"
    assert refusal(tmp_path)[0] == "directory"
    assert refusal(tmp_path / "pipe")[0] == "not_a_file"


def test_a_socket_is_said_to_be_none_of_our_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # the name of a socket has to be short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("s")
        reason, message = refusal(tmp_path / "s")

    assert (reason, message) == (
        "not_a_file",
        f"{tmp_path / 's'} is a device, pipe or socket, not a file",
    )


def test_a_loop_of_links_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert refusal(tmp_path / "a")[0] == "io"


def test_a_binary_is_refused_with_type_and_size(tmp_path: Path) -> None:
    path = tmp_path / "picture.txt"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(1992))
    assert refusal(path) == ("binary", f"{path} is not text: PNG image, 2,000 bytes")


def test_a_huge_file_is_refused_with_its_size_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "big.log"
    with path.open("wb") as out:
        out.truncate(MAX_EDIT_BYTES + 1)
    reason, message = refusal(path)
    assert reason == "too_large"
    assert "8,388,609 bytes" in message
