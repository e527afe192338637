"""What a server has imported when it makes a session and when its first delta comes, and that it collects garbage again
by then (spec §11, docs/decisions/0006-start.md)."""

import json
import os
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from agent_server.app import COLLECT_AFTER
from tests.e2e.acp_agent import Agent, agent
from tests.fakes.acp_client import AcpClient
from tests.fakes.answers import say
from tests.fakes.model_server import ModelServer

# Runs the server proper over a client that says nothing, and tells what there is when its sessions open.
PROGRAM = """
import gc, json, os, sys
from contextlib import asynccontextmanager
import agent_server.workshop as workshop
from agent_server.app import serve
from agent_server.options import Options

opened = workshop.open_sessions
def tell(options, client_options):
    told = {"modules": sorted(sys.modules), "collects": gc.isenabled(), "after": gc.get_threshold()[0],
            "kept": gc.get_freeze_count()}
    json.dump(told, sys.stderr)
    return opened(options, client_options)
workshop.open_sessions = tell
gc.disable()
read_fd, ours = os.pipe()
os.close(ours)
sys.exit(serve("acp", read_fd=read_fd, write_fd=os.dup(1), received=b"", initialized={"protocolVersion": 1},
               initialize_result=dict, options=Options(), parent=os.getppid()))
"""


def test_a_session_waits_for_nothing_that_only_a_prompt_a_call_or_another_wire_needs(
    tmp_path: Path,
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
        env=os.environ | {"AGENT_SERVER_HOME": str(tmp_path)},
    )
    told = json.loads(done.stderr)

    assert done.returncode == 0
    late = {
        "h11", "httpcore2", "httpx2", "litellm", "lsprotocol", "mcp", "openai", "pydantic", "pygls", "rich",
        "watchfiles",
    }  # fmt: skip
    assert late.isdisjoint(told["modules"])
    assert told["collects"]
    assert told["after"] == COLLECT_AFTER
    assert told["kept"] > 10_000


# The program as it is, but for one thing: it tells what it has imported when the first delta is written.
FIRST_DELTA = """
import json, os, sys
import agent_server.session.watch as watch
import agent_server.workshop as workshop
from agent_server.__main__ import main

seen = sys.argv.pop()
workshop.IDLE_S = watch.QUIET_S = 3600
written = os.write
def write(fd, data):
    if b"agent_message_chunk" in data:
        os.write = written
        with open(seen, "w") as file:
            json.dump(sorted(sys.modules), file)
    return written(fd, data)
os.write = write
sys.exit(main())
"""


@pytest.mark.anyio
async def test_the_first_delta_waits_for_nothing_that_only_a_call_an_edit_or_another_engine_needs(
    tmp_path: Path,
) -> None:
    async with ModelServer([say("Hello.")]) as model:
        made = Agent(agent(tmp_path).root, endpoint=model.base_url)
        modules = await _modules_at_the_first_delta(made)

    third_party = {
        "charset_normalizer", "h2", "httpcore2", "httpx2", "litellm", "lsprotocol", "mcp", "openai", "pathspec",
        "pydantic", "pygls", "rich", "truststore", "watchfiles",
    }  # fmt: skip
    standard = {
        "email",
        "http",
        "importlib.metadata",
        "multiprocessing",
        "tempfile",
        "tomllib",
        "urllib.request",
    }
    tools = {"edit", "glob", "list", "patch", "read", "ripgrep", "search", "shell", "todo", "write"}
    own = {f"agent_server.tools.{name}" for name in tools} | {
        f"agent_server.{name}"
        for name in (
            "front.lsp",
            "front.protocol",
            "providers.litellm_port",
            "providers.scripted",
            "trace",
        )
    }
    assert "agent_server.providers.http_connection" in modules
    assert sorted(modules & (third_party | standard | own)) == []


async def _modules_at_the_first_delta(made: Agent) -> set[str]:
    seen = made.root / "modules.json"
    process = await anyio.open_process(
        [sys.executable, "-c", FIRST_DELTA, "acp", str(seen)], env=made.environment, stderr=None
    )
    assert process.stdin is not None
    assert process.stdout is not None
    client = AcpClient(process.stdout.receive, process.stdin.send)
    with anyio.fail_after(30):
        async with process, anyio.create_task_group() as tasks:
            tasks.start_soon(client.read)
            await client.initialize()
            await client.prompt(await client.new(str(made.workspace)), "hello")
            tasks.cancel_scope.cancel()
            process.terminate()
    return set(json.loads(seen.read_text()))
