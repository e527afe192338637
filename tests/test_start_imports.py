"""What a server has imported when it makes a session, and that it collects garbage again by then (spec §11)."""

import json
import os
import subprocess
import sys
from pathlib import Path

from agent_server.app import COLLECT_AFTER

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
        "httpx2", "httpcore2", "litellm", "lsprotocol", "mcp", "openai", "pydantic", "pygls", "rich", "watchfiles",
    }  # fmt: skip
    assert late.isdisjoint(told["modules"])
    assert told["collects"]
    assert told["after"] == COLLECT_AFTER
    assert told["kept"] > 10_000
