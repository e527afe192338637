"""Real processes for hostile tests: a place of their own, one client for both wires, and a count of what they leave.

    place = Place.at(tmp_path)
    async with ModelServer([...]) as model, running(place, wire, model=model) as server:
        session = await server.client.new(str(place.workspace))

Leaving `running` closes the input; the process must then end with 0, leave no descendant, have written frames only, and
have no traceback on its standard error.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import anyio
import anyio.abc
import anyio.lowlevel

from tests.acp_oracle import Oracle
from tests.fakes.acp_client import AcpClient, Message
from tests.fakes.model_server import ModelServer
from tests.waiting import wait_until_async

PROGRAM = str(Path(sys.executable).with_name("agent-server"))
Wire = Literal["acp", "lsp"]
WIRES: tuple[Wire, ...] = ("acp", "lsp")
TROUBLE = ("Traceback", "never awaited", "was never retrieved", "Unclosed", "ResourceWarning")
"""Words on standard error that no run may leave."""
LSP_AGENT = {"version": 1, "sessionUpdate": True, "permission": True}


@dataclass(frozen=True)
class Place:
    """A workspace with a file, and a home of its own; the path of its root marks every process started in it."""

    root: Path

    @staticmethod
    def at(root: Path) -> "Place":
        """A new one below `root`."""
        place = Place(root)
        place.workspace.mkdir()
        place.home.mkdir()
        place.file.write_text("x = 1\n")
        return place

    @property
    def workspace(self) -> Path:
        return self.root / "workspace"

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def file(self) -> Path:
        return self.workspace / "a.py"

    @property
    def errors(self) -> Path:
        """What the processes wrote to standard error."""
        return self.root / "stderr.txt"

    def environment(self, model: ModelServer | None = None, **more: str) -> dict[str, str]:
        """Nothing of the person who runs the tests but where programs are."""
        given = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "AGENT_SERVER_HOME": str(self.root / "state"),
            **{name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ},
        }
        if model is not None:
            given |= {
                "AGENT_SERVER_MODEL": "openai/mock",
                "OPENAI_API_KEY": "sk-test-of-nobody",
                "OPENAI_BASE_URL": model.base_url,
            }
        return given | more

    def script(self, *steps: Mapping[str, Any]) -> str:
        """A model that replays these steps, as `AGENT_SERVER_MODEL` names it."""
        path = self.root / "script.json"
        path.write_text(json.dumps(steps))
        return f"scripted:{path}"

    def processes(self) -> dict[int, str]:
        """Living processes that were started in this place, by their marked environment: id and command line."""
        found: dict[int, str] = {}
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                marked = entry.name.isdigit() and (
                    str(self.root).encode() in (entry / "environ").read_bytes()
                )
                if marked and _runs(entry):
                    line = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
                    found[int(entry.name)] = line.decode("utf-8", "replace")
        return found

    def kill_all(self) -> None:
        """End them, whatever they are."""
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    async def alone(self) -> None:
        """Return once nothing that was started here is alive."""
        await wait_until_async(self.processes, lambda living: not living)


def _runs(entry: Path) -> bool:
    """False for a zombie: its parent, not the agent, has yet to collect it."""
    return (entry / "stat").read_bytes().rpartition(b") ")[2][:1] not in (b"Z", b"X")


class LspTalk(AcpClient):
    """The same client over LSP: ACP's names become LSP's on the way out, and LSP's become ACP's on the way in."""

    async def initialize(self, **more: Any) -> Any:
        """The handshake."""
        capabilities = {"experimental": {"agent": LSP_AGENT}, **self.capabilities}
        params = {"processId": None, "rootUri": None, "capabilities": capabilities, **more}
        result = await self.request("initialize", params)
        await self.notify("initialized", {})
        return result

    async def tell(self, *messages: Message) -> None:
        """Send messages in one packet."""
        bodies = [json.dumps({"jsonrpc": "2.0", **_to_lsp(m)}).encode() for m in messages]
        self.sent.extend(messages)
        await self.send(b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(b), b) for b in bodies))

    async def read(self) -> None:
        """Read and answer until the server hangs up; anything but frames fails."""
        buffer = bytearray()
        while data := await self.receive():
            buffer += data
            while (end := buffer.find(b"\r\n\r\n")) >= 0:
                name, _, length = bytes(buffer[:end]).partition(b": ")
                assert name == b"Content-Length", bytes(buffer[:200])
                if len(buffer) < (whole := end + 4 + int(length)):
                    break
                message = json.loads(buffer[end + 4 : whole])
                del buffer[:whole]
                await self._take(_from_lsp(message))
        assert not buffer.strip(), bytes(buffer[:200])


class _Silent(Oracle):
    """ACP's law says nothing about LSP's frames."""

    def sent(self, message: Message) -> None: ...

    def received(self, message: Message) -> None: ...


def _to_lsp(message: Message) -> Message:
    match message.get("method"):
        case "$/cancel_request":
            asked = message["params"]["requestId"]
            return {**message, "method": "$/cancelRequest", "params": {"id": asked}}
        case str(method) if method.startswith("session/"):
            return {**message, "method": f"agent/{method}"}
        case _:
            return message


def _from_lsp(message: Message) -> Message:
    method = message.get("method", "")
    return {**message, "method": method.removeprefix("agent/")} if method else message


@dataclass
class Server:
    """One process and the client on its pipes."""

    place: Place
    process: anyio.abc.Process
    client: AcpClient
    output: int
    """Our end of its standard output; -1 once closed."""
    reading: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    unheard: bool = False
    """Killed, or told to go, so that requests may stay without an answer."""

    async def hang_up(self) -> None:
        """Close the agent's input."""
        assert self.process.stdin is not None
        await self.process.stdin.aclose()

    async def stop_reading(self) -> None:
        """Close our end of its output: its next write is a broken pipe."""
        self.ignore()
        await anyio.lowlevel.checkpoint()
        os.close(self.output)
        self.output = -1

    def ignore(self) -> None:
        """Read nothing more."""
        self.unheard = True
        self.reading.cancel()

    async def ended(self) -> int:
        """The exit code, once it and all that it started are gone."""
        code = await self.process.wait()
        await self.place.alone()
        return code

    def kill(self, number: signal.Signals = signal.SIGKILL) -> None:
        """Send it a signal."""
        self.unheard = True
        self.process.send_signal(number)


@asynccontextmanager
async def running(
    place: Place,
    wire: Wire = "acp",
    *,
    model: ModelServer | None = None,
    env: Mapping[str, str] | None = None,
    command: Sequence[str] | None = None,
    initialize: bool = True,
    trouble: Sequence[str] = TROUBLE,
    within_s: float = 50,
    **client: Any,
) -> AsyncGenerator[Server]:
    """A process with a client. `env` is added to the place's environment."""
    environment = place.environment(model, **(env or {}))
    receiving, sending = os.pipe()
    with place.errors.open("ab") as errors:
        process = await anyio.open_process(
            command or [PROGRAM, wire],
            stdin=subprocess.PIPE,
            stdout=sending,
            stderr=errors,
            env=environment,
            cwd=place.root,
        )
    os.close(sending)
    server = Server(place, process, _client(process, receiving, wire, client), receiving)
    try:
        with anyio.fail_after(within_s):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_read, server)
                if initialize:
                    await server.client.initialize()
                yield server
                await _end(server)
                tasks.cancel_scope.cancel()
    except BaseException:
        _tell(server)
        raise
    finally:
        await _bury(server)
    server.client.oracle.finish() if not server.unheard and wire == "acp" else None
    violations = server.client.oracle.violations
    assert violations == [], violations
    said = place.errors.read_text("utf-8", "replace")
    assert [word for word in trouble if word in said] == [], said


async def _read(server: Server) -> None:
    with server.reading:
        await server.client.read()


async def _end(server: Server) -> None:
    """The end of its input ends it, if nothing has; then everything it wrote is read."""
    if server.process.returncode is None:
        await server.hang_up()
        assert await server.process.wait() == 0
    await server.place.alone()


def _tell(server: Server) -> None:
    """What there is to know about a trial that failed; pytest shows it."""
    for message in server.client.received[-12:]:
        sys.stderr.write(f"<- {json.dumps(message)[:700]}\n")
    sys.stderr.write(f"processes: {server.place.processes()}\n")
    sys.stderr.write(server.place.errors.read_text("utf-8", "replace")[-4000:])


async def _bury(server: Server) -> None:
    with anyio.CancelScope(shield=True):
        server.place.kill_all()
        await server.process.wait()
        await server.process.aclose()
        if server.output >= 0:
            os.close(server.output)


def _client(
    process: anyio.abc.Process, output: int, wire: Wire, options: Mapping[str, Any]
) -> AcpClient:
    assert process.stdin is not None
    send = process.stdin.send

    async def receive() -> bytes:
        await anyio.wait_readable(output)
        return os.read(output, 1 << 18)

    if wire == "acp":
        return AcpClient(receive, send, **options)
    return LspTalk(receive, send, oracle=_Silent(), **options)


def ends_of(client: AcpClient, request_id: int) -> list[Message]:
    """Every answer to a request: one, unless something is wrong."""
    return [m for m in client.received if m.get("id") == request_id and "method" not in m]


def shell(command: str, text: str = "I run it.") -> dict[str, Any]:
    """A scripted step that runs a command."""
    return {"text": text, "calls": [{"name": "shell", "arguments": {"command": command}}]}


def edit(old: str, new: str, text: str = "I edit.", path: str = "a.py") -> dict[str, Any]:
    """A scripted step that edits a file."""
    arguments = {"path": path, "edits": [{"old_text": old, "new_text": new}]}
    return {"text": text, "calls": [{"name": "edit", "arguments": arguments}]}
