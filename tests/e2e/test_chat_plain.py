# ruff: noqa: RUF001 - what the screen is drawn with
"""`chat` without a terminal: one prompt, plain output, exit codes."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.front.terminal.pty_terminal import PROGRAM, left_running, marked, scripted

WRITE = {"name": "write", "arguments": {"path": "new.txt", "content": "hello\n"}}
SHELL = {"name": "shell", "arguments": {"command": "echo ran > ran.txt"}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return marked(os.environ, tmp_path)


def chat(
    *arguments: str, cwd: Path, env: dict[str, str], typed: str = ""
) -> subprocess.CompletedProcess[str]:
    command = [PROGRAM, "chat", *arguments]
    return subprocess.run(
        command,
        cwd=cwd,
        env=env,
        input=typed,
        text=True,
        capture_output=True,
        timeout=60,
        check=False,
    )


def test_a_prompt_is_answered_without_colour_or_wrapping(
    tmp_path: Path, folder: Path, env: dict[str, str]
) -> None:
    long = "word " * 60 + "end."
    done = chat(scripted(tmp_path, {"text": f"**Bold** {long}"}), "hi", cwd=folder, env=env)
    assert (done.returncode, "\x1b" in done.stdout) == (0, False)
    assert f"**Bold** {long}\n" in done.stdout
    assert left_running(tmp_path) == []


def test_without_a_prompt_it_is_read_from_the_pipe(
    tmp_path: Path, folder: Path, env: dict[str, str]
) -> None:
    model = scripted(tmp_path, {"text": "Read it.", "expect": "from the pipe"})
    done = chat(model, cwd=folder, env=env, typed="a prompt\nfrom the pipe\n")
    assert (done.returncode, "Read it." in done.stdout) == (0, True)


def test_yes_lets_an_edit_and_a_command_happen(
    tmp_path: Path, folder: Path, env: dict[str, str]
) -> None:
    model = scripted(tmp_path, {"calls": [WRITE, SHELL]}, {"text": "Done."})
    done = chat(model, "--yes", "go", cwd=folder, env=env)
    assert done.returncode == 0, done
    assert (folder / "new.txt").read_text() == "hello\n"
    assert (folder / "ran.txt").read_text() == "ran\n"
    assert "new.txt new  +1 −0" in done.stdout


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("cat .env > seen.txt", ".env may hold secrets"),
        ("cat notes > seen.txt", "may hold secrets"),
        ("echo x > ../seen.txt", "outside the workspace: "),
        ("sudo -n touch seen.txt", "it takes other rights"),
        ("git push --force; touch seen.txt", "it rewrites or deletes what others have"),
        ("touch seen.txt; unknown-program", "not a command that an automatic yes knows"),
    ],
)
def test_yes_never_answers_for_a_command_that_reaches_further_and_says_why(
    command: str, why: str, tmp_path: Path, folder: Path, env: dict[str, str]
) -> None:
    (folder / ".env").write_text("KEY=1\n")
    (folder / "notes").symlink_to(".env")
    call = {"name": "shell", "arguments": {"command": command}}
    model = scripted(tmp_path, {"calls": [call]}, {"text": "As you wish.", "expect": why})
    done = chat(model, "--yes", "go", cwd=folder, env=env)
    assert (done.returncode, "As you wish." in done.stdout) == (0, True), done
    assert "--yes never answers a question of the safety floor" in done.stdout
    assert why in done.stdout
    assert [*tmp_path.rglob("seen.txt")] == []


def test_the_rules_of_a_file_that_config_names_are_in_force(
    tmp_path: Path, folder: Path, env: dict[str, str]
) -> None:
    (folder / "mine.toml").write_text('[permissions]\ndeny = ["edit(new.txt)"]\n')
    model = scripted(
        tmp_path, {"calls": [WRITE]}, {"text": "Denied.", "expect": "your rule denies"}
    )
    done = chat(model, "--config=mine.toml", "--yes", "go", cwd=folder, env=env)
    assert (done.returncode, "Denied." in done.stdout) == (0, True), done
    assert not (folder / "new.txt").exists()


@pytest.mark.parametrize("arguments", [["--no"], []])
def test_no_and_nobody_to_ask_change_nothing(
    arguments: list[str], tmp_path: Path, folder: Path, env: dict[str, str]
) -> None:
    model = scripted(tmp_path, {"calls": [WRITE, SHELL]}, {"text": "As you wish."})
    done = chat(model, *arguments, "go", cwd=folder, env=env)
    assert done.returncode == 0, done
    assert list(folder.glob("*.txt")) == []
    assert "As you wish." in done.stdout


def test_a_failed_turn_is_exit_code_1_with_its_sentence(
    tmp_path: Path, folder: Path, env: dict[str, str]
) -> None:
    done = chat(scripted(tmp_path, {"fault": "auth"}), "go", cwd=folder, env=env)
    assert done.returncode == 1
    assert "fails as scripted" in done.stdout


def test_an_empty_prompt_is_refused(tmp_path: Path, folder: Path, env: dict[str, str]) -> None:
    done = chat(scripted(tmp_path, {"text": "x"}), cwd=folder, env=env, typed="\n")
    assert (done.returncode, "the prompt is empty" in done.stderr) == (1, True)


def test_a_signal_cancels_the_turn_with_exit_code_130(
    tmp_path: Path, folder: Path, env: dict[str, str]
) -> None:
    model = scripted(tmp_path, {"text": "First.\n\nSecond", "hang": True})
    process = subprocess.Popen(
        [PROGRAM, "chat", model, "go"],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"First.\n"
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read().decode()
        assert process.wait(15) == 130
    assert "cancelled" in rest
    assert left_running(tmp_path) == []


def test_a_session_goes_on_where_it_was(tmp_path: Path, folder: Path, env: dict[str, str]) -> None:
    model = scripted(tmp_path, {"text": "I am first."}, {"text": "I am second.", "expect": "again"})
    assert chat(model, "hello", cwd=folder, env=env).returncode == 0
    done = chat(model, "--resume", "--", "again", cwd=folder, env=env)
    assert done.returncode == 0, done
    assert done.stdout.index("› hello") < done.stdout.index("I am first.")
    assert done.stdout.index("I am first.") < done.stdout.index("I am second.")


def test_there_may_be_no_session_to_go_on_with(
    tmp_path: Path, folder: Path, env: dict[str, str]
) -> None:
    done = chat(scripted(tmp_path, {"text": "x"}), "--resume", "--", "hi", cwd=folder, env=env)
    assert done.returncode == 1
    assert "there is no session of" in done.stderr
    assert left_running(tmp_path) == []


@pytest.mark.parametrize("module", ["anyio", "json", "agent_server"])
def test_what_lies_in_the_folder_is_never_imported(
    module: str, tmp_path: Path, folder: Path, env: dict[str, str]
) -> None:
    (folder / f"{module}.py").write_text("raise SystemExit('imported from the workspace')\n")
    done = chat(scripted(tmp_path, {"text": "Safe."}), "hi", cwd=folder, env=env)
    assert (done.returncode, "Safe." in done.stdout) == (0, True), done
