"""ACP clients that we did not write complete prompt, edit, permission and cancel; the oracle reads along."""

import asyncio
import subprocess
from pathlib import Path
from typing import Any

import acp_client
import pytest

from tests.e2e.acp_agent import CLIENTS, Agent, agent, edits, says

pytestmark = pytest.mark.timeout(120)

TO_TWO = edits("I make it two.", "x = 1", "x = 2")
TO_THREE = edits("I make it three.", "x = 2", "x = 3")
TALK = says("I talk and talk", hang=True)
WHOLE = (TO_TWO, says("Done."), TO_THREE, says("As you like."), TALK, says("Back."))


def run(made: Agent, *command: str, fails: int = 0) -> str:
    """What the command printed; it must exit with `fails`."""
    done = subprocess.run(
        command,
        env=made.environment,
        cwd=made.workspace,
        capture_output=True,
        text=True,
        timeout=90,
    )
    assert done.returncode == fails, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("flags", [(), ("--fs",)])
def test_the_typescript_sdk(tmp_path: Path, flags: tuple[str, ...]) -> None:
    made = agent(tmp_path, *WHOLE)
    client = str(CLIENTS / "strict_client.mjs")
    run(made, "node", client, str(made.workspace), *flags, "--", *made.command)

    assert made.file.read_text() == ("x = 1\n" if flags else "x = 2\n")
    assert made.violations() == []


async def ask_all(made: Agent) -> list[Any]:
    """A conversation with the client of `acp-client`: the answers."""
    answers = iter(["allow_once", "reject_once"])

    async def permit(params: dict[str, Any]) -> str:
        wanted = next(answers)
        return next(o["optionId"] for o in params["options"] if o["kind"] == wanted)

    client = acp_client.Agent(made.command, made.workspace, permission=permit)
    try:
        said: list[Any] = [await client.ask("two"), await client.ask("three")]
        speaking = asyncio.Event()
        talking = asyncio.create_task(client.ask("talk", on_update=lambda update: speaking.set()))
        await asyncio.wait_for(speaking.wait(), 10)
        talking.cancel()
        await asyncio.gather(talking, return_exceptions=True)
        return [*said, await client.ask("again")]
    finally:
        await client.stop()


def test_acp_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = agent(tmp_path, *WHOLE)
    for name, value in made.environment.items():
        monkeypatch.setenv(name, value)
    said = asyncio.run(ask_all(made))

    assert said == ["I make it two.Done.", "I make it three.As you like.", "Back."]
    assert made.file.read_text() == "x = 2\n"
    assert made.violations() == []
