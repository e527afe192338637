"""A bare client for both framings: starts a server, sends a request, stamps the moment its answer can be read."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Literal, Self

Framing = Literal["acp", "lsp"]


@dataclass
class Peer:
    """A server process and its pipes. Use as a context: leaving it closes stdin and waits."""

    command: Sequence[str]
    framing: Framing
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    started: float = 0.0
    last_id: int = 0

    def __enter__(self) -> Self:
        env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"} | dict(
            self.env
        )
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=env,
        )
        return self

    def __exit__(self, *error: object) -> None:
        self._in.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._out.close()

    @property
    def _in(self) -> IO[bytes]:
        if self.process.stdin is None:
            raise RuntimeError("no pipe to the server")
        return self.process.stdin

    @property
    def _out(self) -> IO[bytes]:
        if self.process.stdout is None:
            raise RuntimeError("no pipe from the server")
        return self.process.stdout

    def send(self, method: str, params: object) -> int:
        """Send a request; its id."""
        self.last_id += 1
        body = json.dumps(
            {"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}
        ).encode()
        self._write(body)
        return self.last_id

    def notify(self, method: str, params: object) -> None:
        """Send a notification."""
        self._write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    def answer(self, request: int) -> dict[str, object]:
        """The answer to a request of ours; what comes before it is dropped."""
        while True:
            message = self.read()
            if message.get("id") == request and "method" not in message:
                return message

    def read(self) -> dict[str, object]:
        """The next message."""
        message: dict[str, object] = json.loads(self.read_body())
        return message

    @property
    def cpu_s(self) -> float:
        """CPU time the server has used so far, all threads (Linux: the clock of a process by its id)."""
        return time.clock_gettime((~self.process.pid << 3) | 2)

    @property
    def pss_mb(self) -> float:
        """Memory of the server's process, shared pages counted in proportion."""
        rollup = Path(f"/proc/{self.process.pid}/smaps_rollup").read_text(encoding="ascii")
        return int(rollup.partition("\nPss:")[2].split()[0]) / 1024

    def _write(self, body: bytes) -> None:
        head = f"Content-Length: {len(body)}\r\n\r\n".encode() if self.framing == "lsp" else b""
        self._in.write(head + body + (b"" if self.framing == "lsp" else b"\n"))
        self._in.flush()

    def read_body(self) -> bytes:
        """The next message as it came."""
        if self.framing == "acp":
            line = self._out.readline()
            if not line:
                raise RuntimeError(f"{self.command[0]} ended")
            return line
        length = 0
        while (line := self._out.readline().strip()) or not length:
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
            elif not line and not length and self.process.poll() is not None:
                raise RuntimeError(f"{self.command[0]} ended")
        return self._out.read(length)


def median(values: Sequence[float]) -> float:
    """The middle one."""
    return percentile(values, 50)


def percentile(values: Sequence[float], percent: int) -> float:
    """The value that so many percent do not exceed."""
    return sorted(values)[len(values) * percent // 100]


def configured(folder: str, base_url: str) -> Mapping[str, str]:
    """The environment of an agent that keeps its files in `folder` and asks the model server."""
    return {
        "AGENT_SERVER_HOME": str(Path(folder, "home")),
        "AGENT_SERVER_MODEL": "openai/mock",
        "AGENT_SERVER_ENGINE": "http",
        "OPENAI_API_KEY": "sk-mock",
        "OPENAI_BASE_URL": base_url,
    }


def session_id(made: Mapping[str, object]) -> str:
    """The id in the answer to `session/new`."""
    match made:
        case {"result": {"sessionId": str(session)}}:
            return session
        case _:
            raise RuntimeError(f"no session was made: {made}")


PYTHON = sys.executable
OURS = str(Path(sys.executable).with_name("agent-server"))
FLOORS = Path(__file__).parent / "floors"
INITIALIZE_ACP: dict[str, object] = {"protocolVersion": 1, "clientCapabilities": {}}
INITIALIZE_LSP: dict[str, object] = {"processId": None, "rootUri": None, "capabilities": {}}
