"""What an LSP server has in memory when its client reads the first delta (spec §11)."""

import gc
import os
import subprocess
import sys
from typing import Any

import anyio
import pytest

from agent_server.front.lsp.server import serve

MODULES = "import agent_server.front.lsp.service, sys; print(*sys.modules)"


def test_what_a_client_with_our_plugin_does_not_need_is_not_imported() -> None:
    """Commands and code actions read their arguments with pydantic, from the first one on."""
    done = subprocess.run(
        [sys.executable, "-c", MODULES], capture_output=True, text=True, timeout=30, check=True
    )

    assert {"pydantic", "litellm", "rich", "httpx2"}.isdisjoint(done.stdout.split())


@pytest.mark.anyio
async def test_the_collector_looks_at_everything_again_once_the_agent_has_started() -> None:
    usual, read, seen = gc.get_threshold(), os.pipe(), os.pipe()
    os.close(read[1])
    try:
        with anyio.fail_after(5):
            await serve(read_fd=read[0], write_fd=seen[1], open_sessions=_never)
        assert (gc.isenabled(), gc.get_threshold()) == (True, usual)
    finally:
        for fd in (read[0], *seen):
            os.close(fd)


def _never(settings: Any, trusted: bool | None) -> Any:
    raise AssertionError("nobody asked for sessions")
