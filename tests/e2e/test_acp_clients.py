"""ACP clients that we did not write complete prompt, edit, permission and cancel; the oracle reads along."""

import asyncio
import hashlib
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import acp
import acp_client
import pytest
from acp import schema

from tests.acp_oracle import check, read_trace
from tests.e2e.acp_agent import CLIENTS, PROGRAM, Agent, agent, edits, says
from tests.fakes.acp_client import OURS

pytestmark = pytest.mark.timeout(120)

TO_TWO = edits("I make it two.", "x = 1", "x = 2")
TO_THREE = edits("I make it three.", "x = 2", "x = 3")
TALK = says("I talk on.", hang=True)  # one piece: acp-client mixes later ones into its next answer
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


class SdkClient:
    """A client on the Python SDK: answers questions from a list, keeps what it is shown."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.text = ""
        self.speaking = asyncio.Event()

    async def request_permission(
        self, session_id: str, tool_call: Any, options: list[Any], **more: Any
    ) -> acp.RequestPermissionResponse:
        wanted = self.answers.pop(0)
        chosen = next(option for option in options if option.kind == wanted)
        outcome = schema.AllowedOutcome(outcome="selected", option_id=chosen.option_id)
        return acp.RequestPermissionResponse(outcome=outcome)

    async def session_update(self, session_id: str, update: Any, **more: Any) -> None:
        if isinstance(update, schema.AgentMessageChunk):
            self.text += update.content.text
            self.speaking.set()

    def on_connect(self, conn: Any) -> None:
        pass


async def sdk_conversation(made: Agent, client: SdkClient) -> list[str]:
    """The stop reasons of a conversation and of its continuation after a load."""
    command, *arguments = made.command
    async with acp.spawn_agent_process(
        client,  # pyright: ignore[reportArgumentType]
        command,
        *arguments,
        env=made.environment,
        cwd=made.workspace,
    ) as (agent_side, _):
        await agent_side.initialize(protocol_version=acp.PROTOCOL_VERSION)
        session = (await agent_side.new_session(cwd=str(made.workspace), mcp_servers=[])).session_id

        async def prompt(text: str) -> str:
            block = acp.text_block(text)
            return (await agent_side.prompt(session_id=session, prompt=[block])).stop_reason

        reasons = [await prompt("two"), await prompt("three")]
        client.speaking.clear()
        talking = asyncio.create_task(prompt("talk"))
        await asyncio.wait_for(client.speaking.wait(), 10)
        await agent_side.cancel(session_id=session)
        reasons += [await talking, await prompt("again")]
        client.text = ""
        await agent_side.load_session(session_id=session, cwd=str(made.workspace), mcp_servers=[])
        return reasons


def test_the_python_sdk(tmp_path: Path) -> None:
    made = agent(tmp_path, *WHOLE)
    client = SdkClient("allow_once", "reject_once")
    reasons = asyncio.run(sdk_conversation(made, client))

    assert reasons == ["end_turn", "end_turn", "cancelled", "end_turn"]
    assert made.file.read_text() == "x = 2\n"
    replayed = [
        "I make it two.",
        "Done.",
        "I make it three.",
        "As you like.",
        "I talk on.\n\n*(interrupted)*",
        "Back.",
    ]
    assert client.text == "".join(replayed)
    assert made.violations() == []


def acpx(made: Agent, *arguments: str, fails: int = 0) -> str:
    """What acpx printed."""
    program = str(CLIENTS / "node_modules" / ".bin" / "acpx")
    options = ("--cwd", str(made.workspace), "--timeout", "30", "--agent", shlex.join(made.command))
    return run(made, program, *options, *arguments, fails=fails)


def test_acpx(tmp_path: Path) -> None:
    made = agent(tmp_path, TO_TWO, says("Done."), TO_THREE, says("As you like."))
    acpx(made, "--approve-all", "exec", "two")
    assert made.file.read_text() == "x = 2\n"
    assert made.violations() == []


def test_acpx_that_denies(tmp_path: Path) -> None:
    """It exits with 5 when it denied something."""
    made = agent(tmp_path, TO_TWO, says("As you like."))
    said = acpx(made, "--deny-all", "--format", "quiet", "exec", "two", fails=5)

    assert "As you like." in said
    assert made.file.read_text() == "x = 1\n"
    assert made.violations() == []


def test_acpx_with_a_session_that_stays(tmp_path: Path) -> None:
    made = agent(tmp_path, TO_TWO, says("Done."), says("And again."))
    acpx(made, "sessions", "new")
    try:
        assert "Done." in acpx(made, "--approve-all", "--format", "quiet", "prompt", "two")
        assert "And again." in acpx(made, "--format", "quiet", "prompt", "again")
        acpx(made, "set-mode", "plan")
    finally:
        acpx(made, "sessions", "close")
        shutil.rmtree(sockets_of_acpx(made))
    assert made.violations() == []


def sockets_of_acpx(made: Agent) -> Path:
    """Where it puts its sockets, outside every home; it leaves the folder behind."""
    home = made.environment["HOME"]
    return Path("/tmp") / f"acpx-{hashlib.sha256(home.encode()).hexdigest()[:10]}"


def test_our_own_terminal_client(tmp_path: Path) -> None:
    """It speaks to the same server with our extensions; what was said after `initialize` is in the trace."""
    made = agent(tmp_path, TO_TWO, says("Done."))
    trace = tmp_path / "trace.ndjson"
    run(made, PROGRAM, "chat", "--trace", str(trace), "--yes", "make it two")

    assert made.file.read_text() == "x = 2\n"
    said = list(read_trace(trace))
    assert check(said, capabilities=OURS | {"session": {"notices": {}}}) == []
    assert any(m.get("method") == "_agent-server/edit/proposed" for _, m in said)
