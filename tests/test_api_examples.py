"""Every example of docs/python-api.md runs, as it stands, against a scripted model."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "python-api.md"
EXAMPLES = re.findall(
    r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
)
STEPS = [
    {"calls": [{"name": "list", "arguments": {}}]},
    *({"text": f"answer {number}"} for number in range(1, 6)),
]


def test_the_page_has_examples() -> None:
    assert len(EXAMPLES) >= 6


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_an_example_runs_as_it_is_printed(example: str, tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps(STEPS))
    work = tmp_path / "work"
    work.mkdir()
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", example],
        cwd=work,
        env={"AGENT_SERVER_HOME": str(tmp_path), "AGENT_SERVER_MODEL": f"scripted:{script}"},
        capture_output=True,
        text=True,
        timeout=15,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "answer 1" in done.stdout or "answer 2" in done.stdout
