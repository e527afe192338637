"""A real agent process for ACP clients that are not ours: its script, its command, and the judge of its traffic."""

import json
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from tests.acp_oracle import check
from tests.fakes.acp_client import AcpClient

PROGRAM = str(Path(sys.executable).with_name("agent-server"))
CLIENTS = Path(__file__).parent / "clients"


@dataclass(frozen=True)
class Agent:
    """One agent: a workspace with a file to edit, a home of its own, a scripted model and a log of its traffic."""

    root: Path
    endpoint: str | None = None
    """Of an OpenAI-compatible server, in place of the script."""

    @property
    def workspace(self) -> Path:
        return self.root / "workspace"

    @property
    def file(self) -> Path:
        return self.workspace / "a.py"

    @property
    def log(self) -> Path:
        return self.root / "traffic.ndjson"

    @property
    def command(self) -> list[str]:
        """The agent, with its traffic written down."""
        return [sys.executable, str(CLIENTS / "tee.py"), str(self.log), PROGRAM, "acp"]

    @property
    def environment(self) -> dict[str, str]:
        """Nothing of the person who runs the tests but where programs are."""
        model = {"AGENT_SERVER_MODEL": f"scripted:{self.root / 'script.json'}"}
        if self.endpoint is not None:
            model = {
                "AGENT_SERVER_MODEL": "openai/mock",
                "OPENAI_API_KEY": "sk-test-0123456789",
                "OPENAI_BASE_URL": self.endpoint,
            }
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.root / "home"),
            "AGENT_SERVER_HOME": str(self.root / "state"),
            **model,
        }

    def violations(self) -> list[str]:
        """What the oracle has to say of everything that went over the wire; standard output was frames only."""
        lines = self.log.read_text(encoding="utf-8").splitlines()
        records = (json.loads(line) for line in lines)
        return check((record["direction"], json.loads(record["line"])) for record in records)


def agent(root: Path, *steps: dict[str, Any]) -> Agent:
    """An agent whose model follows `steps` in each of its sessions."""
    made = Agent(root)
    made.workspace.mkdir()
    (root / "home").mkdir()
    made.file.write_text("x = 1\n")
    (root / "script.json").write_text(json.dumps(steps))
    return made


def says(text: str, **more: Any) -> dict[str, Any]:
    """A step."""
    return {"text": text, **more}


def edits(text: str, old: str, new: str) -> dict[str, Any]:
    """A step that edits the file."""
    arguments = {"path": "a.py", "edits": [{"old_text": old, "new_text": new}]}
    return {"text": text, "calls": [{"name": "edit", "arguments": arguments}]}


@asynccontextmanager
async def connected(made: Agent, **client: Any) -> AsyncGenerator[AcpClient]:
    """Our own strict client on a process of the agent; the process ends by itself at the end of its input."""
    process = await anyio.open_process(
        [PROGRAM, "acp"], env=made.environment, cwd=made.workspace, stderr=None
    )
    stdin, stdout = process.stdin, process.stdout
    assert stdin is not None
    assert stdout is not None

    async def receive() -> bytes:
        try:
            return await stdout.receive()
        except anyio.EndOfStream:
            return b""

    talking = AcpClient(receive, stdin.send, **client)
    with anyio.fail_after(30):
        async with process, anyio.create_task_group() as tasks:
            tasks.start_soon(talking.read)
            await talking.initialize()
            yield talking
            await stdin.aclose()
            assert await process.wait() == 0
    talking.oracle.finish()
    violations = talking.oracle.violations
    assert violations == [], violations
