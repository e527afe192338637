"""The real program behind an LSP client: for tests/e2e."""

import json
import os
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE
from typing import Any

import anyio
import anyio.abc

from tests.front.lsp.lsp_client import LspClient

PROGRAM = str(Path(sys.executable).with_name("agent-server"))

Step = dict[str, Any]


@dataclass
class Running:
    """A process, and a client on its pipes that has not initialized."""

    client: LspClient
    process: anyio.abc.Process
    root: Path

    async def exited(self) -> int:
        """The exit code, once it is over."""
        return await self.process.wait()


def script(home: Path, steps: Sequence[Step]) -> str:
    """A model that replays these steps, as `--model` takes it."""
    path = home / "script.json"
    path.write_text(json.dumps(list(steps)), encoding="utf-8")
    return f"scripted:{path}"


def environment(home: Path) -> dict[str, str]:
    """Nothing of the person's own configuration."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("AGENT_SERVER_")}
    return {**kept, "AGENT_SERVER_HOME": str(home / "home")}


def edit_step(path: str, old: str, new: str, text: str = "I edit.") -> Step:
    """A step that edits one place."""
    arguments = {"path": path, "edits": [{"old_text": old, "new_text": new}]}
    return {"text": text, "calls": [{"name": "edit", "arguments": arguments}]}


@asynccontextmanager
async def running(home: Path, *steps: Step, **client: Any) -> AsyncGenerator[Running]:
    """`agent-server lsp`; killed at the end if it still runs."""
    root = home / "w"
    root.mkdir(exist_ok=True)
    process = await anyio.open_process(
        [PROGRAM, "lsp", "--model", script(home, steps)],
        stdin=PIPE,
        stdout=PIPE,
        stderr=None,
        env=environment(home),
    )
    output, send = process.stdout, process.stdin
    assert output is not None
    assert send is not None

    async def receive() -> bytes:
        try:
            return await output.receive()
        except anyio.EndOfStream:
            return b""

    editor = LspClient(receive, send.send, **client)
    with anyio.fail_after(18):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(editor.read)
            yield Running(editor, process, root)
            if process.returncode is None:
                process.kill()
            await process.wait()
            tasks.cancel_scope.cancel()
    await process.aclose()
    assert editor.violations == []
