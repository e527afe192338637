"""However a client goes, the agent ends: its turn settled and kept, none of its processes left (P1, PR-04, SE-10)."""

import os
import signal
import sys
from pathlib import Path

import anyio
import pytest

from agent_server.loop.model import Entry, PartialEntry, ResultEntry, TurnEndEntry
from tests.e2e.drivers import log_of_newest
from tests.e2e.support import PROGRAM, WIRES, Place, Server, Wire, running, shell
from tests.fakes.acp_client import prompt_params
from tests.fakes.answers import call, hang, say
from tests.fakes.model_server import ModelServer

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.timeout(60),
    pytest.mark.skipif(
        not Path("/proc/self/environ").exists(), reason="descendants are found there"
    ),
]
both_wires = pytest.mark.parametrize("wire", WIRES)

RESISTING = (
    "trap '' TERM INT HUP; setsid sh -c 'trap \"\" TERM HUP; sleep 301' & "
    "sleep 302 & echo re''ady; wait; sleep 303"
)


async def in_a_command(server: Server) -> tuple[str, int]:
    """A turn whose command runs and resists: session and prompt."""
    client = server.client
    session = await client.new(str(server.place.workspace))
    prompt = await client.ask("session/prompt", prompt_params(session, "go"))
    await client.until(lambda m: "ready" in str(m.get("params", {}).get("update", "")))
    return session, prompt


async def log_of(place: Place) -> list[Entry]:
    return await log_of_newest(place.root / "state")


def settled(log: list[Entry]) -> tuple[str, str]:
    """The text of the last result, and the detail of the turn's end."""
    [*_, end] = log
    assert isinstance(end, TurnEndEntry)
    results = [entry for entry in log if isinstance(entry, ResultEntry)]
    return results[-1].result.output, end.detail


@both_wires
@pytest.mark.parametrize("begun", [False, True])
async def test_the_end_of_input_ends_an_idle_agent(wire: Wire, begun: bool, tmp_path: Path) -> None:
    place = Place.at(tmp_path)
    async with running(place, wire, initialize=begun) as server:
        if begun:
            await server.client.new(str(place.workspace))
        await server.hang_up()

        assert await server.ended() == 0


@both_wires
@pytest.mark.row("R34", "R35")
async def test_the_end_of_input_in_the_middle_of_an_answer_keeps_what_was_said(
    wire: Wire, tmp_path: Path
) -> None:
    place = Place.at(tmp_path)
    async with (
        ModelServer([say("half a thought") + hang()]) as model,
        running(place, wire, model=model) as server,
    ):
        client = server.client
        session = await client.new(str(place.workspace))
        prompt = await client.ask("session/prompt", prompt_params(session, "go"))
        await client.until(lambda m: "agent_message_chunk" in str(m))
        await client.until(lambda m: client.text(session) == "half a thought")
        await server.hang_up()

        assert (await client.response(prompt))["stopReason"] == "cancelled"
        assert await server.ended() == 0
        assert model.exchanges[0].peer_closed.is_set()
        [*_, partial, end] = await log_of(place)
        assert isinstance(partial, PartialEntry)
        assert isinstance(end, TurnEndEntry)
        assert (partial.text, end.detail) == ("half a thought", "shutdown")


@both_wires
@pytest.mark.row("R34")
async def test_the_end_of_input_in_the_middle_of_a_command_ends_all_of_its_processes(
    wire: Wire, tmp_path: Path
) -> None:
    place = Place.at(tmp_path)
    env = {"AGENT_SERVER_MODEL": place.script(shell(RESISTING))}
    async with running(place, wire, env=env) as server:
        _, prompt = await in_a_command(server)
        await server.hang_up()

        assert (await server.client.response(prompt))["stopReason"] == "cancelled"
        assert await server.ended() == 0
        output, _ = settled(await log_of(place))
        assert "interrupted, effects unknown" in output


@pytest.mark.parametrize(
    ("wire", "number"),
    [
        ("acp", signal.SIGTERM), ("acp", signal.SIGINT), ("acp", signal.SIGHUP), ("lsp", signal.SIGTERM),
    ],
)  # fmt: skip
async def test_a_signal_in_the_middle_of_a_command_ends_it_and_all_of_its_processes(
    wire: Wire, number: signal.Signals, tmp_path: Path
) -> None:
    place = Place.at(tmp_path)
    env = {"AGENT_SERVER_MODEL": place.script(shell(RESISTING))}
    async with running(place, wire, env=env) as server:
        await in_a_command(server)
        server.kill(number)

        assert await server.ended() == 0
        output, _ = settled(await log_of(place))
        assert "interrupted, effects unknown" in output


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_a_signal_ends_an_idle_agent(number: signal.Signals, tmp_path: Path) -> None:
    place = Place.at(tmp_path)
    async with running(place) as server:
        await server.client.new(str(place.workspace))
        server.kill(number)

        assert await server.ended() == 0


@both_wires
async def test_a_signal_ends_an_agent_with_prompts_in_its_queue(wire: Wire, tmp_path: Path) -> None:
    place = Place.at(tmp_path)
    async with ModelServer([hang()]) as model, running(place, wire, model=model) as server:
        client = server.client
        session = await client.new(str(place.workspace))
        for _ in range(5):
            await client.ask("session/prompt", prompt_params(session, "go"))
        await model.asked(1)
        await client.request("session/list", {})
        server.kill(signal.SIGTERM)

        assert await server.ended() == 0
        assert len(model.exchanges) == 1


async def test_the_end_of_input_ends_an_agent_with_prompts_in_its_queue(tmp_path: Path) -> None:
    """Each is answered; none of those that waited reaches the model."""
    place = Place.at(tmp_path)
    async with ModelServer([hang()]) as model, running(place, model=model) as server:
        client = server.client
        session = await client.new(str(place.workspace))
        prompts = [
            await client.ask("session/prompt", prompt_params(session, "go")) for _ in range(3)
        ]
        await model.asked(1)
        await server.hang_up()

        for prompt in prompts:
            assert (await client.response(prompt))["stopReason"] == "cancelled"
        assert await server.ended() == 0
        assert len(model.exchanges) == 1


async def test_a_second_signal_while_it_settles_cannot_tear_the_log(tmp_path: Path) -> None:
    place = Place.at(tmp_path)
    env = {"AGENT_SERVER_MODEL": place.script(shell(RESISTING))}
    async with running(place, env=env) as server:
        await in_a_command(server)
        server.kill(signal.SIGTERM)
        server.kill(signal.SIGTERM)
        server.kill(signal.SIGINT)

        assert await server.ended() == 0
        output, _ = settled(await log_of(place))
        assert "interrupted, effects unknown" in output


@both_wires
@pytest.mark.parametrize("busy", [False, True])
async def test_it_ends_when_the_shell_that_wraps_it_is_killed_though_its_input_stays_open(
    wire: Wire, busy: bool, tmp_path: Path
) -> None:
    place = Place.at(tmp_path)
    env = {"AGENT_SERVER_MODEL": place.script(shell(RESISTING))}
    wrapper = ["/bin/sh", "-c", f"{PROGRAM} {wire}; exit $?"]
    async with running(place, wire, env=env, command=wrapper) as server:
        if busy:
            await in_a_command(server)
        server.kill(signal.SIGKILL)

        assert await server.ended() == -signal.SIGKILL


@both_wires
async def test_it_ends_when_nobody_reads_what_it_writes(wire: Wire, tmp_path: Path) -> None:
    place = Place.at(tmp_path)
    env = {"AGENT_SERVER_MODEL": place.script(shell(RESISTING))}
    async with running(place, wire, env=env) as server:
        session, _ = await in_a_command(server)
        await server.stop_reading()
        await server.client.notify("session/cancel", {"sessionId": session})

        assert await server.ended() == 0
        assert len(place.errors.read_bytes()) < 2_000
        output, _ = settled(await log_of(place))
        assert "interrupted, effects unknown" in output


async def test_a_signal_ends_an_agent_whose_client_reads_nothing(tmp_path: Path) -> None:
    """More than a pipe holds is on its way."""
    place = Place.at(tmp_path)
    step = {"text": "x" * 2_000_000, "chunk": 2_000}
    env = {"AGENT_SERVER_MODEL": place.script(step, {"text": "", "hang": True})}
    async with running(place, env=env) as server:
        session = await server.client.new(str(place.workspace))
        server.ignore()
        await server.client.ask("session/prompt", prompt_params(session, "go"))
        await anyio.wait_readable(server.output)
        server.kill(signal.SIGTERM)

        assert await server.ended() == 0


async def test_a_terminal_that_hangs_up_ends_the_agent_behind_it(tmp_path: Path) -> None:
    """SIGHUP goes to a whole group: to the command as well, which resists."""
    place = Place.at(tmp_path)
    env = {"AGENT_SERVER_MODEL": place.script(shell(RESISTING))}
    leader = "import os, sys; os.setsid(); os.execv(sys.argv[1], sys.argv[1:])"
    command = [sys.executable, "-c", leader, PROGRAM, "acp"]
    async with running(place, env=env, command=command) as server:
        await in_a_command(server)
        server.unheard = True
        os.killpg(server.process.pid, signal.SIGHUP)

        assert await server.ended() == 0


async def test_an_agent_that_is_killed_leaves_its_commands_to_nobody_and_its_log_whole(
    tmp_path: Path,
) -> None:
    """SIGKILL cannot be answered; what was promised is that the log opens."""
    place = Place.at(tmp_path)
    async with (
        ModelServer([call("shell", command="echo re''ady; exec sleep 30")]) as model,
        running(place, model=model) as server,
    ):
        await in_a_command(server)
        server.kill()

        assert await server.process.wait() == -signal.SIGKILL
        assert not isinstance((await log_of(place))[-1], TurnEndEntry)
        place.kill_all()
