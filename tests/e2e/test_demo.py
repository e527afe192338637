# ruff: noqa: RUF001 - what the screen is drawn with
"""`agent-server demo`, as somebody meets it first: offline, without a key, without a home."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from agent_server.front.terminal.client import CAPABILITIES
from agent_server.providers.demo import SAMPLE_FILES
from tests.acp_oracle import check, read_trace
from tests.front.terminal.pty_terminal import PROGRAM, left_running, marked, on_a_terminal


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    offline = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), "http://127.0.0.1:9")
    return marked(os.environ, tmp_path) | offline | {"TMPDIR": str(temporary)}


def demo(*arguments: str, env: dict[str, str], cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [PROGRAM, "demo", *arguments]
    return subprocess.run(
        command,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        text=True,
        capture_output=True,
        timeout=60,
        check=False,
    )


def project_of(output: str) -> Path:
    found = re.search(r"The project: (\S+)", output)
    assert found, output
    return Path(found[1])


def changed(project: Path) -> list[str]:
    return [name for name, text in SAMPLE_FILES.items() if (project / name).read_text() != text]


def test_with_yes_it_changes_two_files_and_the_test_passes(
    tmp_path: Path, env: dict[str, str]
) -> None:
    done = demo("--yes", env=env, cwd=tmp_path)
    assert done.returncode == 0, done
    project = project_of(done.stdout)
    assert changed(project) == ["shop/prices.py", "shop/cart.py"]
    test = [sys.executable, "-m", "unittest", "-q"]
    assert subprocess.run(test, cwd=project, capture_output=True, check=False).returncode == 0
    assert "✓ shell python3 -m unittest -q (exit 0" in done.stdout
    assert left_running(tmp_path) == []


def test_what_it_shows_at_the_end_is_what_git_sees(tmp_path: Path, env: dict[str, str]) -> None:
    done = demo("--yes", env=env, cwd=tmp_path)
    shown = done.stdout.split("On disk now")[1].split("Go on")[0]
    lines = [line[9:] for line in shown.splitlines() if re.match(r" {2,}\d+ [+−]  ", f"{line}   ")]
    command = ["git", "diff", "--no-color", "-U0", "--no-ext-diff"]
    diff = subprocess.run(
        command, cwd=project_of(done.stdout), capture_output=True, text=True, check=True
    )
    theirs = [line[1:] for line in diff.stdout.splitlines() if re.match(r"[+-](?![+-]{2})", line)]
    assert sorted(lines) == sorted(theirs)


def test_with_no_it_changes_nothing(tmp_path: Path, env: dict[str, str]) -> None:
    done = demo("--no", env=env, cwd=tmp_path)
    assert done.returncode == 0, done
    assert changed(project_of(done.stdout)) == []
    assert "Nothing was changed on disk" in done.stdout
    assert left_running(tmp_path) == []


def test_it_says_that_the_model_is_scripted_and_how_to_go_on(
    tmp_path: Path, env: dict[str, str]
) -> None:
    done = demo("--yes", env=env, cwd=tmp_path)
    assert done.stdout.startswith("A demo with a scripted model.")
    assert f"cd {project_of(done.stdout)}" in done.stdout.split("Go on")[1]


def test_it_leaves_the_project_and_nothing_else(tmp_path: Path, env: dict[str, str]) -> None:
    done = demo("--yes", env=env, cwd=tmp_path)
    assert list((tmp_path / "tmp").iterdir()) == [project_of(done.stdout)]
    assert not (tmp_path / "home").exists()


def test_a_person_reviews_the_edits(tmp_path: Path, env: dict[str, str]) -> None:
    with on_a_terminal("demo", cwd=tmp_path, env=env) as terminal:
        project = project_of(terminal.expect(r"The project: \S+\s"))
        terminal.expect(r"shop/prices\.py  \+5 −0[\s\S]*1 of 2[\s\S]*apply\?")
        terminal.answer("y")
        terminal.expect(r"shop/cart\.py  \+2 −2[\s\S]*2 of 2[\s\S]*apply\?")
        terminal.answer("n")
        terminal.expect(r"run a command[\s\S]*python3 -m unittest -q[\s\S]*\[y\] once")
        terminal.answer("y")
        terminal.expect("1 file changed")
        terminal.expect("Go on")
        assert terminal.end() == 0
    assert changed(project) == ["shop/prices.py"]
    assert left_running(tmp_path) == []


def test_what_it_is_sent_is_valid_acp(tmp_path: Path, env: dict[str, str]) -> None:
    trace = tmp_path / "trace.ndjson"
    assert demo("--yes", "--trace", str(trace), env=env, cwd=tmp_path).returncode == 0
    messages = list(read_trace(trace))
    assert any(message.get("method") == "session/update" for _, message in messages)
    assert check(messages, capabilities=dict(CAPABILITIES)) == []
