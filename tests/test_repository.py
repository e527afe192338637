"""The repository's promises about itself, our choice."""

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from agent_server.version import __version__

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCKS = ("requirements.lock", "requirements-dev.lock")
NPM_LOCKS = (
    "editors/vscode/package-lock.json",
    "tests/e2e/clients/package-lock.json",
    "tests/e2e/vscode/package-lock.json",
)
# Split, so that this file does not name them either.
REGISTRIES = re.compile(
    "|".join(
        (
            "pypi" + r"\.org",
            "python" + "hosted",
            "npmjs" + r"\.",
            "yarn" + "pkg",
            "crates" + r"\.io",
        )
    )
)
MACHINE_PATHS = re.compile(rf"(?<![\w.~$}}-])(?:{re.escape(str(ROOT))}|/root|/tmp/tmp\w*)/")


def committed_texts() -> list[tuple[str, str]]:
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True
    ).stdout.split("\0")
    files = [ROOT / name for name in names if name]
    return [
        (str(path.relative_to(ROOT)), path.read_bytes().decode("utf-8", errors="replace"))
        for path in files
        if path.is_file()
    ]


def test_the_baked_version_is_the_projects() -> None:
    assert PROJECT["version"] == __version__


def test_no_committed_file_names_a_package_registry() -> None:
    assert [name for name, text in committed_texts() if REGISTRIES.search(text)] == []


def test_no_committed_file_names_a_path_of_the_machine_it_was_written_on() -> None:
    assert [name for name, text in committed_texts() if MACHINE_PATHS.search(text)] == []


def test_every_lock_of_npm_is_looked_at() -> None:
    assert {n for n, _ in committed_texts() if n.endswith("package-lock.json")} == set(NPM_LOCKS)


@pytest.mark.parametrize("name", NPM_LOCKS)
def test_every_package_locked_for_npm_has_a_hash_and_no_host(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    packages = json.loads(text)["packages"]
    locked = {path: package for path, package in packages.items() if path}

    assert locked
    assert [path for path, package in locked.items() if "integrity" not in package] == []
    assert [path for path, package in locked.items() if "resolved" in package] == []
    assert "://" not in text, "npm writes who takes donations into its locks: leave `funding` out"


@pytest.mark.parametrize("name", LOCKS)
def test_every_locked_package_is_pinned_with_hashes(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    entries = re.split(r"\n(?=[a-zA-Z0-9])", text)[1:]

    assert entries
    assert [e.split()[0] for e in entries if "==" not in e or "--hash=sha256:" not in e] == []


def test_both_locks_agree() -> None:
    runtime, development = (
        dict(
            re.findall(
                r"^([a-z0-9-]+)==(\S+)", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE
            )
        )
        for name in LOCKS
    )

    assert runtime.items() <= development.items()


def test_every_requirement_of_the_project_is_locked() -> None:
    locked = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    required = [re.split(r"[<>=!~ \[;]", line)[0] for line in PROJECT["dependencies"]]

    assert [name for name in required if f"\n{name}==" not in locked] == []
