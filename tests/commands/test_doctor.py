"""`doctor`: what it calls a problem, and what it only notes."""

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from agent_server.commands import check_machine
from agent_server.commands.check_machine import check_ripgrep, check_sandbox, check_startup_code
from agent_server.commands.check_store import check_store
from agent_server.commands.doctor import examine
from agent_server.commands.findings import Finding, lines
from agent_server.options import Options
from agent_server.store.schema import STEPS
from agent_server.store.sessions import SessionStore


def problems(findings: Iterable[Finding]) -> list[str]:
    return [finding.what for finding in findings if finding.state == "problem"]


def store_with_a_session(path: Path) -> Path:
    async def make() -> None:
        store = SessionStore(path)
        await store.create("/work")
        await store.aclose()

    anyio.run(make)
    return path


def test_a_finding_is_a_line_with_what_to_do_below():
    found = [Finding("OK", "fine"), Finding("problem", "bad \x1b[0m", "mend it")]

    assert list(lines(found)) == [
        "OK       fine",
        "problem  bad \u241b[0m",
        "         fix: mend it",
    ]


def test_a_wrong_setting_is_named_with_file_line_and_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "config.toml").write_text('\n[limits]\nmax_turns = "many"\n')

    code = examine(Options(), environ={"AGENT_SERVER_HOME": str(tmp_path)}, cwd=tmp_path)

    assert code == 1
    assert f"problem  {tmp_path}/config.toml:3: limits.max_turns:" in capsys.readouterr().out


def test_a_setting_that_does_nothing_yet_is_a_note(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "config.toml").write_text("[context]\nprune_at = 0.5\n")

    examine(Options(), environ={"AGENT_SERVER_HOME": str(tmp_path)}, cwd=tmp_path)

    said = f"note     {tmp_path}/config.toml:2: context.prune_at: accepted, not in effect in this version"
    assert said in capsys.readouterr().out


def test_a_config_file_that_was_named_must_exist(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    options = Options(config=str(tmp_path / "other.toml"))

    assert examine(options, environ={"AGENT_SERVER_HOME": str(tmp_path)}, cwd=tmp_path) == 1
    assert f"{options.config} does not exist" in capsys.readouterr().out


def test_looking_makes_no_store(tmp_path: Path):
    assert problems(check_store(tmp_path / "a" / "sessions.db")) == []
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_cannot_be_made_is_a_problem(tmp_path: Path):
    (tmp_path / "state").write_text("in the way")

    (problem,) = problems(check_store(tmp_path / "state" / "sessions.db"))
    assert f"{tmp_path}/state takes no files" in problem


def test_a_good_store_is_counted(tmp_path: Path):
    (found,) = check_store(store_with_a_session(tmp_path / "sessions.db"))

    assert (found.state, found.what.endswith(f"(version {len(STEPS)}, 1 sessions)")) == ("OK", True)


@pytest.mark.skipif("sys.platform == 'win32'")
def test_a_store_that_others_can_read_is_a_problem(tmp_path: Path):
    path = store_with_a_session(tmp_path / "sessions.db")
    path.chmod(0o644)

    assert problems(check_store(path)) == [f"others can read the store {path}"]


def test_a_newer_or_broken_store_is_a_problem(tmp_path: Path):
    path = store_with_a_session(tmp_path / "sessions.db")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA user_version = 9")
    connection.close()
    (newer,) = problems(check_store(path))
    assert "written by a newer agent-server" in newer

    path.write_bytes(b"garbage" * 1000)
    (broken,) = problems(check_store(path))
    assert "not a database" in broken


def test_a_missing_ripgrep_is_a_problem(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(check_machine, "find_ripgrep", lambda: None)

    assert check_ripgrep().state == "problem"


def test_a_missing_sandbox_is_said_and_no_problem(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)

    assert check_sandbox().state == "note"


USUAL = {
    "agent_server.pth": "/home/me/agent-server\n",
    "_virtualenv.pth": "import _virtualenv",
    "__editable__.thing-1.pth": "import __editable___thing_1_finder; __editable___thing_1_finder.install()",
    "distutils-precedence.pth": "import os; var = 'SETUPTOOLS_USE_DISTUTILS'; enabled = os.environ.get(var, 'local')"
    " == 'local'; enabled and __import__('_distutils_hack').add_shim(); \n",
}


def test_what_packaging_tools_put_there_is_expected(tmp_path: Path):
    for name, text in USUAL.items():
        (tmp_path / name).write_text(text)

    assert problems(check_startup_code(frozenset([tmp_path]))) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("litellm_init.pth", "import os, subprocess; subprocess.Popen(['x'])"),
        ("distutils-precedence.pth", "import base64; exec(base64.b64decode('eA=='))"),
        ("agent_server.pth", "/home/me\nimport\tevil\n"),
        ("bom.pth", "\ufeffimport evil"),
        ("sitecustomize.py", ""),
        ("usercustomize.py", ""),
        ("sitecustomize.cpython-311-x86_64-linux-gnu.so", ""),
    ],
)
def test_other_code_that_runs_at_every_start_is_a_problem(tmp_path: Path, name: str, text: str):
    (tmp_path / name).write_text(text, encoding="utf-8")

    (problem,) = problems(check_startup_code(frozenset([tmp_path])))
    assert name in problem


def test_the_program_finds_itself_in_order_and_prints_no_credential(tmp_path: Path):
    """The whole command in a fresh process, as a person runs it."""
    done = subprocess.run(
        [sys.executable, "-m", "agent_server", "doctor"],
        env={
            "AGENT_SERVER_HOME": str(tmp_path),
            "PATH": "",
            "OPENAI_API_KEY": "sk-SECRET",
            "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",  # so that no model is chosen, and none asked
        },
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=15,
    )
    assert done.stdout.startswith("OK       Python 3.")
    assert done.stderr == ""
    assert "SECRET" not in done.stdout
