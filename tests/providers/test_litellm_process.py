"""The litellm worker as a process: what it sees, what it may break, and how it ends."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from agent_server.config import Timeouts
from agent_server.loop.errors import ModelFailure
from agent_server.loop.faults import Fault
from agent_server.providers import litellm_process
from agent_server.providers.keys import EnvironmentKey
from agent_server.providers.litellm_port import LitellmModel
from agent_server.providers.litellm_process import LitellmProcess, WorkerDied, environment_for
from agent_server.providers.litellm_worker import described
from tests.providers.requests import Pieces, request

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]

# A worker that speaks the protocol without litellm; {answer} is what it does with a message.
WORKER = """
import json, os, sys, time
out = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
def send(**message):
    out.write(json.dumps(message) + chr(10)); out.flush()
send(ready=True)
for line in sys.stdin:
    message = json.loads(line)
    {answer}
"""
ECHO = """
    if message["op"] == "stream":
        print("a stray print")
        delta = {"choices": [{"index": 0, "delta": {"content": "hi"}}]}
        send(id=message["id"], chunk=delta); send(id=message["id"], end=True)
"""


@asynccontextmanager
async def worker_that(
    answer: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> AsyncGenerator[LitellmProcess]:
    """A process whose module is a stand-in."""
    (tmp_path / "stand_in.py").write_text(
        WORKER.replace("{answer}", answer.strip()), encoding="utf-8"
    )
    monkeypatch.setattr(litellm_process, "_MODULE", "stand_in")
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path)}
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            yield LitellmProcess(environ, tasks)
            tasks.cancel_scope.cancel()


def model_on(process: LitellmProcess) -> LitellmModel:
    return LitellmModel(
        "openai/gpt-x", process, EnvironmentKey("K", "sk-1"), window=1, timeouts=Timeouts(idle_s=5)
    )


async def test_stray_prints_do_not_hurt(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async with worker_that(ECHO, monkeypatch, tmp_path) as process:
        reply = await model_on(process).stream(request(), Pieces())

        assert reply.text == "hi"


async def test_a_crash_is_transient_and_the_next_request_starts_a_new_worker(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    marker = tmp_path / "crashed"
    answer = f"""
    if not os.path.exists({str(marker)!r}):
        open({str(marker)!r}, "w").close(); os._exit(7)
{ECHO}"""
    async with worker_that(answer, monkeypatch, tmp_path) as process:
        with pytest.raises(
            ModelFailure, match=r"the worker process of litellm died \(it ended\)"
        ) as caught:
            await model_on(process).stream(request(), Pieces())
        reply = await model_on(process).stream(request(), Pieces())

        assert (caught.value.fault, reply.text) == (Fault.TRANSIENT, "hi")


async def test_a_worker_that_ignores_a_cancel_is_killed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(litellm_process, "CANCEL_TIMEOUT_S", 0.1)
    answer = """
    if message["op"] == "stream":
        send(id=message["id"], chunk={"choices": []})
"""
    async with worker_that(answer, monkeypatch, tmp_path) as process:
        await process.start()
        left, other = process.stream({}), process.stream({})
        await anext(left)
        await anext(other)
        await left.aclose()

        with pytest.raises(WorkerDied):
            await anext(other)


async def test_a_worker_that_cannot_import_says_why(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async with worker_that(ECHO, monkeypatch, tmp_path) as process:
        program = (
            'import json; print(json.dumps({"fatal": "litellm cannot be imported: none here"}))'
        )
        (tmp_path / "stand_in.py").write_text(program, encoding="utf-8")

        with pytest.raises(WorkerDied, match="litellm cannot be imported"):
            await process.start()


async def test_a_cancelled_wait_leaves_the_worker_starting(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async with worker_that(ECHO, monkeypatch, tmp_path) as process:
        with anyio.CancelScope() as scope:
            scope.cancel()
            await process.start()
        await process.start()

        assert process.pid is not None


async def test_the_end_of_its_owner_ends_the_worker(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async with worker_that(ECHO, monkeypatch, tmp_path) as process:
        await process.start()
        pid = process.pid

    assert pid is not None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_the_real_worker_ends_with_its_parent_even_while_it_imports() -> None:
    child = subprocess.Popen(
        [sys.executable, "-P", "-m", "agent_server.providers.litellm_worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert child.stdin is not None
        child.stdin.close()
        assert child.wait(timeout=30) == 0
        assert child.stdout is not None
        assert child.stdout.read() == b""
        child.stdout.close()
    finally:
        if child.poll() is None:
            child.send_signal(signal.SIGKILL)
            child.wait()


def test_the_real_worker_writes_only_its_protocol_and_reads_no_dotenv(tmp_path: Path) -> None:
    """An error of litellm prints an advertisement; a .env beside the process must not be loaded."""
    (tmp_path / ".env").write_text("OPENAI_API_KEY=from-dotenv\n", encoding="utf-8")
    call = {"model": "nonsense-model", "messages": [{"role": "user", "content": "x"}]}
    child = subprocess.Popen(
        [sys.executable, "-P", "-m", "agent_server.providers.litellm_worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=tmp_path,
        env=environment_for("openai", os.environ),
    )
    with child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(json.dumps({"op": "stream", "id": 1, "call": call}).encode() + b"\n")
        child.stdin.flush()
        lines = [json.loads(child.stdout.readline()) for _ in range(2)]
        child.stdin.close()
        rest = child.stdout.read()

    assert lines[0] == {"ready": True}
    assert (lines[1]["id"], lines[1]["error"]["status"]) == (1, 400)
    assert rest == b""


LITELLM = """
import json, os
os.write(1, b"raw bytes on the old stdout")
print("a print")
with open(os.environ["HOME"] + "/seen.json", "w") as file:
    json.dump(dict(os.environ), file)
suppress_debug_info = False
async def acompletion(**call):
    class Chunk:
        def model_dump(self, exclude_none):
            asked = [call["num_retries"], call["max_retries"], call["stream"]]
            return {"id": "dropped", "choices": [[suppress_debug_info, *asked, os.read(0, 9).decode()]]}
    async def chunks():
        yield Chunk()
    return chunks()
"""


async def test_the_workers_guards_stand_before_litellm_is_imported(tmp_path: Path) -> None:
    """On a litellm that writes on the descriptor itself and reads stdin."""
    (tmp_path / "litellm.py").write_text(LITELLM, encoding="utf-8")
    environ = {"PYTHONPATH": str(tmp_path), "HOME": str(tmp_path), "LITELLM_LOG": "DEBUG"}
    async with anyio.create_task_group() as tasks:
        process = LitellmProcess(environ, tasks)
        with anyio.fail_after(20):
            await process.start()
            messages = [message async for message in process.stream({})]
        tasks.cancel_scope.cancel()

        assert messages == [
            {"id": 1, "chunk": {"choices": [[True, 0, 0, True, ""]]}},
            {"id": 1, "end": True},
        ]
    seen = json.loads((tmp_path / "seen.json").read_text(encoding="utf-8"))
    assert seen["LITELLM_MODE"] == "PRODUCTION"
    assert seen["LITELLM_OFFLINE_MODE"] == "true"
    assert "LITELLM_LOG" not in seen


def test_a_worker_sees_its_own_providers_variables_and_no_other_key() -> None:
    environ = {
        "PATH": "/bin",
        "HTTPS_PROXY": "http://proxy",
        "ANTHROPIC_API_KEY": "a",
        "OPENAI_API_KEY": "b",
        "AWS_SECRET_ACCESS_KEY": "c",
        "GITHUB_TOKEN": "d",
        "LITELLM_LOG": "DEBUG",
    }

    assert environment_for("anthropic", environ).keys() == {
        "PATH",
        "HTTPS_PROXY",
        "ANTHROPIC_API_KEY",
    }
    assert environment_for("bedrock", environ).keys() == {
        "PATH",
        "HTTPS_PROXY",
        "AWS_SECRET_ACCESS_KEY",
    }


class RateLimitError(Exception):
    status_code = 429
    litellm_response_headers = {"retry-after": "7", "x-request-id": "1"}  # noqa: RUF012


def test_an_error_is_described_without_the_names_of_litellms_classes() -> None:
    error = RateLimitError("litellm.RateLimitError: RateLimitError: OpenAIException - slow down")

    assert described(error) == {
        "status": 429,
        "kind": "RateLimitError",
        "message": "slow down",
        "headers": {"retry-after": "7"},
    }
