"""eglot in Emacs, a client with none of our code: it prompts, is asked, gets the edit, undoes it, has actions."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.emacs.emacs import Emacs, NoEmacs, find
from tests.front.lsp.lsp_process import PROGRAM, edit_step, environment, script

pytestmark = pytest.mark.timeout(
    480
)  # the first time, an Emacs is fetched: twice `FETCH_S`, and unpacked

DRIVE = Path(__file__).parent / "emacs" / "drive.el"
OLD, NEW = "one\ntwo\n", "ONE\ntwo\n"


@pytest.fixture(scope="session")
def emacs() -> Emacs:
    try:
        return find()
    except NoEmacs as none:
        pytest.fail(f"eglot cannot be tried: {none}")


def test_eglot_prompts_is_asked_and_applies_the_edit(emacs: Emacs, tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    workspace.mkdir()
    (workspace / ".git").mkdir()  # a project, so that eglot asks for no folder
    path = workspace / "a.py"
    path.write_text(OLD, encoding="utf-8")
    steps = [
        edit_step("a.py", "one", "ONE"),
        {"text": "All done."},
        {"text": "It is a list of numbers.", "expect": "Explain lines 1-2 of `a.py`"},
    ]
    command = [PROGRAM, "lsp", "--model", script(tmp_path, steps)]
    done = subprocess.run(
        [*emacs.command, "--batch", "-Q", "-l", str(DRIVE), "-f", "drive"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={
            **environment(tmp_path),
            **emacs.environment,
            "AGENT_COMMAND": json.dumps(command),
            "AGENT_FILE": str(path),
            "HOME": str(tmp_path),
        },
    )

    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert (seen["edited"], seen["undone"]) == (NEW, OLD)
    assert path.read_text("utf-8") == OLD  # the buffer is the person's to save
    assert len(seen["questions"]) == 1
    assert "a.py" in seen["questions"][0]
    assert (seen["progress"][0], seen["progress"][-1]) == ("begin", "end")
    assert seen["titles"] == [
        "Rewrite with the agent",
        "Explain with the agent",
        "Write a test with the agent",
    ]
    assert [
        m.strip()
        for m in seen["messages"]
        if m.strip() in ("All done.", "It is a list of numbers.")
    ] == [
        "All done.",
        "It is a list of numbers.",
    ]
