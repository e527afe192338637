"""`protocol/examples/client.py`, which a stranger could have written: no package but Python's own, over real pipes."""

import os
import shlex
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from subprocess import PIPE, STDOUT

import anyio
import anyio.abc
import pytest

from tests.front.lsp.lsp_process import PROGRAM, Step, environment, script

pytestmark = pytest.mark.anyio

CLIENT = Path(__file__).parents[2] / "protocol" / "examples" / "client.py"
OLD = "one\ntwo\nthree\nfour\n"
EDITS = [{"old_text": "one", "new_text": "ONE"}, {"old_text": "four", "new_text": "FOUR"}]
EDIT: Step = {
    "text": "I edit.",
    "calls": [{"name": "edit", "arguments": {"path": "a.py", "edits": EDITS}}],
}


class Person:
    """In front of the client: types, and reads along."""

    def __init__(self, process: anyio.abc.Process) -> None:
        self.process = process
        self.seen = ""

    async def sees(self, text: str) -> None:
        assert self.process.stdout is not None
        while text not in self.seen:
            self.seen += (await self.process.stdout.receive()).decode()

    async def types(self, line: str) -> None:
        assert self.process.stdin is not None
        await self.process.stdin.send(line.encode() + b"\n")


@asynccontextmanager
async def client(home: Path, *arguments: str, steps: list[Step]) -> AsyncGenerator[Person]:
    """The client at work in `home/w`; `-I -S` hides every package that is not Python's own."""
    root = home / "w"
    root.mkdir(exist_ok=True)
    server = shlex.join([PROGRAM, "lsp", "--model", script(home, steps)])
    command = [sys.executable, "-I", "-S", str(CLIENT), "--server", server, *arguments, str(root)]
    process = await anyio.open_process(
        [*command, "go"], stdin=PIPE, stdout=PIPE, stderr=STDOUT, env=environment(home)
    )
    try:
        with anyio.fail_after(60):
            yield Person(process)
            await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        await process.aclose()


async def test_it_streams_and_one_hunk_is_accepted_and_one_is_not(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    path = tmp_path / "w" / "a.py"
    path.write_text(OLD, encoding="utf-8")
    async with client(tmp_path, steps=[EDIT, {"text": "All done."}]) as person:
        await person.sees("+ ONE")
        await person.types("y")
        await person.types("n")
        await person.sees("(end_turn)")

    assert "I edit." in person.seen
    assert "All done." in person.seen
    assert path.read_text("utf-8") == "ONE\ntwo\nthree\nfour\n"
    assert person.process.returncode == 0


async def test_ctrl_c_cancels_the_turn_and_the_conversation_can_go_on(tmp_path: Path) -> None:
    async with client(tmp_path, steps=[{"text": "I think", "hang": True}]) as person:
        await person.sees("I think")
        os.kill(person.process.pid, signal.SIGINT)
        await person.sees("(cancelled)")
    async with client(tmp_path, "--resume", steps=[{"text": "Here again."}]) as again:
        await again.sees("(end_turn)")

    assert "I think" in again.seen  # the conversation, shown again
    assert "Here again." in again.seen


async def test_a_question_about_a_command_is_put(tmp_path: Path) -> None:
    run: Step = {"text": "", "calls": [{"name": "shell", "arguments": {"command": "touch made"}}]}
    async with client(tmp_path, steps=[run, {"text": "As you wish."}]) as person:
        await person.sees("Reject\n")
        await person.types("4")
        await person.sees("(end_turn)")

    assert not (tmp_path / "w" / "made").exists()


def test_it_is_short_enough_to_be_read() -> None:
    assert len(CLIENT.read_text("utf-8").splitlines()) <= 150
