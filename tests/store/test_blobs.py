"""Texts by their hash: whole or not there, kept once, for their owner only."""

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings

from agent_server.edits.hashes import content_hash
from agent_server.loop.errors import StoreFailure
from agent_server.store.blobs import BlobStore
from tests.store.entries import anything


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state" / "blobs"


def kept(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


@given(anything)
@settings(max_examples=100, deadline=None)
def test_a_text_comes_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, text: str):
    blobs = BlobStore(tmp_path_factory.getbasetemp() / "any")

    assert blobs.get(blobs.put(text)) == text


def test_a_text_is_named_by_the_protocols_hash(folder: Path):
    assert BlobStore(folder).put("a\r\nb") == content_hash("a\r\nb")


def test_nothing_touches_the_disk_before_the_first_text(folder: Path):
    BlobStore(folder)

    assert not folder.exists()


def test_the_same_text_is_kept_once(folder: Path):
    blobs = BlobStore(folder)
    blobs.put("same")
    (before,) = kept(folder)
    inode = before.stat().st_ino
    blobs.put("same")

    assert [path.stat().st_ino for path in kept(folder)] == [inode]


@pytest.mark.skipif("sys.platform == 'win32'")
def test_only_the_owner_can_read_a_text(folder: Path):
    BlobStore(folder).put("secret")
    (path,) = kept(folder)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert {stat.S_IMODE(each.stat().st_mode) for each in (path.parent, folder)} == {0o700}


@pytest.mark.parametrize("call", ["open", "write", "fsync", "replace"])
def test_a_disk_that_fails_keeps_nothing_and_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch, call: str
):
    blobs = BlobStore(folder)
    blobs.put("first")

    def full(*args: object, **more: object) -> None:
        raise OSError(28, os.strerror(28))

    with monkeypatch.context() as broken:
        broken.setattr(os, call, full)
        with pytest.raises(StoreFailure, match="No space left"):
            blobs.put("second")

    assert len(kept(folder)) == 1


def test_a_text_that_is_not_there_is_a_failure_by_name(folder: Path):
    with pytest.raises(StoreFailure, match="cannot be read"):
        BlobStore(folder).get(content_hash("never kept"))


def test_a_damaged_text_is_never_given_out(folder: Path):
    blobs = BlobStore(folder)
    digest = blobs.put("precious")
    (path,) = kept(folder)
    path.write_bytes(b"Precious")

    with pytest.raises(StoreFailure, match="damaged"):
        blobs.get(digest)


def test_a_torn_text_is_written_anew(folder: Path):
    blobs = BlobStore(folder)
    digest = blobs.put("precious")
    (path,) = kept(folder)
    path.write_bytes(b"prec")
    blobs.put("precious")

    assert blobs.get(digest) == "precious"


@pytest.mark.parametrize("name", ["", "sha256:", "../../etc/passwd", "sha256:../" + "a" * 61])
def test_a_name_that_is_no_hash_reaches_no_file(folder: Path, name: str):
    with pytest.raises(StoreFailure, match="names no text"):
        BlobStore(folder).get(name)
