"""A real Neovim, without any plugin, drops a stale edit and says `applied: true`: it is not believed (lsp.md §4.3)."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agent_server.loop.model import ResultEntry
from tests.e2e.drivers import log_of_newest
from tests.e2e.test_nvim_client import NVIM, folder
from tests.front.lsp.lsp_process import PROGRAM, edit_step, environment, script

pytestmark = pytest.mark.anyio
CLIENT = Path(__file__).parent / "clients" / "nvim_stale.lua"
DISK = "one\ntwo\nthree\nfour\nfive\n"


async def test_a_dropped_edit_of_a_line_that_was_typed_over_is_a_conflict_and_the_model_is_told(
    tmp_path: Path,
) -> None:
    seen = _typing(tmp_path, times=1, line=3)

    assert seen["answers"] == [True]
    assert seen["lines"] == ["one, unsaved too", "two", "three", "typed 1", "five"]
    ok, told = await _result(tmp_path)
    assert not ok
    assert "changed since the edit was proposed, in the same place" in told


async def test_a_dropped_edit_of_another_line_is_fitted_anew_and_sent_again(tmp_path: Path) -> None:
    seen = _typing(tmp_path, times=1, line=1)

    assert seen["answers"] == [True, True]
    assert seen["lines"] == ["one, unsaved too", "typed 1", "three", "FOUR", "five"]
    assert (await _result(tmp_path))[0]


async def test_an_edit_that_is_dropped_each_time_is_never_said_to_be_applied(
    tmp_path: Path,
) -> None:
    seen = _typing(tmp_path, times=99, line=1)

    assert set(seen["answers"]) == {True}
    assert seen["lines"][3] == "four"
    assert not (await _result(tmp_path))[0]


def _typing(home: Path, *, times: int, line: int) -> Mapping[str, Any]:
    """What a turn came to that edits line 3 (from 0) while the person types on `line`."""
    path = home / "w" / "a.py"
    path.parent.mkdir()
    path.write_text(DISK)
    model = script(home, [edit_step("a.py", "four", "FOUR"), {"text": "Done."}])
    env = environment(home) | {
        f"XDG_{name}_HOME": str(folder(home, name)) for name in ("STATE", "DATA", "CONFIG", "CACHE")
    }
    done = subprocess.run(
        [NVIM, "--clean", "-l", CLIENT, PROGRAM, model, path, str(times), str(line)],
        env=env, cwd=path.parent, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert path.read_text() == DISK
    return json.loads(done.stdout.splitlines()[-1])


async def _result(home: Path) -> tuple[bool, str]:
    """Whether the model was told of a success, and its words."""
    (result,) = [e for e in await log_of_newest(home / "home") if isinstance(e, ResultEntry)]
    return result.result.ok, result.result.output
