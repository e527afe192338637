"""What the model was told is what the editor shows is what is on disk, in whatever order things happen.

30 sequences of fixed seeds; `AGENT_SERVER_SEQUENCES=500` runs more of them by hand.
"""

import os
import sys

import anyio
import pytest
from anyio import to_thread

from tests.e2e.vscode_oracle import Sequence
from tests.e2e.vscode_support import Lab
from tests.fakes.model_server import ModelServer

SEQUENCES = int(os.environ.get("AGENT_SERVER_SEQUENCES", "30"))
FIRST = int(os.environ.get("AGENT_SERVER_FIRST_SEQUENCE", "1"))

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.timeout(600 + 30 * SEQUENCES),  # the first run installs VS Code
    pytest.mark.skipif(sys.platform != "linux", reason="the lab's Node is for Linux"),
]


async def test_what_the_model_is_told_is_shown_and_on_disk(lab: Lab) -> None:
    place = lab.run / "oracle.held"
    folder = place / "workspace"
    async with ModelServer() as model, anyio.create_task_group() as tasks:
        (lab.run / "state").mkdir(exist_ok=True)
        provider = f'[providers.lab]\nbase_url = "{model.base_url}"\n'
        (lab.run / "state/config.toml").write_text(provider)
        tasks.start_soon(to_thread.run_sync, lambda: _hold(lab))
        try:
            await _opened(lab, folder)
            for seed in range(FIRST, FIRST + SEQUENCES):
                with anyio.fail_after(120):
                    sequence = Sequence(lab, model, folder, place, seed)
                    try:
                        await sequence.run()
                    finally:
                        with (place / "sequences.log").open("a") as log:
                            log.write("\n".join([f"sequence {seed}", *sequence.log, ""]))
        finally:
            (place / "end").touch()
            (lab.run / "state/config.toml").unlink()
    assert model.refused == []


def _hold(lab: Lab) -> None:
    settings = {"agent.model": "lab/mock"}
    lab.play("oracle.held", [], settings=settings, minutes=5 + SEQUENCES / 2)


async def _opened(lab: Lab, folder: object) -> None:
    with anyio.fail_after(120):
        while True:
            try:
                if await to_thread.run_sync(lab.run_in_host, FOLDER) == str(folder):
                    return
            except (OSError, AssertionError):
                pass
            await anyio.sleep(0.1)


FOLDER = """
const agent = vscode.extensions.getExtension("agent-server.agent-server");
return agent?.isActive ? vscode.workspace.workspaceFolders?.[0]?.uri.fsPath : null;
"""
