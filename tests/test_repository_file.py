"""What a repository puts at the paths that are read unasked holds up nobody, and sends nothing along."""

import os
from pathlib import Path

import pytest

from agent_server.config_load import find_home, load
from agent_server.context.prompt import read_agents_file
from agent_server.repository_file import MAX_BYTES, read_repository_file
from agent_server.session import watch
from agent_server.store import receipts_file

pytestmark = [
    pytest.mark.timeout(20),
    pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names"),
]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    (folder / ".agent").mkdir(parents=True)
    return folder


def test_a_file_of_the_largest_size_is_read_and_a_larger_one_refused(workspace: Path) -> None:
    file = workspace / "file"
    file.write_bytes(b"x" * MAX_BYTES)
    assert len(read_repository_file(file)) == MAX_BYTES

    file.write_bytes(b"x" * (MAX_BYTES + 1))
    with pytest.raises(OSError, match="larger than"):
        read_repository_file(file)


def test_instructions_that_are_a_pipe_are_none_and_are_not_waited_for(workspace: Path) -> None:
    os.mkfifo(workspace / "AGENTS.md")

    assert read_agents_file(str(workspace)) is None


@pytest.mark.parametrize("secret", ["../id_rsa", "../notes.md", ".env"])
def test_instructions_that_link_to_what_the_person_did_not_share_are_not_read(
    workspace: Path, secret: str
) -> None:
    (workspace / secret).write_text("secret")
    (workspace / "AGENTS.md").symlink_to(secret)

    assert read_agents_file(str(workspace)) is None


def test_instructions_may_be_a_link_to_another_page_of_the_workspace(workspace: Path) -> None:
    (workspace / "docs").mkdir()
    (workspace / "docs" / "agents.md").write_text("Be brief.\r\n")
    (workspace / "AGENTS.md").symlink_to("docs/agents.md")

    assert read_agents_file(str(workspace)) == "Be brief.\n"


@pytest.mark.parametrize("trusted", [True, False])
def test_settings_that_are_a_pipe_are_named_and_not_waited_for(
    workspace: Path, *, trusted: bool
) -> None:
    os.mkfifo(workspace / ".agent" / "settings.toml")

    _, problems = load(
        find_home({"AGENT_SERVER_HOME": str(workspace)}), workspace, {}, {}, trusted=trusted
    )

    assert ["not a regular file" in problem.message for problem in problems] == [True]


def test_an_ignore_file_that_is_a_pipe_ignores_nothing(workspace: Path) -> None:
    (workspace / "src").mkdir()
    os.mkfifo(workspace / ".gitignore")

    assert str(workspace / "src") in watch._folders((str(workspace),))


def test_receipts_that_are_a_pipe_are_an_error_and_not_a_wait(workspace: Path) -> None:
    os.mkfifo(workspace / ".agent" / "tool-effects.jsonl")

    with pytest.raises(OSError, match="No such device"):
        receipts_file.append(str(workspace), "{}\n")
