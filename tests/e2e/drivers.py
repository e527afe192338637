"""Three ways to hold the same conversation with a real process: ACP, LSP and the terminal client."""

import json
import os
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import Any, Literal

import anyio
import anyio.abc
from anyio.streams.buffered import BufferedByteReceiveStream

from agent_server.front.terminal.client import CAPABILITIES
from agent_server.loop.model import Entry
from agent_server.store.sessions import SessionStore
from tests.acp_oracle import check, read_trace

PROGRAM = str(Path(sys.executable).with_name("agent-server"))
Wire = Literal["acp", "lsp", "chat"]
Message = dict[str, Any]


@dataclass
class Client:
    """A bare JSON-RPC client for both framings; answers the server's requests by `answers`."""

    process: anyio.abc.Process
    framed: bool
    answers: Mapping[str, Callable[[Message], Any]]
    seen: list[Message] = field(default_factory=list)
    last_id: int = 0

    def __post_init__(self) -> None:
        assert self.process.stdout is not None
        self.input = BufferedByteReceiveStream(self.process.stdout)

    async def send(self, message: Message) -> None:
        """One message."""
        assert self.process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        await self.process.stdin.send(
            b"Content-Length: %d\r\n\r\n%b" % (len(body), body) if self.framed else body + b"\n"
        )

    async def read(self) -> Message:
        """The next message; a request of the server is answered on the way."""
        if self.framed:
            head = await self.input.receive_until(b"\r\n\r\n", 4096)
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            message: Message = json.loads(await self.input.receive_exactly(length))
        else:
            message = json.loads(await self.input.receive_until(b"\n", 1 << 25))
        self.seen.append(message)
        if "method" in message and "id" in message:
            await self._answer(message)
        return message

    async def _answer(self, message: Message) -> None:
        answer = self.answers.get(message["method"])
        if answer is None:
            error = {"code": -32601, "message": "no such method"}
            await self.send({"id": message["id"], "error": error})
        else:
            await self.send({"id": message["id"], "result": answer(message["params"])})

    async def request(self, method: str, params: Message) -> Any:
        """The result of a request; an error fails the test."""
        self.last_id += 1
        await self.send({"id": self.last_id, "method": method, "params": params})
        while True:
            message = await self.read()
            if "method" not in message and message.get("id") == self.last_id:
                assert "error" not in message, message
                return message["result"]


def allow(params: Message) -> Message:
    """The first option of a permission request: a yes for this once."""
    return {"outcome": {"outcome": "selected", "optionId": params["options"][0]["optionId"]}}


ANSWERS = {"session/request_permission": allow, "agent/session/request_permission": allow}
ACP_CLIENT: Message = {"protocolVersion": 1, "clientCapabilities": {}}
LSP_CLIENT: Message = {
    "processId": None,
    "rootUri": None,
    "capabilities": {
        "experimental": {"agent": {"version": 1, "sessionUpdate": True, "permission": True}}
    },
}


@asynccontextmanager
async def client_of(
    dialect: Literal["acp", "lsp"], env: Mapping[str, str], *, capabilities: Message | None = None
) -> AsyncGenerator[Client]:
    """A server process with a client that has initialized; leaving waits for its exit."""
    process = await anyio.open_process(
        [PROGRAM, dialect], stdin=PIPE, stdout=PIPE, stderr=sys.stderr, env={**os.environ, **env}
    )
    async with process:
        client = Client(process, dialect == "lsp", ANSWERS)
        hello = ACP_CLIENT if dialect == "acp" else LSP_CLIENT
        await client.request("initialize", hello | (capabilities or {}))
        if dialect == "lsp":
            await client.send({"method": "initialized", "params": {}})
        yield client
        assert process.stdin is not None
        await process.stdin.aclose()
        with anyio.fail_after(10):
            await process.wait()


async def converse(wire: Wire, prompt: str, cwd: Path, env: Mapping[str, str]) -> None:
    """One turn in `cwd`, every question answered with yes."""
    trace = cwd.with_name("trace.ndjson")
    env = {**env, "AGENT_SERVER_TRACE": str(trace)}
    await _hold(wire, prompt, cwd, env)
    if wire != "lsp":
        capabilities = ACP_CLIENT["clientCapabilities"] if wire == "acp" else dict(CAPABILITIES)
        assert check(read_trace(trace), capabilities=capabilities) == []


async def _hold(wire: Wire, prompt: str, cwd: Path, env: Mapping[str, str]) -> None:
    if wire == "chat":
        command = [PROGRAM, "chat", "--yes", prompt]
        await anyio.run_process(command, stdin=DEVNULL, cwd=cwd, env={**os.environ, **env})
        return
    prefix = "" if wire == "acp" else "agent/"
    async with client_of(wire, env) as client:
        made = await client.request(f"{prefix}session/new", {"cwd": str(cwd), "mcpServers": []})
        content = [{"type": "text", "text": prompt}]
        await client.request(
            f"{prefix}session/prompt", {"sessionId": made["sessionId"], "prompt": content}
        )


async def log_of_newest(home: Path) -> list[Entry]:
    """The log of the session that was spoken in last."""
    store = SessionStore(home / "state" / "sessions.db")
    (newest, *_), _ = await store.list()
    entries = list((await store.open_log(newest.id)).entries)
    await store.aclose()
    return entries
