import subprocess
import sys
from pathlib import Path

import pytest

from agent_server.front.terminal.demo import changes_on_disk, make_project
from agent_server.providers.demo import SAMPLE_FILES


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("HOME", "")
    return make_project()


def test_the_project_is_the_sample_under_git_even_without_a_home(project: Path) -> None:
    assert {name: (project / name).read_text() for name in SAMPLE_FILES} == dict(SAMPLE_FILES)
    log = subprocess.run(["git", "log", "--oneline"], cwd=project, capture_output=True, check=True)
    assert log.stdout.decode().endswith("The sample\n")


def test_the_sample_has_a_bug_that_its_test_finds(project: Path) -> None:
    run = [sys.executable, "-m", "unittest", "-q"]
    assert subprocess.run(run, cwd=project, capture_output=True, check=False).returncode == 1


def test_what_differs_from_the_sample_is_the_diff(project: Path) -> None:
    assert changes_on_disk(project) == []
    cart = project / "shop/cart.py"
    cart.write_text(cart.read_text().replace("Cart", "Basket"))
    (change,) = changes_on_disk(project)
    assert (change.path, len(change.hunks)) == (str(cart), 1)
