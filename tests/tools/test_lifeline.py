"""Commands die with the agent: what the watchdog is told, and what it does when nobody tells it any more."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from secrets import token_hex

import anyio
import pytest
from anyio import to_thread

from agent_server.tools.descendants import MARK, Family, alive
from agent_server.tools.lifeline import Lifeline
from agent_server.tools.watchdog import end_all, still_running
from tests.waiting import wait_until

pytestmark = pytest.mark.anyio

linux = pytest.mark.skipif(
    sys.platform != "linux", reason="only /proc tells who descends from whom"
)
AGENT = """
import os, signal, subprocess, sys
from agent_server.tools.lifeline import Lifeline
lifeline, mark = Lifeline(), sys.argv[1]
lifeline.begin(mark)
child = subprocess.Popen(["sh", "-c", sys.argv[2]], env={**os.environ, "AGENT_CALL_MARK": mark},
                         start_new_session=True, stdout=subprocess.DEVNULL)
lifeline.leads(mark, child.pid)
sys.stdin.read(1)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def mark() -> Iterator[str]:
    mark = token_hex(8)
    yield mark
    for pid in alive(Family(mark, None)) if sys.platform == "linux" else ():
        os.kill(pid, signal.SIGKILL)


async def gone(family: Family) -> None:
    await to_thread.run_sync(wait_until, lambda: not alive(family))


async def there(path: Path) -> None:
    await to_thread.run_sync(wait_until, path.exists)


@linux
@pytest.mark.parametrize(
    "command",
    [
        "touch ready; exec sleep 300",
        "setsid sh -c 'touch ready; exec sleep 300' & wait",
        "trap '' TERM; touch ready; while :; do sleep 0.1; done",
    ],
    ids=["plain", "in a session of its own", "deaf to TERM"],
)
async def test_a_command_dies_with_an_agent_that_is_killed(
    command: str, mark: str, tmp_path: Path
) -> None:
    agent = await anyio.open_process(
        [sys.executable, "-c", AGENT, mark, command], stdin=subprocess.PIPE, cwd=tmp_path
    )
    async with agent:
        await there(tmp_path / "ready")
        assert alive(Family(mark, None))
        assert agent.stdin is not None
        await agent.stdin.send(b"x")
        assert await agent.wait() == -signal.SIGKILL
    await gone(Family(mark, None))


def test_what_has_ended_is_none_of_its_business() -> None:
    lines = ["+ a\n", "= a 11\n", "+ b\n", "+ c\n", "= c 13\n", "- a\n"]

    assert still_running(lines) == [Family("b", None), Family("c", 13)]


@pytest.mark.parametrize("torn", ["", "=", "= c", "= c 1 2"])
def test_a_line_that_was_torn_by_a_death_is_left_out(torn: str) -> None:
    assert still_running(["+ c\n", torn]) == [Family("c", None)]


@linux
def test_nothing_but_the_command_is_ended(mark: str) -> None:
    other = subprocess.Popen(["sleep", "300"], env={MARK: "another"}, start_new_session=True)
    mine = subprocess.Popen(["sleep", "300"], env={MARK: mark}, start_new_session=True)
    try:
        end_all([Family(mark, None)])
        assert mine.wait(5) == -signal.SIGTERM
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def pid_of(lifeline: Lifeline) -> int:
    watchdog = lifeline._watchdog
    assert watchdog is not None
    return watchdog.pid


def test_the_watchdog_starts_with_the_first_command_and_goes_with_the_agent(mark: str) -> None:
    lifeline = Lifeline()
    lifeline.close()
    lifeline.begin(mark)
    pid = pid_of(lifeline)
    lifeline.over(mark)
    lifeline.begin("again")
    assert pid_of(lifeline) == pid
    lifeline.over("again")
    lifeline.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@linux
def test_a_watchdog_that_somebody_killed_is_replaced_and_told_what_runs(mark: str) -> None:
    command = subprocess.Popen(["sleep", "300"], start_new_session=True)
    lifeline = Lifeline()
    try:
        lifeline.begin(mark)
        lifeline.leads(mark, command.pid)
        os.kill(pid_of(lifeline), signal.SIGKILL)
        os.waitid(os.P_PID, pid_of(lifeline), os.WEXITED | os.WNOWAIT)
        lifeline.begin("other")
        lifeline.over("other")
        lifeline.close()  # to the watchdog it looks as if we had died
        assert command.wait(5) == -signal.SIGTERM
    finally:
        command.kill()
        command.wait()
