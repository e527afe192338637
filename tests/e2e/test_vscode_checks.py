"""The extension's own checks: TypeScript at its strictest, biome, and vitest for all that needs no VS Code."""

import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent / "vscode"
EXTENSION = Path(__file__).parents[2] / "editors" / "vscode"

pytestmark = pytest.mark.timeout(300)  # the first run installs node_modules


@pytest.mark.parametrize("check", ["types", "lint", "test"])
def test_the_extension_passes(check: str) -> None:
    subprocess.run([HERE / "dependencies.sh"], check=True)

    told = subprocess.run(
        ["npm", "run", "--silent", check],
        cwd=EXTENSION,
        capture_output=True,
        text=True,
        check=False,
    )

    assert told.returncode == 0, told.stdout + told.stderr
