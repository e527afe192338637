"""A flood of deltas through the real program (ST-21, decision 5). Counts are compared with the time that it took."""

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.acp_agent import agent, connected, says
from tests.fakes.acp_client import AcpClient
from tests.front.lsp.lsp_client import PLUGIN, LspClient
from tests.front.lsp.lsp_process import running

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]

TEXT = "".join(chr(ord("a") + number % 26) for number in range(5_000))
FLOOD = says(TEXT, chunk=1)
Talk = tuple[AcpClient | LspClient, str]
"""A client, and its session."""


@asynccontextmanager
async def over_acp(home: Path) -> AsyncGenerator[Talk]:
    made = agent(home, FLOOD)
    async with connected(made) as client:
        yield client, await client.new(str(made.workspace))


@asynccontextmanager
async def over_lsp(home: Path) -> AsyncGenerator[Talk]:
    async with running(home, FLOOD, capabilities=PLUGIN) as server:
        await server.client.initialize(server.root)
        yield server.client, await server.client.new(server.root)


@pytest.mark.row("R138")
@pytest.mark.parametrize("wire", [over_acp, over_lsp])
async def test_five_thousand_deltas_are_at_most_thirty_updates_a_second_and_their_text_is_exact(
    tmp_path: Path, wire: Callable[[Path], Any]
) -> None:
    async with wire(tmp_path) as (client, session):
        began = time.monotonic()
        await client.prompt(session, "go")
        took_s = time.monotonic() - began
        pieces = [
            update["content"]["text"]
            for message in client.received
            if (update := message.get("params", {}).get("update", {})).get("sessionUpdate")
            == "agent_message_chunk"
        ]

    assert "".join(pieces) == TEXT
    assert len(pieces[0]) == 1
    assert len(pieces) <= 7 + 20 * took_s + 1
