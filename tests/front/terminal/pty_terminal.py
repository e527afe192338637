"""A program on a real terminal, typed at by a test; and what processes it left behind."""

import codecs
import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from agent_server.front.terminal.modes import GUARD_S

PROGRAM = str(Path(sys.executable).with_name("agent-server"))
PATIENCE_S = 15.0
"""For one scene to appear, on a busy machine."""
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\x01\x02\r]")


class Terminal:
    """The keyboard and the screen of one program."""

    def __init__(self, fd: int, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._fd = fd
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._seen = 0
        self.raw = ""
        """Everything that was ever shown."""
        self.screen = ""
        """The same without control sequences."""

    def expect(self, pattern: str) -> str:
        """Wait until the pattern is shown, after what was expected before; what was shown up to its end."""
        give_up = time.monotonic() + PATIENCE_S
        while not (found := re.search(pattern, self.screen[self._seen :])):
            left = give_up - time.monotonic()
            assert left > 0, f"{pattern!r} did not appear after:\n{self.screen[self._seen :]}"
            assert self._read(left), (
                f"{pattern!r} did not appear, and nothing more comes:\n{self.screen}"
            )
        shown = self.screen[self._seen : self._seen + found.end()]
        self._seen += found.end()
        return shown

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self._fd, text.encode())

    def answer(self, key: str) -> None:
        """Press a key at a question, as somebody does who has read it: sooner it is taken for typing."""
        time.sleep(GUARD_S + 0.1)
        self.type(key)

    def interrupt(self, pattern: str) -> None:
        """Press Ctrl-C at the prompt until the pattern is shown, as a person would.

        CPython's readline notices a signal only if it comes while it waits, not just before (Modules/readline.c).
        """
        give_up = time.monotonic() + PATIENCE_S
        while not re.search(pattern, self.screen[self._seen :]):
            assert time.monotonic() < give_up, f"{pattern!r} did not appear:\n{self.screen}"
            self.type("\x03")
            self._read_for(1.0)
        self.expect(pattern)

    def leave(self) -> int:
        """Press Ctrl-C until the program ends; its exit code."""
        give_up = time.monotonic() + PATIENCE_S
        while self.process.poll() is None:
            assert time.monotonic() < give_up, f"the program does not end:\n{self.screen}"
            self.type("\x03")
            self._read_for(2.0)
        return self.process.wait()

    def _read_for(self, seconds: float) -> None:
        """Take in what is shown in that time, or until the program has ended."""
        until = time.monotonic() + seconds
        while self.process.poll() is None and (left := until - time.monotonic()) > 0:
            self._read(min(left, 0.1))

    def end(self) -> int:
        """The exit code, once the program has ended."""
        give_up = time.monotonic() + PATIENCE_S
        while self._read(max(0.0, give_up - time.monotonic())):
            pass
        return self.process.wait(PATIENCE_S)

    def _read(self, timeout_s: float) -> bool:
        """Take in what is shown next; False at the end."""
        ready, _, _ = select.select([self._fd], [], [], timeout_s)
        if not ready:
            return False
        try:
            data = os.read(self._fd, 65536)
        except OSError:  # Linux: nobody has the other side open any more
            return False
        text = self._decoder.decode(data)
        self.raw += text
        self.screen += _CONTROL.sub("", text)
        return bool(data)


@contextmanager
def on_a_terminal(
    *arguments: str, cwd: Path, env: Mapping[str, str], columns: int = 100, rows: int = 40
) -> Generator[Terminal]:
    """`agent-server` with these arguments on a terminal of its own."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    process = subprocess.Popen(
        [PROGRAM, *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=cwd,
        env=dict(env),
        start_new_session=True,
        # So that Ctrl-C is a signal; it runs after the new session was made.
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(theirs)
    try:
        yield Terminal(ours, process)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        os.close(ours)


def scripted(folder: Path, *steps: dict[str, object]) -> str:
    """The option that makes a model of these steps, kept in a file of this folder."""
    path = folder / "script.json"
    path.write_text(json.dumps(steps))
    return f"--model=scripted:{path}"


def marked(environment: Mapping[str, str], tmp_path: Path) -> dict[str, str]:
    """An environment whose processes can be found again, with a home of its own."""
    kept = {k: v for k, v in environment.items() if not k.startswith(("AGENT_SERVER_", "OPENAI_"))}
    return kept | {
        "AGENT_SERVER_HOME": str(tmp_path / "home"),
        "HOME": "",
        "TERM": "xterm-256color",
        "MARK_OF_A_TEST": str(tmp_path),
    }


def left_running(tmp_path: Path) -> list[str]:
    """The command lines of processes started with `marked` that are still there."""
    return list(processes_of(tmp_path).values())


def processes_of(tmp_path: Path) -> dict[int, str]:
    """The same, by their ids."""
    mark = f"MARK_OF_A_TEST={tmp_path}".encode()
    found: dict[int, str] = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (process / "environ").read_bytes().split(b"\0"):
                command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                found[int(process.name)] = command
        except OSError:  # gone meanwhile, or somebody else's
            continue
    return found
