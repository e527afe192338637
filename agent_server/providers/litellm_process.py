"""The server's side of a litellm worker: starts it, shares it between sessions, buries it.

Streams are numbered; a reader task in the owner's task group hands every message to the stream it belongs to.
"""

import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from dataclasses import field

import anyio
from anyio.abc import Process, TaskGroup
from anyio.streams.memory import MemoryObjectSendStream

from agent_server.frozen import mutable
from agent_server.providers.fragments import Json

START_TIMEOUT_S = 120.0
"""The first import after an installation compiles 3,000 modules: half a minute on a busy machine."""
CANCEL_TIMEOUT_S = 1.0
"""A stream that is told to close does so within milliseconds; a worker that does not is killed."""
EXIT_TIMEOUT_S = 1.0

_MODULE = "agent_server.providers.litellm_worker"
_COMMON = (
    "PATH", "HOME", "USERPROFILE", "SYSTEMROOT", "APPDATA", "TMPDIR", "TEMP", "TMP", "TZ", "LANG", "LC_ALL",
    "PYTHONPATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE",
    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
)  # fmt: skip
_PREFIXES: Mapping[str, tuple[str, ...]] = {
    "bedrock": ("AWS_", "BEDROCK_"),
    "gemini": ("GEMINI_", "GOOGLE_"),
    "huggingface": ("HF_", "HUGGINGFACE_"),
    "sagemaker": ("AWS_",),
    "together_ai": ("TOGETHER",),
    "vertex_ai": ("VERTEX", "GOOGLE_", "GCLOUD_", "CLOUDSDK_"),
    "watsonx": ("WATSONX_", "WX_"),
}


def environment_for(provider: str, environ: Mapping[str, str]) -> dict[str, str]:
    """What a worker for this provider gets to see: no other provider's key."""
    prefixes = _PREFIXES.get(provider, (provider.upper().replace("-", "_") + "_",))
    return {name: v for name, v in environ.items() if name in _COMMON or name.startswith(prefixes)}


class WorkerDied(Exception):
    """The worker ended, or could not start; the words say how."""


@mutable
class _Life:
    """One process, from its start to its end."""

    settled: anyio.Event = field(default_factory=anyio.Event)
    """It is ready, or it will never be."""
    ready: bool = False
    process: Process | None = None


class LitellmProcess:
    """One worker, started at first use and again after a crash. Lives as long as `tasks`."""

    def __init__(self, environ: Mapping[str, str], tasks: TaskGroup) -> None:
        self._environ = environ
        self._tasks = tasks
        self._life: _Life | None = None
        self._streams: dict[int, MemoryObjectSendStream[Json]] = {}
        self._closing: dict[int, anyio.Event] = {}
        self._count = 0
        self._end = "it was not started"

    @property
    def pid(self) -> int | None:
        """Of the running worker."""
        return self._life.process.pid if self._life and self._life.process else None

    def warm(self) -> None:
        """Let the worker start, if it does not run, without waiting for it."""
        if self._life is None:
            self._life = _Life()
            self._tasks.start_soon(self._serve, self._life)

    async def start(self) -> None:
        """Be sure that the worker runs and has imported litellm. A cancelled wait leaves it starting.

        Raises:
            WorkerDied: it does not come up.
        """
        self.warm()
        assert self._life is not None
        life = self._life
        with anyio.move_on_after(START_TIMEOUT_S):
            await life.settled.wait()
            if life.ready:
                return
            raise WorkerDied(self._end)
        self._kill()
        raise WorkerDied(f"it did not start within {START_TIMEOUT_S:g} s")

    async def stream(self, call: Json) -> AsyncGenerator[Json]:
        """The messages of one completion, the last one `end` or `error`. Closing it early closes the connection.

        Raises:
            WorkerDied: in the middle.
        """
        self._count += 1
        number = self._count
        send, receive = anyio.create_memory_object_stream[Json](math.inf)
        self._streams[number] = send
        finished = False
        try:
            await self._write({"op": "stream", "id": number, "call": call})
            async with receive:
                async for message in receive:
                    finished = "chunk" not in message
                    yield message
                    if finished:
                        return
            raise WorkerDied(self._end)
        finally:
            self._streams.pop(number, None)
            send.close()
            if not finished:
                self._cancel(number)

    def _cancel(self, number: int) -> None:
        """Tell the worker, without waiting for it: the turn that is cancelled must not."""
        if self._life is not None:
            self._closing[number] = anyio.Event()
            self._tasks.start_soon(self._see_closed, number)

    async def _see_closed(self, number: int) -> None:
        with suppress(WorkerDied):
            await self._write({"op": "cancel", "id": number})
        with anyio.move_on_after(CANCEL_TIMEOUT_S):
            await self._closing[number].wait()
            return
        self._kill()

    async def _write(self, message: Json) -> None:
        process = self._life.process if self._life else None
        if process is None or process.stdin is None:
            raise WorkerDied(self._end)
        try:
            await process.stdin.send(json.dumps(message).encode() + b"\n")
        except (anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            raise WorkerDied(self._end) from error

    async def _serve(self, life: _Life) -> None:
        """The life of one process."""
        try:
            life.process = await anyio.open_process(
                # -P: the worker must not import modules from the folder it happens to start in.
                [sys.executable, "-P", "-m", _MODULE],
                env=dict(self._environ),
                cwd=sys.prefix,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            self._end = "it ended while it started"
            async for message in _messages(life.process):
                self._receive(life, message)
        except OSError as error:
            self._end = f"it could not be started: {error}"
        finally:
            self._life = None
            await self._bury(life.process)
            life.settled.set()

    def _receive(self, life: _Life, message: Json) -> None:
        if "ready" in message:
            life.ready = True
            self._end = "it ended"
            life.settled.set()
        elif "fatal" in message:
            self._end = str(message["fatal"])
        else:
            self._hand_out(message)

    def _hand_out(self, message: Json) -> None:
        number: int = message["id"]
        if "chunk" not in message and (closing := self._closing.pop(number, None)):
            closing.set()
        if stream := self._streams.get(number):
            stream.send_nowait(message)

    async def _bury(self, process: Process | None) -> None:
        """Wait for the end of the process, at last kill it; then end every stream that still waits."""
        with anyio.CancelScope(shield=True):
            if process is not None:
                await _end(process)
        for closing in self._closing.values():
            closing.set()
        self._closing.clear()
        for stream in list(self._streams.values()):
            stream.close()

    def _kill(self) -> None:
        if self._life is not None and self._life.process is not None:
            _kill_group(self._life.process)


async def _end(process: Process) -> None:
    """The end of its stdin is the worker's sign to go."""
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        if process.stdin is not None:
            await process.stdin.aclose()
    with anyio.move_on_after(EXIT_TIMEOUT_S):
        await process.wait()
    _kill_group(process)
    await process.wait()
    await process.aclose()


def _kill_group(process: Process) -> None:
    if process.returncode is not None:
        return
    with suppress(ProcessLookupError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)


async def _messages(process: Process) -> AsyncGenerator[Json]:
    """The JSON lines that the worker writes, until it stops."""
    assert process.stdout is not None
    rest = b""
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        async for data in process.stdout:
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                yield json.loads(line)
