"""`.agent/` is opened so that nothing in it leads outside, and git does not see what we put there."""

import os
from pathlib import Path

import pytest

from agent_server.edits.agent_folder import IGNORED, open_agent_folder, open_subfolder
from agent_server.store.receipts_file import append


def test_the_folder_and_its_ignore_file_are_made_once(tmp_path: Path) -> None:
    for _ in range(2):
        os.close(open_agent_folder(str(tmp_path)))

    assert (tmp_path / ".agent" / ".gitignore").read_text("utf-8") == IGNORED
    assert (tmp_path / ".agent").stat().st_mode & 0o777 == 0o700


def test_a_repositorys_own_ignore_file_stays(tmp_path: Path) -> None:
    (tmp_path / ".agent").mkdir()
    (tmp_path / ".agent" / ".gitignore").write_text("mine")
    os.close(open_agent_folder(str(tmp_path)))

    assert (tmp_path / ".agent" / ".gitignore").read_text("utf-8") == "mine"


@pytest.mark.parametrize("left", ["", "out/\ntool-effects.jsonl\n"])
def test_an_ignore_file_that_a_full_disk_or_an_earlier_version_left_is_finished(
    tmp_path: Path, left: str
) -> None:
    (tmp_path / ".agent").mkdir()
    (tmp_path / ".agent" / ".gitignore").write_text(left)
    os.close(open_agent_folder(str(tmp_path)))

    names = (tmp_path / ".agent" / ".gitignore").read_text("utf-8").splitlines()
    assert names == [".gitignore", "out/", "tool-effects.jsonl"]


def test_a_receipt_is_not_written_behind_a_torn_one(tmp_path: Path) -> None:
    append(str(tmp_path), '{"whole":1}\n')
    receipts = tmp_path / ".agent" / "tool-effects.jsonl"
    receipts.write_text(receipts.read_text() + '{"to')
    append(str(tmp_path), '{"next":1}\n')

    assert receipts.read_text().splitlines() == ['{"whole":1}', '{"to', '{"next":1}']


def test_a_link_is_refused(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    workspace = tmp_path / "w"
    workspace.mkdir()
    (workspace / ".agent").symlink_to(outside)
    with pytest.raises(OSError, match="agent"):
        open_agent_folder(str(workspace))

    (workspace / ".agent").unlink()
    agent = open_agent_folder(str(workspace))
    (workspace / ".agent" / "out").symlink_to(outside)
    with pytest.raises(OSError, match="out"):
        open_subfolder(agent, "out")
    os.close(agent)
    assert list(outside.iterdir()) == []


def test_where_links_cannot_be_refused_nothing_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows: those who want the folder do without it."""
    monkeypatch.delattr(os, "O_NOFOLLOW")
    with pytest.raises(OSError, match="links"):
        open_agent_folder(str(tmp_path))
    assert list(tmp_path.iterdir()) == []
