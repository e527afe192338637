"""The same conversation over three wires and two engines leaves the same log and the same files (issue 2)."""

from pathlib import Path

import anyio
import pytest

from tests.e2e.drivers import Wire, converse, log_of_newest
from tests.fakes.model_server import ModelServer
from tests.scenarios import scenario

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

SCENARIOS = sorted(Path(scenario.__file__).parent.glob("*.md"))


@pytest.mark.parametrize("engine", ["http", "litellm"])
@pytest.mark.parametrize("wire", ["acp", "lsp", "chat"])
@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
@pytest.mark.row("R18")
async def test_a_conversation_gives_the_same_log_over_every_wire_and_engine(
    path: Path, wire: Wire, engine: str, tmp_path: Path
):
    told = scenario.read(path)
    workspace = tmp_path / "workspace"
    for name, text in told.files.items():
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(text)
    async with ModelServer(told.model) as server:
        env = {
            "AGENT_SERVER_HOME": str(tmp_path / "home"),
            "AGENT_SERVER_MODEL": "openai/mock",
            "AGENT_SERVER_ENGINE": engine,
            "OPENAI_API_KEY": "sk-test",
            "OPENAI_BASE_URL": server.base_url,
        }
        with anyio.fail_after(100):
            await converse(wire, told.prompt, workspace, env)
        assert server.refused == []
    assert {name: (workspace / name).read_text() for name in told.after} == told.after
    assert scenario.told(await log_of_newest(tmp_path / "home")) == told.log
